/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lost-wakeup: a task waits on a future that nobody but the waiting tasks holds, so that nobody can ever end it; or for a lock, semaphore or condition that is free
 * (or anyio's, whose owner has ended) while its loop has nothing to do: whoever let it go did not pass it on. Not where a time limit ends the wait, and not where a future was plainly made to
 * be waited on for ever ("await loop.create_future()", what the loop's main task does).
 */
#include "detect/detectors.h"

#include "base/cleanup.h"
#include "detect/looks.h"
#include "detect/standing.h"

#include <stdlib.h>

static bool is_orphan(const struct task *t)
{
	return t->awaits.kind == AWAITS_FUTURE && t->awaits.other_refs == 0 &&
	       !t->awaits.for_ever && !t->awaits.done;
}

static bool waits_for_free(const struct task *t)
{
	return t->awaits.free && !t->awaits.done &&
	       (t->awaits.kind == AWAITS_LOCK || t->awaits.kind == AWAITS_SEMAPHORE ||
		t->awaits.kind == AWAITS_CONDITION);
}

static bool in_all_looks(const struct detection *d, const struct task *t,
			 bool (*holds)(const struct task *t))
{
	for (uint32_t i = 0; i < d->count; i++) {
		const struct task *then = looks_task(d, i, t);

		if (!then || !holds(then))
			return false;
	}
	return standing_task(d, t);
}

/* In one of the looks the task's loop slept with nothing to do: nobody was on the way between a release and its waiter. */
static bool loop_was_idle(const struct detection *d, const struct task *t)
{
	for (uint32_t i = 0; i < d->count && t->loop != NONE; i++) {
		const struct loop *l = looks_loop(d, i, &d->now->loops.v[t->loop]);

		if (l && l->inner_read && l->state == LOOP_POLLING && !l->ready_count)
			return true;
	}
	return false;
}

/* The tasks from `row` on that wait for the same; none where an earlier one does. */
static uint32_t same_wait(const struct model *m, uint32_t row, uint32_t *rows)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < m->tasks.count; i++) {
		if (m->tasks.v[i].awaits.id != m->tasks.v[row].awaits.id)
			continue;
		if (i < row)
			return 0;
		rows[count++] = i;
	}
	return count;
}

static uint32_t begin(struct detection *d, uint32_t row)
{
	struct model *m = d->now;
	uint32_t f = finding_add(m, "lost-wakeup", SEVERITY_CRITICAL);

	if (f == NONE)
		return NONE;
	m->findings.v[f].task = row;
	m->findings.v[f].loop = m->tasks.v[row].loop;
	m->findings.v[f].certain = looks_consistent(d);
	return f;
}

/* What both have in common. */
static void add_evidence(struct model *m, uint32_t f, uint32_t row, const uint32_t *rows,
			 uint32_t count)
{
	const struct task *t = &m->tasks.v[row];

	evidence_id(m, f, "waits_on", t->awaits.id);
	evidence_tasks(m, f, "waiting", rows, count);
	evidence_frame(m, f, "where", standing_frame(m, t));
	evidence_stack(m, f, "stack", t->chain);
}

static void say_orphan(struct detection *d, uint32_t row, const uint32_t *rows, uint32_t count)
{
	struct model *m = d->now;
	const struct task *t = &m->tasks.v[row];
	struct str name = looks_task_name(t), place = looks_place(m, standing_frame(m, t));
	bool alone = t->other_refs == 0;
	uint32_t f = begin(d, row);

	if (f == NONE)
		return;
	finding_summary(m, f,
			"task %.*s waits at %.*s on a future that nobody else holds%s: nothing can "
			"ever end it",
			STR_ARG(name), STR_ARG(place),
			alone ? ", and only that future holds the task" : "");
	add_evidence(m, f, row, rows, count);
	evidence_count(m, f, "references_of_others", t->awaits.other_refs);
	if (t->other_refs >= 0)
		evidence_flag(m, f, "task_held_elsewhere", !alone);
	finding_advice(
		m, f, "%s",
		alone ? "keep a reference to the task (the garbage collector throws both away: \"Task was destroyed but it is pending!\"), and to the future where it is to be ended"
		      : "look who dropped the future without ending it (an entry taken out of a table, an object that was thrown away); only cancelling the task helps now");
}

static void say_free(struct detection *d, uint32_t row, const uint32_t *rows, uint32_t count)
{
	struct model *m = d->now;
	const struct task *t = &m->tasks.v[row];
	struct str name = looks_task_name(t), place = looks_place(m, standing_frame(m, t));
	struct str wait = standing_wait(m, t);
	uint32_t f = begin(d, row);

	if (f == NONE)
		return;
	finding_summary(m, f,
			"task %.*s waits at %.*s for what nobody holds: %.*s; nobody will wake it",
			STR_ARG(name), STR_ARG(place), STR_ARG(wait));
	add_evidence(m, f, row, rows, count);
	evidence_text(m, f, "state", "%.*s", STR_ARG(wait));
	finding_advice(
		m, f,
		"look for a release that does not wake a waiter (an override, another thread, the object's own variables set from outside), or a task that ended without one; cancelling the first waiter, or one more acquire and release, may set the others free");
}

enum err detect_lost_wakeup(struct detection *d)
{
	struct model *m = d->now;
	auto_free uint32_t *rows = calloc(m->tasks.count + 1ul, sizeof(*rows));
	auto_free bool *limited = NULL;
	enum err err = rows ? standing_limits(m, &limited) : ERR_NOMEM;

	for (uint32_t i = 0; err == ERR_OK && i < m->tasks.count; i++) {
		const struct task *t = &m->tasks.v[i];
		bool orphan = is_orphan(t) && in_all_looks(d, t, is_orphan);
		uint32_t count;

		if (limited[i] ||
		    (!orphan && !(waits_for_free(t) && in_all_looks(d, t, waits_for_free) &&
				  loop_was_idle(d, t))))
			continue;
		count = same_wait(m, i, rows);
		if (count && orphan)
			say_orphan(d, i, rows, count);
		else if (count)
			say_free(d, i, rows, count);
	}
	return err;
}
