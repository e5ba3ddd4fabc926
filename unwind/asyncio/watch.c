/* SPDX-License-Identifier: Apache-2.0 */
/* See watch.h. */
#include "unwind/asyncio/watch.h"

#include "attach/live.h"
#include "base/clock.h"
#include "unwind/asyncio/watch_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CACHE_BUDGET	((size_t)16 << 20)
#define ARENA_SIZE	((size_t)4 << 30)
#define INTERPS_WATCHED 64u
#define THREADS_WATCHED 256u /* of one interpreter */
#define LOOPS_WATCHED	64u
#define GIL_BYTES	64u
#define GAP_SAMPLES	10u

/* The words that make a sample one moment. */
struct gil_words {
	vaddr holder;
	uint64_t switches;
};

/* A loop with a thread that runs it. */
struct watched_loop {
	vaddr loop;
	vaddr ready; /* where its ready queue keeps its length; 0 not known */
	struct thread_walk thread;
	/*
	 * As it was when the GIL's words were these. Words that have changed never come back: what was made of a stack that moved meanwhile is not asked for
	 * again.
	 */
	struct gil_words words;
	bool judged; /* the next one is known */
	bool outside; /* of all callbacks */
	bool sighted; /* then the window was this: */
	struct sighting last;
};

struct watched_interp {
	vaddr gil;
	vaddr dict; /* {loop: task}, where loops keep their task; else 0 */
	struct thread_walk *threads; /* scratch */
	uint32_t thread_count;
	struct watched_loop loops[LOOPS_WATCHED];
	uint32_t loop_count;
};

static uint32_t gil_start(const struct layout *lay)
{
	uint32_t a = lay->gil_last_holder.offset, b = lay->gil_switch_number.offset;

	return a < b ? a : b;
}

static uint32_t gil_len(const struct layout *lay)
{
	uint32_t a = lay->gil_last_holder.offset, b = lay->gil_switch_number.offset;

	return (a < b ? b : a) - gil_start(lay) + 8;
}

static bool gil_decode(const struct layout *lay, const uint8_t *bytes, struct gil_words *ret)
{
	bytes -= gil_start(lay);
	return field_decode(bytes, lay->gil_last_holder, &ret->holder) &&
	       field_decode(bytes, lay->gil_switch_number, &ret->switches);
}

static bool same_words(const struct gil_words *a, const struct gil_words *b)
{
	return a->holder == b->holder && a->switches == b->switches;
}

/* Straight from the process, in this order, all or nothing. */
static bool read_now(struct watcher *w, const struct mem_range *ranges, size_t count)
{
	int64_t want = 0;

	for (size_t i = 0; i < count; i++)
		want += (int64_t)ranges[i].len;
	return live_source.read(w->live, ranges, count) == want;
}

/* The GIL's words around others. False: it changed hands, or can't be read. */
static bool read_between(struct watcher *w, const struct watched_interp *in,
			 struct mem_range *ranges, size_t count, struct gil_words *ret)
{
	const struct layout *lay = w->r.lay;
	uint8_t before[GIL_BYTES], after[GIL_BYTES];
	vaddr at = in->gil + gil_start(lay);
	struct gil_words later;

	/* ranges[0] and the last one are ours. */
	ranges[0] = (struct mem_range){at, before, gil_len(lay)};
	ranges[count + 1] = (struct mem_range){at, after, gil_len(lay)};
	return read_now(w, ranges, count + 2) && gil_decode(lay, before, ret) &&
	       gil_decode(lay, after, &later) && same_words(ret, &later);
}

/* Nothing has changed hands since. */
static bool still_so(struct watcher *w, const struct watched_interp *in,
		     const struct gil_words *words)
{
	struct mem_range ranges[2];
	struct gil_words now;

	return read_between(w, in, ranges, 0, &now) && same_words(words, &now);
}

static bool in_turn_alone(const struct frame_walk *frames, uint32_t count)
{
	bool in_turn = false;

	for (uint32_t i = 0; i < count; i++) {
		const struct code_info *code = frames[i].info;

		if (code->asyncio && str_ends_with(code->qualname, "Handle._run"))
			return false;
		in_turn |= code->asyncio && str_ends_with(code->qualname, "._run_once");
	}
	return in_turn;
}

