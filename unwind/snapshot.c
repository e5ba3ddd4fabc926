/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which proof a picture has. Every attempt is one walk over the page cache; what differs is how the pages came there and what is known of the
 * threads meanwhile: nothing ran (still), what was used is unchanged (validated), the running threads stood (paused), or none of it (torn).
 */
#include "unwind/snapshot.h"

#include "attach/access.h"
#include "attach/freeze.h"
#include "attach/stacks.h"
#include "attach/still.h"
#include "unwind/asyncio/asyncio.h"
#include "unwind/facts.h"
#include "unwind/native/native.h"
#include "unwind/python/python.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SCRATCH_RESERVE ((size_t)16 << 30)
#define FREE_TRIES	3 /* copies of the footprint that are tried without a stop */
#define AGAIN_TRIES	2 /* likewise, of one picture of many */
#define PAUSE_TRIES	5 /* stops that are tried; the last ones walk while the threads stand */
#define COPY_TRIES	3 /* of these: stops that last as long as the copy alone */

struct take {
	struct target *t;
	const struct snapshot_options *o;
	struct model *m;
	struct error *e;
	struct arena scratch;
	struct reader r;
	struct thread_facts facts; /* of the last stop */
	struct eval_calls evals;
	struct stacks stacks; /* of the last stop, where native stacks are wanted */
	bool may_stop, stop_all;
	bool walked; /* the last free attempt's walk came to its end */
	pid_t *runners; /* threads seen on a CPU: those that a pause stops */
	size_t runner_count, runner_capacity;
	uint64_t refresh_ns; /* what the last copy of the footprint took */
	uint64_t paused_us;
	uint64_t walked_ns; /* when the last walk began */
	enum snapshot_method method;
	const char *note;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

__attribute__((format(printf, 2, 3))) static void say(const struct take *k, const char *format, ...)
{
	char line[256];
	va_list args;

	if (!k->o->log)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	k->o->log(k->o->log_ctx, line);
}

static enum err take_init(struct take *k, const struct layout *lay)
{
	k->may_stop = k->o->pause != PAUSE_NEVER && k->o->max_pause_ms > 0;
	k->stop_all = k->may_stop && (k->o->pause == PAUSE_ALWAYS || k->o->native);
	k->r = (struct reader){.mem = k->t->mem,
			       .lay = lay,
			       .target = k->t,
			       .evals = k->o->native ? &k->evals : NULL,
			       .model = k->m,
			       .scratch = &k->scratch};
	k->r.codes = code_cache_create();
	k->r.types = type_cache_create();
	if (!arena_init(&k->scratch, SCRATCH_RESERVE) || !k->r.codes || !k->r.types)
		return error_set(k->e, ERR_NOMEM, 0, "out of memory");
	return ERR_OK;
}

static void take_deinit(struct take *k)
{
	code_cache_destroy(k->r.codes);
	type_cache_destroy(k->r.types);
	arena_deinit(&k->scratch);
	thread_facts_deinit(&k->facts);
	stacks_deinit(&k->stacks);
	free(k->runners);
}

/* One walk from the start. Soft errors at its root are ERR_TORN: another attempt may do better. */
static enum err walk(struct take *k)
{
	uint64_t start = now_ns();
	enum err err;

	k->walked_ns = start;
	k->r.mid_step = false;
	model_clear(k->m);
	arena_reset(&k->scratch);
	code_cache_clear(k->r.codes);
	type_cache_clear(k->r.types);
	k->evals = (struct eval_calls){0};
	err = asyncio_walk(&k->r, k->o->threads || k->o->native, k->o->loops);
	say(k, "walk: %u tasks, %.2f ms, %llu pages missing", k->m->tasks.count,
	    (double)(now_ns() - start) / 1e6, (unsigned long long)mem_misses(k->r.mem));
	if (err == ERR_NOMEM || k->m->out_of_memory || k->scratch.exhausted)
		return error_set(k->e, ERR_NOMEM, 0, "out of memory while process %d was read",
				 (int)k->t->pid);
	return err == ERR_OK || err == ERR_DEADLINE || error_is_hard(err) ? err : ERR_TORN;
}

static void copy_footprint(struct take *k)
{
	uint64_t start = now_ns();

	mem_refresh(k->r.mem);
	k->refresh_ns = now_ns() - start;
}

static bool is_runner(const struct take *k, pid_t tid)
{
	for (size_t i = 0; i < k->runner_count; i++) {
		if (k->runners[i] == tid)
			return true;
	}
	return false;
}

static enum err add_runner(struct take *k, pid_t tid)
{
	pid_t *grown;

