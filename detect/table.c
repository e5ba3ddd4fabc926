/* SPDX-License-Identifier: Apache-2.0 */
/* The table of detectors, and running them. */
#include "detect/detectors.h"

const struct detector detectors[] = {
	{"await-cycle", "tasks wait for each other in a ring", SEVERITY_CRITICAL,
	 detect_await_cycle},
	{"blocked-loop", "one callback holds the loop's thread", SEVERITY_CRITICAL,
	 detect_blocked_loop},
	{"cancelled-timer-leak", "cancelled timers stay in the loop's heap", SEVERITY_WARNING,
	 detect_cancelled_timer_leak},
	{"dead-loop", "tasks are pending and nothing can ever wake the loop", SEVERITY_CRITICAL,
	 detect_dead_loop},
	{"enter-task-window", "a task is entered for a loop by a thread that does not run it",
	 SEVERITY_CRITICAL, detect_enter_task_window},
	{"executor-saturated", "every worker of the default executor is busy, and calls are queued",
	 SEVERITY_WARNING, detect_executor_saturated},
	{"gil-starved", "the loop's thread wants the GIL, and another keeps it", SEVERITY_WARNING,
	 detect_gil_starved},
	{"lost-wakeup", "a task waits on what nobody else holds, or on a free lock",
	 SEVERITY_CRITICAL, detect_lost_wakeup},
	{"never-retrieved", "a finished future holds an exception that nobody has looked at",
	 SEVERITY_INFO, detect_never_retrieved},
	{"ready-backlog", "more callbacks are ready than the loop gets done", SEVERITY_WARNING,
	 detect_ready_backlog},
	{"shared-loop", "one loop is the running loop of several threads", SEVERITY_CRITICAL,
	 detect_shared_loop},
	{"stalled-loop", "callbacks wait while the loop sleeps, since nothing woke it",
	 SEVERITY_CRITICAL, detect_stalled_loop},
	{"swallowed-cancel", "a task was asked to cancel and went on waiting", SEVERITY_WARNING,
	 detect_swallowed_cancel},
	{0},
};

_Static_assert(sizeof(detectors) / sizeof(detectors[0]) <= DETECTORS_MAX, "a set has 32 bits");

const struct detector *detector_find(struct str id)
{
	for (const struct detector *d = detectors; d->id; d++) {
		if (str_is(id, d->id))
			return d;
	}
	return NULL;
}

enum err detect_run(struct detection *d, uint32_t set)
{
	enum err err = ERR_OK;

	findings_clear(d->now);
	for (uint32_t i = 0; detectors[i].id && err == ERR_OK; i++) {
		if (set >> i & 1)
			err = detectors[i].run(d);
	}
	findings_sort(d->now);
	return err == ERR_OK && d->now->out_of_memory ? ERR_NOMEM : err;
}