/* The loop's thread is in its selector or between two callbacks: then no task of the loop may be entered. */
static bool is_outside_callbacks(struct watcher *w, struct watched_loop *l,
				 const struct gil_words *words)
{
	struct frame_walk *frames;
	uint32_t count;
	bool truncated;
	vaddr loop, task;

	l->judged = true;
	l->words = *words;
	l->sighted = false;
	l->outside = loop_of_thread(&w->r, l->thread.at, &loop, &task) == ERR_OK &&
		     loop == l->loop &&
		     thread_frames(&w->r, &l->thread, WATCH_FRAMES_MAX, &frames, &count,
				   &truncated) == ERR_OK &&
		     !truncated && in_turn_alone(frames, count);
	return l->outside;
}

/* Who else has the loop as its running one; the GIL's holder before all others. */
static void find_intruder(struct watcher *w, const struct watched_interp *in,
			  const struct watched_loop *l, vaddr holder, struct sighting *s)
{
	for (uint32_t i = 0; i < in->thread_count; i++) {
		const struct thread_walk *t = &in->threads[i];
		vaddr loop, task;

		if (t->at == l->thread.at || (s->state && t->at != holder) ||
		    loop_of_thread(&w->r, t->at, &loop, &task) != ERR_OK || loop != l->loop)
			continue;
		s->state = t->at;
		s->thread = *t;
	}
}

/* The task that the dict has for a loop; 0 none. False: can't be read. */
static bool task_in_dict(struct watcher *w, vaddr dict, vaddr loop, vaddr *ret)
{
	struct items loops, tasks;

	*ret = 0;
	if (dict_items(&w->r, dict, LOOPS_WATCHED, &loops, &tasks) != ERR_OK)
		return false;
	for (uint32_t i = 0; i < loops.count && i < tasks.count; i++) {
		if (loops.v[i] == loop)
			*ret = tasks.v[i];
	}
	return true;
}

static bool is_task_of(struct watcher *w, vaddr at, vaddr loop)
{
	struct future_view f;

	return future_read(&w->r, at, &f) == ERR_OK && f.is_task && f.loop == loop;
}

/* Everything that is said of a window, between the GIL's words and the same words again. */
static void sight(struct watcher *w, const struct watched_interp *in, struct watched_loop *l,
		  const struct gil_words *words, vaddr task)
{
	struct sighting s = {.loop = l->loop, .task = task};
	vaddr again;

	l->sighted = false;
	if (!is_task_of(w, task, l->loop))
		return;
	find_intruder(w, in, l, words->holder, &s);
	sighting_read(w, &s);
	mem_forget(w->r.mem);
	if (!task_in_dict(w, in->dict, l->loop, &again) || again != task || !still_so(w, in, words))
		return;
	seen_add(w, &s, clock_now_ns());
	l->sighted = !s.state || s.frame_count || s.known;
	l->last = s;
}

static void judge_loop(struct watcher *w, const struct watched_interp *in, struct watched_loop *l,
		       const struct gil_words *words)
{
	bool stood = l->judged && same_words(&l->words, words);
	vaddr task;

	if (words->holder == l->thread.at)
		return;
	mem_forget(w->r.mem);
	if (!(stood ? l->outside : is_outside_callbacks(w, l, words)) ||
	    !task_in_dict(w, in->dict, l->loop, &task))
		return;
	if (stood && l->sighted && task == l->last.task) {
		/* All that was said of it holds. */
		if (still_so(w, in, words))
			seen_add(w, &l->last, clock_now_ns());
	} else if (task) {
		sight(w, in, l, words, task);
	} else if (still_so(w, in, words)) {
		seen_close(w, l->loop);
	}
}

/* The task belongs to the loop. */
static void sample_dict(struct watcher *w, struct watched_interp *in)
{
	uint64_t used = 0;
	struct mem_range ranges[3];
	struct gil_words words;

	ranges[1] = (struct mem_range){in->dict + w->r.lay->dict_used.offset, &used, sizeof(used)};
	if (!in->dict || !in->loop_count || !read_between(w, in, ranges, 1, &words))
		return;
	for (uint32_t i = 0; i < in->loop_count; i++) {
		if (used)
			judge_loop(w, in, &in->loops[i], &words);
		else
			seen_close(w, in->loops[i].loop);
	}
}

