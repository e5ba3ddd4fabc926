/* SPDX-License-Identifier: Apache-2.0 */
/* Interpreters, threads, frames and generators on hand-made images, laid out as each CPython version does: rings, shims, damaged frames, absurd stacks. */
#include "tests/unit/check.h"
#include "tests/unit/world.h"

static const uint32_t versions[] = {0x030b07f0, 0x030c01f0, 0x030d00f0, 0x030e0af0, 0x030f02f0};

#define THREAD_SIZE 2048u
#define INTERP_SIZE 16384u

struct types {
	vaddr code, bytes, coroutine, cell;
};

static struct types make_types(struct world *w)
{
	struct types t = {
		.code = world_type(w, "code", w->object, 0),
		.bytes = world_type(w, "bytes", w->object, 0),
		.coroutine = world_type(w, "coroutine", w->object, 0),
		.cell = world_type(w, "cell", w->object, 0),
	};

	world_put_field(w, t.coroutine, w->lay.type_basicsize,
			w->lay.gen_iframe.offset + (uint64_t)w->lay.frame_localsplus.offset);
	return t;
}

static vaddr put_bytes(struct world *w, const struct types *t, const void *bytes, size_t len)
{
	vaddr at = world_object(w, t->bytes, w->lay.bytes_value.offset + len + 1);

	world_put_field(w, at, w->lay.var_size, len);
	memcpy(world_at(w, at + w->lay.bytes_value.offset), bytes, len);
	return at;
}

/* Three instructions: on lines 10, 11 and 15; then as the version's RESUME after an await, and after a yield. Variables "plain" and "boxed" (a cell). */
static vaddr put_code(struct world *w, const struct types *t, const char *name, const char *file)
{
	static const uint8_t table[] = {0xd0, 0x00, 0x00, 0xd8, 0x00, 0x00, 0xe9, 0x08};
	static const uint8_t kinds[] = {0x20, 0x40};
	vaddr names[2] = {world_str(w, "plain"), world_str(w, "boxed")};
	vaddr at = world_object(w, t->code, w->lay.code_code_adaptive.offset + 64u);
	vaddr start = at + w->lay.code_code_adaptive.offset;

	world_put_field(w, at, w->lay.code_qualname, world_str(w, name));
	world_put_field(w, at, w->lay.code_filename, world_str(w, file));
	world_put_field(w, at, w->lay.code_linetable, put_bytes(w, t, table, sizeof(table)));
	world_put_field(w, at, w->lay.code_firstlineno, 10);
	world_put_field(w, at, w->lay.code_nlocalsplus, 2);
	world_put_field(w, at, w->lay.code_localsplusnames, world_tuple(w, names, 2));
	world_put_field(w, at, w->lay.code_localspluskinds, put_bytes(w, t, kinds, sizeof(kinds)));
	world_put(w, start + 4, w->lay.resume_opcodes[0] | 3u << 8, 2);
	world_put(w, start + 6, w->lay.resume_opcodes[0] | 1u << 8, 2);
	return at;
}

static void put_frame(struct world *w, vaddr at, vaddr code, int32_t instr, vaddr previous,
		      unsigned owner)
{
	/* A tag in the low bits where the version has them. */
	uint64_t tag = ~w->lay.stackref_mask & 1;

	world_put_field(w, at, w->lay.frame_executable, code | tag);
	world_put_field(w, at, w->lay.frame_previous, previous);
	world_put_field(w, at, w->lay.frame_instr,
			code + w->lay.code_code_adaptive.offset + (vaddr)(int64_t)instr);
	world_put_field(w, at, w->lay.frame_owner, owner);
}

static vaddr put_thread(struct world *w, vaddr interp, vaddr next, unsigned tid, vaddr frame)
{
	vaddr at = world_room(w, THREAD_SIZE), cframe;

	world_put_field(w, at, w->lay.thread_interp, interp);
	world_put_field(w, at, w->lay.thread_next, next);
	world_put_field(w, at, w->lay.thread_native_thread_id, tid);
	if (field_present(w->lay.thread_cframe)) {
		cframe = world_room(w, 64);
		world_put_field(w, cframe, w->lay.cframe_current_frame, frame);
		world_put_field(w, at, w->lay.thread_cframe, cframe);
	} else {
		world_put_field(w, at, w->lay.thread_current_frame, frame);
	}
	return at;
}

