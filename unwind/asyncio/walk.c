/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One walk over everything that is shown: interpreters, threads, tasks, loops, then each task's chain and wait. The order matters: all task rows
 * exist before the first wait is described, so that any task can be found by its address.
 */
#include "unwind/asyncio/asyncio.h"

#include <math.h>
#include <time.h>

#define THREAD_FRAMES_MAX 5000u

/* A soft error is a mark in the picture; time over and hard errors end the walk. */
static bool ends_walk(enum err err)
{
	return err == ERR_DEADLINE || error_is_hard(err);
}

static double target_now(const struct reader *r)
{
	struct timespec ts;
	double offset = r->target ? proc_monotonic_offset(r->target->pid) : 0;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9 + offset;
}

static enum err add_thread_state(struct asyncio *a, const struct thread_walk *walk,
				 uint32_t interpreter)
{
	struct reader *r = a->r;
	struct thread_ref *ref = &a->threads[a->thread_count];
	enum err err;

	*ref = (struct thread_ref){.walk = *walk, .row = threads_find_row(r, walk->tid)};
	a->thread_count++;
	err = thread_frames(r, walk, THREAD_FRAMES_MAX, &ref->frames, &ref->frame_count,
			    &ref->frames_truncated);
	if (ends_walk(err))
		return err;
	threads_place(a, ref, interpreter);
	threads_name(a, ref);
	return ERR_OK;
}

/* The thread states of one interpreter, before they have rows. */
struct thread_list {
	struct thread_walk *v;
	uint32_t count;
};

static enum err list_threads(struct asyncio *a, uint32_t interpreter, struct thread_list *ret)
{
	struct model *m = a->r->model;
	bool truncated = false;
	enum err err = threads_read(a->r, &a->interps[interpreter], THREADS_MAX, &ret->v,
				    &ret->count, &truncated);

	if (ends_walk(err))
		return err;
	if (err != ERR_OK)
		ret->count = 0;
	m->threads_truncated |= truncated || err != ERR_OK;
	return ERR_OK;
}

static enum err add_interpreters(struct asyncio *a)
{
	struct reader *r = a->r;
	struct thread_list *lists;
	uint32_t total = 0;
	bool truncated = false;
	enum err err = interps_read(r, INTERPRETERS_MAX, &a->interps, &a->interp_count, &truncated);

	if (err != ERR_OK)
		return err;
	lists = arena_alloc(r->scratch, a->interp_count * sizeof(*lists));
	if (!lists)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < a->interp_count; i++) {
		if (model_add_interpreter(r->model, (uint64_t)a->interps[i].id) == NONE)
			return ERR_NOMEM;
		err = list_threads(a, i, &lists[i]);
		if (err != ERR_OK)
			return err;
		total += lists[i].count;
	}
	r->model->threads_truncated |= truncated;
	a->threads = arena_alloc(r->scratch, total * sizeof(*a->threads));
	if (!a->threads)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < a->interp_count; i++) {
		for (uint32_t j = 0; j < lists[i].count; j++) {
			err = add_thread_state(a, &lists[i].v[j], i);
			if (err != ERR_OK)
				return err;
		}
	}
	return ERR_OK;
}

uint32_t walk_push(struct reader *r, uint32_t outer, const struct frame_walk *f)
{
	struct model *m = r->model;
	uint32_t frame = model_intern_frame(m, f->info->qualname, f->info->file, f->line);

	if (frame == NONE)
		return NONE;
	m->frames.v[frame].library = f->info->asyncio || f->info->anyio;
	return model_push(m, outer, frame);
}

static enum task_state state_of(struct asyncio *a, uint32_t row, const struct future_view *f)
{
	const struct model *m = a->r->model;
	uint32_t loop = m->tasks.v[row].loop;

	if (f->state == 1)
		return TASK_CANCELLED;
	if (f->state == 2)
		return TASK_DONE;
	if (f->state != 0)
		return TASK_UNKNOWN;
	return loop != NONE && m->loops.v[loop].current_task == row ? TASK_RUNNING : TASK_PENDING;
}

