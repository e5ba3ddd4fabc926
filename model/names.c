/* SPDX-License-Identifier: Apache-2.0 */
/* contract.md's words, one table an enum. */
#include "model/names.h"

#include <stddef.h>

#define WORD(table, value) \
	((size_t)(value) < sizeof(table) / sizeof(*(table)) ? (table)[value] : NULL)

static const char *const task_states[] = {
	[TASK_PENDING] = "pending",
	[TASK_RUNNING] = "running",
	[TASK_DONE] = "done",
	[TASK_CANCELLED] = "cancelled",
};

static const char *const await_kinds[] = {
	[AWAITS_TASK] = "task",		  [AWAITS_GATHER] = "gather",
	[AWAITS_WAIT] = "wait",		  [AWAITS_SLEEP] = "sleep",
	[AWAITS_LOCK] = "lock",		  [AWAITS_EVENT] = "event",
	[AWAITS_CONDITION] = "condition", [AWAITS_SEMAPHORE] = "semaphore",
	[AWAITS_QUEUE] = "queue",	  [AWAITS_BARRIER] = "barrier",
	[AWAITS_STREAM] = "stream",	  [AWAITS_FD] = "fd",
	[AWAITS_EXECUTOR] = "executor",	  [AWAITS_PROCESS] = "process",
	[AWAITS_FUTURE] = "future",	  [AWAITS_YIELD] = "yield",
	[AWAITS_RUNNING] = "running",	  [AWAITS_NOT_STARTED] = "not-started",
	[AWAITS_OTHER] = "other",
};

static const char *const loop_states[] = {
	[LOOP_POLLING] = "polling", [LOOP_RUNNING] = "running", [LOOP_BLOCKED] = "blocked",
	[LOOP_STALLED] = "stalled", [LOOP_STOPPED] = "stopped", [LOOP_CLOSED] = "closed",
};

static const char *const handle_kinds[] = {
	[HANDLE_TASK_STEP] = "task-step", [HANDLE_TASK_WAKEUP] = "task-wakeup",
	[HANDLE_CALLBACK] = "callback",	  [HANDLE_READER] = "reader",
	[HANDLE_WRITER] = "writer",
};

static const char *const thread_states[] = {
	[THREAD_RUNNING] = "running", [THREAD_SLEEPING] = "sleeping", [THREAD_DISK] = "disk",
	[THREAD_STOPPED] = "stopped", [THREAD_ZOMBIE] = "zombie",
};

static const char *const gil_states[] = {
	[GIL_NONE] = "none",
	[GIL_HOLDING] = "holding",
	[GIL_WAITING] = "waiting",
};

static const char *const severities[] = {
	[SEVERITY_INFO] = "info",
	[SEVERITY_WARNING] = "warning",
	[SEVERITY_CRITICAL] = "critical",
};

static const char *const snapshot_methods[] = {
	[SNAPSHOT_STILL] = "still",
	[SNAPSHOT_VALIDATED] = "validated",
	[SNAPSHOT_PAUSED] = "paused",
	[SNAPSHOT_TORN] = "torn",
};

const char *task_state_name(enum task_state s)
{
	return WORD(task_states, s);
}

const char *await_kind_name(enum await_kind k)
{
	return WORD(await_kinds, k);
}

const char *loop_state_name(enum loop_state s)
{
	return WORD(loop_states, s);
}

const char *handle_kind_name(enum handle_kind k)
{
	return WORD(handle_kinds, k);
}

const char *thread_state_name(enum thread_state s)
{
	return WORD(thread_states, s);
}

const char *gil_state_name(enum gil_state s)
{
	return WORD(gil_states, s);
}

const char *severity_name(enum severity s)
{
	return WORD(severities, s);
}

const char *snapshot_method_name(enum snapshot_method m)
{
	return WORD(snapshot_methods, m);
}