	if (is_runner(k, tid))
		return ERR_OK;
	if (k->runner_count == k->runner_capacity) {
		k->runner_capacity = k->runner_capacity ? 2 * k->runner_capacity : 16;
		grown = realloc(k->runners, k->runner_capacity * sizeof(*grown));
		if (!grown)
			return error_set(k->e, ERR_NOMEM, 0, "out of memory");
		k->runners = grown;
	}
	k->runners[k->runner_count++] = tid;
	return ERR_OK;
}

/* The threads that *s saw on a CPU. */
static enum err add_runners(struct take *k, const struct still *s)
{
	enum err err = ERR_OK;

	for (size_t i = 0; i < s->count && err == ERR_OK; i++) {
		if (!s->v[i].off_cpu || s->v[i].ran)
			err = add_runner(k, s->v[i].tid);
	}
	return err;
}

static enum err add_all_threads(struct take *k)
{
	struct still s = {0};
	enum err err = still_take(k->t->pid, &s, k->e);

	for (size_t i = 0; i < s.count && err == ERR_OK; i++)
		err = add_runner(k, s.v[i].tid);
	still_deinit(&s);
	return err;
}

/* Did nothing run since *s? Threads that did are runners from now on. */
static enum err check_still(struct take *k, struct still *s, bool *ret)
{
	enum err err = still_unchanged(k->t->pid, s, ret, NULL, k->e);

	if (err == ERR_OK && !*ret)
		err = add_runners(k, s);
	return err;
}

/* What was used reads the same twice more. */
static bool revalidate(struct take *k)
{
	uint64_t changed = 0;

	for (int i = 0; i < 2; i++) {
		mem_recheck(k->r.mem, &changed);
		if (changed) {
			say(k, "not validated: %llu lines changed", (unsigned long long)changed);
			return false;
		}
	}
	return true;
}

/*
 * An attempt that stops nothing. With `copy` the footprint of the attempt before is copied first, so that the time in which nothing may run is
 * the copy's and not the walk's. *done_ret: a proof was found.
 */
static enum err attempt_free(struct take *k, bool copy, bool *done_ret)
{
	struct still before = {0};
	bool still = false;
	enum err err = still_take(k->t->pid, &before, k->e);

	k->r.facts = NULL;
	*done_ret = false;
	if (err != ERR_OK)
		return err;
	if (copy)
		copy_footprint(k);
	else
		mem_forget(k->r.mem);
	if (copy)
		err = check_still(k, &before, &still);
	if (err == ERR_OK)
		err = walk(k);
	if ((err == ERR_OK || err == ERR_TORN) && (!copy || mem_misses(k->r.mem))) {
		enum err late = check_still(k, &before, &still);

		err = late != ERR_OK ? late : err;
	}
	still_deinit(&before);
	if (err != ERR_OK)
		return err;
	if (!still && !revalidate(k))
		return ERR_OK;
	k->method = still ? SNAPSHOT_STILL : SNAPSHOT_VALIDATED;
	*done_ret = true;
	return ERR_OK;
}

/* The pages while the threads stand, and the word that the others slept. */
static enum err copy_while_frozen(struct take *k, const struct freeze *freeze, bool walk_too,
				  uint64_t deadline, bool *still_ret)
{
	struct still others = {0};
	enum err err = still_take(k->t->pid, &others, k->e);

	if (err != ERR_OK)
		return err;
	*still_ret = true;
	for (size_t i = 0; i < others.count; i++)
		*still_ret &= others.v[i].off_cpu;
	if (!*still_ret) {
		err = add_runners(k, &others);
		still_deinit(&others);
		return err;
	}
	copy_footprint(k);
	thread_facts_keep(&k->facts, &others);
	if (k->o->native && freeze)
		stacks_copy(&k->stacks, freeze, k->runners, k->runner_count, deadline);
	if (k->o->threads || k->o->native)
		thread_facts_add_calls(k->t->pid, &k->facts);
	if (walk_too) {
		mem_set_deadline(k->r.mem, deadline);
		err = walk(k);
		mem_set_deadline(k->r.mem, 0);
	}
	if (err == ERR_OK || err == ERR_TORN) {
		enum err late = check_still(k, &others, still_ret);

		err = late != ERR_OK ? late : err;
	}
	still_deinit(&others);
	return err;
}

/* Before a stop: while it lasts, those that stand look stopped. */
static enum err ask_threads(struct take *k)
{
	enum err err;

