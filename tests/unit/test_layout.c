/* SPDX-License-Identifier: Apache-2.0 */
/* Unit test: the tables, the enums, debug offsets good and hostile, DWARF of this program, the proofs on a made-up process. */
#include "check.h"

#include "attach/image.h"
#include "unwind/layout/asyncio_offsets.h"
#include "unwind/layout/check.h"
#include "unwind/layout/debug_offsets.h"
#include "unwind/layout/from_dwarf.h"
#include "unwind/layout/rows.h"
#include "unwind/layout/runtime.h"
#include "unwind/layout/table.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define RUNTIME ((vaddr)0x400000)
#define NUMBERS 160

static const uint32_t versions[] = {0x030b07f0, 0x030c01f0, 0x030d00f0, 0x030e0af0, 0x030f02f0};

static struct layout table_of(uint32_t version, bool debug)
{
	struct layout lay = {.version = version, .debug = debug, .runtime = RUNTIME};

	CHECK(layout_table_fill(&lay));
	return lay;
}

static void test_tables(void)
{
	struct error e = {0};
	struct layout lay;

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		for (int debug = 0; debug < 2; debug++) {
			lay = table_of(versions[i], debug);
			if (!CHECK_EQUAL(layout_check_fields(&lay, &e), ERR_OK))
				fprintf(stderr, "%s\n", e.text);
			CHECK_EQUAL(layout_version_support(versions[i]), VERSION_SUPPORTED);
		}
	}
	lay = (struct layout){.version = 0x030a0df0};
	CHECK(!layout_table_fill(&lay));
	CHECK_EQUAL(layout_version_support(0x030a0df0), VERSION_OLD);
	CHECK_EQUAL(layout_version_support(0x03100000), VERSION_NEW);
}

static void test_broken_fields(void)
{
	struct layout lay = table_of(0x030d00f0, false);
	struct field good = lay.task_coro;
	struct error e = {0};

	lay.task_coro.offset = 121;
	CHECK_EQUAL(layout_check_fields(&lay, &e), ERR_SHAPE);
	CHECK_TEXT(e.text, "task.coro can't be where it is said to be");
	lay.task_coro.offset = (uint16_t)lay.task_sizeof;
	CHECK_EQUAL(layout_check_fields(&lay, &e), ERR_SHAPE);
	lay.task_coro.offset = FIELD_ABSENT;
	CHECK_EQUAL(layout_check_fields(&lay, &e), ERR_SHAPE);
	lay.task_coro = good;
	lay.task_awaited_by = good; /* 3.13 has none */
	CHECK_EQUAL(layout_check_fields(&lay, &e), ERR_SHAPE);
	lay.task_awaited_by = (struct field){.offset = FIELD_ABSENT};
	lay.task_must_cancel.bits = 7;
	CHECK_EQUAL(layout_check_fields(&lay, &e), ERR_SHAPE);
	lay.task_must_cancel.bits = 1;
	lay.object_sizeof = 0;
	CHECK_EQUAL(layout_check_fields(&lay, &e), ERR_SHAPE);
	lay.object_sizeof = 16;
	CHECK_EQUAL(layout_check_fields(&lay, &e), ERR_OK);
}

