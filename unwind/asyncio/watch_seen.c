/* SPDX-License-Identifier: Apache-2.0 */
/* The account that a watch keeps: which windows, how often, how long, and what was read of each when it was first seen. */
#include "unwind/asyncio/watch_internal.h"

#include <stdlib.h>

#define SEEN_MAX  1000u /* different windows */
#define READY_MAX 256u /* callbacks of a ready queue that are looked at */
#define LOOPS_MAX 4096u /* loops whose ready queues are told */
#define TEXT_MOST ((size_t)4 << 20) /* bytes of names and frames that are kept on */

static struct window_seen *find(struct watcher *w, const struct sighting *s)
{
	for (uint32_t i = 0; i < w->seen.count; i++) {
		struct window_seen *seen = &w->seen.v[i];

		if (seen->loop == s->loop && seen->task == s->task && seen->state == s->state)
			return seen;
	}
	return NULL;
}

/* Steps and wake-ups that will be run. The loop's thread stands still; others may append. */
static void read_ready(struct watcher *w, struct sighting *s)
{
	struct asyncio a = {.r = &w->r};
	struct model *m = w->r.model;
	struct items items;
	vaddr deque;
	int64_t length;

	if (attr_get(&w->r, s->loop, "_ready", &deque) != ERR_OK || !deque ||
	    object_length(&w->r, deque, &length) != ERR_OK || length <= 0 || length > UINT32_MAX)
		return;
	s->ready = (uint32_t)length;
	if (object_deque(&w->r, deque, READY_MAX, &items) != ERR_OK)
		return;
	for (uint32_t i = 0; i < items.count; i++) {
		uint32_t row = handle_row(&a, items.v[i], HANDLE_CALLBACK);
		const struct handle *h = row == NONE ? NULL : &m->handles.v[row];

		s->targets += h && !h->cancelled &&
			      (h->kind == HANDLE_TASK_STEP || h->kind == HANDLE_TASK_WAKEUP);
	}
}

/* Two readings of a stack that moves: what is the same in both, from the outermost on, stood in between. */
static void read_frames(struct watcher *w, struct sighting *s)
{
	struct frame_walk *before, *after;
	uint32_t before_count, after_count, same = 0;
	bool truncated;

	if (thread_frames(&w->r, &s->thread, WATCH_FRAMES_MAX, &before, &before_count,
			  &truncated) != ERR_OK ||
	    truncated)
		return;
	mem_forget(w->r.mem);
	if (thread_frames(&w->r, &s->thread, WATCH_FRAMES_MAX, &after, &after_count, &truncated) !=
		    ERR_OK ||
	    truncated)
		return;
	while (same < before_count && same < after_count &&
	       before[before_count - 1 - same].at == after[after_count - 1 - same].at &&
	       before[before_count - 1 - same].code == after[after_count - 1 - same].code)
		same++;
	for (; same > 0 && s->frame_count < WINDOW_FRAMES; same--) {
		const struct frame_walk *f = &after[after_count - same];

		s->frames[s->frame_count++] = (struct frame){.function = f->info->qualname,
							     .file = f->info->file,
							     .line = f->line,
							     .library = f->info->asyncio};
	}
}

void sighting_read(struct watcher *w, struct sighting *s)
{
	const struct window_seen *known = find(w, s);
	struct future_view f;

	s->known = known && known->frame_count;
	read_ready(w, s);
	if (!known && s->task && future_read(&w->r, s->task, &f) == ERR_OK &&
	    task_name(&w->r, &f, &s->task_name) != ERR_OK)
		s->task_name = (struct str){0};
	/* A stack that moved too fast is tried again. */
	if (s->state && !s->known)
		read_frames(w, s);
}