static enum err fill_chain(struct asyncio *a, uint32_t row, const struct future_view *f)
{
	struct model *m = a->r->model;
	struct await_chain chain = {0};
	struct wait_context wait = {.a = a, .task = row, .future = f, .chain = &chain};
	uint32_t node = NONE;
	enum err err = await_chain_read(a, f->coro, &chain);

	if (ends_walk(err))
		return err;
	for (uint32_t i = 0; i < chain.count; i++)
		node = walk_push(a->r, node, &chain.v[i].position);
	m->tasks.v[row].chain = node;
	m->tasks.v[row].thread = chain.thread ? chain.thread->row : NONE;
	/* On a thread's stack without being current: the task whose step started an eager one. */
	if (chain.leaf_state == GEN_EXECUTING && m->tasks.v[row].state == TASK_PENDING)
		m->tasks.v[row].state = TASK_RUNNING;
	m->tasks.v[row].chain_truncated = chain.truncated;
	m->tasks.v[row].damaged |= chain.damaged || err != ERR_OK;
	if (m->tasks.v[row].cancelling)
		m->tasks.v[row].handling = err != ERR_OK || await_chain_handles(a->r, &chain);
	if (err == ERR_OK)
		err = waits_describe(&wait);
	if (err == ERR_OK && a->loop_state)
		holders_count(a, row, f, &chain);
	if (err != ERR_OK && !ends_walk(err)) {
		m->tasks.v[row].damaged = true;
		err = ERR_OK;
	}
	return err;
}

static enum err fill_task(struct asyncio *a, uint32_t row)
{
	struct reader *r = a->r;
	struct task *t = &r->model->tasks.v[row];
	struct future_view f = {0};
	uint32_t loop;
	enum err err = future_read(r, t->id, &f);

	if (err != ERR_OK) {
		t->damaged = true;
		t->state = TASK_UNKNOWN;
		t->awaits.kind = AWAITS_NOTHING;
		return ends_walk(err) ? err : ERR_OK;
	}
	t->cls = model_intern_string(r->model, f.type->name);
	t->must_cancel = f.must_cancel;
	t->cancelling = f.cancelling;
	loop = loop_row(a, f.loop, tasks_interpreter(a, row));
	r->model->tasks.v[row].loop = loop;
	err = task_name(r, &f, &t->name);
	if (ends_walk(err))
		return err;
	t->damaged |= err != ERR_OK;
	t->state = state_of(a, row, &f);
	if (t->state == TASK_DONE || t->state == TASK_CANCELLED) {
		t->awaits.kind = AWAITS_NOTHING;
		leftover_note(a, &f);
		return ERR_OK;
	}
	return fill_chain(a, row, &f);
}

enum err asyncio_walk(struct reader *r, bool thread_stacks, bool loop_state)
{
	struct asyncio a = {.r = r, .now = target_now(r), .loop_state = loop_state};
	enum err err;

	threads_add_rows(r);
	err = add_interpreters(&a);
	for (uint32_t i = 0; err == ERR_OK && i < a.interp_count; i++)
		err = tasks_enumerate(&a, &a.interps[i]);
	if (err == ERR_OK) {
		tasks_prefetch(&a);
		err = loops_read(&a);
	}
	for (uint32_t i = 0; err == ERR_OK && i < r->model->tasks.count; i++)
		err = fill_task(&a, i);
	holders_finish(&a);
	if (err == ERR_OK && loop_state)
		err = loops_read_inner(&a);
	if (err == ERR_OK && thread_stacks)
		err = threads_fill(&a);
	if (mem_hard_error(r->mem) != ERR_OK)
		return mem_hard_error(r->mem);
	if (mem_deadline_hit(r->mem))
		return ERR_DEADLINE;
	return err == ERR_OK ? model_finish(r->model) : err;
}
