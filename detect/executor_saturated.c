/* SPDX-License-Identifier: Apache-2.0 */
/*
 * executor-saturated: all workers of the default executor are busy, calls are queued, and no call moved. The same work items run and the same one is next. An item's
 * memory may be used again: by chance alone all of a larger pool look the same twice hardly ever, but those of a small one do, so there the workers, or the loop that
 * each finished call wakes, must be seen not to have run.
 */
#include "detect/detectors.h"

#include "base/cleanup.h"
#include "detect/looks.h"
#include "detect/thread_time.h"

#include <stdlib.h>

#define LARGE_POOL 4
#define GROUPS	   3u /* calls that the sentence names */

static bool is_full(const struct loop *l)
{
	const struct executor_state *e = &l->executor;

	return l->inner_read && l->executor_read && e->present && e->max_workers > 0 &&
	       e->workers == e->max_workers && (int64_t)e->calls_count == e->workers &&
	       e->queued > 0 && e->next;
}

static vaddr call_of(const struct model *m, const struct executor_state *e, pid_t tid)
{
	for (uint32_t i = 0; i < e->calls_count; i++) {
		const struct executor_call *c = &m->calls.v[e->calls_first + i];

		if (c->thread != NONE && m->threads.v[c->thread].tid == tid)
			return c->id;
	}
	return 0;
}

static bool same_calls(const struct detection *d, uint32_t look, const struct loop *l)
{
	const struct loop *then = looks_loop(d, look, l);
	const struct executor_state *now = &l->executor;

	if (!then || !is_full(then) || then->executor.next != now->next ||
	    then->executor.queued > now->queued)
		return false;
	for (uint32_t i = 0; i < now->calls_count; i++) {
		const struct executor_call *c = &d->now->calls.v[now->calls_first + i];

		if (c->thread == NONE || !c->id ||
		    call_of(d->looks[look], &then->executor, d->now->threads.v[c->thread].tid) !=
			    c->id)
			return false;
	}
	return true;
}

/* The thread was asleep from the first look to the last. */
static bool slept_on(const struct detection *d, const struct thread *t)
{
	const struct thread *first = looks_thread(d, 0, t);

	return first && t->run_count && t->run_count == first->run_count && t->times_read &&
	       first->times_read && t->state != THREAD_RUNNING;
}

/* The workers together had the time to get something done. False where one was stopped. */
static bool had_time(const struct detection *d, const struct executor_state *e)
{
	double own = 0;

	for (uint32_t i = 0; i < e->calls_count; i++) {
		uint32_t thread = d->now->calls.v[e->calls_first + i].thread;
		struct thread_time time;

		if (!thread_time_read(d, 0, d->now->threads.v[thread].tid, &time) || time.stopped)
			return false;
		own += thread_time_own(&time);
	}
	return own >= d->limits.blocked_after;
}

static bool same_turn(const struct loop *a, const struct loop *b)
{
	return a->running != NONE && b->running != NONE && a->turn_index >= 0 &&
	       a->turn_since == b->turn_since;
}

/* No call can have ended and another one have taken its place and address. */
static bool cannot_have_moved(const struct detection *d, const struct loop *l)
{
	const struct executor_state *e = &l->executor;
	const struct loop *first = looks_loop(d, 0, l);
	bool slept = true;

	if (e->workers >= LARGE_POOL)
		return true;
	for (uint32_t i = 0; i < e->calls_count; i++)
		slept &=
			slept_on(d, &d->now->threads.v[d->now->calls.v[e->calls_first + i].thread]);
	if (slept || (first && same_turn(first, l)))
		return true;
	return l->thread != NONE && slept_on(d, &d->now->threads.v[l->thread]);
}

static bool is_saturated(const struct detection *d, const struct loop *l)
{
	if (!is_full(l) || d->count < 3)
		return false;
	for (uint32_t i = 0; i + 1 < d->count; i++) {
		if (!same_calls(d, i, l))
			return false;
	}
	return had_time(d, &l->executor) && cannot_have_moved(d, l);
}

