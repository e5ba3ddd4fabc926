/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enter-task-window, where the current task belongs to the loop: it is set while the thread that runs the loop is not in a step of that task. Every step that the loop
 * begins meanwhile fails.
 *
 * A task is current a little longer than its coroutine executes: asyncio schedules what waits for its result, and starts it, with no frame of the coroutine on the
 * stack. So either another thread executes the coroutine, or the loop's thread must be seen outside of all callbacks.
 */
#include "detect/detectors.h"

#include "base/cleanup.h"
#include "detect/windows.h"

#include <stdlib.h>

/* Between callbacks or in the selector. Loops can be run within a callback of a loop: then it is inside of one. */
static bool outside_callbacks(const struct model *m, uint32_t chain)
{
	bool in_turn = false;

	for (; chain != NONE; chain = m->chains.v[chain].outer) {
		const struct frame *f = &m->frames.v[m->chains.v[chain].frame];

		if (f->library && str_ends_with(f->function, "Handle._run"))
			return false;
		in_turn |= f->library && str_ends_with(f->function, "._run_once");
	}
	return in_turn;
}

static bool is_window(const struct model *m, uint32_t loop, uint32_t *task_ret,
		      uint32_t *thread_ret)
{
	const struct loop *l = &m->loops.v[loop];
	uint32_t executes, other;

	if (!l->inner_read || l->current_task == NONE || l->thread == NONE)
		return false;
	*task_ret = l->current_task;
	executes = m->tasks.v[l->current_task].thread;
	other = looks_intruder(m, loop);
	*thread_ret = executes != NONE ? executes : other;
	if (executes != NONE)
		return executes != l->thread;
	if (!outside_callbacks(m, m->threads.v[l->thread].chain))
		return false;
	/* That memory reads the same thrice is a proof of less than that nothing ran. */
	return other != NONE || m->snapshot.method != SNAPSHOT_VALIDATED;
}

/* The newest look's ready queue: steps and wake-ups of tasks that will fail, and what is cancelled and only still there. */
struct targets {
	uint32_t *alive, *cancelled;
	uint32_t alive_count, cancelled_count;
};

static void sort_ready(const struct model *m, const struct loop *l, struct targets *t)
{
	for (uint32_t i = 0; i < l->ready_rows; i++) {
		uint32_t row = l->ready_first + i;
		const struct handle *h = &m->handles.v[row];

		if (h->cancelled)
			t->cancelled[t->cancelled_count++] = row;
		else if (h->kind == HANDLE_TASK_STEP || h->kind == HANDLE_TASK_WAKEUP)
			t->alive[t->alive_count++] = row;
	}
}

/* "5 task steps in the ready queue will fail" */
static struct str harm(struct model *m, uint32_t steps)
{
	if (!steps)
		return STR_LIT("a task step that the loop begins meanwhile fails");
	if (steps == 1)
		return STR_LIT("1 task step in the ready queue will fail");
	return model_printf(m, "%u task steps in the ready queue will fail", steps);
}

static void say(const struct detection *d, const struct windows *w, const struct targets *t)
{
	struct model *m = d->now;
	uint32_t most = t->alive_count > w->targets ? t->alive_count : w->targets;
	uint32_t f =
		finding_add(m, "enter-task-window", most ? SEVERITY_CRITICAL : SEVERITY_WARNING);
	struct str at = looks_place(m, w->frame), often = windows_often(d, w), bad = harm(m, most);

	if (f == NONE)
		return;
	if (w->thread == NONE)
		finding_summary(
			m, f,
			"task %.*s is entered%.*s although the loop's thread does not run it: %.*s",
			STR_ARG(w->task_name), STR_ARG(often), STR_ARG(bad));
	else
		finding_summary(
			m, f,
			"task %.*s is entered%.*s by thread %.*s, at %.*s, which does not run the loop: %.*s",
			STR_ARG(w->task_name), STR_ARG(often), STR_ARG(w->thread_name), STR_ARG(at),
			STR_ARG(bad));
	windows_say(d, w, f);
	evidence_count(m, f, "will_raise_count", most);
	if (t->alive_count)
		evidence_handles(m, f, "will_raise", t->alive, t->alive_count);
	if (t->cancelled_count)
		evidence_handles(m, f, "cancelled_in_ready", t->cancelled, t->cancelled_count);
	finding_advice(
		m, f,
		"hand the coroutine to asyncio.run_coroutine_threadsafe: a task must not be driven by a thread that does not run its loop");
}

enum err detect_enter_task_window(struct detection *d)
{
	for (uint32_t i = 0; !d->now->target.thread_tasks && i < d->now->loops.count; i++) {
		const struct loop *l = &d->now->loops.v[i];
		auto_free uint32_t *alive = calloc(l->ready_rows + 1ul, sizeof(*alive));
		auto_free uint32_t *cancelled = calloc(l->ready_rows + 1ul, sizeof(*cancelled));
		struct targets t = {.alive = alive, .cancelled = cancelled};
		struct windows w;

		if (!alive || !cancelled)
			return ERR_NOMEM;
		if (!windows_find(d, i, is_window, &w))
			continue;
		sort_ready(d->now, l, &t);
		say(d, &w, &t);
	}
	return ERR_OK;
}
