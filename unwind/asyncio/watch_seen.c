/* SPDX-License-Identifier: Apache-2.0 */
/* The account that a watch keeps: which windows, how often, how long, and what was read of each when it was first seen. */
#include "unwind/asyncio/watch_internal.h"

#include <stdlib.h>

#define SEEN_MAX  1000u /* different windows */
#define READY_MAX 256u /* callbacks of a ready queue that are looked at */
#define LOOPS_MAX 4096u /* loops whose ready queues are told */

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

void seen_add(struct watcher *w, const struct sighting *s, uint64_t now_ns)
{
	struct window_seen *row = find(w, s);
	double stood;

	if (!row)
		row = add(w, s);
	if (!row)
		return;
	if (!row->frame_count)
		add_frames(w, row, s);
	if (!row->open) {
		row->open = true;
		row->began_ns = now_ns;
		row->windows++;
	}
	row->samples++;
	stood = (double)(now_ns - row->began_ns) / 1e9;
	if (stood > row->longest)
		row->longest = stood;
	if (s->ready > row->ready)
		row->ready = s->ready;
	if (s->targets > row->targets)
		row->targets = s->targets;
}

void seen_close(struct watcher *w, vaddr loop)
{
	for (uint32_t i = 0; i < w->seen.count; i++) {
		if (!loop || w->seen.v[i].loop == loop)
			w->seen.v[i].open = false;
	}
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
		*row = (struct ready_seen){.loop = loop, .least = UINT64_MAX};
	}
	row->samples++;
	row->least = length < row->least ? length : row->least;
	row->most = length > row->most ? length : row->most;
}
