/* SPDX-License-Identifier: Apache-2.0 */
/* Unit test: the proof of a layout on a made-up process: what is whole is believed; rings, strangers and wild pointers are not. */
#include "check.h"

#include "attach/image.h"
#include "unwind/layout/check.h"
#include "unwind/layout/rows.h"
#include "unwind/layout/table.h"

#include <stdlib.h>

#define BASE	  ((vaddr)0x100000)
#define BYTES	  0x10000
#define RUNTIME	  (BASE + 0x0)
#define INTERP	  (BASE + 0x1000)
#define THREAD	  (BASE + 0x4000) /* three of them, 0x800 apart */
#define MODULES	  (BASE + 0x7000)
#define KEYS	  (BASE + 0x7100)
#define NAME	  (BASE + 0x7400)
#define TYPE_DICT (BASE + 0x8000)
#define TYPE_TYPE (BASE + 0x8400)
#define TYPE_STR  (BASE + 0x8800)
#define TEXTS	  (BASE + 0x9000)

static struct layout lay;
static unsigned char bytes[BYTES];

static void put(vaddr at, const void *from, size_t len)
{
	memcpy(bytes + (at - BASE), from, len);
}

static void put_ptr(vaddr object, struct field f, uint64_t value)
{
	put(object + f.offset, &value, sizeof(value));
}

static void put_byte(vaddr object, struct field f, uint8_t value)
{
	put(object + f.offset, &value, 1);
}

static void put_type(vaddr type, vaddr text, const char *name)
{
	put_ptr(type, lay.object_type, TYPE_TYPE);
	put_ptr(type, lay.type_name, text);
	put(text, name, strlen(name) + 1);
}

static void build(uint32_t version)
{
	memset(bytes, 0, sizeof(bytes));
	lay = (struct layout){.version = version, .runtime = RUNTIME};
	CHECK(layout_table_fill(&lay));
	put_ptr(RUNTIME, lay.runtime_interpreters_head, INTERP);
	put_ptr(INTERP, lay.interp_threads_head, THREAD);
	put_ptr(INTERP, lay.interp_sys_modules, MODULES);
	for (vaddr t = THREAD; t < THREAD + 3 * 0x800; t += 0x800) {
		put_ptr(t, lay.thread_interp, INTERP);
		put_ptr(t, lay.thread_next, t < THREAD + 0x1000 ? t + 0x800 : 0);
	}
	put_type(TYPE_TYPE, TEXTS, "type");
	put_type(TYPE_DICT, TEXTS + 16, "dict");
	put_type(TYPE_STR, TEXTS + 32, "str");
	put_ptr(MODULES, lay.object_type, TYPE_DICT);
	put_ptr(MODULES, lay.dict_used, 1);
	put_ptr(MODULES, lay.dict_keys, KEYS);
	put_byte(KEYS, lay.dictkeys_log2_size, 3);
	put_byte(KEYS, lay.dictkeys_log2_index_bytes, 3);
	put_byte(KEYS, lay.dictkeys_kind, 1);
	put_ptr(KEYS, lay.dictkeys_nentries, 1);
	put_ptr(KEYS + 8, lay.dictkeys_indices, NAME);
	put_ptr(NAME, lay.object_type, TYPE_STR);
	put_ptr(NAME, lay.str_length, 3);
	put_byte(NAME, lay.str_kind, 1 << 2 | 1 << 5 | 1 << 6);
}

static enum err prove(bool *started)
{
	struct mem *mem = NULL;
	void *image = image_create();
	struct error e = {0};
	enum err r;

	if (!CHECK(image) || !CHECK_EQUAL(image_map(image, BASE, bytes, sizeof(bytes)), ERR_OK) ||
	    !CHECK_EQUAL(mem_create(&image_source, image, 1 << 20, &mem), ERR_OK))
		exit(1);
	r = layout_check_live(mem, &lay, started, &e);
	CHECK(r == ERR_OK || e.text[0]);
	mem_destroy(mem);
	return r;
}

static void test_whole(void)
{
	static const uint32_t versions[] = {0x030b07f0, 0x030c01f0, 0x030d00f0, 0x030e0af0,
					    0x030f02f0};
	bool started;

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		build(versions[i]);
		CHECK_EQUAL(prove(&started), ERR_OK);
		CHECK(started);
		put_ptr(INTERP, lay.interp_sys_modules, 0);
		CHECK_EQUAL(prove(&started), ERR_OK);
		CHECK(!started);
	}
}

static void expect_refused(const char *what)
{
	bool started;

	check_that(prove(&started) == ERR_SHAPE, what, __FILE__, __LINE__);
	build(0x030d00f0);
}

static void test_broken(void)
{
	build(0x030d00f0);
	put_ptr(THREAD + 0x1000, lay.thread_next, THREAD);
	expect_refused("threads in a ring");
	put_ptr(THREAD + 0x800, lay.thread_interp, INTERP + 8);
	expect_refused("a thread of another interpreter");
	put_ptr(THREAD, lay.thread_next, 0x7000000000);
	expect_refused("a thread nowhere");
	put_ptr(INTERP, lay.interp_next, INTERP);
	expect_refused("interpreters in a ring");
	put_ptr(RUNTIME, lay.runtime_interpreters_head, INTERP + 1);
	expect_refused("an odd address");
	put_ptr(MODULES, lay.object_type, TYPE_STR);
	expect_refused("sys.modules as str");
	put_ptr(TYPE_DICT, lay.object_type, TYPE_STR);
	expect_refused("a type of type str");
	put_byte(KEYS, lay.dictkeys_log2_size, 200);
	expect_refused("2^200 modules");
	put_ptr(MODULES, lay.dict_used, UINT64_MAX);
	expect_refused("-1 modules");
	put_ptr(NAME, lay.object_type, TYPE_DICT);
	expect_refused("a dict as name");
	put_ptr(NAME, lay.str_length, UINT64_MAX);
	expect_refused("a name of negative length");
}

int main(void)
{
	test_whole();
	test_broken();
	return check_result("layout_live");
}
