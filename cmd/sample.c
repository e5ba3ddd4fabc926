/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at even distances over the sample window; the process stays open, so that each look costs its reads alone. */
#include "cmd/sample.h"

#include "base/clock.h"
#include "cmd/read.h"
#include "detect/detect.h"
#include "unwind/asyncio/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOKS_LEAST 3
#define LOOKS_MOST  10
#define LOOK_EVERY  100 /* ms, in long windows */
#define WATCH_LEAST 10 /* ms between two looks, also where looks take long */

/* A fifth of a CPU at most. */
static const struct watch_pace closely = {.every_ns = 400000, .pause = 4};

/* What all looks have in common. */
struct sampling {
	const struct cli *cli;
	struct opened opened;
	struct model *looks[LOOKS_MOST];
	uint32_t wanted, count;
	uint64_t start_ns;
	struct watcher *watcher; /* between the looks */
};

static void sleep_until(uint64_t ns)
{
	struct timespec ts = clock_timespec(ns);

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

/* The first look at once, the last when the window ends. */
static uint64_t due_ns(const struct sampling *s, uint32_t look)
{
	return s->start_ns + (uint64_t)s->cli->sample_ms * 1000000u * look / (s->wanted - 1);
}

static void watch_until(struct sampling *s, uint64_t due)
{
	uint64_t least = clock_now_ns() + WATCH_LEAST * 1000000u;

	watcher_refresh(s->watcher);
	watcher_run(s->watcher, &closely, due > least ? due : least);
}

static enum err take_looks(struct sampling *s, struct error *e)
{
	struct look_options want = {.threads = true, .loops = true};

	s->wanted = s->cli->sample_ms / LOOK_EVERY + 1;
	if (s->wanted < LOOKS_LEAST)
		s->wanted = LOOKS_LEAST;
	if (s->wanted > LOOKS_MOST)
		s->wanted = LOOKS_MOST;
	s->start_ns = clock_now_ns();
	while (s->count < s->wanted) {
		struct model *m = NULL;
		enum err err;

		if (s->count)
			watch_until(s, due_ns(s, s->count));
		sleep_until(due_ns(s, s->count));
		if (model_create(&m) != ERR_OK)
			return error_set(e, ERR_NOMEM, 0, "out of memory");
		s->looks[s->count++] = m;
		/* Stops all threads, so once, when nothing is left to be watched. */
		want.native = s->cli->native && s->count == s->wanted;
		err = process_look(s->cli, &s->opened, &want, m, e);
		if (err != ERR_OK)
			return err;
	}
	return ERR_OK;
}

static void log_watch(const struct sampling *s)
{
	const struct watch_counts *w = &watcher_seen(s->watcher)->counts;

	if (s->cli->verbose && w->samples && w->seconds > 0)
		fprintf(stderr,
			"aiotrace: process %d: watch: %.0f samples a second, %.1f %% of a CPU\n",
			(int)s->opened.target.pid, (double)w->samples / w->seconds,
			100 * w->busy / w->seconds);
}

static enum err judge(struct sampling *s, struct error *e)
{
	struct detection d = {
		.looks = (const struct model *const *)s->looks,
		.count = s->count,
		.now = s->looks[s->count - 1],
		.watch = watcher_seen(s->watcher),
		.limits = {.blocked_after = s->cli->blocked_after_ms / 1e3},
	};
	uint32_t all = s->cli->only ? s->cli->only : UINT32_MAX;

	if (detect_run(&d, all & ~s->cli->ignore) != ERR_OK)
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	d.now->snapshot.looks = s->count;
	d.now->snapshot.watched = d.now->snapshot.monotonic - s->looks[0]->snapshot.monotonic;
	return ERR_OK;
}

/* In any look: loops come and go. */
static bool has_asyncio(const struct sampling *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		if (s->looks[i]->loops.count || s->looks[i]->tasks.count)
			return true;
	}
	return false;
}

enum err sample_process(const struct cli *cli, pid_t pid, struct model **ret, struct error *e)
{
	struct sampling s = {.cli = cli};
	enum err err = process_open(cli, pid, &s.opened, e);
	struct model *last;

	if (err != ERR_OK)
		return err;
	err = watcher_create(&s.opened.target, &s.opened.lay, &s.watcher);
	err = err == ERR_OK ? take_looks(&s, e) : error_set(e, err, 0, "out of memory");
	last = err == ERR_OK ? s.looks[s.count - 1] : NULL;
	if (last && !has_asyncio(&s))
		err = error_set(e, ERR_UNSUPPORTED, 0,
				"process %d has no asyncio loop: there is nothing to check",
				(int)pid);
	if (err == ERR_OK)
		err = judge(&s, e);
	if (err == ERR_OK)
		log_watch(&s);
	watcher_destroy(s.watcher);
	process_close(&s.opened);
	for (uint32_t i = 0; i < s.count; i++) {
		if (err != ERR_OK || s.looks[i] != last)
			model_destroy(s.looks[i]);
	}
	if (err == ERR_OK)
		*ret = last;
	return err;
}

int sample_worst(const struct model *m)
{
	int worst = -1;

	for (uint32_t i = 0; i < m->findings.count; i++) {
		if ((int)m->findings.v[i].severity > worst)
			worst = (int)m->findings.v[i].severity;
	}
	return worst;
}