/* Workers that do the same. */
struct group {
	struct str callable;
	uint32_t frame, count;
};

/* "resolve in getaddrinfo (socket.py:962)" */
static struct str group_words(struct model *m, const struct group *g)
{
	struct str name = g->callable.ptr ? g->callable : STR_LIT("?"), place;

	if (g->frame == NONE)
		return name;
	place = looks_place(m, g->frame);
	return model_printf(m, "%.*s at %.*s", STR_ARG(name), STR_ARG(place));
}

static int by_count(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

static uint32_t collect(const struct model *m, const struct executor_state *e, struct group *groups)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < e->calls_count; i++) {
		const struct executor_call *c = &m->calls.v[e->calls_first + i];
		uint32_t frame = looks_own_frame(m, c->chain), g = 0;

		if (frame == NONE)
			frame = looks_innermost(m, c->chain);
		while (g < count &&
		       (groups[g].frame != frame || !str_equal(groups[g].callable, c->callable)))
			g++;
		if (g == count)
			groups[count++] = (struct group){c->callable, frame, 0};
		groups[g].count++;
	}
	qsort(groups, count, sizeof(*groups), by_count);
	return count;
}

/* "5 run a at x.py:1, 1 runs b at y.py:2" */
static struct str running_words(struct model *m, const struct group *groups, uint32_t count)
{
	struct str words = {0};

	for (uint32_t i = 0; i < count && i < GROUPS; i++) {
		struct str one = group_words(m, &groups[i]);

		words = model_printf(m, "%.*s%s%u %s %.*s", STR_ARG(words), i ? ", " : "",
				     groups[i].count, groups[i].count == 1 ? "runs" : "run",
				     STR_ARG(one));
	}
	return count > GROUPS ? model_printf(m, "%.*s, …", STR_ARG(words)) : words;
}

static void say(const struct detection *d, uint32_t loop, const struct group *groups,
		uint32_t count)
{
	struct model *m = d->now;
	const struct executor_state *e = &m->loops.v[loop].executor;
	const struct executor_call *first = &m->calls.v[e->calls_first];
	uint32_t f = finding_add(m, "executor-saturated", SEVERITY_WARNING);
	struct str words = running_words(m, groups, count);
	struct str who = e->workers == 1
				 ? STR_LIT("the only worker")
				 : model_printf(m, "all %lld workers", (long long)e->workers);

	if (f == NONE)
		return;
	m->findings.v[f].loop = loop;
	m->findings.v[f].thread = first->thread;
	m->findings.v[f].certain = looks_consistent(d);
	finding_summary(
		m, f,
		"%.*s of the default executor %s busy, %lld more %s queued, and nothing has moved for at least %s: %.*s",
		STR_ARG(who), e->workers == 1 ? "is" : "are", (long long)e->queued,
		e->queued == 1 ? "call is" : "calls are", time_text(looks_span(d)).v,
		STR_ARG(words));
	evidence_count(m, f, "workers", e->workers);
	evidence_count(m, f, "queued", e->queued);
	evidence_seconds(m, f, "unmoved_for_s", looks_span(d));
	evidence_text(m, f, "running", "%.*s", STR_ARG(words));
	evidence_stack(m, f, "stack", first->chain);
	if (first->thread != NONE && m->threads.v[first->thread].syscall_text.ptr)
		evidence_text(m, f, "system_call", "%.*s",
			      STR_ARG(m->threads.v[first->thread].syscall_text));
	finding_advice(
		m, f,
		"give these calls time limits, or an executor of their own: asyncio's name look-ups and asyncio.to_thread wait for the same workers");
}

enum err detect_executor_saturated(struct detection *d)
{
	for (uint32_t i = 0; i < d->now->loops.count; i++) {
		const struct loop *l = &d->now->loops.v[i];
		auto_free struct group *groups = NULL;

		if (!is_saturated(d, l))
			continue;
		groups = calloc(l->executor.calls_count + 1ul, sizeof(*groups));
		if (!groups)
			return ERR_NOMEM;
		say(d, i, groups, collect(d->now, &l->executor, groups));
	}
	return ERR_OK;
}