/* By our numbers; the process's own where it is in no other namespace. */
static pid_t our_tid(const struct watcher *w, pid_t tid)
{
	struct proc_thread *threads = NULL;
	struct error e;
	size_t count = 0;
	pid_t pid = w->r.target->pid, found = 0;

	if (!proc_in_container(pid))
		return tid;
	if (proc_threads(pid, &threads, &count, &e) != ERR_OK)
		return 0;
	for (size_t i = 0; i < count && !found; i++) {
		if (proc_namespace_tid(pid, threads[i].tid) == tid)
			found = threads[i].tid;
	}
	free(threads);
	return found;
}

static struct str copy(struct watcher *w, struct str s)
{
	char *text = s.ptr ? arena_copy(&w->seen.text, s.ptr, s.len) : NULL;

	return text ? (struct str){text, s.len} : (struct str){0};
}

/* Room for one more row of that size: v or what it has become; NULL where there is none. */
static void *grow(void *v, uint32_t count, uint32_t *capacity, size_t size)
{
	uint32_t wanted = *capacity ? 2 * *capacity : 8;
	void *grown = v;

	if (count < *capacity)
		return v;
	grown = realloc(v, wanted * size);
	if (grown)
		*capacity = wanted;
	return grown;
}

static struct window_seen *add(struct watcher *w, const struct sighting *s)
{
	struct watch *seen = &w->seen;
	struct window_seen *grown, *row;

	if (seen->count == SEEN_MAX)
		return NULL;
	grown = grow(seen->v, seen->count, &seen->capacity, sizeof(*grown));
	if (!grown)
		return NULL;
	seen->v = grown;
	row = &seen->v[seen->count++];
	*row = (struct window_seen){.loop = s->loop, .task = s->task, .state = s->state};
	row->thread = s->state ? our_tid(w, s->thread.tid) : 0;
	row->task_name = copy(w, s->task_name);
	return row;
}

static void add_frames(struct watcher *w, struct window_seen *row, const struct sighting *s)
{
	for (uint32_t i = 0; i < s->frame_count; i++) {
		struct frame f = s->frames[i];

		f.function = copy(w, f.function);
		f.file = copy(w, f.file);
		if (f.function.ptr && f.file.ptr)
			row->frames[row->frame_count++] = f;
	}
}

static void count_window(struct window_counts *c, const struct sighting *s, bool new, double stood)
{
	if (!new && !c->samples)
		c->windows = c->continued = 1;
	c->windows += new;
	c->samples++;
	if (stood > c->longest)
		c->longest = stood;
	if (s->ready > c->ready)
		c->ready = s->ready;
	if (s->targets > c->targets)
		c->targets = s->targets;
}

void seen_add(struct watcher *w, const struct sighting *s, uint64_t now_ns)
{
	struct window_seen *row = find(w, s);
	double stood;
	bool new;

	if (!row)
		row = add(w, s);
	if (!row)
		return;
	if (!row->frame_count)
		add_frames(w, row, s);
	new = !row->open;
	if (new) {
		row->open = true;
		row->began_ns = now_ns;
	}
	row->last_ns = now_ns;
	stood = (double)(now_ns - row->began_ns) / 1e9;
	count_window(&row->counts, s, new, stood);
	count_window(&row->spans[w->seen.span], s, new, stood);
}

void seen_close(struct watcher *w, vaddr loop)
{
	for (uint32_t i = 0; i < w->seen.count; i++) {
		if (w->seen.v[i].loop == loop)
			w->seen.v[i].open = false;
	}
}

void seen_go_on(struct watcher *w, uint64_t now_ns)
{
	for (uint32_t i = 0; i < w->seen.count; i++)
		w->seen.v[i].open &= now_ns - w->seen.v[i].last_ns <= w->gap_ns;
}

static void count_ready(struct ready_counts *c, uint64_t length)
{
	c->least = !c->samples || length < c->least ? length : c->least;
	c->most = length > c->most ? length : c->most;
	c->samples++;
}