static void test_lists(struct world *w)
{
	vaddr runtime = world_room(w, 4096), first = world_room(w, INTERP_SIZE);
	vaddr second = world_room(w, INTERP_SIZE), threads[3];
	struct interp_walk *interps, interp;
	struct thread_walk *got;
	uint32_t count;
	bool cut;

	w->lay.runtime = runtime;
	world_put_field(w, runtime, w->lay.runtime_interpreters_head, second);
	world_put_field(w, second, w->lay.interp_next, first);
	world_put_field(w, second, w->lay.interp_id, 1);
	threads[2] = put_thread(w, first, 0, 103, 0);
	threads[1] = put_thread(w, first, threads[2], 102, 0);
	threads[0] = put_thread(w, first, threads[1], 101, 0);
	world_put_field(w, first, w->lay.interp_threads_head, threads[0]);
	world_show(w);
	CHECK_EQUAL(interps_read(&w->r, 10, &interps, &count, &cut), ERR_OK);
	CHECK(count == 2 && !cut && interps[0].id == 1 && interps[1].at == first);
	interp = interps[1];
	CHECK_EQUAL(threads_read(&w->r, &interp, 10, &got, &count, &cut), ERR_OK);
	CHECK(count == 3 && !cut && got[0].tid == 101 && got[2].tid == 103);
	CHECK(threads_read(&w->r, &interp, 2, &got, &count, &cut) == ERR_OK && count == 2 && cut);

	/* Rings. */
	world_put_field(w, first, w->lay.interp_next, second);
	world_put_field(w, threads[2], w->lay.thread_next, threads[1]);
	world_show(w);
	CHECK_EQUAL(interps_read(&w->r, 1000, &interps, &count, &cut), ERR_OK);
	CHECK(count == 2 && cut);
	CHECK_EQUAL(threads_read(&w->r, &interp, 20000, &got, &count, &cut), ERR_OK);
	CHECK(count < 16 && cut);

	/* A list that leads away, and one that leads into another interpreter. */
	world_put_field(w, threads[1], w->lay.thread_next, WORLD_NOWHERE);
	world_show(w);
	CHECK_EQUAL(threads_read(&w->r, &interp, 10, &got, &count, &cut), ERR_OK);
	CHECK(count == 2 && cut);
	world_put_field(w, threads[0], w->lay.thread_interp, second);
	world_show(w);
	CHECK_EQUAL(threads_read(&w->r, &interp, 10, &got, &count, &cut), ERR_TORN);
	CHECK(count == 0 && cut);
}

static void test_stack(struct world *w)
{
	struct types t = make_types(w);
	vaddr inner = put_code(w, &t, "inner", "/usr/lib/python3.12/asyncio/tasks.py");
	vaddr outer = put_code(w, &t, "outer", "/srv/redis/asyncio/client.py");
	vaddr frame[4];
	struct thread_walk thread = {0};
	struct frame_walk *got;
	uint32_t count;
	bool cut;

	for (int i = 0; i < 4; i++)
		frame[i] = world_room(w, 256);
	put_frame(w, frame[0], inner, 4, frame[1], 0);
	put_frame(w, frame[1], WORLD_NOWHERE, 0, frame[2], w->lay.owner_skip_from);
	put_frame(w, frame[2], outer, 2, frame[3], 1);
	put_frame(w, frame[3], outer, -2, 0, 0);
	thread.at = put_thread(w, 0, 0, 1, frame[0]);
	world_show(w);
	CHECK_EQUAL(thread_frames(&w->r, &thread, 100, &got, &count, &cut), ERR_OK);
	CHECK(count == 3 && !cut);
	CHECK(str_is(got[0].info->qualname, "inner") && got[0].line == 15);
	CHECK(got[0].info->asyncio && !got[1].info->asyncio);
	CHECK(got[1].line == 11 && got[2].line == 10 && got[1].info == got[2].info);
	CHECK_EQUAL(thread_frames(&w->r, &thread, 2, &got, &count, &cut), ERR_OK);
	CHECK(count == 2 && cut);

	/* Rings: of frames, and of shims that would never be counted. */
	world_put_field(w, frame[3], w->lay.frame_previous, frame[2]);
	world_show(w);
	CHECK_EQUAL(thread_frames(&w->r, &thread, 1000000, &got, &count, &cut), ERR_OK);
	CHECK(count < 16 && cut);
	world_put_field(w, frame[1], w->lay.frame_previous, frame[1]);
	world_show(w);
	CHECK_EQUAL(thread_frames(&w->r, &thread, 1000000, &got, &count, &cut), ERR_OK);
	CHECK(count == 1 && cut);

	/* A frame whose code is none. */
	world_put_field(w, frame[1], w->lay.frame_owner, 0);
	world_show(w);
	CHECK_EQUAL(thread_frames(&w->r, &thread, 100, &got, &count, &cut), ERR_OK);
	CHECK(count == 1 && cut);
}

