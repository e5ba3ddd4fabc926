/* SPDX-License-Identifier: Apache-2.0 */
/* What was not asked for, or is not there in loops of this kind, is null or empty. Timers are in the order of their deadlines. */
#include "report/json_loop.h"

#include "model/names.h"
#include "report/handle_text.h"
#include "report/json_parts.h"

#include <math.h>
#include <stdlib.h>

struct writer {
	struct json_writer *w;
	const struct model *m;
	const struct loop *l;
	struct text *words;
};

static void put_handle(struct writer *k, uint32_t row)
{
	const struct handle *h;
	struct json_writer *w = k->w;

	if (row == NONE) {
		json_null(w);
		return;
	}
	h = &k->m->handles.v[row];
	text_clear(k->words);
	handle_words(k->words, k->m, h);
	json_map(w);
	json_key_id(w, "id", h->id);
	json_key_word(w, "kind", handle_kind_name(h->kind));
	json_key(w, "callback");
	if (k->words->len)
		json_str(w, text_str(k->words));
	else
		json_null(w);
	json_key_id(w, "task", h->task == NONE ? 0 : k->m->tasks.v[h->task].id);
	json_key_bool(w, "cancelled", h->cancelled);
	json_key_double(w, "in", h->due - k->l->time);
	json_key(w, "source");
	json_frame(w, k->m, h->source);
	json_map_end(w);
}

static void put_ready(struct writer *k)
{
	const struct loop *l = k->l;

	json_key_count(k->w, "ready_count",
		       !l->inner_read || (l->ready_truncated && !l->ready_count)
			       ? -1
			       : (int64_t)l->ready_count);
	json_key(k->w, "ready");
	json_list(k->w);
	for (uint32_t i = 0; i < l->ready_rows; i++)
		put_handle(k, l->ready_first + i);
	json_list_end(k->w);
	json_truncated(k->w, "ready_truncated", l->ready_truncated);
}

static int by_due(const void *a, const void *b, void *model)
{
	const struct model *m = model;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	double left = m->handles.v[x].due, right = m->handles.v[y].due;

	if (left != right && !(isnan(left) && isnan(right)))
		return isnan(right) || left < right ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void put_items(struct writer *k)
{
	const struct loop *l = k->l;
	uint32_t *rows = malloc((l->timers_rows + 1ul) * sizeof(*rows));

	json_key(k->w, "items");
	json_list(k->w);
	if (!rows)
		k->words->failed = true;
	for (uint32_t i = 0; rows && i < l->timers_rows; i++)
		rows[i] = l->timers_first + i;
	if (rows && l->timers_rows)
		qsort_r(rows, l->timers_rows, sizeof(*rows), by_due, (void *)k->m);
	for (uint32_t i = 0; rows && i < l->timers_rows; i++)
		put_handle(k, rows[i]);
	json_list_end(k->w);
	json_truncated(k->w, "items_truncated", l->timers_truncated);
	free(rows);
}

static void put_timers(struct writer *k)
{
	const struct loop *l = k->l;

	json_key(k->w, "timers");
	if (!l->inner_read) {
		json_null(k->w);
		return;
	}
	json_map(k->w);
	json_key_count(k->w, "count",
		       l->timers_truncated && !l->timers_count ? -1 : (int64_t)l->timers_count);
	/* Not all were looked at: how many it is, is not known. */
	json_key_count(k->w, "cancelled", l->timers_truncated ? -1 : (int64_t)l->timers_cancelled);
	json_key_double(k->w, "next_in", l->timers_next);
	json_key_double(k->w, "last_in", l->timers_last);
	put_items(k);
	json_map_end(k->w);
}

static void put_fd(struct writer *k, const struct fd_row *f)
{
	struct json_writer *w = k->w;

	json_map(w);
	json_key_int(w, "fd", f->fd);
	json_key_word(w, "events", f->read && f->write ? "rw" : f->read ? "r" : "w");
	json_key_str(w, "target", f->target);
	json_key(w, "reader");
	put_handle(k, f->reader);
	json_key(w, "writer");
	put_handle(k, f->writer);
	json_map_end(w);
}

static void put_fds(struct writer *k)
{
	const struct loop *l = k->l;

	json_key(k->w, "fds");
	if (l->inner_read && !l->fds_read) {
		json_null(k->w);
		return;
	}
	json_list(k->w);
	for (uint32_t i = 0; i < l->fds_count; i++)
		put_fd(k, &k->m->fds.v[l->fds_first + i]);
	json_list_end(k->w);
	json_truncated(k->w, "fds_truncated", l->fds_truncated);
}

static void put_call(struct writer *k, const struct executor_call *call)
{
	json_map(k->w);
	if (call->thread == NONE)
		json_key_null(k->w, "thread");
	else
		json_key_int(k->w, "thread", k->m->threads.v[call->thread].tid);
	json_key_str(k->w, "callable", call->callable);
	json_key(k->w, "stack");
	json_stack(k->w, k->m, call->chain);
	json_map_end(k->w);
}

static void put_executor(struct writer *k)
{
	const struct executor_state *e = &k->l->executor;

	json_key(k->w, "executor");
	if (!e->present) {
		json_null(k->w);
		return;
	}
	json_map(k->w);
	json_key_count(k->w, "workers", e->workers);
	json_key_count(k->w, "max_workers", e->max_workers);
	json_key_count(k->w, "idle", e->idle);
	json_key_count(k->w, "queued", e->queued);
	json_key(k->w, "calls");
	json_list(k->w);
	for (uint32_t i = 0; i < e->calls_count; i++)
		put_call(k, &k->m->calls.v[e->calls_first + i]);
	json_list_end(k->w);
	json_map_end(k->w);
}

void json_loop_state(struct json_writer *w, const struct model *m, const struct loop *l,
		     struct text *words)
{
	struct writer k = {w, m, l, words};

	put_ready(&k);
	put_timers(&k);
	put_fds(&k);
	put_executor(&k);
}
