/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop's default executor, Lib/concurrent/futures/thread.py. Who is idle is told by the workers' stacks: the executor's own semaphore counts more than
 * there are up to 3.11.
 */
#include "unwind/asyncio/loop_inner.h"
#include "unwind/asyncio/pool.h"

#define QUEUED_MAX 1000000u
/* Is this thread a worker that takes from the queue? *run_ret: number of the frame that runs a call, NONE while it is idle. */
static bool is_worker(struct reader *r, const struct thread_ref *t, vaddr queue, uint32_t *run_ret)
{
	for (uint32_t n = 0; n < t->frame_count && n < POOL_OUTER_FRAMES; n++) {
		uint32_t i = t->frame_count - 1 - n;
		const struct frame_walk *f = &t->frames[i];
		vaddr value = 0;

		if (!pool_is(f->info, "_worker"))
			continue;
		*run_ret = i > 0 && pool_is(t->frames[i - 1].info, "_WorkItem.run") ? i - 1 : NONE;
		return frame_local(r, f->at, f->info, "work_queue", &value) == ERR_OK &&
		       value == queue;
	}
	return false;
}

static void add_call(struct reader *r, const struct thread_ref *t, uint32_t run,
		     struct executor_state *e)
{
	const struct frame_walk *f = &t->frames[run];
	uint32_t row = model_add_call(r->model);
	struct executor_call *call;
	vaddr item = 0;

	if (row == NONE)
		return;
	if (!e->calls_count++)
		e->calls_first = row;
	call = &r->model->calls.v[row];
	call->thread = t->row;
	call->chain = pool_call_stack(r, t, run);
	if (frame_local(r, f->at, f->info, "self", &item) != ERR_OK)
		return;
	call->id = item;
	call->callable = pool_callable_name(r, pool_callable(r, item));
}

static void read_workers(struct asyncio *a, vaddr queue, struct executor_state *e)
{
	e->idle = 0;
	for (uint32_t i = 0; i < a->thread_count; i++) {
		uint32_t run;

		if (!is_worker(a->r, &a->threads[i], queue, &run))
			continue;
		if (run == NONE)
			e->idle++;
		else
			add_call(a->r, &a->threads[i], run, e);
	}
}

static int64_t length_of(struct reader *r, vaddr object, const char *name)
{
	vaddr value = 0;
	int64_t length;

	if (attr_get(r, object, name, &value) != ERR_OK || !value ||
	    object_length(r, value, &length) != ERR_OK)
		return -1;
	return length;
}

enum err executor_read(struct asyncio *a, vaddr executor, struct loop *l)
{
	struct reader *r = a->r;
	const struct type_info *t;
	struct executor_state e = {.present = true, .max_workers = -1, .idle = -1, .queued = -1};
	struct items queued;
	vaddr queue = 0;

	l->executor_read = !executor;
	if (!executor)
		return ERR_OK;
	if (type_of(r, executor, &t) != ERR_OK ||
	    !type_is(r, t, "concurrent.futures.thread", "ThreadPoolExecutor"))
		return ERR_OK;
	e.workers = length_of(r, executor, "_threads");
	if (attr_long(r, executor, "_max_workers", &e.max_workers) != ERR_OK)
		e.max_workers = -1;
	if (attr_get(r, executor, "_work_queue", &queue) == ERR_OK && queue) {
		if (object_simplequeue(r, queue, QUEUED_MAX, &queued) == ERR_OK) {
			e.queued = queued.count;
			e.next = queued.count ? queued.v[0] : 0;
		}
		read_workers(a, queue, &e);
	}
	l->executor = e;
	l->executor_read = true;
	return ERR_OK;
}