/* Two calls of the evaluation loop with two frames each: the outer frame of each tells where the call's C frame is. */
static void test_entries(struct world *w)
{
	struct types t = make_types(w);
	vaddr code = put_code(w, &t, "f", "/srv/x.py"), frame[4], shim[2] = {0}, cframe[2] = {0};
	struct thread_walk thread = {0};
	struct frame_walk *got;
	uint32_t count;
	bool cut;

	for (int i = 0; i < 4; i++)
		frame[i] = world_room(w, 256);
	for (int i = 0; i < 2; i++) {
		vaddr outside = i ? 0 : frame[2];

		if (!field_present(w->lay.frame_is_entry)) {
			shim[i] = world_room(w, 256);
			put_frame(w, shim[i], WORLD_NOWHERE, 0, outside, w->lay.owner_skip_from);
			outside = shim[i];
		}
		put_frame(w, frame[2 * i], code, 0, frame[2 * i + 1], 0);
		put_frame(w, frame[2 * i + 1], code, 0, outside, 0);
	}
	thread.at = put_thread(w, 0, 0, 1, frame[0]);
	for (int i = 1; i >= 0 && field_present(w->lay.cframe_previous); i--) {
		cframe[i] = world_room(w, 64);
		world_put_field(w, cframe[i], w->lay.cframe_current_frame, frame[2 * i]);
		world_put_field(w, cframe[i], w->lay.cframe_previous, i ? 0 : cframe[1]);
		world_put_field(w, thread.at, w->lay.thread_cframe, cframe[i]);
	}
	world_show(w);
	CHECK_EQUAL(thread_frames(&w->r, &thread, 100, &got, &count, &cut), ERR_OK);
	CHECK(count == 4 && !cut && !got[0].entry && !got[2].entry);
	for (int i = 0; i < 2; i++)
		CHECK_EQUAL(got[2 * i + 1].entry, shim[i] ? shim[i] : cframe[i]);
	if (!cframe[0])
		return;

	/* A call that has no frame of its own yet, and a ring of calls. */
	world_put_field(w, cframe[1], w->lay.cframe_current_frame, frame[0]);
	world_put_field(w, cframe[1], w->lay.cframe_previous, cframe[0]);
	world_show(w);
	CHECK_EQUAL(thread_frames(&w->r, &thread, 100, &got, &count, &cut), ERR_OK);
	CHECK(count == 4 && !cut);
}

static int8_t state_number(const struct world *w, enum gen_state s)
{
	return w->lay.gen_states[s];
}

static void put_stack_top(struct world *w, vaddr frame, int64_t slots)
{
	vaddr locals = frame + w->lay.frame_localsplus.offset;

	if (field_present(w->lay.frame_stackpointer))
		world_put_field(w, frame, w->lay.frame_stackpointer, locals + (vaddr)slots * 8);
	else
		world_put_field(w, frame, w->lay.frame_stacktop, (uint64_t)slots);
}

