/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dead-loop: tasks are pending and nothing can ever wake the loop. A proof by exclusion, made anew in each look; where one of its parts could not be read, nothing is
 * said. All loops that sleep so are dead together: none of them can call another. A thread that Python knows nothing of may be some library's that calls in
 * when its time has come, so it counts as one that can.
 */
#include "detect/detectors.h"

#include "base/cleanup.h"
#include "detect/looks.h"
#include "detect/standing.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>

/* Signals whose handlers bring no work: faults of the program itself, a person's Ctrl-C, and the C library's own (32 to 34). */
static bool brings_work(int number)
{
	static const int others[] = {SIGINT,  SIGSEGV, SIGFPE, SIGABRT, SIGBUS, SIGILL,
				     SIGTRAP, SIGSYS,  32,     33,	34};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (others[i] == number)
			return false;
	}
	return true;
}

static bool signals_may_wake(const struct model *m)
{
	if (!m->snapshot.signals_read)
		return true;
	for (int number = 1; number <= 64; number++) {
		if (m->snapshot.signals_caught >> (number - 1) & 1 && brings_work(number))
			return true;
	}
	return false;
}

static bool only_self_pipe(const struct model *m, const struct loop *l)
{
	if (!l->fds_read || l->fds_truncated)
		return false;
	for (uint32_t i = 0; i < l->fds_count; i++) {
		if (!m->fds.v[l->fds_first + i].self_pipe)
			return false;
	}
	return true;
}

static bool executor_idle(const struct loop *l)
{
	const struct executor_state *e = &l->executor;

	return l->executor_read && (!e->present || (e->queued == 0 && e->idle == e->workers));
}

static bool no_live_timer(const struct model *m, const struct loop *l)
{
	if (l->timers_truncated)
		return false;
	for (uint32_t i = 0; i < l->timers_rows; i++) {
		if (!m->handles.v[l->timers_first + i].cancelled)
			return false;
	}
	return true;
}

/* Asleep in its selector for good, as far as the loop itself goes. */
static bool sleeps_for_good(const struct model *m, const struct loop *l)
{
	const struct thread *t = l->thread == NONE ? NULL : &m->threads.v[l->thread];

	return t && l->inner_read && l->state == LOOP_POLLING && t->state == THREAD_SLEEPING &&
	       t->gil != GIL_WAITING && isinf(t->events_timeout) && !l->ready_count &&
	       !l->ready_truncated && l->signal_handlers == 0 && no_live_timer(m, l) &&
	       only_self_pipe(m, l) && executor_idle(l);
}

/* A worker of concurrent.futures that waits for work: its own function is innermost, asleep in the queue's get(). */
static bool idles_in_pool(const struct model *m, const struct thread *t)
{
	const struct frame *f = t->chain == NONE ? NULL : &m->frames.v[m->chains.v[t->chain].frame];

	return f && t->state == THREAD_SLEEPING && t->gil == GIL_NONE &&
	       str_is(f->function, "_worker") &&
	       str_ends_with(f->file, "/concurrent/futures/thread.py");
}

static bool threads_may_call(const struct model *m)
{
	if (m->threads_truncated || m->loops_truncated)
		return true;
	for (uint32_t i = 0; i < m->threads.count; i++) {
		const struct thread *t = &m->threads.v[i];

		if (t->interpreter == NONE)
			return true;
		if (t->loop != NONE ? !sleeps_for_good(m, &m->loops.v[t->loop])
				    : !idles_in_pool(m, t))
			return true;
	}
	return false;
}

/* Somebody waits for a child process, or for a call in a pool whose queue is not known. */
static bool waits_for_others(const struct model *m)
{
	for (uint32_t i = 0; i < m->tasks.count; i++) {
		enum await_kind kind = m->tasks.v[i].awaits.kind;

		if (kind == AWAITS_PROCESS || kind == AWAITS_EXECUTOR)
			return true;
	}
	return false;
}

static bool nothing_can_call(const struct model *m)
{
	return !signals_may_wake(m) && !threads_may_call(m) && !waits_for_others(m);
}

static bool is_pending(const struct task *t)
{
	return t->state == TASK_PENDING || t->state == TASK_RUNNING;
}

static uint32_t pending_rows(const struct model *m, uint32_t loop, uint32_t *rows)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < m->tasks.count; i++) {
		if (m->tasks.v[i].loop == loop && is_pending(&m->tasks.v[i]))
			rows[count++] = i;
	}
	return count;
}

/* The task that the others wait for in the end: one that waits for no task, best in code of the user's own and not meant to wait for ever. */
static uint32_t innermost_of(const struct model *m, const uint32_t *rows, uint32_t count)
{
	uint32_t found = NONE;

	for (uint32_t i = 0; i < count; i++) {
		const struct task *t = &m->tasks.v[rows[i]];

		if (t->awaits.tasks_count)
			continue;
		if (t->awaited_by_count && looks_own_frame(m, t->chain) != NONE)
			return rows[i];
		if (found == NONE || m->tasks.v[found].awaits.for_ever)
			found = rows[i];
	}
	return found == NONE ? rows[0] : found;
}

static void say(struct detection *d, uint32_t loop, const uint32_t *rows, uint32_t count)
{
	struct model *m = d->now;
	uint32_t first = innermost_of(m, rows, count);
	const struct task *t = &m->tasks.v[first];
	uint32_t f = finding_add(m, "dead-loop", SEVERITY_CRITICAL);
	struct str name = looks_task_name(t), wait = standing_wait(m, t);
	struct str place = looks_place(m, standing_frame(m, t));

	if (f == NONE)
		return;
	m->findings.v[f].loop = loop;
	m->findings.v[f].task = first;
	m->findings.v[f].thread = m->loops.v[loop].thread;
	m->findings.v[f].certain = looks_consistent(d);
	finding_summary(
		m, f,
		"%u task%s of the loop wait%s and nothing can ever wake it: %.*s waits for %.*s at %.*s",
		count, count == 1 ? "" : "s", count == 1 ? "s" : "", STR_ARG(name), STR_ARG(wait),
		STR_ARG(place));
	evidence_tasks(m, f, "tasks", rows, count);
	evidence_text(m, f, "waits", "%.*s", STR_ARG(standing_words(m, rows, count)));
	evidence_stack(m, f, "stack", t->chain);
	evidence_text(
		m, f, "excluded",
		"callbacks, timers, descriptors but the self-pipe, executor work, child processes, signal handlers, other threads");
	finding_advice(
		m, f,
		"find who should have ended what these tasks wait for, and did not: an event that nobody sets, a task that waits for its own parent, a lock that its holder keeps");
}

static bool is_dead(const struct detection *d, const struct loop *l)
{
	for (uint32_t i = 0; i < d->count; i++) {
		const struct loop *then = looks_loop(d, i, l);

		if (!then || !sleeps_for_good(d->looks[i], then))
			return false;
	}
	return true;
}

enum err detect_dead_loop(struct detection *d)
{
	auto_free uint32_t *rows = calloc(d->now->tasks.count + 1ul, sizeof(*rows));

	if (!rows)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < d->count; i++) {
		if (!nothing_can_call(d->looks[i]))
			return ERR_OK;
	}
	for (uint32_t i = 0; i < d->now->loops.count; i++) {
		uint32_t count = pending_rows(d->now, i, rows);

		if (count && is_dead(d, &d->now->loops.v[i]))
			say(d, i, rows, count);
	}
	return ERR_OK;
}
