/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of the interpreter (Include/internal/pycore_frame.h, pycore_interpframe_structs.h): code, line, caller, variables, and a thread's whole stack. */
#include "unwind/object/internal.h"
#include "unwind/python/internal.h"

#include <string.h>

#define SLOTS_MAX 10000u

vaddr stackref_object(const struct reader *r, uint64_t slot)
{
	uint64_t tags = ~r->lay->stackref_mask;

	/* All tag bits set: an integer, no object (Include/internal/pycore_stackref.h, Py_INT_TAG). */
	if (tags && (slot & tags) == tags)
		return 0;
	return slot & r->lay->stackref_mask;
}

/* Where the bytecode that the frame runs begins: free-threaded builds give each thread a copy (co_tlbc: {size, copies[]}). */
static vaddr bytecode_start(struct reader *r, const uint8_t *head, const struct code_info *info)
{
	const struct layout *lay = r->lay;
	uint64_t index, count;
	vaddr copies, start;

	if (!field_present(lay->code_tlbc) || !field_present(lay->frame_tlbc_index) ||
	    !field_decode(head, lay->frame_tlbc_index, &index) || !index)
		return info->code_adaptive;
	if (read_ptr(r, info->at, lay->code_tlbc, &copies) != ERR_OK || !copies ||
	    read_u64(r, copies, &count) != ERR_OK || index >= count ||
	    read_u64(r, copies + POINTER_SIZE * (index + 1), &start) != ERR_OK || !start)
		return info->code_adaptive;
	return start;
}

enum err frame_decode(struct reader *r, vaddr at, const uint8_t *head, struct frame_walk *ret)
{
	const struct layout *lay = r->lay;
	uint64_t previous, executable, instr, owner;
	enum err err;

	*ret = (struct frame_walk){.at = at};
	if (!field_decode(head, lay->frame_previous, &previous) ||
	    !field_decode(head, lay->frame_executable, &executable) ||
	    !field_decode(head, lay->frame_instr, &instr) ||
	    !field_decode(head, lay->frame_owner, &owner))
		return ERR_SHAPE;
	ret->previous = previous;
	ret->owner = (uint8_t)owner;
	if (owner >= lay->owner_skip_from)
		return ERR_SHAPE;
	ret->code = stackref_object(r, executable);
	err = code_read(r, ret->code, &ret->info);
	if (err != ERR_OK)
		return err;
	ret->line = code_line(r, ret->info, (int64_t)(instr - bytecode_start(r, head, ret->info)));
	return ERR_OK;
}

enum err frame_read(struct reader *r, vaddr at, struct frame_walk *ret)
{
	uint8_t buffer[FRAME_HEAD_MAX];
	uint32_t size = r->lay->frame_localsplus.offset;
	const uint8_t *head;
	enum err err;

	*ret = (struct frame_walk){.at = at};
	if (!object_plausible(at) || size > sizeof(buffer))
		return ERR_SHAPE;
	head = view(r, at, size, buffer, &err);
	return head ? frame_decode(r, at, head, ret) : err;
}

enum err thread_current_frame(struct reader *r, const struct thread_walk *t, vaddr *ret)
{
	const struct layout *lay = r->lay;
	vaddr cframe;
	enum err err;

	*ret = 0;
	if (!field_present(lay->thread_cframe))
		return read_ptr(r, t->at, lay->thread_current_frame, ret);
	err = read_ptr(r, t->at, lay->thread_cframe, &cframe);
	if (err != ERR_OK || !cframe)
		return err;
	return read_ptr(r, cframe, lay->cframe_current_frame, ret);
}

static enum err frames_grow(struct reader *r, struct frame_walk **v, uint32_t count, uint32_t *room)
{
	uint32_t wish = *room ? *room * 2 : 32;
	struct frame_walk *wider;
	enum err err;

	if (count < *room)
		return ERR_OK;
	if (wish < *room)
		return ERR_BOUND;
	err = scratch_alloc(r, wish, sizeof(*wider), &wider);
	if (err != ERR_OK)
		return err;
	if (count)
		memcpy(wider, *v, count * sizeof(*wider));
	*v = wider;
	*room = wish;
	return ERR_OK;
}