static bool is_none(struct watcher *w, vaddr at)
{
	if (at != w->none && object_is_none(&w->r, at))
		w->none = at;
	return at == w->none;
}

/* The running loops of all threads, and their tasks, as they stood at one moment. */
struct running {
	uint64_t loops[THREADS_WATCHED], tasks[THREADS_WATCHED];
};

/* Two threads of one running loop, proven already; what is said of it may need a proof of its own. */
static void judge_pair(struct watcher *w, const struct watched_interp *in,
		       const struct running *now, uint32_t a, uint32_t b,
		       const struct gil_words *words)
{
	struct sighting s = {.loop = now->loops[a]};
	uint32_t who;

	mem_forget(w->r.mem);
	if (is_none(w, s.loop))
		return;
	who = loop_is_of_thread(&w->r, s.loop, &in->threads[b]) ? a : b;
	s.state = in->threads[who].at;
	s.thread = in->threads[who];
	s.task = now->tasks[who];
	if (s.task && !is_task_of(w, s.task, s.loop))
		s.task = 0;
	sighting_read(w, &s);
	if (still_so(w, in, words))
		seen_add(w, &s, clock_now_ns());
}

/* The task belongs to the thread. */
static void sample_threads(struct watcher *w, const struct watched_interp *in)
{
	const struct layout *lay = w->r.lay;
	struct running now;
	struct mem_range ranges[2 * THREADS_WATCHED + 2];
	struct gil_words words;
	uint32_t count = in->thread_count;

	for (uint32_t i = 0; i < count; i++) {
		vaddr at = in->threads[i].at;

		ranges[1 + i] =
			(struct mem_range){at + lay->thread_running_loop.offset, &now.loops[i], 8};
		ranges[1 + count + i] =
			(struct mem_range){at + lay->thread_running_task.offset, &now.tasks[i], 8};
	}
	if (!count || !read_between(w, in, ranges, 2ul * count, &words))
		return;
	for (uint32_t i = 0; i < in->loop_count; i++) {
		uint32_t runners = 0;

		for (uint32_t k = 0; k < count; k++)
			runners += now.loops[k] == in->loops[i].loop;
		if (runners < 2)
			seen_close(w, in->loops[i].loop);
	}
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; now.loops[i] && now.loops[i] != w->none && k < i; k++) {
			if (now.loops[k] == now.loops[i])
				judge_pair(w, in, &now, k, i, &words);
		}
	}
}

/* Each length is one word, so a moment of its own, and needs no proof. */
static void sample_ready(struct watcher *w, const struct watched_interp *in)
{
	uint64_t lengths[LOOPS_WATCHED];
	struct mem_range ranges[LOOPS_WATCHED];
	vaddr loops[LOOPS_WATCHED];
	uint32_t count = 0;

	for (uint32_t i = 0; i < in->loop_count; i++) {
		if (!in->loops[i].ready)
			continue;
		ranges[count] = (struct mem_range){in->loops[i].ready, &lengths[count], 8};
		loops[count++] = in->loops[i].loop;
	}
	if (!count || !read_now(w, ranges, count))
		return;
	for (uint32_t i = 0; i < count; i++)
		seen_ready(w, loops[i], lengths[i]);
}

uint64_t watcher_sample(struct watcher *w, const struct watch_pace *pace)
{
	uint64_t start = clock_now_ns(), end, due;

	if (!w->interp_count)
		return UINT64_MAX;
	for (uint32_t i = 0; i < w->interp_count; i++) {
		sample_ready(w, &w->interps[i]);
		if (field_present(w->r.lay->thread_running_task))
			sample_threads(w, &w->interps[i]);
		else
			sample_dict(w, &w->interps[i]);
	}
	end = clock_now_ns();
	w->gap_ns = GAP_SAMPLES * pace->every_ns;
	seen_sample(w, w->last_ns ? (double)(end - w->last_ns) / 1e9 : 0,
		    (double)(end - start) / 1e9);
	w->last_ns = end;
	due = end + (end - start) * pace->pause;
	return due < start + pace->every_ns ? start + pace->every_ns : due;
}

void watcher_run(struct watcher *w, const struct watch_pace *pace, uint64_t until_ns)
{
	while (clock_now_ns() < until_ns) {
		uint64_t due = watcher_sample(w, pace);

		if (due >= until_ns)
			return;
		clock_nanosleep(
			CLOCK_MONOTONIC, TIMER_ABSTIME,
			&(struct timespec){(time_t)(due / 1000000000u), (long)(due % 1000000000u)},
			NULL);
	}
}

