/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ready-backlog: the loop has more callbacks ready than it gets done. A burst that is being worked off shrinks; one that comes now and then leaves the loop time to
 * rest, which a loop with a backlog never has.
 */
#include "detect/detectors.h"

#include "base/cleanup.h"
#include "detect/looks.h"
#include "detect/thread_time.h"

#include <stdlib.h>

#define LONG_QUEUE 1000u
#define SHRINKS	   100u /* one of so many done during the watch, or fewer, is not getting on */
#define BUSY	   0.7 /* share of the time in which its thread worked, or wanted to and had no CPU */
#define COUNTED	   10000u /* handles that are sorted by what they call */

/* In no sample of the watch was it short. Where nobody watched: it worked all the time, was held by a callback, or was kept from working. */
static bool never_rested(const struct detection *d, const struct loop *l)
{
	struct thread_time time;

	if (!thread_time_read(d, 0, d->now->threads.v[l->thread].tid, &time) || time.stopped)
		return false;
	for (uint32_t i = 0; d->watch && i < d->watch->ready_count; i++) {
		const struct ready_seen *seen = &d->watch->ready[i];

		if (seen->loop == l->id)
			return seen->counts.least >= LONG_QUEUE;
	}
	if (!time.counted || time.wants_gil)
		return true;
	return time.asleep == time.looks || time.cpu + time.starved >= BUSY * time.seconds;
}

static bool has_backlog(const struct detection *d, const struct loop *l)
{
	uint32_t before = 0;

	if (!l->inner_read || l->thread == NONE || d->count < 2)
		return false;
	for (uint32_t i = 0; i < d->count; i++) {
		const struct loop *then = looks_loop(d, i, l);

		if (!then || !then->inner_read || then->state == LOOP_POLLING ||
		    then->thread == NONE || then->ready_count < LONG_QUEUE)
			return false;
		if (i == 0)
			before = then->ready_count;
	}
	return l->ready_count + before / SHRINKS + 1 >= before && never_rested(d, l);
}

/* What a handle runs: the coroutine of the task that it steps, or its callback. */
static struct str callable(const struct model *m, const struct handle *h)
{
	uint32_t chain = h->task == NONE ? NONE : m->tasks.v[h->task].chain;

	if (chain == NONE)
		return h->callback.ptr ? h->callback : STR_LIT("?");
	while (m->chains.v[chain].outer != NONE)
		chain = m->chains.v[chain].outer;
	return m->frames.v[m->chains.v[chain].frame].function;
}

struct most {
	struct str callable;
	uint32_t count, of;
};

static enum err find_most(struct model *m, const struct loop *l, struct most *ret)
{
	uint32_t of = l->ready_rows < COUNTED ? l->ready_rows : COUNTED, best = 0;
	auto_free uint32_t *names = calloc(of + 1ul, sizeof(*names));
	auto_free uint32_t *counts = NULL;

	if (!names)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < of; i++) {
		names[i] = model_intern_string(m, callable(m, &m->handles.v[l->ready_first + i]));
		if (names[i] == NONE)
			return ERR_NOMEM;
	}
	counts = calloc(m->strings.count + 1ul, sizeof(*counts));
	if (!counts)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < of; i++) {
		if (++counts[names[i]] > counts[best])
			best = names[i];
	}
	if (of)
		*ret = (struct most){m->strings.v[best], counts[best], of};
	return ERR_OK;
}

static void say(const struct detection *d, uint32_t loop, const struct most *most)
{
	struct model *m = d->now;
	const struct loop *l = &m->loops.v[loop], *before = looks_loop(d, 0, l);
	uint32_t f = finding_add(m, "ready-backlog", SEVERITY_WARNING);

	if (f == NONE)
		return;
	m->findings.v[f].loop = loop;
	m->findings.v[f].thread = l->thread;
	m->findings.v[f].certain = looks_consistent(d);
	finding_summary(
		m, f,
		"%u callbacks are ready to run and wait for their turn, %s before there were %u: most of them run %.*s",
		l->ready_count, time_text(looks_span(d)).v, before ? before->ready_count : 0,
		STR_ARG(most->callable));
	evidence_count(m, f, "ready", l->ready_count);
	if (before)
		evidence_count(m, f, "ready_before", before->ready_count);
	evidence_seconds(m, f, "watched_s", looks_span(d));
	evidence_text(m, f, "most_frequent", "%.*s", STR_ARG(most->callable));
	evidence_count(m, f, "most_frequent_percent", 100ll * most->count / most->of);
	finding_advice(
		m, f,
		"bound what is started at once (a semaphore, a queue of limited size), and hand long callbacks to a thread: each callback waits for all that stand before it");
}

enum err detect_ready_backlog(struct detection *d)
{
	for (uint32_t i = 0; i < d->now->loops.count; i++) {
		const struct loop *l = &d->now->loops.v[i];
		struct most most = {STR_LIT("?"), 0, 1};
		enum err err;

		if (!has_backlog(d, l))
			continue;
		err = find_most(d->now, l, &most);
		if (err != ERR_OK)
			return err;
		say(d, i, &most);
	}
	return ERR_OK;
}
