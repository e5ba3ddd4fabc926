/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cancelled-timer-leak: cancelled timers that stay in the loop's heap. A cancelled timer leaves it when it is the first of the heap, so once all live ones with an earlier
 * deadline are gone; or when all are thrown out, which a turn does when more than 100 timers are in the heap and more than half are cancelled by the loop's own count
 * (BaseEventLoop._run_once of Lib/asyncio/base_events.py).
 *
 * That count may be too high in a healthy loop: a cancelled timer that falls due together with a live one before it is taken out and not subtracted. The worst that
 * comes of it is that timers are thrown out early. One that is too low keeps them.
 */
#include "detect/detectors.h"

#include "base/cleanup.h"
#include "detect/looks.h"
#include "detect/thread_time.h"

#include <math.h>
#include <stdlib.h>

/* base_events._MIN_SCHEDULED_TIMER_HANDLES, _MIN_CANCELLED_TIMER_HANDLES_FRACTION */
#define PRUNED_ABOVE 100u
#define PRUNED_SHARE 0.5

#define MANY	  1000u /* cancelled timers that are worth a word */
#define LONG_STAY 60.0 /* seconds */
#define STARVED	  0.3 /* share of the time */
#define HEAP_SLOT 8 /* bytes: a list's pointer */
/* Timers that are counted no more while they still are in the heap: _run_once subtracts first, then takes out. */
#define UNDERWAY 1

struct heap {
	const struct loop *loop;
	uint32_t cancelled;
	uint32_t
		lasting; /* cancelled ones that stay for longer than LONG_STAY, if none are thrown out */
	double latest; /* seconds to the latest deadline of a cancelled one */
	double prune_in; /* seconds until they are thrown out: 0 with the next turn, INFINITY never as it goes, NAN not known */
	bool undercounted;
	uint32_t made_at; /* frame that made one of them (debug mode), NONE */
};

static bool is_known(const struct loop *l)
{
	return l->inner_read && !l->timers_truncated && l->timers_rows == l->timers_count;
}

static int by_due(const void *a, const void *b, void *model)
{
	const struct model *m = model;
	double x = m->handles.v[*(const uint32_t *)a].due,
	       y = m->handles.v[*(const uint32_t *)b].due;

	return x < y ? -1 : x > y;
}

/* In the order of deadlines: each cancelled timer stays until the live ones before it are gone. */
static enum err count_lasting(const struct model *m, struct heap *h)
{
	const struct loop *l = h->loop;
	auto_free uint32_t *rows = calloc(l->timers_rows + 1ul, sizeof(*rows));
	double live = -INFINITY;
	uint32_t count = 0;

	if (!rows)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < l->timers_rows; i++) {
		if (isfinite(m->handles.v[l->timers_first + i].due))
			rows[count++] = l->timers_first + i;
	}
	if (count)
		qsort_r(rows, count, sizeof(*rows), by_due, (void *)m);
	for (uint32_t i = 0; i < count; i++) {
		const struct handle *t = &m->handles.v[rows[i]];

		if (!t->cancelled) {
			live = t->due;
			continue;
		}
		h->latest = t->due - l->time;
		h->lasting += live - l->time > LONG_STAY;
		if (h->made_at == NONE)
			h->made_at = t->source;
	}
	return ERR_OK;
}

static bool is_counted(const struct loop *l)
{
	return l->timer_cancelled_counter >= 0;
}

/* By how many the loop counts more cancelled timers than keep it from throwing them out. */
static double over(const struct loop *l)
{
	return (double)l->timer_cancelled_counter - PRUNED_SHARE * l->timers_count;
}

/* How fast that grew from that look to the next one, by the second; NAN not known. *pruned_ret is set where they were thrown out in between. */
static double growth(const struct detection *d, const struct loop *l, uint32_t look,
		     bool *pruned_ret)
{
	const struct loop *a = looks_loop(d, look, l), *b = looks_loop(d, look + 1, l);
	double seconds =
		d->looks[look + 1]->snapshot.monotonic - d->looks[look]->snapshot.monotonic;

	if (!a || !b || !is_known(a) || !is_known(b) || !is_counted(a) || !is_counted(b) ||
	    seconds <= 0)
		return NAN;
	*pruned_ret |= a->timers != b->timers;
	return (over(b) - over(a)) / seconds;
}

/* It had no CPU for a good part of the time: what it would have done is not known. */
static bool was_starved(const struct detection *d, const struct loop *l)
{
	struct thread_time time;

	return l->thread != NONE &&
	       thread_time_read(d, 0, d->now->threads.v[l->thread].tid, &time) && time.counted &&
	       time.starved > STARVED * time.seconds;
}

/* As the numbers are, and as they have changed while they were watched. */
static double prune_in(const struct detection *d, const struct loop *l)
{
	double fastest = 0, sum = 0;
	bool pruned = false;

	if (!is_counted(l) || l->timers_count <= PRUNED_ABOVE)
		return INFINITY;
	if (over(l) > 0)
		return 0;
	for (uint32_t i = 0; i + 1 < d->count; i++) {
		double rate = growth(d, l, i, &pruned);

		sum += rate / (d->count - 1);
		fastest = fmax(fastest, rate);
	}
	if (pruned && !isnan(sum))
		return fastest > 0 ? -over(l) / fastest : looks_span(d);
	if (isnan(sum) || (sum <= 0 && was_starved(d, l)))
		return NAN;
	return sum > 0 ? -over(l) / sum : INFINITY;
}

