/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a loop of Lib/asyncio/base_events.py and selector_events.py holds: _ready (a deque of handles), _scheduled (a heap of timers), the selector's
 * _fd_to_key, signal handlers. What can't be read leaves a mark, and the rest is still read.
 */
#include "unwind/asyncio/loop_inner.h"

#include <math.h>
#include <stdlib.h>

#define HANDLES_MAX 1000000u /* of one loop's ready queue, and of its timers */
#define FDS_MAX	    1000000u
#define TIMER_BYTES 10000 /* more is no handle */

/* selectors.EVENT_READ, EVENT_WRITE */
#define EVENT_READ  1
#define EVENT_WRITE 2

static bool ends_walk(enum err err)
{
	return err == ERR_DEADLINE || error_is_hard(err);
}

/* An attribute that is there and not None; else 0. */
static vaddr something(struct reader *r, vaddr object, const char *name)
{
	vaddr value = 0;

	if (!object || attr_get(r, object, name, &value) != ERR_OK || !value ||
	    object_is_none(r, value))
		return 0;
	return value;
}

static uint32_t length_of(struct reader *r, vaddr object)
{
	int64_t length;

	if (object_length(r, object, &length) != ERR_OK || length < 0)
		return 0;
	return length > UINT32_MAX ? UINT32_MAX : (uint32_t)length;
}

struct list {
	uint32_t first, rows;
	bool truncated;
};

/* The readers and writers that a ready queue may hold: by id. */
struct watchers {
	const struct model *m;
	uint32_t *rows;
	uint32_t count;
};

static int by_id(const void *a, const void *b, void *model)
{
	const struct model *m = model;
	vaddr x = m->handles.v[*(const uint32_t *)a].id, y = m->handles.v[*(const uint32_t *)b].id;

	return x < y ? -1 : x > y;
}

static enum handle_kind kind_of(const struct watchers *w, vaddr id)
{
	uint32_t low = 0, high = w->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct handle *h = &w->m->handles.v[w->rows[middle]];

		if (h->id == id)
			return h->kind;
		if (h->id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return HANDLE_CALLBACK;
}

static enum err add_handles(struct asyncio *a, const struct items *items, const struct watchers *w,
			    struct list *ret)
{
	struct model *m = a->r->model;

	ret->first = m->handles.count;
	ret->truncated = items->truncated;
	if (items->count)
		handles_prefetch(a, items);
	for (uint32_t i = 0; i < items->count; i++) {
		enum handle_kind kind = w ? kind_of(w, items->v[i]) : HANDLE_CALLBACK;

		if (handle_row(a, items->v[i], kind) != NONE)
			continue;
		if (m->out_of_memory)
			return ERR_NOMEM;
		if (mem_deadline_hit(a->r->mem) || mem_hard_error(a->r->mem) != ERR_OK)
			return ERR_DEADLINE;
		ret->truncated = true;
	}
	ret->rows = m->handles.count - ret->first;
	return ERR_OK;
}

static enum err read_ready(struct asyncio *a, struct loop *l, vaddr ready,
			   const struct watchers *watchers)
{
	struct items items;
	struct list list = {0};
	enum err err = object_deque(a->r, ready, HANDLES_MAX, &items);

	l->ready_count = length_of(a->r, ready);
	if (err == ERR_OK)
		err = add_handles(a, &items, watchers, &list);
	l->ready_first = list.first;
	l->ready_rows = list.rows;
	l->ready_truncated = list.truncated || err != ERR_OK;
	return ends_walk(err) ? err : ERR_OK;
}

/* Counts and deadlines of the rows. */
static void sum_up_timers(const struct model *m, struct loop *l)
{
	for (uint32_t i = 0; i < l->timers_rows; i++) {
		const struct handle *h = &m->handles.v[l->timers_first + i];
		double in = h->due - l->time;

		l->timers_cancelled += h->cancelled;
		if (isnan(in))
			continue;
		if (!h->cancelled && !(in >= l->timers_next))
			l->timers_next = in;
		if (!(in <= l->timers_last))
			l->timers_last = in;
	}
}

/* A handle without what comes before it in memory, and the number that is its deadline. */
static uint32_t size_of_timer(struct reader *r, vaddr timer)
{
	const struct type_info *handle, *number;
	vaddr when = 0;

	if (type_of(r, timer, &handle) != ERR_OK || attr_get(r, timer, "_when", &when) != ERR_OK ||
	    !when || type_of(r, when, &number) != ERR_OK || handle->basicsize <= 0 ||
	    number->basicsize <= 0 || handle->basicsize + number->basicsize > TIMER_BYTES)
		return 0;
	return (uint32_t)(handle->basicsize + number->basicsize);
}

static enum err read_timers(struct asyncio *a, struct loop *l)
{
	struct reader *r = a->r;
	vaddr scheduled = something(r, l->id, "_scheduled");
	struct items items;
	struct list list = {0};
	enum err err = object_list(r, scheduled, HANDLES_MAX, &items);