static void test_gen_states(void)
{
	struct layout lay = table_of(0x030b07f0, false);

	CHECK_EQUAL(layout_gen_state(&lay, -2), GEN_CREATED);
	CHECK_EQUAL(layout_gen_state(&lay, -1), GEN_SUSPENDED);
	CHECK_EQUAL(layout_gen_state(&lay, 4), GEN_CLEARED);
	CHECK_EQUAL(layout_gen_state(&lay, 127), GEN_UNKNOWN);
	lay = table_of(0x030d00f0, false);
	CHECK_EQUAL(layout_gen_state(&lay, -3), GEN_CREATED);
	CHECK_EQUAL(layout_gen_state(&lay, -2), GEN_SUSPENDED);
	CHECK_EQUAL(layout_gen_state(&lay, -1), GEN_SUSPENDED_YIELD_FROM);
	CHECK_EQUAL(layout_gen_state(&lay, 1), GEN_COMPLETED);
	lay = table_of(0x030f02f0, false);
	CHECK_EQUAL(layout_gen_state(&lay, 0), GEN_CREATED);
	CHECK_EQUAL(layout_gen_state(&lay, 2), GEN_SUSPENDED_YIELD_FROM);
	CHECK_EQUAL(layout_gen_state(&lay, 3), GEN_SUSPENDED_YIELD_FROM);
	CHECK_EQUAL(layout_gen_state(&lay, 4), GEN_EXECUTING);
	CHECK_EQUAL(layout_gen_state(&lay, 9), GEN_UNKNOWN);
}

static void test_words(void)
{
	struct layout lay = {.version = 0x030c01f0};
	char buffer[32];

	CHECK_TEXT(layout_version_text(&lay, buffer, sizeof(buffer)), "3.12.1");
	lay.version = 0x030e00c2;
	CHECK_TEXT(layout_version_text(&lay, buffer, sizeof(buffer)), "3.14.0rc2");
	lay.version = 0xffffffff;
	layout_version_text(&lay, buffer, 4); /* must not write past it */
	CHECK_TEXT(layout_source_name(LAYOUT_DWARF), "dwarf");
	CHECK_EQUAL(python_path_version("/usr/lib/libpython3.9.so.1.0"), 0x03090000);
	CHECK_EQUAL(python_path_version("/opt/python/bin/python2.7"), 0x02070000);
	CHECK_EQUAL(python_path_version("/usr/bin/python3.15"), 0x030f0000);
	CHECK_EQUAL(python_path_version("/usr/bin/python3"), 0);
	CHECK(python_path_likely("/x/lib-dynload/_asyncio.cpython-314-x86_64-linux-gnu.so"));
	CHECK(!python_path_likely("/opt/python/lib/libz.so"));
}

/* A memory that holds these bytes at RUNTIME. */
static struct mem *memory_with(const void *bytes, size_t len)
{
	void *image = image_create();
	struct mem *mem = NULL;

	if (!CHECK(image) || !CHECK_EQUAL(image_map(image, RUNTIME, bytes, len), ERR_OK) ||
	    !CHECK_EQUAL(mem_create(&image_source, image, 1 << 20, &mem), ERR_OK))
		exit(1);
	return mem;
}

struct offsets {
	char cookie[8];
	uint64_t version, free_threaded;
	uint64_t v[NUMBERS];
};

/* Live values of CPython 3.13.0's block, in the order of its struct; thread_state.size is number 16. */
static const uint64_t live_3_13[] = {
	282352, 552,  632, /* runtime */
	224736, 7272, 7264, 7344, 7400, 7656, 7680, 7688, 16, /* interpreter */
	7752,	0,    7768, 7760, /* its GIL */
	304,	0,    8,    16,	  72,	152,  160,  264,  32, /* thread */
	80,	8,    0,    56,	  72,	70, /* frame */
	208,	112,  120,  128,  136,	68,   52,   96,	  104, 200, /* code */
	16,	8, /* object */
	416,	24,   88,   168, /* type */
	32,	24,   16, /* tuple */
	40,	24,   16, /* list */
	48,	32,   40, /* dict */
	24,	16, /* float */
	32,	16,   24, /* long */
	40,	16,   32, /* bytes */
	64,	32,   16,   40, /* str */
	240,	200, /* gc */
};
#define THREAD_SIZE 16
#define FRAME_OWNER 30

static struct offsets good_offsets(void)
{
	struct offsets o = {.cookie = "xdebugpy", .version = 0x030d00f0};

	memcpy(o.v, live_3_13, sizeof(live_3_13));
	return o;
}

