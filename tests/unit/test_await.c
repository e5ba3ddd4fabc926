/* SPDX-License-Identifier: Apache-2.0 */
/* Await chains (CPython 3.14) on hand-made images: rings, chains without end, links that are nothing, in 3.14's layout. */
#include "tests/unit/check.h"
#include "tests/unit/process.h"

#define TYPES	     ((vaddr)0x30000000)
#define OBJECT_TYPE  TYPES
#define TYPE_TYPE    (TYPES + 0x1000)
#define CODE_TYPE    (TYPES + 0x2000)
#define STR_TYPE     (TYPES + 0x3000)
#define BYTES_TYPE   (TYPES + 0x4000)
#define TUPLE_TYPE   (TYPES + 0x5000)
#define CORO_TYPE    (TYPES + 0x6000)
#define WRAPPER_TYPE (TYPES + 0x7000)
#define OTHER_TYPE   (TYPES + 0x8000)
#define CODE	     ((vaddr)0x31000000)
#define QUALNAME     (CODE + 0x1000)
#define FILENAME     (CODE + 0x2000)
#define LINETABLE    (CODE + 0x3000)
#define NAMES	     (CODE + 0x4000)
#define THREAD_FRAME ((vaddr)0x32000000)
#define CORO	     ((vaddr)0x40000000)
#define STRIDE	     0x200u
#define FIRST_LINE   40u

static void put_field(struct process *p, vaddr object, struct field f, uint64_t value)
{
	put_bytes(p, object + f.offset, &value, f.size);
}

static void put_type(struct process *p, vaddr type, const char *name)
{
	put_field(p, type, p->lay.object_type, TYPE_TYPE);
	put_field(p, type, p->lay.type_name, type + 0x800);
	put_field(p, type, p->lay.type_base, type == OBJECT_TYPE ? 0 : OBJECT_TYPE);
	put_field(p, type, p->lay.type_basicsize, 0x100);
	put_bytes(p, type + 0x800, name, strlen(name) + 1);
}

static void put_str(struct process *p, vaddr at, const char *text)
{
	put_field(p, at, p->lay.object_type, STR_TYPE);
	put_field(p, at, p->lay.str_length, strlen(text));
	put_bytes(p, at + p->lay.str_state.offset, &(uint32_t){1u << 2 | 1u << 5 | 1u << 6}, 4);
	put_bytes(p, at + p->lay.str_sizeof_ascii, text, strlen(text) + 1);
}

/* One code object for all: a line table of one entry (no column information, line + 2) for eight instructions. */
static void put_code(struct process *p)
{
	static const uint8_t linetable[] = {0x80 | 13 << 3 | 7, 4};

	put_field(p, CODE, p->lay.object_type, CODE_TYPE);
	put_field(p, CODE, p->lay.code_qualname, QUALNAME);
	put_field(p, CODE, p->lay.code_name, QUALNAME);
	put_field(p, CODE, p->lay.code_filename, FILENAME);
	put_field(p, CODE, p->lay.code_firstlineno, FIRST_LINE);
	put_field(p, CODE, p->lay.code_linetable, LINETABLE);
	put_field(p, CODE, p->lay.code_localsplusnames, NAMES);
	put_str(p, QUALNAME, "descend");
	put_str(p, FILENAME, "/srv/app.py");
	put_field(p, LINETABLE, p->lay.object_type, BYTES_TYPE);
	put_field(p, LINETABLE, p->lay.var_size, sizeof(linetable));
	put_bytes(p, LINETABLE + p->lay.bytes_value.offset, linetable, sizeof(linetable));
	put_field(p, NAMES, p->lay.object_type, TUPLE_TYPE);
}

static struct process *new_process(void)
{
	struct process *p = process_create();

	put_type(p, TYPE_TYPE, "type");
	put_field(p, TYPE_TYPE, p->lay.type_flags, FLAG_TYPE_SUBCLASS);
	put_type(p, OBJECT_TYPE, "object");
	put_type(p, CODE_TYPE, "code");
	put_type(p, STR_TYPE, "str");
	put_type(p, BYTES_TYPE, "bytes");
	put_type(p, TUPLE_TYPE, "tuple");
	put_type(p, CORO_TYPE, "coroutine");
	put_type(p, WRAPPER_TYPE, "coroutine_wrapper");
	put_type(p, OTHER_TYPE, "foreign");
	put_code(p);
	return p;
}

static vaddr coro_at(size_t i)
{
	return CORO + STRIDE * i;
}

/* A coroutine in `state`, at the line of its first instruction, with `awaits` on top of its stack. */
static void put_coro(struct process *p, size_t i, enum gen_state state, vaddr awaits)
{
	vaddr coro = coro_at(i), frame = coro + p->lay.gen_iframe.offset;
	vaddr stack = frame + p->lay.frame_localsplus.offset;

	put_field(p, coro, p->lay.object_type, CORO_TYPE);
	put_field(p, coro, p->lay.gen_frame_state, (uint64_t)(int64_t)p->lay.gen_states[state]);
	put_field(p, frame, p->lay.frame_executable, CODE);
	put_field(p, frame, p->lay.frame_instr, CODE + p->lay.code_code_adaptive.offset);
	put_field(p, frame, p->lay.frame_owner, p->lay.owner_generator);
	put_field(p, frame, p->lay.frame_stackpointer, stack + 8);
	put(p, stack, awaits);
}

/* Coroutines [0, count), each awaiting the next, the last one `leaf`. */
static void put_chain(struct process *p, size_t count, vaddr leaf)
{
	for (size_t i = 0; i < count; i++)
		put_coro(p, i, GEN_SUSPENDED_YIELD_FROM, i + 1 < count ? coro_at(i + 1) : leaf);
}

