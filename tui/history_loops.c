/* SPDX-License-Identifier: Apache-2.0 */
/* A loop's last minute, second by second; and how far it is behind. */
#include "tui/history_inner.h"

#include <math.h>
#include <string.h>

#define RATE_SECONDS 1.0

/* Moves on to the second of `when`; those that were passed over are empty. */
static struct loop_second *second_at(struct loop_track *k, double when)
{
	int64_t now = (int64_t)floor(when);

	if (now - k->now >= (int64_t)HISTORY_SECONDS)
		memset(k->seconds, 0, sizeof(k->seconds));
	for (int64_t s = k->now + 1; now - k->now < (int64_t)HISTORY_SECONDS && s <= now; s++)
		k->seconds[(uint64_t)s % HISTORY_SECONDS] = (struct loop_second){0};
	if (now > k->now)
		k->now = now;
	return &k->seconds[(uint64_t)k->now % HISTORY_SECONDS];
}

static void follow_callback(struct loop_track *k, const struct loop *l, double when)
{
	if (isnan(l->turn_since)) {
		k->turn_since = k->held_since = NAN;
		return;
	}
	if (l->turn_since == k->turn_since && l->turn_index == k->turn_index &&
	    !isnan(k->held_since))
		return;
	k->turn_since = l->turn_since;
	k->turn_index = l->turn_index;
	k->held_since = when;
}

/* How late what is due next is: the timer that should have run, or whatever comes while the callback that runs holds the loop. */
static double lag_of(const struct loop_track *k, const struct loop *l, double when, double passed)
{
	double late = isnan(l->timers_next) ? 0 : passed - l->timers_next;
	double held = loop_track_held(k, when);

	if (held > late)
		late = held;
	return late > 0 ? late : 0;
}

static void add_switches(struct loop_track *k, const struct interpreter *i, double when)
{
	if (!i->gil_read)
		return;
	if (when - k->switches_at < RATE_SECONDS)
		return;
	if (k->switches_at > 0 && i->gil_switches >= k->switches)
		k->switches_rate =
			(double)(i->gil_switches - k->switches) / (when - k->switches_at);
	k->switches = i->gil_switches;
	k->switches_at = when;
}

void history_add_loop(struct history *h, const struct model *m, const struct loop *l, double when)
{
	bool new, waits;
	struct loop_track *k = table_get(&h->loops, l->id, &new);
	struct loop_second *s;

	if (!k) {
		h->out_of_memory = true;
		return;
	}
	if (new)
		*k = (struct loop_track){.id = l->id,
					 .first = when,
					 .now = (int64_t)floor(when),
					 .turn_since = NAN,
					 .held_since = NAN,
					 .switches_rate = NAN};
	s = second_at(k, when);
	follow_callback(k, l, when);
	k->lag = lag_of(k, l, when, when - m->snapshot.monotonic);
	if (l->interpreter != NONE)
		add_switches(k, &m->interpreters.v[l->interpreter], when);
	waits = l->thread != NONE && m->threads.v[l->thread].gil == GIL_WAITING;
	s->samples++;
	s->gil += waits;
	s->polling += !waits && l->state == LOOP_POLLING;
	s->running += !waits && (l->state == LOOP_RUNNING || l->state == LOOP_BLOCKED);
	s->stalled += !waits && l->state == LOOP_STALLED;
	if (l->ready_count > s->ready)
		s->ready = l->ready_count;
	if (k->lag > s->lag)
		s->lag = k->lag;
}

void history_add_watched(struct history *h, const struct loop *l)
{
	struct loop_track *k = table_find(&h->loops, l->id);

	if (!k)
		return;
	k->watched.samples += l->watched.samples;
	k->watched.seen += l->watched.seen;
	k->watched.windows += l->watched.windows;
	k->watched.longest = fmax(k->watched.longest, l->watched.longest);
}

double loop_track_held(const struct loop_track *l, double now)
{
	return isnan(l->held_since) ? NAN : now - l->held_since;
}

struct loop_second loop_track_sum(const struct loop_track *l)
{
	struct loop_second sum = {0};

	for (uint32_t i = 0; i < HISTORY_SECONDS; i++) {
		const struct loop_second *s = &l->seconds[i];

		sum.samples += s->samples;
		sum.polling += s->polling;
		sum.running += s->running;
		sum.stalled += s->stalled;
		sum.gil += s->gil;
		if (s->ready > sum.ready)
			sum.ready = s->ready;
		if (s->lag > sum.lag)
			sum.lag = s->lag;
	}
	return sum;
}

static void values_of(const struct loop_track *l, double *values, uint32_t count, bool lag)
{
	for (uint32_t i = 0; i < count; i++)
		values[i] = NAN;
	for (uint32_t i = 0; i < HISTORY_SECONDS && count; i++) {
		int64_t second = l->now - (int64_t)HISTORY_SECONDS + 1 + i;
		const struct loop_second *s = &l->seconds[(uint64_t)second % HISTORY_SECONDS];
		double *to = &values[(uint64_t)i * count / HISTORY_SECONDS];

		if (second >= 0 && s->samples)
			*to = fmax(*to, lag ? s->lag : s->ready);
	}
}

void loop_track_ready(const struct loop_track *l, double *values, uint32_t count)
{
	values_of(l, values, count, false);
}

void loop_track_lag(const struct loop_track *l, double *values, uint32_t count)
{
	values_of(l, values, count, true);
}