static enum err fill_offsets(const struct offsets *o, struct layout *lay, bool *moved)
{
	struct mem *mem = memory_with(o, sizeof(*o));
	struct error e = {0};
	enum err r;

	*lay = table_of(0x030d00f0, false);
	r = debug_offsets_fill(mem, lay, moved, &e);
	if (!r)
		r = layout_check_fields(lay, &e);
	mem_destroy(mem);
	return r;
}

static void test_debug_offsets(void)
{
	struct layout table = table_of(0x030d00f0, false), lay;
	struct offsets o = good_offsets();
	bool moved;

	CHECK_EQUAL(fill_offsets(&o, &lay, &moved), ERR_OK);
	CHECK(!moved);
	for (size_t i = 0; i < LAYOUT_ROW_COUNT; i++)
		CHECK(row_equal(&lay, &table, &layout_rows[i]));
	/* 3.13.18: the thread state grew, and the running loop went with it. */
	o.v[THREAD_SIZE] = 312;
	CHECK_EQUAL(fill_offsets(&o, &lay, &moved), ERR_OK);
	CHECK(!moved);
	CHECK_EQUAL(lay.thread_sizeof, 312);
	CHECK_EQUAL(lay.thread_running_loop.offset, 312);
	o.v[FRAME_OWNER] = 69;
	CHECK_EQUAL(fill_offsets(&o, &lay, &moved), ERR_OK);
	CHECK(moved);
}

static void test_hostile_offsets(void)
{
	static const uint64_t bad[] = {UINT64_MAX, UINT64_C(1) << 63, FIELD_ABSENT, 0x10000,
				       7300001};
	struct layout lay;
	bool moved;

	for (size_t i = 0; i < sizeof(live_3_13) / sizeof(live_3_13[0]); i++) {
		for (size_t b = 0; b < sizeof(bad) / sizeof(bad[0]); b++) {
			struct offsets o = good_offsets();
			enum err r;

			o.v[i] = bad[b];
			r = fill_offsets(&o, &lay, &moved);
			/* What is not used may be anything; what is used is refused. */
			CHECK(r == ERR_SHAPE ||
			      (r == ERR_OK && layout_check_fields(&lay, NULL) == ERR_OK));
			CHECK(lay.thread_next.offset == 8 || r == ERR_SHAPE);
		}
	}
	for (int fill = 0; fill < 256; fill += 85) {
		struct offsets o = good_offsets();

		memset(o.v, fill, sizeof(o.v));
		CHECK_EQUAL(fill_offsets(&o, &lay, &moved), ERR_SHAPE);
	}
	struct offsets o = good_offsets();

	o.v[THREAD_SIZE + 5] = 153; /* unaligned thread_id */
	CHECK_EQUAL(fill_offsets(&o, &lay, &moved), ERR_SHAPE);
	o = good_offsets();
	o.v[THREAD_SIZE + 5] = 304; /* past its structure */
	CHECK_EQUAL(fill_offsets(&o, &lay, &moved), ERR_SHAPE);
	o = good_offsets();
	o.version = 0x030e00f0;
	CHECK_EQUAL(fill_offsets(&o, &lay, &moved), ERR_SHAPE);
	o = good_offsets();
	o.cookie[0] = 'y';
	CHECK_EQUAL(fill_offsets(&o, &lay, &moved), ERR_SHAPE);
}

static enum err read_asyncio(const uint64_t *numbers, size_t size, struct layout *lay)
{
	struct mem *mem = memory_with(numbers, size);
	enum err r;

	*lay = table_of(0x030e0af0, false);
	r = asyncio_offsets_read(mem, RUNTIME, lay, NULL);
	mem_destroy(mem);
	return r;
}