static void add_loop(struct watcher *w, struct watched_interp *in, const struct thread_walk *t)
{
	const struct layout *lay = w->r.lay;
	struct items ready;
	vaddr loop, task, deque;

	if (in->loop_count == LOOPS_WATCHED ||
	    loop_of_thread(&w->r, t->at, &loop, &task) != ERR_OK || !loop ||
	    !loop_is_of_thread(&w->r, loop, t))
		return;
	if (attr_get(&w->r, loop, "_ready", &deque) != ERR_OK || !deque ||
	    object_deque(&w->r, deque, 0, &ready) != ERR_OK)
		deque = 0;
	in->loops[in->loop_count++] = (struct watched_loop){
		.loop = loop,
		.ready = deque ? deque + lay->deque_size.offset : 0,
		.thread = *t,
	};
}

static bool interp_setup(struct watcher *w, const struct interp_walk *interp,
			 struct watched_interp *ret)
{
	struct watched_interp *in = ret;
	struct gil_walk gil;
	bool truncated;

	*in = (struct watched_interp){0};
	if (gil_read(&w->r, interp, &gil) != ERR_OK ||
	    loop_tasks_dict(&w->r, interp, &in->dict) != ERR_OK ||
	    threads_read(&w->r, interp, THREADS_WATCHED, &in->threads, &in->thread_count,
			 &truncated) != ERR_OK)
		return false;
	in->gil = gil.at;
	for (uint32_t i = 0; i < in->thread_count; i++)
		add_loop(w, in, &in->threads[i]);
	return true;
}

void watcher_refresh(struct watcher *w)
{
	struct interp_walk *interps;
	uint32_t count;
	bool truncated;

	seen_go_on(w, clock_now_ns());
	w->last_ns = 0;
	w->interp_count = 0;
	mem_forget(w->r.mem);
	code_cache_clear(w->r.codes);
	type_cache_clear(w->r.types);
	model_clear(w->r.model);
	arena_reset(&w->scratch);
	if (w->r.lay->free_threaded || gil_len(w->r.lay) > GIL_BYTES ||
	    interps_read(&w->r, INTERPS_WATCHED, &interps, &count, &truncated) != ERR_OK)
		return;
	for (uint32_t i = 0; i < count; i++) {
		if (interp_setup(w, &interps[i], &w->interps[w->interp_count]))
			w->interp_count++;
	}
}

enum err watcher_create(struct target *t, const struct layout *lay, struct watcher **ret)
{
	struct watcher *w = calloc(1, sizeof(*w));
	void *live;

	if (!w)
		return ERR_NOMEM;
	w->r = (struct reader){.lay = lay, .target = t, .scratch = &w->scratch};
	w->interps = calloc(INTERPS_WATCHED, sizeof(*w->interps));
	w->live = live_create(t->pid);
	w->r.codes = code_cache_create();
	w->r.types = type_cache_create();
	live = live_create(t->pid);
	if (!w->interps || !w->live || !w->r.codes || !w->r.types || !live ||
	    model_create(&w->r.model) != ERR_OK || !arena_init(&w->scratch, ARENA_SIZE) ||
	    !arena_init(&w->seen.text, ARENA_SIZE) ||
	    mem_create(&live_source, live, CACHE_BUDGET, &w->r.mem) != ERR_OK) {
		if (live)
			live_source.close(live);
		watcher_destroy(w);
		return ERR_NOMEM;
	}
	w->r.model->target.container = proc_in_container(t->pid);
	*ret = w;
	return ERR_OK;
}

void watcher_destroy(struct watcher *w)
{
	if (!w)
		return;
	mem_destroy(w->r.mem);
	code_cache_destroy(w->r.codes);
	type_cache_destroy(w->r.types);
	model_destroy(w->r.model);
	arena_deinit(&w->scratch);
	arena_deinit(&w->seen.text);
	if (w->live)
		live_source.close(w->live);
	free(w->interps);
	free(w->seen.v);
	free(w->seen.ready);
	free(w);
}

const struct watch *watcher_seen(const struct watcher *w)
{
	return &w->seen;
}
