/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who holds the future that a task waits on: its reference count, less what the waiting tasks themselves account for. None left: nobody can ever end it. Every
 * reference that is not accounted for counts as somebody's, and where one could come out of nothing (a weak reference) nothing is said.
 *
 * Accounted for are the task's fut_waiter, the iterator that awaits it (Modules/_asynciomodule.c, FutureIter), variables and stack slots of the frames of the chain
 * (borrowed references of 3.14's stack slots are not in the count), and cells that no function holds.
 */
#include "unwind/asyncio/asyncio.h"

#include <stdlib.h>

#define NAMES_MAX     1000u
#define CALLBACKS_MAX 100u
#define COUNT_MAX   \
	((int64_t)1 \
	 << 28) /* more, or negative in 32 bits: immortal (Include/refcount.h, 3.12 on) */

struct held_future {
	vaddr future;
	uint32_t task; /* row */
	int64_t count; /* all references to it */
	int64_t own; /* of these, the task's */
};

/* Strong references to an object; -1 where they are not counted. */
static int64_t reference_count(struct reader *r, vaddr object)
{
	int64_t count;

	if (r->lay->free_threaded || read_int(r, object, r->lay->object_refcount, &count) != ERR_OK)
		return -1;
	return count > 0 && count < COUNT_MAX ? count : -1;
}

/* A weak reference can become a strong one at any time. */
static bool may_be_weakly_held(struct reader *r, vaddr object, const struct type_info *t)
{
	int64_t offset;
	vaddr list;

	if (read_int(r, t->at, r->lay->type_weaklistoffset, &offset) != ERR_OK)
		return true;
	if (!offset)
		return false;
	return read_u64(r, object + (vaddr)offset, &list) != ERR_OK || list;
}

/* What one slot of a frame adds to the count of `future`. */
static uint32_t slot_references(struct reader *r, uint64_t slot, vaddr future)
{
	vaddr object = stackref_object(r, slot), inner = 0;
	const struct type_info *t;

	if (!object || object != slot) /* a borrowed reference is not counted */
		return 0;
	if (object == future)
		return 1;
	if (type_of(r, object, &t) != ERR_OK)
		return 0;
	if (t->kind == TYPE_FUTURE_ITER)
		return read_ptr(r, object, r->lay->futureiter_future, &inner) == ERR_OK &&
		       inner == future;
	if (t->kind != TYPE_CELL || reference_count(r, object) != 1)
		return 0;
	return read_ptr(r, object, r->lay->cell_ref, &inner) == ERR_OK && inner == future;
}

/* *named_ret: a variable of the frame is the future. */
static enum err frame_references(struct reader *r, const struct frame_walk *frame, vaddr future,
				 uint32_t *count_ret, bool *named_ret)
{
	struct frame_slots slots;
	enum err err = frame_slots_read(r, frame, &slots);

	*named_ret = false;
	for (uint32_t i = 0; err == ERR_OK && i < slots.count; i++) {
		uint32_t n = slot_references(r, slots.v[i], future);

		*count_ret += n;
		*named_ret |= n && i < slots.variables;
	}
	return err;
}

/* Does the code speak of making a future? */
static bool makes_futures(struct reader *r, const struct code_info *info)
{
	struct items names;
	vaddr tuple;

	if (read_ptr(r, info->at, r->lay->code_names, &tuple) != ERR_OK ||
	    object_tuple(r, tuple, NAMES_MAX, &names) != ERR_OK)
		return false;
	for (uint32_t i = 0; i < names.count; i++) {
		if (object_str_is(r, names.v[i], "create_future") ||
		    object_str_is(r, names.v[i], "Future"))
			return true;
	}
	return false;
}

/* Lib/asyncio/base_events.py: the loop runs until this task is done. */
static bool is_main_task(struct reader *r, const struct future_view *task)
{
	struct items callbacks;
	struct str name;

	if (future_callbacks(r, task, CALLBACKS_MAX, &callbacks) != ERR_OK)
		return false;
	for (uint32_t i = 0; i < callbacks.count; i++) {
		if (callable_name(r, callbacks.v[i], &name) == ERR_OK &&
		    str_is(name, "_run_until_complete_cb"))
			return true;
	}
	return false;
}

/*
 * References to the task from the future that it waits on: its wake-up, a builtin or method bound to it, and from 3.14 on awaited_by. The future's other callbacks
 * count as somebody's.
 */
static int64_t references_back(struct reader *r, const struct future_view *task,
			       const struct future_view *future)
{
	struct items callbacks;
	const struct type_info *t;
	vaddr self = 0;
	int64_t count = 0;

	if (future_callbacks(r, future, CALLBACKS_MAX, &callbacks) != ERR_OK)
		return 0;
	for (uint32_t i = 0; i < callbacks.count; i++) {
		struct field f = r->lay->cfunction_self;

		if (type_of(r, callbacks.v[i], &t) != ERR_OK ||
		    (t->kind != TYPE_BUILTIN && t->kind != TYPE_METHOD))
			continue;
		if (t->kind == TYPE_METHOD)
			f = r->lay->method_self;
		count += read_ptr(r, callbacks.v[i], f, &self) == ERR_OK && self == task->at;
	}
	if (field_present(r->lay->task_awaited_by) && future->type->kind == TYPE_C_FUTURE)
		count += read_ptr(r, future->at, r->lay->task_awaited_by, &self) == ERR_OK &&
			 self == task->at;
	return count;
}

static struct held_future *add_row(struct asyncio *a)
{
	if (!a->held)
		a->held = arena_alloc(a->r->scratch,
				      ((size_t)a->r->model->tasks.count + 1) * sizeof(*a->held));
	/* Once a task. */
	return a->held && a->held_count < a->r->model->tasks.count ? &a->held[a->held_count++]
								   : NULL;
}

static void judge_intent(struct asyncio *a, const struct future_view *task,
			 const struct await_chain *chain, bool named, struct await *w)
{
	uint32_t i = chain->count;

	while (i > 0 && chain->v[i - 1].position.info->asyncio)
		i--;
	w->for_ever = i > 0 && makes_futures(a->r, chain->v[i - 1].position.info) &&
		      (!named || is_main_task(a->r, task));
}

void holders_count(struct asyncio *a, uint32_t row, const struct future_view *task,
		   const struct await_chain *chain)
{
	struct reader *r = a->r;
	struct await *w = &r->model->tasks.v[row].awaits;
	struct held_future h = {.future = task->fut_waiter, .task = row, .own = 1};
	struct future_view future;
	struct held_future *kept;
	uint32_t in_frames = 0;
	bool named = false;
	int64_t back, count;

	if (w->kind != AWAITS_FUTURE || w->done || !h.future || w->id != h.future ||
	    !chain->count || chain->damaged || chain->truncated ||
	    future_read(r, h.future, &future) != ERR_OK || future.is_task || future.state != 0 ||
	    may_be_weakly_held(r, h.future, future.type))
		return;
	for (uint32_t i = 0; i < chain->count; i++) {
		bool here;

		if (!chain->v[i].generator || frame_references(r, &chain->v[i].position, h.future,
							       &in_frames, &here) != ERR_OK)
			return;
		named |= here && !chain->v[i].position.info->asyncio;
	}
	h.own += in_frames;
	h.count = reference_count(r, h.future);
	kept = h.count > 0 ? add_row(a) : NULL;
	if (!kept)
		return;
	*kept = h;
	judge_intent(a, task, chain, named, w);
	back = references_back(r, task, &future);
	count = reference_count(r, task->at);
	if (count >= back)
		r->model->tasks.v[row].other_refs = count - back;
}

static int by_future(const void *left, const void *right)
{
	const struct held_future *a = left, *b = right;

	return a->future < b->future ? -1 : a->future > b->future;
}

void holders_finish(struct asyncio *a)
{
	struct model *m = a->r->model;
	uint32_t end;

	if (a->held_count)
		qsort(a->held, a->held_count, sizeof(*a->held), by_future);
	for (uint32_t start = 0; start < a->held_count; start = end) {
		int64_t others = a->held[start].count;

		for (end = start;
		     end < a->held_count && a->held[end].future == a->held[start].future; end++)
			others -= a->held[end].own;
		for (uint32_t i = start; i < end && others >= 0; i++)
			m->tasks.v[a->held[i].task].awaits.other_refs = others;
	}
}