	if (err == ERR_OK) {
		l->timers = scheduled;
		l->timers_count = length_of(r, scheduled);
		err = add_handles(a, &items, NULL, &list);
		l->timer_bytes = items.count ? size_of_timer(r, items.v[0]) : 0;
	}
	l->timers_first = list.first;
	l->timers_rows = list.rows;
	l->timers_truncated = list.truncated || err != ERR_OK;
	sum_up_timers(r->model, l);
	if (attr_long(r, l->id, "_timer_cancelled_count", &l->timer_cancelled_counter) != ERR_OK)
		l->timer_cancelled_counter = -1;
	return ends_walk(err) ? err : ERR_OK;
}

/* SelectorKey(fileobj, fd, events, data), where asyncio's data is the pair of handles (reader, writer). */
struct key {
	int64_t fd, events;
	vaddr reader, writer;
};

static enum err key_read(struct reader *r, vaddr at, struct key *ret)
{
	struct items parts, data = {0};
	enum err err = object_tuple(r, at, 4, &parts);

	*ret = (struct key){0};
	if (err == ERR_OK && parts.count < 4)
		err = ERR_SHAPE;
	if (err == ERR_OK)
		err = object_long(r, parts.v[1], &ret->fd);
	if (err == ERR_OK)
		err = object_long(r, parts.v[2], &ret->events);
	if (err != ERR_OK)
		return err;
	if (ret->fd < 0 || ret->fd > INT32_MAX || !(ret->events & (EVENT_READ | EVENT_WRITE)))
		return ERR_SHAPE;
	/* Data of another shape is somebody else's registration: the descriptor counts all the same. */
	if (object_tuple(r, parts.v[3], 2, &data) != ERR_OK || data.count < 2)
		return ERR_OK;
	ret->reader = object_is_none(r, data.v[0]) ? 0 : data.v[0];
	ret->writer = object_is_none(r, data.v[1]) ? 0 : data.v[1];
	return ERR_OK;
}

static uint32_t watcher_row(struct asyncio *a, struct watchers *w, vaddr at, enum handle_kind kind)
{
	uint32_t row = at ? handle_row(a, at, kind) : NONE;

	if (row != NONE)
		w->rows[w->count++] = row;
	return row;
}

static bool reads_self_pipe(const struct model *m, uint32_t reader)
{
	return reader != NONE && str_ends_with(m->handles.v[reader].callback, "._read_from_self");
}

static enum err add_fd(struct asyncio *a, struct loop *l, struct watchers *w, vaddr at)
{
	struct model *m = a->r->model;
	struct key key;
	struct fd_row *f;
	uint32_t row, reader, writer;
	enum err err = key_read(a->r, at, &key);

	if (err != ERR_OK) {
		l->fds_truncated = true;
		return ends_walk(err) ? err : ERR_OK;
	}
	reader = watcher_row(a, w, key.reader, HANDLE_READER);
	writer = watcher_row(a, w, key.writer, HANDLE_WRITER);
	row = model_add_fd(m, (int)key.fd);
	if (row == NONE)
		return ERR_NOMEM;
	f = &m->fds.v[row];
	f->read = key.events & EVENT_READ;
	f->write = key.events & EVENT_WRITE;
	f->reader = reader;
	f->writer = writer;
	f->self_pipe = reads_self_pipe(m, reader);
	if (f->self_pipe)
		f->target = STR_LIT("self-pipe");
	else if (a->r->target && a->r->target->fds)
		f->target = fds_describe(a->r->target->fds, f->fd, &m->text);
	l->fds_count++;
	return ERR_OK;
}

static enum err read_fds(struct asyncio *a, struct loop *l, struct watchers *w)
{
	struct reader *r = a->r;
	vaddr selector = 0, keys;
	struct items fds, values;
	enum err err = attr_get(r, l->id, "_selector", &selector);

