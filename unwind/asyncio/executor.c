/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop's default executor, Lib/concurrent/futures/thread.py. Who is idle is told by the workers' stacks: the executor's own semaphore counts more than
 * there are up to 3.11.
 */
#include "unwind/asyncio/loop_inner.h"

#define QUEUED_MAX   1000000u
#define OUTER_FRAMES 64u /* of a thread's stack, from the outermost: where workers begin */

static bool is_of_pool(const struct code_info *info, const char *function)
{
	return str_is(info->qualname, function) &&
	       str_ends_with(info->file, "/concurrent/futures/thread.py");
}

/* Is this thread a worker that takes from the queue, and does it run a call? */
static bool is_worker(struct reader *r, const struct thread_ref *t, vaddr queue, bool *busy_ret)
{
	for (uint32_t n = 0; n < t->frame_count && n < OUTER_FRAMES; n++) {
		uint32_t i = t->frame_count - 1 - n;
		const struct frame_walk *f = &t->frames[i];
		vaddr value = 0;

		if (!is_of_pool(f->info, "_worker"))
			continue;
		*busy_ret = i > 0 && is_of_pool(t->frames[i - 1].info, "_WorkItem.run");
		return frame_local(r, f->at, f->info, "work_queue", &value) == ERR_OK &&
		       value == queue;
	}
	return false;
}

static int64_t count_idle(struct asyncio *a, vaddr queue)
{
	int64_t idle = 0;

	for (uint32_t i = 0; i < a->thread_count; i++) {
		bool busy = false;

		if (is_worker(a->r, &a->threads[i], queue, &busy) && !busy)
			idle++;
	}
	return idle;
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
		if (object_simplequeue(r, queue, QUEUED_MAX, &queued) == ERR_OK)
			e.queued = queued.count;
		e.idle = count_idle(a, queue);
	}
	l->executor = e;
	l->executor_read = true;
	return ERR_OK;
}