/* The chain of _PyCFrame on the C stack, one for each call of the evaluation loop (3.11, 3.12): who ends where the next older one begins. */
struct cframes {
	vaddr at; /* of the frames that are walked now, 0: there are none (any more) */
	vaddr previous, previous_frame; /* the next older one, and its innermost frame */
};

static void cframes_step(struct reader *r, struct cframes *c, vaddr at)
{
	const struct layout *lay = r->lay;

	*c = (struct cframes){.at = at};
	if (!at || read_ptr(r, at, lay->cframe_previous, &c->previous) != ERR_OK || !c->previous ||
	    read_ptr(r, c->previous, lay->cframe_current_frame, &c->previous_frame) != ERR_OK)
		*c = (struct cframes){.at = at};
}

static void cframes_start(struct reader *r, const struct thread_walk *t, vaddr innermost,
			  struct cframes *c)
{
	vaddr at = 0;

	if (field_present(r->lay->cframe_previous) &&
	    read_ptr(r, t->at, r->lay->thread_cframe, &at) != ERR_OK)
		at = 0;
	cframes_step(r, c, at);
	/* Just entered, or about to be left: no frame is its own. */
	if (c->at && c->previous_frame == innermost)
		cframes_step(r, c, c->previous);
}

/* `inner` is the frame inside of the one at `at` (0: it is the outermost); the first word counts. */
static void mark_entry(struct reader *r, struct cframes *c, struct frame_walk *inner, vaddr at)
{
	if (!c->at || (at && at != c->previous_frame))
		return;
	if (!inner->entry)
		inner->entry = c->at;
	cframes_step(r, c, c->previous);
}

enum err thread_frames(struct reader *r, const struct thread_walk *t, uint32_t max,
		       struct frame_walk **ret, uint32_t *count_ret, bool *truncated_ret)
{
	uint32_t room = 0;
	uint64_t seen = 0, mark_at = 1;
	vaddr at, mark = 0;
	struct cframes cframes;
	enum err err = thread_current_frame(r, t, &at);

	*ret = NULL;
	*count_ret = 0;
	*truncated_ret = false;
	if (err != ERR_OK)
		return err;
	cframes_start(r, t, at, &cframes);
	/* Python/ceval.c enters its cframe a few instructions before it writes there which frame that runs: what stands there is anything. */
	if (!at && cframes.at && cframes.previous_frame)
		r->mid_step = *truncated_ret = true;
	while (at) {
		struct frame_walk frame;

		/* A ring comes back to a mark; shims don't count, but must end too. */
		if (*count_ret >= max || at == mark || seen > (uint64_t)max * 2 + 16) {
			*truncated_ret = true;
			break;
		}
		if (*count_ret)
			mark_entry(r, &cframes, &(*ret)[*count_ret - 1], at);
		err = frame_read(r, at, &frame);
		if (err == ERR_OK) {
			err = frames_grow(r, ret, *count_ret, &room);
			if (err == ERR_OK)
				(*ret)[(*count_ret)++] = frame;
		} else if (err == ERR_SHAPE && frame.owner >= r->lay->owner_skip_from) {
			err = ERR_OK;
			if (*count_ret && !(*ret)[*count_ret - 1].entry)
				(*ret)[*count_ret - 1].entry = at;
		}
		if (err != ERR_OK) {
			*truncated_ret = true;
			r->mid_step |= *count_ret == 0;
			break;
		}
		if (++seen == mark_at) {
			mark = at;
			mark_at *= 2;
		}
		/* Python/bytecodes.c takes a generator off the stack in two steps: between them it has no caller. */
		if (!frame.previous && frame.owner == r->lay->owner_generator)
			r->mid_step = *truncated_ret = true;
		at = frame.previous;
	}
	if (*count_ret && !at)
		mark_entry(r, &cframes, &(*ret)[*count_ret - 1], 0);
	return error_is_hard(err) ? err : ERR_OK;
}

