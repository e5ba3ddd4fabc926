/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shapes of _Py_DebugOffsets: Include/internal/pycore_runtime.h in 3.13, pycore_debug_offsets.h from 3.14. After the cookie, the version and the
 * free-threaded flag come numbers of eight bytes; each shape below is the sequence of what they mean.
 */
#include "unwind/layout/debug_offsets.h"

#include "unwind/layout/rows.h"
#include "unwind/layout/table.h"

#include <string.h>

#define HEAD_BYTES   24
#define NUMBERS_MOST 160
#define SIZE_MOST    (16u << 20)

enum meaning {
	END,
	SKIP, /* not needed */
	STRUCT, /* size of the structure that the next offsets are in */
	SIZE, /* likewise, and a row of fields.def */
	OFFSET, /* a row of fields.def */
};

struct number {
	uint8_t meaning;
	uint8_t row;
	uint8_t appendable; /* SIZE: releases of one minor version append to it, so another size means no move */
};

_Static_assert(LAYOUT_ROW_COUNT < 256, "struct number holds a row in one byte");

/* One structure a line or paragraph. */
/* clang-format off */
#define S	{SKIP, 0, 0}
#define ST	{STRUCT, 0, 0}
#define SZ(row)	{SIZE, LAYOUT_ROW_##row, 0}
#define SZA(row) {SIZE, LAYOUT_ROW_##row, 1}
#define F(row)	{OFFSET, LAYOUT_ROW_##row, 0}

#define RUNTIME ST, S, F(runtime_interpreters_head)
#define CODE	ST, F(code_filename), F(code_name), F(code_qualname), F(code_linetable), F(code_firstlineno), \
		S /* argcount */, F(code_localsplusnames), F(code_localspluskinds), F(code_code_adaptive)
#define OBJECT	SZ(object_sizeof), F(object_type)
#define TUPLE	ST, F(tuple_item), S /* ob_size */
#define LIST	ST, F(list_item), F(var_size)
#define SET	ST, F(set_used), F(set_table), F(set_mask)
#define DICT	ST, F(dict_keys), F(dict_values)
#define FLOAT	ST, F(float_value)
#define LONG	ST, F(long_tag), F(long_digit)
#define BYTES	ST, F(var_size), F(bytes_value)
#define GEN	ST, F(gen_name), F(gen_iframe), F(gen_frame_state)

static const struct number shape_3_13[] = {
	RUNTIME,
	ST, F(interp_id), F(interp_next), F(interp_threads_head), F(interp_gc), F(interp_sys_modules),
	S, S /* sysdict, builtins */, F(interp_gil), S, S, S, S /* gil_runtime_state… */,
	SZA(thread_sizeof), S /* prev */, F(thread_next), F(thread_interp), F(thread_current_frame),
	F(thread_thread_id), F(thread_native_thread_id), S, S /* datastack_chunk, status */,
	ST, F(frame_previous), F(frame_executable), F(frame_instr), F(frame_localsplus), F(frame_owner),
	CODE,
	OBJECT,
	ST, F(type_name), S /* tp_repr */, F(type_flags),
	TUPLE, LIST, DICT, FLOAT, LONG, BYTES,
	ST, F(str_state), F(str_length), SZ(str_sizeof_ascii),
	ST, F(gc_collecting),
	{END, 0, 0},
};

#define INTERP_3_14 \
	ST, F(interp_id), F(interp_next), F(interp_threads_head), S /* threads_main */, F(interp_gc), \
	F(interp_sys_modules), S, S /* sysdict, builtins */, F(interp_gil), S, S, S, S /* gil_runtime_state… */, \
	S, S /* code_object_generation, tlbc_generation */
#define FRAME_3_14 \
	ST, F(frame_previous), F(frame_executable), F(frame_instr), F(frame_localsplus), F(frame_owner), \
	F(frame_stackpointer), S /* tlbc_index */

static const struct number shape_3_14[] = {
	RUNTIME,
	INTERP_3_14,
	SZA(thread_sizeof), S /* prev */, F(thread_next), F(thread_interp), F(thread_current_frame),
	F(thread_thread_id), F(thread_native_thread_id), S, S /* datastack_chunk, status */,
	FRAME_3_14,
	CODE, S /* co_tlbc */,
	OBJECT,
	ST, F(type_name), S /* tp_repr */, F(type_flags),
	TUPLE, LIST, SET, DICT, FLOAT, LONG, BYTES,
	ST, F(str_state), F(str_length), SZ(str_sizeof_ascii),
	ST, F(gc_collecting),
	GEN,
	{END, 0, 0},
};