/* By the same number or another, the count was too low in every look; a look in the midst of a change proves nothing. */
static bool is_undercounted(const struct detection *d, const struct loop *l)
{
	for (uint32_t i = 0; i < d->count; i++) {
		const struct loop *then = looks_loop(d, i, l);

		if (!then || !is_known(then) || !is_counted(then) ||
		    then->timer_cancelled_counter + UNDERWAY >= then->timers_cancelled ||
		    !d->looks[i]->snapshot.consistent)
			return false;
	}
	return true;
}

static void add_evidence(struct model *m, uint32_t f, const struct heap *h)
{
	const struct loop *l = h->loop;

	evidence_count(m, f, "cancelled", h->cancelled);
	evidence_count(m, f, "timers", l->timers_count);
	evidence_count(m, f, "share_percent", 100ll * h->cancelled / l->timers_count);
	evidence_count(m, f, "lasting", h->lasting);
	if (l->timer_bytes) {
		evidence_count(m, f, "held_bytes",
			       (int64_t)h->cancelled * (l->timer_bytes + HEAP_SLOT));
		evidence_text(
			m, f, "counted",
			"for each its handle, its deadline and its place in the heap; not what the memory allocator adds");
	}
	evidence_seconds(m, f, "latest_deadline_s", h->latest);
	if (isfinite(h->prune_in))
		evidence_seconds(m, f, "pruned_in_s", h->prune_in);
	if (!isnan(h->prune_in))
		evidence_flag(m, f, "pruning_reaches_them", isfinite(h->prune_in));
	if (is_counted(l))
		evidence_count(m, f, "own_count", l->timer_cancelled_counter);
	if (h->made_at != NONE)
		evidence_frame(m, f, "made_at", h->made_at);
}

static void say_leak(struct model *m, uint32_t f, const struct heap *h)
{
	const struct loop *l = h->loop;

	if (h->prune_in <= 0)
		finding_summary(
			m, f, "%u of %u timers are cancelled; the loop's next turn will drop them",
			h->cancelled, l->timers_count);
	else if (h->prune_in <= LONG_STAY)
		finding_summary(
			m, f,
			"%u of %u timers are cancelled; as their number grows, the loop will drop them in about %s",
			h->cancelled, l->timers_count, time_text(h->prune_in).v);
	else if (isnan(h->prune_in))
		finding_summary(
			m, f,
			"%u of %u timers are cancelled; whether the loop will drop them could not be told",
			h->cancelled, l->timers_count);
	else
		finding_summary(
			m, f,
			"%u of %u timers are cancelled, and %u of them stay for more than a minute, the last until %s from now at the latest",
			h->cancelled, l->timers_count, h->lasting,
			time_text(h->latest > 0 ? h->latest : 0).v);
	finding_advice(
		m, f,
		"set fewer or shorter timeouts (one around a whole request instead of one for each step): asyncio drops cancelled timers early only when they are more than half of all");
}

static void say_undercounted(struct model *m, uint32_t f, const struct heap *h)
{
	finding_summary(
		m, f,
		"%u of %u timers are cancelled, but the loop counts %lld: it will drop them late or never",
		h->cancelled, h->loop->timers_count, (long long)h->loop->timer_cancelled_counter);
	finding_advice(
		m, f,
		"look for code that cancels timers in another thread, or that changes TimerHandles or the loop's own attributes");
}

static void say(const struct detection *d, uint32_t loop, const struct heap *h)
{
	struct model *m = d->now;
	bool leaks = h->lasting >= MANY && h->prune_in > LONG_STAY;
	uint32_t f = finding_add(m, "cancelled-timer-leak",
				 leaks || h->undercounted ? SEVERITY_WARNING : SEVERITY_INFO);

	if (f == NONE)
		return;
	m->findings.v[f].loop = loop;
	m->findings.v[f].certain = m->snapshot.consistent;
	if (h->undercounted)
		say_undercounted(m, f, h);
	else
		say_leak(m, f, h);
	add_evidence(m, f, h);
}

enum err detect_cancelled_timer_leak(struct detection *d)
{
	for (uint32_t i = 0; i < d->now->loops.count; i++) {
		struct heap h = {.loop = &d->now->loops.v[i], .made_at = NONE};
		enum err err;

		if (!is_known(h.loop) || !h.loop->timers_cancelled)
			continue;
		h.cancelled = h.loop->timers_cancelled;
		h.undercounted = is_undercounted(d, h.loop);
		if (h.cancelled < MANY && !h.undercounted)
			continue;
		h.prune_in = prune_in(d, h.loop);
		err = count_lasting(d->now, &h);
		if (err != ERR_OK)
			return err;
		say(d, i, &h);
	}
	return ERR_OK;
}
