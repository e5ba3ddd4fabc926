/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sample. Where the kernel's counters prove that nothing has run since the last picture, that one still holds and costs nothing; it is taken anew once a second all the
 * same, since times go on in it.
 */
#include "base/clock.h"
#include "cmd/top_sampler_inner.h"
#include "detect/detect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define INTERVAL      (1 / SAMPLES_PER_SECOND)
#define RENEW_SECONDS 1.0 /* a picture of a process that rests */
#define RENEW_FIRST \
	5u /* samples after the last move that are pictures anyway: the window's worth */
#define WINDOW_LEAST  3u
#define WINDOW_SPAN   2.5 /* seconds; older pictures say little of now */
#define USAGE_SECONDS 0.5

/* The share of a processor that sampling may take: more where there are more tasks to read. */
#define SHARE_LEAST	 0.02
#define SHARE_TASKS	 1000 /* up to so many */
#define SHARE_A_THOUSAND 0.009 /* and this for each thousand more */
#define SHARE_MOST	 0.1

static double thread_cpu(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void drop_oldest(struct sampler *s)
{
	sampler_release(s, s->window[0]);
	s->window_count--;
	for (unsigned i = 0; i < s->window_count; i++)
		s->window[i] = s->window[i + 1];
}

bool sampler_rests(const struct sampler *s)
{
	return s->unmoved > RENEW_FIRST;
}

void sampler_begin(struct sampler *s)
{
	if (watcher_create(&s->opened.target, &s->opened.lay, &s->watcher) != ERR_OK)
		s->watcher = NULL;
	s->watch_due = UINT64_MAX;
}

void sampler_forget(struct sampler *s)
{
	while (s->window_count)
		drop_oldest(s);
	watcher_destroy(s->watcher);
	s->watcher = NULL;
	still_deinit(&s->still);
	s->still = (struct still){0};
	s->still_taken = false;
	s->unmoved = 0;
	s->cost = 0;
	s->usage_at = 0;
}

void sampler_destroy(struct sampler *s)
{
	sampler_forget(s);
	for (unsigned i = 0; i < POOL_MOST; i++)
		model_destroy(s->pool[i].m);
	process_close(&s->opened);
	if (s->event >= 0)
		close(s->event);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* One that nobody holds; the caller holds it. */
static struct look *free_look(struct sampler *s)
{
	struct look *found = NULL;

	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < POOL_MOST && !found; i++) {
		if (!s->pool[i].holders)
			found = &s->pool[i];
	}
	if (found)
		found->holders = 1;
	pthread_mutex_unlock(&s->lock);
	if (found && !found->m && model_create(&found->m) != ERR_OK) {
		sampler_release(s, found);
		return NULL;
	}
	return found;
}

static double age_of(const struct look *old, const struct look *newest)
{
	return newest->m->snapshot.monotonic - old->m->snapshot.monotonic;
}

static void push_window(struct sampler *s, struct look *l)
{
	if (s->window_count == WINDOW_MOST)
		drop_oldest(s);
	s->window[s->window_count++] = l;
	while (s->window_count > WINDOW_LEAST && age_of(s->window[0], l) > WINDOW_SPAN)
		drop_oldest(s);
}

static enum err judge(struct sampler *s, struct error *e)
{
	const struct model *looks[WINDOW_MOST];
	struct model *now = s->window[s->window_count - 1]->m;
	struct detection d = {
		.looks = looks,
		.count = s->window_count,
		.now = now,
		.watch = s->watcher ? watcher_seen(s->watcher) : NULL,
		.limits = {.blocked_after = s->cli.blocked_after_ms / 1e3},
	};
	uint32_t all = s->cli.only ? s->cli.only : UINT32_MAX;

	for (unsigned i = 0; i < s->window_count; i++)
		looks[i] = s->window[i]->m;
	if (detect_run(&d, all & ~s->cli.ignore) != ERR_OK)
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	now->snapshot.looks = s->window_count;
	now->snapshot.watched = age_of(s->window[0], s->window[s->window_count - 1]);
	return ERR_OK;
}

static void take_usage(struct sampler *s)
{
	double now = (double)clock_now_ns() / 1e9;
	struct proc_usage u;

	if (s->usage_at > 0 && now - s->usage_at < USAGE_SECONDS)
		return;
	if (proc_usage_read(s->pid, &u) != ERR_OK)
		return;
	s->usage = (struct usage){
		.cpu = s->usage_at > 0 ? (u.cpu_seconds - s->usage_cpu) / (now - s->usage_at) : NAN,
		.resident_bytes = (double)u.resident_bytes,
		.threads = u.threads,
		.age = u.age,
	};
	s->usage_cpu = u.cpu_seconds;
	s->usage_at = now;
}

static void post(struct sampler *s, enum message_kind kind, struct look *l, bool native_asked)
{
	struct message m = {.kind = kind,
			    .look = l,
			    .native_asked = native_asked,
			    .when = (double)clock_now_ns() / 1e9,
			    .usage = s->usage};

	if (s->interval > 1.5 * INTERVAL)
		snprintf(m.note, sizeof(m.note), "a look takes %.1f ms", s->cost * 1e3);
	if (l)
		sampler_hold(s, l);
	sampler_post(s, &m);
}

/* Nothing has run since before the newest picture, which is young enough. */
static bool rests(struct sampler *s)
{
	const struct look *newest = s->window_count ? s->window[s->window_count - 1] : NULL;
	bool unchanged = false;

	if (!newest || !s->still_taken)
		return false;
	if (still_unchanged(s->pid, &s->still, &unchanged, NULL, NULL) != ERR_OK || !unchanged) {
		s->unmoved = 0;
		return false;
	}
	s->unmoved++;
	return sampler_rests(s) &&
	       (double)clock_now_ns() / 1e9 - newest->m->snapshot.monotonic < RENEW_SECONDS;
}

/* From now until the next look; together with the spans before it as far back as the looks that are judged. */
static void watch_on(struct sampler *s)
{
	unsigned keep = s->window_count < WINDOW_MOST ? s->window_count : WINDOW_MOST - 1;

	if (!s->watcher)
		return;
	watcher_turn(s->watcher, keep - 1);
	watcher_refresh(s->watcher);
	s->watch_due = clock_now_ns();
}

static enum err look(struct sampler *s, bool native, struct error *e)
{
	struct cli cli = s->cli;
	const struct look_options want = {.threads = true,
					  .loops = true,
					  .native = native || cli.native,
					  .again = s->looks++ > 0};
	struct look *l = free_look(s);
	enum err err;

	if (want.native && cli.pause == PAUSE_NEVER && !cli.pause_given)
		cli.pause = PAUSE_AUTO;

	if (!l)
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	still_deinit(&s->still);
	s->still = (struct still){0};
	s->still_taken = still_take(s->pid, &s->still, NULL) == ERR_OK;
	err = process_look(&cli, &s->opened, &want, l->m, e);
	/* Another program of the same executable may have all things in the same places. */
	if (err == ERR_OK)
		err = target_check(&s->opened.target, e);
	if (err != ERR_OK) {
		sampler_release(s, l);
		return err;
	}
	push_window(s, l);
	if (s->watcher)
		watch_tell(watcher_seen(s->watcher), l->m);
	err = judge(s, e);
	take_usage(s);
	if (err == ERR_OK)
		post(s, MESSAGE_LOOK, l, native);
	watch_on(s);
	return err;
}

static double share_for(const struct sampler *s)
{
	double tasks = s->window_count ? s->window[s->window_count - 1]->m->tasks.count : 0;

	return fmin(SHARE_LEAST + SHARE_A_THOUSAND * fmax(tasks - SHARE_TASKS, 0) / 1000,
		    SHARE_MOST);
}

enum err sampler_look(struct sampler *s, bool native, double *pause_ret, struct error *e)
{
	double start = thread_cpu(), cost;
	enum err err;

	if (!native && rests(s)) {
		s->interval = INTERVAL;
		take_usage(s);
		post(s, MESSAGE_SAME, NULL, false);
		*pause_ret = INTERVAL;
		return ERR_OK;
	}
	err = look(s, native, e);
	cost = thread_cpu() - start;
	/* The very first one has files to open and pages to find, those with native stacks whole libraries. */
	if (s->looks > 1 && !native)
		s->cost = s->cost > 0 ? s->cost + 0.3 * (cost - s->cost) : cost;
	s->interval = fmax(INTERVAL, s->cost / share_for(s));
	*pause_ret = s->interval;
	return err;
}