static void test_generators(struct world *w)
{
	struct types t = make_types(w);
	vaddr code = put_code(w, &t, "waiter", "app.py");
	vaddr gen = world_object(w, t.coroutine, 512), frame = gen + w->lay.gen_iframe.offset;
	vaddr slots = frame + w->lay.frame_localsplus.offset,
	      inner = world_object(w, w->object, 16);
	vaddr cell = world_object(w, t.cell, 64), plain = world_object(w, w->object, 16), got;
	bool by_opcode = w->lay.await == AWAIT_RESUME_OPARG;
	enum gen_state waiting = by_opcode ? GEN_SUSPENDED : GEN_SUSPENDED_YIELD_FROM;
	uint64_t tag = ~w->lay.stackref_mask & 1;
	struct gen_walk g;

	put_frame(w, frame, code, 2, 0, w->lay.owner_generator);
	world_put_field(w, gen, w->lay.gen_frame_state, (uint64_t)state_number(w, waiting));
	world_put_field(w, cell, w->lay.cell_ref, plain);
	world_put(w, slots, plain | tag, 8);
	world_put(w, slots + 8, cell | tag, 8);
	world_put(w, slots + 16, inner | tag, 8);
	world_put(w, slots + 24, 1, 8);
	put_stack_top(w, frame, w->lay.await == AWAIT_UNDER_INDEX ? 4 : 3);
	world_show(w);
	CHECK_EQUAL(gen_read(&w->r, gen, &g), ERR_OK);
	CHECK(g.state == GEN_SUSPENDED_YIELD_FROM && g.awaits == inner && g.frame == frame);
	CHECK(g.position.line == 11 && gen_of_frame(&w->r, frame) == gen);
	for (int again = 0; again < 2; again++) {
		struct code_info *info = g.position.info;

		CHECK(frame_local(&w->r, frame, info, "plain", &got) == ERR_OK && got == plain);
		CHECK(frame_local(&w->r, frame, info, "boxed", &got) == ERR_OK && got == plain);
		CHECK(frame_local(&w->r, frame, info, "other", &got) == ERR_OK && !got);
	}

	/* Stacks that are not where a stack can be. */
	for (int64_t top = -1; top < 3; top++) {
		put_stack_top(w, frame, top);
		world_show(w);
		CHECK_EQUAL(gen_read(&w->r, gen, &g), ERR_SHAPE);
	}
	put_stack_top(w, frame, INT32_MAX);
	world_show(w);
	CHECK_EQUAL(gen_read(&w->r, gen, &g), ERR_SHAPE);
	put_stack_top(w, frame, w->lay.await == AWAIT_UNDER_INDEX ? 4 : 3);

	/* A bare yield, one that runs, one that is over, one of no state, one whose frame is a thread's. */
	world_put_field(w, gen, w->lay.gen_frame_state, (uint64_t)state_number(w, GEN_SUSPENDED));
	put_frame(w, frame, code, 4, 0, w->lay.owner_generator);
	world_show(w);
	CHECK_EQUAL(gen_read(&w->r, gen, &g), ERR_OK);
	CHECK(g.state == GEN_SUSPENDED && !g.awaits && g.position.line == 15);
	world_put_field(w, gen, w->lay.gen_frame_state, (uint64_t)state_number(w, GEN_EXECUTING));
	world_show(w);
	CHECK(gen_read(&w->r, gen, &g) == ERR_OK && g.state == GEN_EXECUTING && !g.awaits);
	world_put_field(w, gen, w->lay.gen_frame_state, (uint64_t)state_number(w, GEN_CLEARED));
	world_show(w);
	CHECK(gen_read(&w->r, gen, &g) == ERR_OK && g.state == GEN_CLEARED && !g.frame);
	world_put_field(w, gen, w->lay.gen_frame_state, 99);
	world_show(w);
	CHECK_EQUAL(gen_read(&w->r, gen, &g), ERR_SHAPE);
	world_put_field(w, gen, w->lay.gen_frame_state, (uint64_t)state_number(w, GEN_SUSPENDED));
	world_put_field(w, frame, w->lay.frame_owner, 0);
	world_show(w);
	CHECK_EQUAL(gen_read(&w->r, gen, &g), ERR_SHAPE);
	CHECK_EQUAL(gen_read(&w->r, plain, &g), ERR_SHAPE);
}

int main(void)
{
	static void (*const tests[])(struct world * w) = {test_lists, test_stack, test_entries,
							  test_generators};

	for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++) {
		for (size_t t = 0; t < sizeof(tests) / sizeof(tests[0]); t++) {
			struct world *w = world_create(versions[v]);

			tests[t](w);
			world_destroy(w);
		}
	}
	return check_result("frames");
}