	w->m = r->model;
	l->fds_first = r->model->fds.count;
	if (err != ERR_OK || !selector)
		return ends_walk(err) ? err : ERR_OK;
	if (object_is_none(r, selector)) { /* closed */
		l->fds_read = true;
		return ERR_OK;
	}
	keys = something(r, selector, "_fd_to_key");
	if (!keys) {
		/* A selector that is closed has cleared it; one of another kind never had it. */
		return ERR_OK;
	}
	err = dict_items(r, keys, FDS_MAX, &fds, &values);
	if (err != ERR_OK)
		return ends_walk(err) ? err : ERR_OK;
	l->fds_read = true;
	l->fds_truncated = values.truncated;
	w->rows = arena_alloc(r->scratch, (2ul * values.count + 1) * sizeof(*w->rows));
	if (!w->rows)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < values.count && err == ERR_OK; i++)
		err = add_fd(a, l, w, values.v[i]);
	if (w->count)
		qsort_r(w->rows, w->count, sizeof(*w->rows), by_id, r->model);
	return err;
}

static void read_signals(struct reader *r, struct loop *l)
{
	vaddr handlers = something(r, l->id, "_signal_handlers");

	if (handlers && object_length(r, handlers, &l->signal_handlers) != ERR_OK)
		l->signal_handlers = -1;
}

/* Its variables `end_time`, made anew in each turn, and `i`, which counts the turn's handles. */
static void read_turn(struct reader *r, const struct frame_walk *f, struct loop *l)
{
	vaddr since = 0, index = 0;

	if (frame_local(r, f->at, f->info, "end_time", &since) != ERR_OK || !since ||
	    frame_local(r, f->at, f->info, "i", &index) != ERR_OK || !index ||
	    object_long(r, index, &l->turn_index) != ERR_OK ||
	    object_float(r, since, &l->turn_since) != ERR_OK || !isfinite(l->turn_since)) {
		l->turn_since = NAN;
		l->turn_index = -1;
	}
}

/* The variable `handle` of BaseEventLoop._run_once, while Handle._run runs it. */
static void read_running(struct asyncio *a, struct loop *l, const struct watchers *watchers)
{
	const struct thread_ref *t = NULL;

	for (uint32_t i = 0; i < a->thread_count && !t; i++) {
		if (a->threads[i].running_loop == l->id && a->threads[i].row == l->thread)
			t = &a->threads[i];
	}
	for (uint32_t i = 0; t && i < t->frame_count; i++) {
		const struct frame_walk *f = &t->frames[i];
		vaddr self = 0, handle = 0;

		if (!str_ends_with(f->info->qualname, "._run_once") ||
		    frame_local(a->r, f->at, f->info, "self", &self) != ERR_OK || self != l->id)
			continue;
		/* A loop that is run again inside one of its callbacks moves by its innermost turn. */
		if (!i || !f->info->asyncio ||
		    !str_ends_with(t->frames[i - 1].info->qualname, "Handle._run") ||
		    frame_local(a->r, f->at, f->info, "handle", &handle) != ERR_OK || !handle)
			return;
		l->running = handle_row(a, handle, kind_of(watchers, handle));
		read_turn(a->r, f, l);
		return;
	}
}

static enum err read_inner(struct asyncio *a, uint32_t row)
{
	struct reader *r = a->r;
	struct loop *l = &r->model->loops.v[row];
	vaddr ready = something(r, l->id, "_ready");
	const struct type_info *t;
	struct watchers watchers = {.m = r->model};
	enum err err;

	if (!ready || type_of(r, ready, &t) != ERR_OK || t->kind != TYPE_DEQUE)
		return ERR_OK;
	l->inner_read = true;
	/* First, since the ready queue holds the very handles of descriptors that are ready. */
	err = read_fds(a, l, &watchers);
	if (err == ERR_OK)
		err = read_ready(a, l, ready, &watchers);
	if (err == ERR_OK)
		err = read_timers(a, l);
	if (err != ERR_OK)
		return err;
	read_signals(r, l);
	read_running(a, l, &watchers);
	return executor_read(a, something(r, l->id, "_default_executor"), l);
}

enum err loops_read_inner(struct asyncio *a)
{
	enum err err = ERR_OK;

	for (uint32_t i = 0; i < a->r->model->loops.count && err == ERR_OK; i++)
		err = read_inner(a, i);
	return err;
}