void seen_ready(struct watcher *w, vaddr loop, uint64_t length)
{
	struct watch *seen = &w->seen;
	struct ready_seen *row = NULL;

	for (uint32_t i = 0; i < seen->ready_count && !row; i++) {
		if (seen->ready[i].loop == loop)
			row = &seen->ready[i];
	}
	if (!row) {
		row = seen->ready_count == LOOPS_MAX ? NULL
						     : grow(seen->ready, seen->ready_count,
							    &seen->ready_capacity, sizeof(*row));
		if (!row)
			return;
		seen->ready = row;
		row = &seen->ready[seen->ready_count++];
		*row = (struct ready_seen){.loop = loop};
	}
	count_ready(&row->counts, length);
	count_ready(&row->spans[seen->span], length);
}

static void count_sample(struct watch_counts *c, double seconds, double busy)
{
	c->samples++;
	c->seconds += seconds;
	c->busy += busy;
}

void seen_sample(struct watcher *w, double seconds, double busy)
{
	count_sample(&w->seen.counts, seconds, busy);
	count_sample(&w->seen.spans[w->seen.span], seconds, busy);
}

/* Each of these takes all spans together anew, the oldest first. False: there is nothing left. */
static bool sum_window(struct window_seen *row, uint32_t newest)
{
	row->counts = (struct window_counts){0};
	for (uint32_t i = 1; i <= WATCH_SPANS; i++) {
		const struct window_counts *c = &row->spans[(newest + i) % WATCH_SPANS];

		/* One that goes on was counted, unless its beginning is forgotten. */
		row->counts.windows += c->windows - (row->counts.samples ? c->continued : 0);
		row->counts.samples += c->samples;
		if (c->longest > row->counts.longest)
			row->counts.longest = c->longest;
		if (c->ready > row->counts.ready)
			row->counts.ready = c->ready;
		if (c->targets > row->counts.targets)
			row->counts.targets = c->targets;
	}
	return row->counts.samples > 0;
}

static bool sum_ready(struct ready_seen *row)
{
	row->counts = (struct ready_counts){0};
	for (uint32_t i = 0; i < WATCH_SPANS; i++) {
		const struct ready_counts *c = &row->spans[i];

		if (!c->samples)
			continue;
		if (!row->counts.samples || c->least < row->counts.least)
			row->counts.least = c->least;
		if (c->most > row->counts.most)
			row->counts.most = c->most;
		row->counts.samples += c->samples;
	}
	return row->counts.samples > 0;
}

static void sum_samples(struct watch *seen)
{
	seen->counts = (struct watch_counts){0};
	for (uint32_t i = 0; i < WATCH_SPANS; i++) {
		seen->counts.samples += seen->spans[i].samples;
		seen->counts.seconds += seen->spans[i].seconds;
		seen->counts.busy += seen->spans[i].busy;
	}
}

static void forget_span(struct watch *seen, uint32_t span)
{
	uint32_t windows = 0, ready = 0;

	seen->spans[span] = (struct watch_counts){0};
	sum_samples(seen);
	for (uint32_t i = 0; i < seen->count; i++) {
		seen->v[i].spans[span] = (struct window_counts){0};
		if (sum_window(&seen->v[i], seen->span))
			seen->v[windows++] = seen->v[i];
	}
	for (uint32_t i = 0; i < seen->ready_count; i++) {
		seen->ready[i].spans[span] = (struct ready_counts){0};
		if (sum_ready(&seen->ready[i]))
			seen->ready[ready++] = seen->ready[i];
	}
	seen->count = windows;
	seen->ready_count = ready;
}

void watcher_turn(struct watcher *w, uint32_t keep)
{
	struct watch *seen = &w->seen;
	uint32_t newest = seen->span;

	for (uint32_t age = keep; age < WATCH_SPANS; age++)
		forget_span(seen, (newest + WATCH_SPANS - age) % WATCH_SPANS);
	seen->span = (newest + 1) % WATCH_SPANS;
	/* The words of what is forgotten pile up: then the account begins anew. */
	if (!seen->count || seen->text.used > TEXT_MOST) {
		seen->count = 0;
		arena_reset(&seen->text);
	}
}