static const struct number shape_3_15[] = {
	RUNTIME,
	INTERP_3_14,
	SZA(thread_sizeof), S /* prev */, F(thread_next), F(thread_interp), F(thread_current_frame),
	S, S, S /* base_frame, last_profiled_frame… */, F(thread_thread_id), F(thread_native_thread_id),
	S, S, S, S, S, S /* datastack_chunk … exc_state */,
	S /* err_stackitem */,
	FRAME_3_14,
	CODE, S /* co_tlbc */,
	OBJECT,
	ST, F(type_name), S /* tp_repr */, F(type_flags), F(type_basicsize), F(type_dictoffset),
	ST, F(heaptype_cached_keys),
	TUPLE, LIST, SET, DICT, FLOAT, LONG, BYTES,
	ST, F(str_state), F(str_length), SZ(str_sizeof_ascii), SZ(str_sizeof_compact),
	ST, F(gc_collecting), S, S, S /* frame, generation_stats_size, generation_stats */,
	GEN,
	{END, 0, 0},
};
/* clang-format on */

static const struct number *shape_of(uint32_t version)
{
	switch (layout_minor(version)) {
	case 0x030d:
		return shape_3_13;
	case 0x030e:
		return shape_3_14;
	case 0x030f:
		return shape_3_15;
	default:
		return NULL;
	}
}

static size_t shape_length(const struct number *shape)
{
	size_t n = 0;

	while (shape[n].meaning != END)
		n++;
	return n;
}

/* Fields of these structures may be anywhere without saying anything on those that the debug offsets leave out. */
static bool free_to_move(size_t row)
{
	const char *group = layout_rows[row].group;

	return !strcmp(group, "runtime") || !strcmp(group, "interp") || !strcmp(group, "thread") ||
	       !strcmp(group, "gc");
}

static enum err take(const struct number *n, uint64_t value, uint64_t *bound, struct layout *ret,
		     bool *moved)
{
	const struct layout_row *row = &layout_rows[n->row];
	struct field *f;

	switch (n->meaning) {
	case SIZE:
		if (!value || value >= FIELD_ABSENT)
			return ERR_SHAPE;
		*moved |= !n->appendable && row_size_const(ret, row) != value;
		*row_size(ret, row) = (uint32_t)value;
		*bound = value;
		return ERR_OK;
	case STRUCT:
		*bound = value;
		return value && value <= SIZE_MOST ? ERR_OK : ERR_SHAPE;
	case OFFSET:
		f = row_field(ret, row);
		if (!field_present(*f) || value >= FIELD_ABSENT || value + f->size > *bound ||
		    (f->size && value % f->size))
			return ERR_SHAPE;
		*moved |= f->offset != value && !free_to_move(n->row);
		f->offset = (uint16_t)value;
		return ERR_OK;
	default:
		return ERR_OK;
	}
}

/* The bit fields of a str's state move with it. */
static void move_str_state(struct layout *lay, uint16_t before)
{
	struct field *bits[] = {&lay->str_kind, &lay->str_compact, &lay->str_ascii};

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		bits[i]->offset = (uint16_t)(bits[i]->offset - before + lay->str_state.offset);
}

enum err debug_offsets_fill(struct mem *mem, struct layout *ret, bool *moved_ret, struct error *e)
{
	const struct number *shape = shape_of(ret->version);
	uint16_t state_before = ret->str_state.offset;
	uint64_t head[HEAD_BYTES / 8], numbers[NUMBERS_MOST], bound = 0;
	size_t count = shape ? shape_length(shape) : 0;

	*moved_ret = false;
	if (!count || count > NUMBERS_MOST || mem_read(mem, ret->runtime, head, sizeof(head)) ||
	    mem_read(mem, ret->runtime + HEAD_BYTES, numbers, count * sizeof(numbers[0])))
		return error_set(e, ERR_SHAPE, 0, "no debug offsets");
	if (memcmp(head, "xdebugpy", 8) != 0 || head[1] != ret->version)
		return error_set(e, ERR_SHAPE, 0, "debug offsets of another version");
	for (size_t i = 0; i < count; i++) {
		if (take(&shape[i], numbers[i], &bound, ret, moved_ret))
			return error_set(e, ERR_SHAPE, 0,
					 "number %zu of the debug offsets is absurd", i);
	}
	move_str_state(ret, state_before);
	/* 3.13 appended to PyThreadState in a bug-fix release; the running loop is the first member after it (Include/internal/pycore_tstate.h). */
	if (layout_minor(ret->version) == 0x030d)
		ret->thread_running_loop.offset = (uint16_t)ret->thread_sizeof;
	return ERR_OK;
}