static void test_asyncio_offsets(void)
{
	/* task, interpreter, thread; as 3.14.10 has them, but the thread's 8 lower, as before 3.14.8 */
	static const uint64_t good[13] = {168,	  136,	 96,  108, 109, 128, 152,
					  262144, 10880, 960, 856, 864, 872};
	struct layout lay;
	uint64_t v[13];

	CHECK_EQUAL(read_asyncio(good, sizeof(good), &lay), ERR_OK);
	CHECK(lay.asyncio_found);
	CHECK_EQUAL(lay.thread_running_loop.offset, 856);
	CHECK_EQUAL(lay.thread_asyncio_tasks_head.offset, 872);
	for (size_t i = 0; i < 13; i++) {
		memcpy(v, good, sizeof(v));
		v[i] = i == 7 || i == 9 ? UINT64_MAX : good[i] + 1;
		CHECK_EQUAL(read_asyncio(v, sizeof(v), &lay), ERR_SHAPE);
		CHECK(!lay.asyncio_found);
		CHECK_EQUAL(lay.thread_running_loop.offset, 864);
	}
}

/* Structures of this program under CPython's names: what the DWARF provider must find. */
typedef struct {
	long pad;
	int owner_pad;
	union {
		struct {
			void *left;
			char *wr_object;
		};
		long whole[2];
	};
} PyWeakReference;

struct _gil_runtime_state {
	char pad[40];
	struct {
		int value;
	} locked; /* a wrapped scalar, like _Py_atomic_int */
};

typedef struct TaskObj {
	long head[4];
	int before;
	unsigned task_log_tb : 1;
	unsigned task_blocking : 1;
	unsigned task_must_cancel : 1;
	void *const volatile task_coro;
	long task_node[2];
} TaskObj;

extern PyWeakReference test_weakref;
extern struct _gil_runtime_state test_gil;
extern TaskObj test_task;
PyWeakReference test_weakref;
struct _gil_runtime_state test_gil;
TaskObj test_task;

static void check_field(struct field got, size_t offset, unsigned size, unsigned bit, unsigned bits)
{
	CHECK_EQUAL(got.offset, offset);
	CHECK_EQUAL(got.size, size);
	CHECK_EQUAL(got.bit, bit);
	CHECK_EQUAL(got.bits, bits);
}

static void test_dwarf(void)
{
	struct layout lay = table_of(0x030d00f0, false);
	struct dwarf_types *types = NULL;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (!CHECK_EQUAL(dwarf_types_create(&types), ERR_OK) || !CHECK(fd >= 0))
		return;
	CHECK_EQUAL(dwarf_types_add(types, fd, NULL), ERR_OK);
	close(fd);
	CHECK(dwarf_types_fill(types, &lay) > 0);
	dwarf_types_destroy(types);
	check_field(lay.weakref_object, offsetof(PyWeakReference, wr_object), 8, 0, 0);
	check_field(lay.gil_locked, offsetof(struct _gil_runtime_state, locked), 4, 0, 0);
	CHECK(!field_present(lay.gil_last_holder)); /* known structure, no such member */
	check_field(lay.dict_keys, 32, 8, 0, 0); /* unknown structure: left alone */
	check_field(lay.task_must_cancel, 36, 1, 2, 1);
	check_field(lay.task_coro, offsetof(TaskObj, task_coro), 8, 0, 0);
	check_field(lay.task_node, offsetof(TaskObj, task_node), 0, 0, 0);
	CHECK_EQUAL(lay.task_sizeof, sizeof(TaskObj));
}

static void test_dwarf_of_nothing(void)
{
	struct dwarf_types *types = NULL;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (!CHECK_EQUAL(dwarf_types_create(&types), ERR_OK) || !CHECK(fd >= 0))
		return;
	CHECK_EQUAL(dwarf_types_add(types, fd, ""), ERR_SHAPE);
	close(fd);
	dwarf_types_destroy(types);
}

int main(void)
{
	test_tables();
	test_broken_fields();
	test_gen_states();
	test_words();
	test_debug_offsets();
	test_hostile_offsets();
	test_asyncio_offsets();
	test_dwarf();
	test_dwarf_of_nothing();
	return check_result("layout");
}