enum err frame_local(struct reader *r, vaddr frame, struct code_info *info, const char *name,
		     vaddr *ret)
{
	int32_t index;
	bool cell;
	uint64_t slot;
	enum err err = code_local(r, info, name, &index, &cell);

	*ret = 0;
	if (err != ERR_OK || index < 0)
		return err;
	err = read_u64(r, frame + r->lay->frame_localsplus.offset + (vaddr)index * POINTER_SIZE,
		       &slot);
	if (err != ERR_OK)
		return err;
	*ret = stackref_object(r, slot);
	/* Before MAKE_CELL has run, the slot of a cell variable holds the argument itself. */
	if (*ret && cell && object_expect(r, *ret, TYPE_CELL, NULL) == ERR_OK)
		return read_ptr(r, *ret, r->lay->cell_ref, ret);
	return ERR_OK;
}

/* The end of the value stack: a pointer from 3.14 on, a count of slots before. */
enum err frame_stack_top(struct reader *r, const uint8_t *head, vaddr frame,
			 const struct code_info *info, vaddr *ret)
{
	const struct layout *lay = r->lay;
	vaddr locals = frame + lay->frame_localsplus.offset, top;
	uint64_t slot;

	if (field_present(lay->frame_stackpointer)) {
		if (!field_decode(head, lay->frame_stackpointer, &top))
			return ERR_SHAPE;
	} else {
		if (!field_present(lay->frame_stacktop) ||
		    !field_decode(head, lay->frame_stacktop, &slot))
			return ERR_SHAPE;
		top = locals + (vaddr)field_extend(lay->frame_stacktop, slot) * POINTER_SIZE;
	}
	/* Above the variables, and no further than a stack can reach. */
	locals += (vaddr)info->nlocalsplus * POINTER_SIZE;
	if (top < locals || top % POINTER_SIZE || top > locals + (vaddr)STACK_MAX * POINTER_SIZE)
		return ERR_SHAPE;
	*ret = top;
	return ERR_OK;
}

static enum err top_of(struct reader *r, const struct frame_walk *frame, vaddr *ret)
{
	uint8_t buffer[FRAME_HEAD_MAX];
	const uint8_t *head;
	enum err err;

	if (r->lay->frame_localsplus.offset > sizeof(buffer))
		return ERR_SHAPE;
	head = view(r, frame->at, r->lay->frame_localsplus.offset, buffer, &err);
	return head ? frame_stack_top(r, head, frame->at, frame->info, ret) : err;
}

enum err frame_stack(struct reader *r, const struct frame_walk *frame, uint32_t max,
		     struct items *ret)
{
	vaddr top = 0, bottom;
	uint64_t slot;
	enum err err;

	*ret = (struct items){0};
	err = top_of(r, frame, &top);
	if (err != ERR_OK)
		return err;
	bottom = frame->at + r->lay->frame_localsplus.offset +
		 (vaddr)frame->info->nlocalsplus * POINTER_SIZE;
	if (top - bottom > (vaddr)max * POINTER_SIZE) {
		bottom = top - (vaddr)max * POINTER_SIZE;
		ret->truncated = true;
	}
	err = scratch_alloc(r, (uint32_t)((top - bottom) / POINTER_SIZE), sizeof(*ret->v), &ret->v);
	for (; err == ERR_OK && bottom < top; bottom += POINTER_SIZE) {
		err = read_u64(r, bottom, &slot);
		if (err == ERR_OK)
			ret->v[ret->count++] = stackref_object(r, slot);
	}
	return err;
}

enum err frame_slots_read(struct reader *r, const struct frame_walk *frame, struct frame_slots *ret)
{
	vaddr locals = frame->at + r->lay->frame_localsplus.offset, top = 0;
	enum err err;

	*ret = (struct frame_slots){.variables = frame->info->nlocalsplus};
	err = top_of(r, frame, &top);
	if (err != ERR_OK)
		return err;
	if (top - locals > (vaddr)SLOTS_MAX * POINTER_SIZE)
		return ERR_BOUND;
	ret->count = (uint32_t)((top - locals) / POINTER_SIZE);
	return pointers_read(r, locals, ret->count, &ret->v);
}
