/* SPDX-License-Identifier: Apache-2.0 */
/* The watch's account of windows: what is one window, across pictures and spans, and what is forgotten. */
#include "check.h"
#include "unwind/asyncio/watch_internal.h"

#include <stdlib.h>

#define MS   1000000u
#define LOOP ((vaddr)0x10)

/* Samples are five milliseconds apart; longer than ten of them without one parts windows. */
static struct watcher account(void)
{
	struct watcher w = {.gap_ns = 50 * MS};

	if (!arena_init(&w.seen.text, (size_t)1 << 30))
		exit(2);
	return w;
}

static void account_deinit(struct watcher *w)
{
	arena_deinit(&w->seen.text);
	free(w->seen.v);
	free(w->seen.ready);
}

/* From `from` to `to` milliseconds, every five. */
static void stands(struct watcher *w, uint64_t from, uint64_t to)
{
	const struct sighting s = {.loop = LOOP, .task = 0x20, .ready = 3, .targets = 2};

	for (uint64_t ms = from; ms <= to; ms += 5) {
		seen_add(w, &s, ms * MS);
		seen_sample(w, 0.005, 0);
	}
}

/* A picture, after which a new span begins. */
static void picture(struct watcher *w, uint64_t ms, uint32_t keep)
{
	watcher_turn(w, keep);
	seen_go_on(w, ms * MS);
}

static const struct window_counts *counts(const struct watcher *w)
{
	return &w->seen.v[0].counts;
}

/* What the newest span told of its windows, one picture after the other, adds up. */
static uint64_t told(const struct watcher *w)
{
	const struct window_counts *c = &w->seen.v[0].spans[w->seen.span];

	return c->windows - c->continued;
}

static void test_one_that_stands_through_pictures(void)
{
	struct watcher w = account();
	uint64_t sum = 0;

	for (uint64_t span = 0; span < 8; span++) {
		stands(&w, 1000 + span * 100, 1090 + span * 100);
		CHECK_EQUAL(counts(&w)->windows, 1);
		sum += told(&w);
		picture(&w, 1100 + span * 100, 2);
	}
	CHECK_EQUAL(sum, 1);
	/* Two spans are kept, and the one that has begun. */
	stands(&w, 1800, 1805);
	CHECK_EQUAL(counts(&w)->windows, 1);
	CHECK_EQUAL(counts(&w)->samples, 19 + 19 + 2);
	CHECK_EQUAL(w.seen.counts.samples, 19 + 19 + 2);
	CHECK(counts(&w)->longest > 0.8049 && counts(&w)->longest < 0.8051);
	CHECK_EQUAL(counts(&w)->ready, 3);
	CHECK_EQUAL(counts(&w)->targets, 2);
	account_deinit(&w);
}

static void test_a_long_picture_parts(void)
{
	struct watcher w = account();

	stands(&w, 1000, 1010);
	picture(&w, 1060, 4);
	stands(&w, 1060, 1070);
	picture(&w, 1121, 4);
	stands(&w, 1121, 1121);
	CHECK_EQUAL(counts(&w)->windows, 2);
	CHECK(counts(&w)->longest > 0.0699 && counts(&w)->longest < 0.0701);
	account_deinit(&w);
}

static void test_a_proof_parts(void)
{
	struct watcher w = account();

	for (uint64_t ms = 1000; ms < 1040; ms += 10) {
		stands(&w, ms, ms);
		seen_close(&w, LOOP);
	}
	CHECK_EQUAL(counts(&w)->windows, 4);
	CHECK(counts(&w)->longest == 0);
	/* Of another loop it says nothing. */
	stands(&w, 1040, 1040);
	seen_close(&w, LOOP + 1);
	stands(&w, 1045, 1045);
	CHECK_EQUAL(counts(&w)->windows, 5);
	/* One goes on into the next span, and two come: of the span that is forgotten none is left. */
	picture(&w, 1050, 1);
	stands(&w, 1050, 1050);
	seen_close(&w, LOOP);
	stands(&w, 1060, 1060);
	CHECK_EQUAL(counts(&w)->windows, 6);
	CHECK_EQUAL(told(&w), 1);
	picture(&w, 1070, 1);
	CHECK_EQUAL(counts(&w)->windows, 2);
	picture(&w, 1080, 1);
	CHECK_EQUAL(w.seen.count, 0);
	account_deinit(&w);
}

int main(void)
{
	test_one_that_stands_through_pictures();
	test_a_long_picture_parts();
	test_a_proof_parts();
	return check_result("watch");
}
