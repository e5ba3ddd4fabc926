/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared-loop, where the current task belongs to the thread: a loop is the running loop of two threads at one moment. A thread has a running loop only while it runs
 * that loop; a loop is run by one.
 */
#include "detect/detectors.h"

#include "detect/windows.h"

static bool is_shared(const struct model *m, uint32_t loop, uint32_t *task_ret,
		      uint32_t *thread_ret)
{
	uint32_t other = looks_intruder(m, loop);

	if (other == NONE)
		return false;
	*thread_ret = other;
	*task_ret = m->threads.v[other].task;
	return true;
}

static void say(const struct detection *d, const struct windows *w)
{
	struct model *m = d->now;
	uint32_t f = finding_add(m, "shared-loop", SEVERITY_CRITICAL);
	uint32_t own = m->loops.v[w->loop].thread;
	struct str at = looks_place(m, w->frame), often = windows_often(d, w);
	struct str owner = own == NONE ? STR_LIT("?") : m->threads.v[own].name;

	if (f == NONE)
		return;
	if (w->task == NONE)
		finding_summary(
			m, f,
			"thread %.*s has the loop of thread %.*s as its running loop%.*s, at %.*s",
			STR_ARG(w->thread_name), STR_ARG(owner), STR_ARG(often), STR_ARG(at));
	else
		finding_summary(
			m, f,
			"thread %.*s has the loop of thread %.*s as its running loop%.*s and has entered task %.*s, at %.*s",
			STR_ARG(w->thread_name), STR_ARG(owner), STR_ARG(often),
			STR_ARG(w->task_name), STR_ARG(at));
	windows_say(d, w, f);
	finding_advice(
		m, f,
		"hand the coroutine to asyncio.run_coroutine_threadsafe: a loop and its objects belong to one thread");
}

enum err detect_shared_loop(struct detection *d)
{
	for (uint32_t i = 0; d->now->target.thread_tasks && i < d->now->loops.count; i++) {
		struct windows w;

		if (windows_find(d, i, is_shared, &w))
			say(d, &w);
	}
	return ERR_OK;
}