	thread_facts_deinit(&k->facts);
	stacks_deinit(&k->stacks);
	k->r.facts = &k->facts;
	err = k->stop_all ? add_all_threads(k) : ERR_OK;
	if (err == ERR_OK && k->o->native)
		err = stacks_prepare(k->t->pid, k->runner_count, &k->stacks, k->e);
	return err == ERR_OK ? thread_facts_take(k->t->pid, &k->facts) : err;
}

/* One stop. walk_too: think while they stand, since the copies before were not complete. */
static enum err attempt_pause(struct take *k, bool walk_too, bool *done_ret)
{
	uint64_t deadline = now_ns() + (uint64_t)k->o->max_pause_ms * 1000000u;
	struct freeze *freeze = NULL;
	uint64_t paused_us;
	bool still = false;
	enum err err = ask_threads(k);

	*done_ret = false;
	if (err != ERR_OK)
		return err;
	if (k->runner_count)
		err = freeze_begin(k->t->pid, k->runners, k->runner_count, deadline, &freeze, k->e);
	if (err != ERR_OK)
		return err;
	err = copy_while_frozen(k, freeze, walk_too, deadline, &still);
	paused_us = freeze_end(freeze);
	k->paused_us += paused_us;
	say(k, "%zu threads stopped for %llu us", k->runner_count, (unsigned long long)paused_us);
	if (err == ERR_OK && !walk_too) {
		err = walk(k);
		still &= mem_misses(k->r.mem) == 0;
	}
	if (err != ERR_OK || !still)
		return err;
	k->method = SNAPSHOT_PAUSED;
	*done_ret = true;
	return ERR_OK;
}

/* Stops, while they promise a proof. Without one the last walk stands. */
static enum err pause_attempts(struct take *k, bool *done_ret)
{
	*done_ret = false;
	for (int i = 0; i < PAUSE_TRIES && !*done_ret; i++) {
		bool walk_too = i >= COPY_TRIES;
		enum err err;

		if (k->refresh_ns > (uint64_t)k->o->max_pause_ms * 1000000u) {
			k->note =
				"the copy takes longer than the longest stop allowed (--max-pause)";
			return ERR_OK;
		}
		err = attempt_pause(k, walk_too, done_ret);
		if (err == ERR_DEADLINE) {
			k->note =
				"the longest stop allowed (--max-pause) was over before the copy was complete";
			continue;
		}
		if (err == ERR_GONE && target_check(k->t, k->e) == ERR_OK) {
			k->runner_count = 0; /* only the threads that ran have ended */
			continue;
		}
		if (err == ERR_ACCESS) {
			k->note = "its threads can't be stopped (another tracer, or no right)";
			return ERR_OK;
		}
		if (err != ERR_OK && err != ERR_TORN)
			return err;
		/* Stopped between two instructions that belong together: the next stop finds it elsewhere. */
		if (*done_ret && k->r.mid_step && i + 1 < PAUSE_TRIES)
			*done_ret = false;
	}
	return ERR_OK;
}

/* A walk for the record where no attempt ended with a proof. */
static enum err take_torn(struct take *k)
{
	enum err err = ERR_TORN;

	for (int i = 0; i < FREE_TRIES && err == ERR_TORN; i++) {
		mem_forget(k->r.mem);
		k->r.facts = NULL;
		err = walk(k);
	}
	if (err == ERR_TORN)
		return error_set(
			k->e, ERR_SYSTEM, 0,
			"process %d changes faster than it can be read; try again, or without --pause=never",
			(int)k->t->pid);
	k->method = SNAPSHOT_TORN;
	return err;
}

/* The first walks over what it meets, the others over copies, as all do of a picture that is one of many. */
static enum err free_attempts(struct take *k, int tries, bool *done_ret)
{
	*done_ret = false;
	for (int i = 0; i < tries && !*done_ret; i++) {
		enum err err = attempt_free(k, i > 0 || k->o->again, done_ret);

		k->walked = err == ERR_OK;
		if (err != ERR_OK && err != ERR_TORN)
			return err;
	}
	return ERR_OK;
}

static enum err take_any(struct take *k)
{
	bool done = false;
	int tries = k->stop_all ? 1 : k->o->again ? AGAIN_TRIES : 1 + FREE_TRIES;
	enum err err = free_attempts(k, tries, &done);

