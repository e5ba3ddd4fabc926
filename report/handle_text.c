/* SPDX-License-Identifier: Apache-2.0 */
/* Handles are alike when they would call the same function: of a task's step that is the task's coroutine. Few kinds are shown, most are counted. */
#include "report/handle_text.h"

#include "detect/looks.h"
#include "report/task_text.h"

#include <math.h>
#include <stdlib.h>

#define NAME_COLUMNS   60
#define TARGET_COLUMNS 200
#define KINDS_MAX      256u /* that are told apart */
#define KINDS_SHOWN    12u
#define FDS_SHOWN      20u
#define CALLS_SHOWN    40u
/* Seconds that a timer may be behind before that is said: selectors wait in whole milliseconds. */
#define LATE_LEAST 0.01

/* Alike handles, in the order of their first. */
struct kind {
	enum handle_kind kind;
	bool cancelled;
	struct str function; /* what it calls; of tasks: their coroutine */
	uint32_t first, last; /* rows */
	uint32_t count;
	double low, high; /* deadlines, NAN none */
	uint32_t source; /* where all were made; NONE: not known, or in several places */
};

struct kinds {
	const struct model *m;
	struct kind *v;
	uint32_t count;
	uint64_t others; /* handles beyond the kinds that are told apart */
};

struct writer {
	struct text *t;
	const struct text_style *s;
	const struct model *m;
	const struct paths *p;
	const struct loop *l;
	bool fold;
};

static bool of_task(const struct handle *h)
{
	return h->task != NONE && (h->kind == HANDLE_TASK_STEP || h->kind == HANDLE_TASK_WAKEUP);
}

void handle_words(struct text *t, const struct model *m, const struct handle *h)
{
	struct str name = of_task(h) ? m->tasks.v[h->task].name : h->callback;

	if (!name.ptr)
		name = h->callback;
	else if (of_task(h))
		text_add(t, h->kind == HANDLE_TASK_STEP ? "step of " : "wake-up of ");
	text_add_bytes(t, name.ptr, name.len);
}

/* The coroutine of the task, else the callback. */
static struct str function_of(const struct model *m, const struct handle *h)
{
	uint32_t chain = of_task(h) ? m->tasks.v[h->task].chain : NONE;

	if (chain == NONE)
		return h->callback;
	while (m->chains.v[chain].outer != NONE)
		chain = m->chains.v[chain].outer;
	return m->frames.v[m->chains.v[chain].frame].function;
}

static void kind_add(struct kind *k, const struct handle *h, uint32_t row)
{
	k->last = row;
	k->count++;
	if (!(h->due >= k->low))
		k->low = h->due;
	if (!(h->due <= k->high))
		k->high = h->due;
	if (h->source != k->source)
		k->source = NONE;
}

static void kinds_add(struct kinds *k, uint32_t row, bool fold)
{
	const struct handle *h = &k->m->handles.v[row];
	struct kind new = {.kind = h->kind,
			   .cancelled = h->cancelled,
			   .function = function_of(k->m, h),
			   .first = row,
			   .low = NAN,
			   .high = NAN,
			   .source = h->source};

	for (uint32_t i = 0; fold && i < k->count; i++) {
		struct kind *old = &k->v[i];

		if (old->kind == new.kind &&
		    old->cancelled == new.cancelled &&str_equal(old->function, new.function)) {
			kind_add(old, h, row);
			return;
		}
	}
	if (fold && k->count == KINDS_MAX) {
		k->others++;
		return;
	}
	k->v[k->count] = new;
	kind_add(&k->v[k->count++], h, row);
}

