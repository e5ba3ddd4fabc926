/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swallowed-cancel: a task was asked to cancel, got its CancelledError, and went on to wait somewhere else, where it stays over all looks. Not a task that cleans up
 * (a frame of its chain handles an exception: `except` or `finally`), nor one that passed the request on to
 * tasks that it waits for (then those have to answer), nor one that ends a task group.
 */
#include "detect/detectors.h"

#include "detect/looks.h"
#include "detect/standing.h"

static bool was_asked(const struct task *t)
{
	return t->cancelling > 0 || t->must_cancel;
}

static bool passed_on(const struct model *m, const struct task *t)
{
	for (uint32_t i = 0; i < t->awaits.tasks_count; i++) {
		if (was_asked(&m->tasks.v[m->edges.v[t->awaits.tasks_first + i]]))
			return true;
	}
	return t->awaits.tasks_truncated;
}

/* A group takes the request to itself and ends its tasks first (Lib/asyncio/taskgroups.py; anyio's likewise). */
static bool leaves_group(const struct model *m, const struct task *t)
{
	uint32_t frame = looks_innermost(m, t->chain);
	struct str function = frame == NONE ? STR_LIT("") : m->frames.v[frame].function;

	return str_ends_with(function, "TaskGroup._aexit") ||
	       str_ends_with(function, "TaskGroup.__aexit__");
}

/* Waits on, with no CancelledError on its way to it and none that it handles. */
static bool ignores(const struct model *m, const struct task *t)
{
	return t->state == TASK_PENDING && t->cancelling > 0 && !t->must_cancel && !t->handling &&
	       !t->damaged && !t->awaits.done && t->awaits.kind != AWAITS_NOT_STARTED &&
	       t->awaits.kind != AWAITS_YIELD && !passed_on(m, t) && !leaves_group(m, t);
}

static bool stands(const struct detection *d, const struct task *t)
{
	for (uint32_t i = 0; i + 1 < d->count; i++) {
		const struct task *before = looks_task(d, i, t);

		if (!before || !ignores(d->looks[i], before) ||
		    !looks_same_chain(d->looks[i], before->chain, d->now, t->chain))
			return false;
	}
	return ignores(d->now, t);
}

static void say(struct detection *d, uint32_t row)
{
	struct model *m = d->now;
	const struct task *t = &m->tasks.v[row];
	uint32_t where = standing_frame(m, t);
	struct str name = looks_task_name(t), place = looks_place(m, where);
	struct str wait = standing_wait(m, t);
	uint32_t f = finding_add(m, "swallowed-cancel", SEVERITY_WARNING);

	if (f == NONE)
		return;
	m->findings.v[f].task = row;
	m->findings.v[f].loop = t->loop;
	m->findings.v[f].certain = looks_consistent(d);
	finding_summary(
		m, f,
		"task %.*s was asked to cancel %u time%s and went on to wait for %.*s at %.*s",
		STR_ARG(name), t->cancelling, t->cancelling == 1 ? "" : "s", STR_ARG(wait),
		STR_ARG(place));
	evidence_count(m, f, "asked", t->cancelling);
	evidence_text(m, f, "waits_for", "%.*s", STR_ARG(wait));
	evidence_frame(m, f, "where", where);
	evidence_stack(m, f, "stack", t->chain);
	finding_advice(
		m, f,
		"let CancelledError through (raise it again after cleaning up), or call uncancel() where the request was meant for less than the task");
}

enum err detect_swallowed_cancel(struct detection *d)
{
	for (uint32_t i = 0; i < d->now->tasks.count; i++) {
		if (ignores(d->now, &d->now->tasks.v[i]) && stands(d, &d->now->tasks.v[i]))
			say(d, i);
	}
	return ERR_OK;
}