	done &= !k->stop_all;
	if (err == ERR_OK && !done && k->may_stop)
		err = pause_attempts(k, &done);
	/* Native stacks are not to be had; the rest may still be proven without a stop. */
	if (err == ERR_OK && !done && k->o->native && k->o->pause == PAUSE_AUTO)
		err = free_attempts(k, 1 + FREE_TRIES, &done);
	if (err != ERR_OK)
		return err;
	if (done)
		return ERR_OK;
	k->method = SNAPSHOT_TORN;
	/* The last attempt's walk is as good as another one. */
	return k->o->again && !k->may_stop && k->walked ? ERR_OK : take_torn(k);
}

/* After the stop, from what was copied in it. */
static enum err add_native_stacks(struct take *k)
{
	uint64_t start = now_ns();
	enum err err;

	if (!k->o->native || k->method != SNAPSHOT_PAUSED)
		return ERR_OK;
	err = native_fill(&k->r, &k->stacks);
	say(k, "native stacks: %zu threads, %zu bytes copied, %.2f ms", k->stacks.count,
	    k->stacks.bytes, (double)(now_ns() - start) / 1e6);
	return err == ERR_OK && k->m->out_of_memory ? ERR_NOMEM : err;
}

static const char *why_no_native(const struct take *k)
{
	if (!k->o->native || k->method == SNAPSHOT_PAUSED)
		return NULL;
	if (!k->may_stop)
		return "no thread may be stopped (--pause=never or --max-pause=0)";
	return k->note ? k->note : "other threads ran whenever these were stopped";
}

/* The reason of a failure, where its place of birth had no words for it: reads answer with a kind alone. */
static enum err explain(struct take *k, enum err err)
{
	int pid = (int)k->t->pid;

	if (err != ERR_NOMEM && target_check(k->t, k->e) != ERR_OK)
		return ERR_GONE;
	if (err == ERR_ACCESS)
		return access_refused(k->t->pid, k->e);
	if (err == ERR_GONE)
		return error_set(k->e, ERR_GONE, 0, "process %d could not be read to the end", pid);
	if (k->e->kind == err)
		return err;
	return error_set(k->e, error_is_hard(err) ? err : ERR_SYSTEM, 0,
			 "process %d could not be read", pid);
}

enum err snapshot_take(struct target *t, const struct layout *lay,
		       const struct snapshot_options *options, struct model *m, struct error *e)
{
	struct take k = {.t = t, .o = options, .m = m, .e = e};
	struct mem_stats before = mem_stats(t->mem), after;
	uint64_t start = now_ns();
	struct timespec wall;
	enum err err;

	clock_gettime(CLOCK_REALTIME, &wall);
	err = take_init(&k, lay);
	if (err == ERR_OK)
		err = take_any(&k);
	if (err == ERR_OK)
		err = add_native_stacks(&k);
	if (err != ERR_OK)
		err = explain(&k, err);
	take_deinit(&k);
	after = mem_stats(t->mem);
	m->snapshot = (struct snapshot_info){
		.wall_time = (double)wall.tv_sec + (double)wall.tv_nsec / 1e9,
		.monotonic = (double)k.walked_ns / 1e9,
		.method = k.method,
		.consistent = k.method != SNAPSHOT_TORN,
		.paused_us = k.paused_us,
		.duration_us = (now_ns() - start) / 1000,
		.bytes_read = after.bytes - before.bytes,
		.read_calls = after.calls - before.calls,
	};
	if (options->loops)
		m->snapshot.signals_read =
			proc_signals_caught(t->pid, &m->snapshot.signals_caught) == ERR_OK;
	if (k.note && k.method == SNAPSHOT_TORN)
		snprintf(m->snapshot.note, sizeof(m->snapshot.note), "%s", k.note);
	if (why_no_native(&k))
		snprintf(m->snapshot.native_note, sizeof(m->snapshot.native_note), "%s",
			 why_no_native(&k));
	return err;
}