static int by_due(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;

	if (x->low != y->low && !(isnan(x->low) && isnan(y->low)))
		return isnan(y->low) || x->low < y->low ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void put_task_names(struct writer *w, const struct kind *k)
{
	const struct model *m = w->m;
	struct str first = m->tasks.v[m->handles.v[k->first].task].name;
	struct str last = m->tasks.v[m->handles.v[k->last].task].name;

	text_color(w->t, w->s, COLOR_NAME);
	text_safe(w->t, w->s, first.ptr ? first : STR_LIT("?"), NAME_COLUMNS);
	if (k->count > 1) {
		text_add(w->t, w->s->utf8 ? " … " : " .. ");
		text_safe(w->t, w->s, last.ptr ? last : STR_LIT("?"), NAME_COLUMNS);
	}
	text_color(w->t, w->s, COLOR_PLAIN);
}

static void put_call(struct writer *w, const struct kind *k)
{
	if (of_task(&w->m->handles.v[k->first])) {
		text_add(w->t, k->kind == HANDLE_TASK_STEP ? "step of " : "wake-up of ");
		put_task_names(w, k);
		if (k->function.ptr) {
			text_add(w->t, " (");
			text_safe(w->t, w->s, k->function, NAME_COLUMNS);
			text_add(w->t, ")");
		}
	} else if (k->function.ptr) {
		text_safe(w->t, w->s, k->function, NAME_COLUMNS);
	} else {
		text_add(w->t, k->cancelled ? "cancelled" : "a callback that could not be read");
	}
	if (k->count > 1) {
		text_add(w->t, w->s->utf8 ? "  × " : "  x ");
		text_number(w->t, k->count);
	}
}

static bool is_late(const struct writer *w, double due)
{
	return w->l->time - due >= LATE_LEAST;
}

/* "in 5.0 s"; a deadline that has passed: "late by 5.0 s", of a timer that was cancelled "5.0 s ago". */
static void put_due(struct writer *w, double due, bool cancelled)
{
	double in = due - w->l->time;

	if (!is_late(w, due)) {
		text_add(w->t, "in ");
		text_duration(w->t, w->s, fmax(in, 0));
		return;
	}
	if (!cancelled)
		text_color(w->t, w->s, COLOR_WARN);
	text_add(w->t, cancelled ? "" : "late by ");
	text_duration(w->t, w->s, -in);
	text_add(w->t, cancelled ? " ago" : "");
	if (!cancelled)
		text_color(w->t, w->s, COLOR_PLAIN);
}

/* Of alike timers: the first deadline, and the last where it is another. */
static void put_dues(struct writer *w, const struct kind *k)
{
	text_add(w->t, ", ");
	put_due(w, k->low, k->cancelled);
	if (k->high - k->low < 0.1)
		return;
	text_add(w->t, w->s->utf8 ? " … " : " .. ");
	if (is_late(w, k->low))
		put_due(w, k->high, k->cancelled);
	else
		text_duration(w->t, w->s, k->high - w->l->time);
}

static void put_kind(struct writer *w, const struct kind *k)
{
	text_add(w->t, "        ");
	if (k->cancelled)
		text_color(w->t, w->s, COLOR_DIM);
	if (k->cancelled &&
	    k->function.ptr) { /* a Handle drops its callback when it is cancelled */
		text_add(w->t, "cancelled: ");
	} else if (k->kind == HANDLE_READER || k->kind == HANDLE_WRITER) {
		text_add(w->t, k->kind == HANDLE_READER ? "reader " : "writer ");
	}
	put_call(w, k);
	if (!isnan(k->low))
		put_dues(w, k);
	if (k->source != NONE) {
		text_add(w->t, ", made at ");
		frame_place(w->t, w->s, w->p, &w->m->frames.v[k->source]);
	}
	text_color(w->t, w->s, COLOR_PLAIN);
	text_add(w->t, "\n");
}

static void put_more(struct writer *w, uint64_t more)
{
	if (!more)
		return;
	text_add(w->t, w->s->utf8 ? "        … and " : "        ... and ");
	text_number(w->t, more);
	text_add(w->t, " more\n");
}

/* The handles of `count` rows as lines; a list of `length` of which these rows are the first. */
static void put_handles(struct writer *w, uint32_t first, uint32_t count, uint32_t length,
			bool timers)
{
	struct kinds k = {.m = w->m};
	uint64_t more = length > count ? length - count : 0;

	k.v = calloc(w->fold ? KINDS_MAX : count + 1ul, sizeof(*k.v));
	if (!k.v) {
		w->t->failed = true;
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		kinds_add(&k, first + i, w->fold);
	if (timers && k.count)
		qsort(k.v, k.count, sizeof(*k.v), by_due);
	for (uint32_t i = 0; i < k.count; i++) {
		if (w->fold && i >= KINDS_SHOWN)
			more += k.v[i].count;
		else
			put_kind(w, &k.v[i]);
	}
	put_more(w, more + k.others);
	free(k.v);
}

static void put_head(struct writer *w, const char *what)
{
	text_add(w->t, "    ");
	text_color(w->t, w->s, COLOR_BOLD);
	text_add(w->t, what);
	text_color(w->t, w->s, COLOR_PLAIN);
	text_add(w->t, ": ");
}

static void put_ready(struct writer *w)
{
	const struct loop *l = w->l;
	uint32_t cancelled = 0;

	for (uint32_t i = 0; i < l->ready_rows; i++)
		cancelled += w->m->handles.v[l->ready_first + i].cancelled;
	put_head(w, "ready queue");
	if (l->ready_count)
		text_number(w->t, l->ready_count);
	else
		text_add(w->t, l->ready_truncated ? "could not be read" : "empty");
	if (cancelled) {
		text_add(w->t, ", of them ");
		text_number(w->t, cancelled);
		text_add(w->t, " cancelled");
	}
	text_add(w->t, "\n");
	put_handles(w, l->ready_first, l->ready_rows, l->ready_count, false);
}

static void put_timers(struct writer *w)
{
	const struct loop *l = w->l;

	put_head(w, "timers");
	if (l->timers_count)
		text_number(w->t, l->timers_count);
	else
		text_add(w->t, l->timers_truncated ? "could not be read" : "none");
	if (l->timers_cancelled && l->timers_rows) {
		text_add(w->t, ", of them ");
		text_number(w->t, l->timers_cancelled);
		text_printf(w->t, " cancelled (%.0f %%)",
			    100.0 * l->timers_cancelled / l->timers_rows);
	}
	if (!isnan(l->timers_next)) {
		text_add(w->t, ", next ");
		put_due(w, l->time + l->timers_next, false);
	}
	if (l->timers_count > 1 && !isnan(l->timers_last)) {
		text_add(w->t, ", last ");
		put_due(w, l->time + l->timers_last, true);
	}
	text_add(w->t, "\n");
	put_handles(w, l->timers_first, l->timers_rows, l->timers_count, true);
}

static void put_watcher(struct writer *w, const char *what, uint32_t row)
{
	const struct handle *h;

	if (row == NONE)
		return;
	h = &w->m->handles.v[row];
	text_printf(w->t, ", %s ", what);
	if (h->cancelled)
		text_add(w->t, "cancelled");
	else
		text_safe(w->t, w->s, h->callback.ptr ? h->callback : STR_LIT("?"), NAME_COLUMNS);
}

static void put_fds(struct writer *w)
{
	const struct loop *l = w->l;

	put_head(w, "descriptors");
	if (!l->fds_read)
		text_add(w->t, "could not be read\n");
	else if (!l->fds_count)
		text_add(w->t, "none\n");
	else
		text_printf(w->t, "%u\n", l->fds_count);
	for (uint32_t i = 0; i < l->fds_count; i++) {
		const struct fd_row *f = &w->m->fds.v[l->fds_first + i];

		if (w->fold && i >= FDS_SHOWN) {
			put_more(w, l->fds_count - i);
			break;
		}
		text_printf(w->t, "        fd %d %s%s", f->fd, f->read ? "r" : "",
			    f->write ? "w" : "");
		if (f->target.ptr) {
			text_add(w->t, ", ");
			text_safe(w->t, w->s, f->target, TARGET_COLUMNS);
		}
		if (!f->self_pipe) {
			put_watcher(w, "reader", f->reader);
			put_watcher(w, "writer", f->writer);
		}
		text_add(w->t, "\n");
	}
	if (l->fds_truncated)
		text_add(w->t, "        (not all: the list was cut short)\n");
}

static void put_count(struct writer *w, int64_t n)
{
	if (n < 0)
		text_add(w->t, "?");
	else
		text_number(w->t, (uint64_t)n);
}

/* "thread asyncio_0: runs digs, at app.py:12" */
static void put_worker(struct writer *w, const struct executor_call *call)
{
	uint32_t frame = looks_own_frame(w->m, call->chain);

	text_add(w->t, "        thread ");
	if (call->thread != NONE)
		text_safe(w->t, w->s, w->m->threads.v[call->thread].name, NAME_COLUMNS);
	else
		text_add(w->t, "?");
	text_add(w->t, " runs ");
	text_safe(w->t, w->s, call->callable.ptr ? call->callable : STR_LIT("a call"),
		  NAME_COLUMNS);
	if (frame == NONE)
		frame = looks_innermost(w->m, call->chain);
	if (frame != NONE) {
		text_add(w->t, ", at ");
		frame_place(w->t, w->s, w->p, &w->m->frames.v[frame]);
	}
	text_add(w->t, "\n");
}

static void put_executor(struct writer *w)
{
	const struct executor_state *e = &w->l->executor;

	put_head(w, "default executor");
	if (!e->present) {
		text_add(w->t, w->l->executor_read ? "none yet\n" : "could not be read\n");
		return;
	}
	put_count(w, e->workers);
	text_add(w->t, " workers of at most ");
	put_count(w, e->max_workers);
	text_add(w->t, ", ");
	put_count(w, e->idle);
	text_add(w->t, " idle, ");
	if (e->queued > 0)
		text_color(w->t, w->s, COLOR_WARN);
	put_count(w, e->queued);
	text_add(w->t, " queued");
	text_color(w->t, w->s, COLOR_PLAIN);
	text_add(w->t, "\n");
	for (uint32_t i = 0; i < e->calls_count; i++) {
		if (w->fold && i >= CALLS_SHOWN) {
			put_more(w, e->calls_count - i);
			break;
		}
		put_worker(w, &w->m->calls.v[e->calls_first + i]);
	}
}

void loop_state_lines(struct text *t, const struct text_style *s, const struct model *m,
		      const struct paths *p, uint32_t loop, bool fold)
{
	struct writer w = {t, s, m, p, loop == NONE ? NULL : &m->loops.v[loop], fold};

	if (!w.l)
		return;
	if (!w.l->inner_read) {
		text_add(t, "    (its ready queue, timers and descriptors can't be read)\n");
		return;
	}
	if (w.l->running != NONE) {
		const struct handle *h = &m->handles.v[w.l->running];
		struct kind k = {.kind = h->kind,
				 .function = function_of(m, h),
				 .first = w.l->running,
				 .last = w.l->running,
				 .count = 1};

		put_head(&w, "runs now");
		put_call(&w, &k);
		text_add(t, "\n");
	}
	put_ready(&w);
	put_timers(&w);
	put_fds(&w);
	put_executor(&w);
	if (w.l->signal_handlers > 0) {
		put_head(&w, "signal handlers");
		put_count(&w, w.l->signal_handlers);
		text_add(t, "\n");
	}
}