static struct await_chain read_chain(struct process *p)
{
	struct await_chain c;

	CHECK_EQUAL(await_chain_read(&p->a, coro_at(0), &c), ERR_OK);
	return c;
}

static void put_object(struct process *p, vaddr at, vaddr type, vaddr member)
{
	put_field(p, at, p->lay.object_type, type);
	put_field(p, at, p->lay.corowrapper_coroutine, member);
}

static void test_leaf(void)
{
	struct process *p = new_process();
	struct await_chain c;

	put_chain(p, 3, coro_at(10));
	put_object(p, coro_at(10), OTHER_TYPE, 0);
	c = read_chain(p);
	CHECK_EQUAL(c.count, 3);
	CHECK(!c.truncated && !c.damaged);
	CHECK_EQUAL(c.leaf, coro_at(10));
	CHECK_EQUAL(c.leaf_state, GEN_SUSPENDED_YIELD_FROM);
	for (uint32_t i = 0; i < c.count; i++) {
		CHECK_EQUAL(c.v[i].generator, coro_at(i));
		CHECK_EQUAL(c.v[i].position.line, FIRST_LINE + 2);
		CHECK(str_is(c.v[i].position.info->qualname, "descend"));
	}
	process_destroy(p);
}

static void test_states(void)
{
	struct process *p = new_process();
	struct await_chain c;

	put_coro(p, 0, GEN_CREATED, 0);
	c = read_chain(p);
	CHECK_EQUAL(c.count, 1);
	CHECK_EQUAL(c.leaf_state, GEN_CREATED);
	CHECK_EQUAL(c.leaf, 0);
	process_destroy(p);
	p = new_process();
	put_coro(p, 0, GEN_CLEARED, coro_at(1));
	c = read_chain(p);
	CHECK_EQUAL(c.count, 0);
	CHECK_EQUAL(c.leaf, 0);
	process_destroy(p);
	p = new_process();
	put_coro(p, 0, GEN_EXECUTING, coro_at(1));
	c = read_chain(p); /* no thread has its frame */
	CHECK_EQUAL(c.count, 1);
	CHECK(c.damaged);
	process_destroy(p);
}

static void test_rings(void)
{
	for (size_t length = 1; length <= 70; length++) {
		for (size_t lead = 0; lead <= 20; lead += 5) {
			struct process *p = new_process();
			struct await_chain c;

			put_chain(p, lead + length, coro_at(lead));
			c = read_chain(p);
			CHECK_EQUAL(c.count, lead + length);
			CHECK(c.truncated);
			process_destroy(p);
		}
	}
}

static void test_wrappers(void)
{
	struct process *p = new_process();
	struct await_chain c;

	put_coro(p, 0, GEN_SUSPENDED_YIELD_FROM, coro_at(5));
	put_object(p, coro_at(5), WRAPPER_TYPE, coro_at(1));
	put_coro(p, 1, GEN_SUSPENDED, 0);
	c = read_chain(p);
	CHECK_EQUAL(c.count, 2);
	CHECK(!c.truncated && !c.damaged);
	process_destroy(p);
	p = new_process();
	put_coro(p, 0, GEN_SUSPENDED_YIELD_FROM, coro_at(5));
	put_object(p, coro_at(5), WRAPPER_TYPE, coro_at(6));
	put_object(p, coro_at(6), WRAPPER_TYPE, coro_at(5));
	c = read_chain(p);
	CHECK_EQUAL(c.count, 1);
	CHECK(c.truncated);
	process_destroy(p);
}

static void test_too_long(void)
{
	struct process *p = new_process();
	struct await_chain c;

	put_chain(p, CHAIN_MAX + 10, 0);
	c = read_chain(p);
	CHECK_EQUAL(c.count, CHAIN_MAX);
	CHECK(c.truncated);
	process_destroy(p);
}

static void test_rubbish(void)
{
	static const vaddr rubbish[] = {
		1, 8, 12, NOWHERE, UINT64_MAX, UINT64_MAX - 7, TYPES + 0x10, 0x8000000000000000u};

	for (size_t i = 0; i < sizeof(rubbish) / sizeof(rubbish[0]); i++) {
		struct process *p = new_process();
		struct await_chain c;

		put_chain(p, 2, rubbish[i]);
		c = read_chain(p);
		CHECK_EQUAL(c.count, 2);
		CHECK(c.damaged);
		process_destroy(p);
	}
}

/* A running task: its coroutine's frame and the calls under it are on a thread's stack, innermost first. */
static void test_running(void)
{
	struct process *p = new_process();
	struct frame_walk frames[4] = {
		{.at = THREAD_FRAME}, {.owner = 1}, {.at = THREAD_FRAME + 0x100}, {.owner = 1}};
	struct thread_ref thread = {.frames = frames, .frame_count = 4, .row = NONE};
	struct await_chain c;

	put_coro(p, 0, GEN_EXECUTING, 0);
	frames[3].at = coro_at(7) + p->lay.gen_iframe.offset;
	frames[1].at = coro_at(0) + p->lay.gen_iframe.offset;
	p->a.threads = &thread;
	p->a.thread_count = 1;
	c = read_chain(p);
	CHECK_EQUAL(c.count, 2);
	CHECK(!c.truncated && !c.damaged);
	CHECK_EQUAL(c.leaf_state, GEN_EXECUTING);
	CHECK_EQUAL(c.v[0].generator, coro_at(0));
	CHECK_EQUAL(c.v[1].generator, 0);
	CHECK_EQUAL(c.v[1].position.at, THREAD_FRAME);
	process_destroy(p);
}

int main(void)
{
	test_leaf();
	test_states();
	test_rings();
	test_wrappers();
	test_too_long();
	test_rubbish();
	test_running();
	return check_result("await");
}
