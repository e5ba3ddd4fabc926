/* SPDX-License-Identifier: Apache-2.0 */
/* Times are seconds before the last sample, as all that is shown. */
#include "tui/watched_json.h"

#include "base/utf8.h"
#include "model/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE_TEXT_MOST 1000u /* bytes of a line */

static void put_values(struct json_writer *w, const char *key, const struct loop_track *k, bool lag)
{
	double values[HISTORY_SECONDS];

	if (lag)
		loop_track_lag(k, values, HISTORY_SECONDS);
	else
		loop_track_ready(k, values, HISTORY_SECONDS);
	json_key(w, key);
	json_list(w);
	for (uint32_t i = 0; i < HISTORY_SECONDS; i++)
		json_double(w, values[i]);
	json_list_end(w);
}

static void put_share(struct json_writer *w, const char *key, uint32_t part, uint32_t all)
{
	json_key_double(w, key, all ? (double)part / all : NAN);
}

static void put_loop(struct json_writer *w, const struct history *h, const struct loop_track *k)
{
	struct loop_second sum = loop_track_sum(k);

	json_map(w);
	json_key_id(w, "id", k->id);
	json_key_double(w, "held", loop_track_held(k, h->last));
	json_key_double(w, "lag", k->lag);
	put_share(w, "polling", sum.polling, sum.samples);
	put_share(w, "running", sum.running, sum.samples);
	put_share(w, "stalled", sum.stalled, sum.samples);
	put_share(w, "gil_waiting", sum.gil, sum.samples);
	json_key_double(w, "gil_switches_per_second", k->switches_rate);
	put_values(w, "ready_history", k, false);
	put_values(w, "lag_history", k, true);
	json_map_end(w);
}

static void put_change(struct json_writer *w, const struct history *h, const struct task_change *c)
{
	const struct place *p = c->place == NONE ? NULL : &h->places[c->place];

	json_map(w);
	json_key_double(w, "ago", h->last - c->when);
	json_key_word(w, "state", task_state_name(c->state));
	json_key_word(w, "awaits", await_kind_name(c->kind));
	json_key(w, "place");
	if (p) {
		json_map(w);
		json_key_str(w, "function", p->function);
		json_key_str(w, "file", p->file);
		json_key_count(w, "line", p->line > 0 ? p->line : -1);
		json_map_end(w);
	} else {
		json_null(w);
	}
	json_map_end(w);
}

static void put_task(struct json_writer *w, const struct history *h, const struct task_track *k)
{
	uint32_t first = k->change_count > HISTORY_CHANGES ? k->change_count - HISTORY_CHANGES : 0;

	json_map(w);
	json_key_id(w, "id", k->id);
	json_key_double(w, "since", h->last - k->since);
	json_key_bool(w, "since_known", k->since_known);
	json_key_int(w, "steps", (int64_t)k->steps);
	json_key_double(w, "steps_per_second", k->rate);
	json_key(w, "history");
	json_list(w);
	for (uint32_t i = first; i < k->change_count; i++)
		put_change(w, h, &k->changes[i % HISTORY_CHANGES]);
	json_list_end(w);
	json_map_end(w);
}

static void put_windows(struct json_writer *w, const struct finding_track *f)
{
	json_key(w, "windows");
	if (!f->brief || !f->watched.samples) {
		json_null(w);
		return;
	}
	json_map(w);
	json_key_int(w, "count", (int64_t)f->watched.windows);
	json_key_double(w, "longest", f->watched.longest);
	json_key_int(w, "samples", (int64_t)f->watched.seen);
	json_key_int(w, "of_samples", (int64_t)f->watched.samples);
	json_map_end(w);
}

static void put_finding(struct json_writer *w, const struct history *h,
			const struct finding_track *f)
{
	json_map(w);
	json_key_word(w, "id", f->id);
	json_key_id(w, "loop", f->loop);
	json_key_id(w, "task", f->task);
	json_key_count(w, "thread", f->thread ? f->thread : -1);
	json_key_word(w, "severity", severity_name(f->severity));
	json_key_bool(w, "standing", f->standing);
	json_key_double(w, "stood", finding_track_stood(f));
	json_key_double(w, "gone_since", f->standing ? NAN : h->last - f->last);
	json_key_double(w, "longest", f->longest);
	json_key_int(w, "times", (int64_t)f->times);
	json_key_int(w, "samples", (int64_t)f->samples);
	put_windows(w, f);
	json_key_bool(w, "certain", f->certain);
	json_key_str(w, "headline", text_str(&f->headline));
	json_key_str(w, "details", finding_track_details(f));
	json_map_end(w);
}

static void put_process(struct json_writer *w, const struct scene *s)
{
	json_key(w, "process");
	json_map(w);
	json_key_double(w, "cpu", s->usage.cpu);
	json_key_double(w, "resident_bytes", s->usage.resident_bytes);
	json_key_double(w, "threads", s->usage.threads);
	json_key_double(w, "age", s->usage.age);
	json_key_str(w, "ended", s->ended[0] ? str_from(s->ended) : (struct str){NULL, 0});
	json_map_end(w);
}

static int by_place(const void *a, const void *b)
{
	const struct frame *f = a, *g = b;
	struct str one = f->file, other = g->file;
	uint32_t len = one.len < other.len ? one.len : other.len;
	int order = len ? memcmp(one.ptr, other.ptr, len) : 0;

	if (!order)
		order = (one.len > other.len) - (one.len < other.len);
	return order ? order : (f->line > g->line) - (f->line < g->line);
}

static void put_line(struct json_writer *w, const struct scene *s, const struct frame *f)
{
	struct str line;

	if (!s->source(s->source_ctx, f->file, f->line, &line))
		return;
	json_map(w);
	json_key_str(w, "file", f->file);
	json_key_int(w, "line", f->line);
	line.len = (uint32_t)utf8_head(line.ptr, line.len, SOURCE_TEXT_MOST);
	json_key_str(w, "text", line);
	json_map_end(w);
}

static bool has_source(const struct frame *f)
{
	return !f->image.ptr && f->line > 0;
}

void watched_json_want(const struct scene *s)
{
	struct str line;

	for (uint32_t i = 0; i < s->m->frames.count; i++) {
		if (has_source(&s->m->frames.v[i]))
			s->source(s->source_ctx, s->m->frames.v[i].file, s->m->frames.v[i].line,
				  &line);
	}
}

/* Each line of source that a frame of the picture stands at, once. */
static void put_sources(struct json_writer *w, const struct scene *s)
{
	uint32_t all = s->m->frames.count, count = 0;
	struct frame *frames = malloc((all + 1) * sizeof(*frames));

	if (!frames) {
		json_fail(w);
		all = 0;
	}
	for (uint32_t i = 0; i < all; i++) {
		if (has_source(&s->m->frames.v[i]))
			frames[count++] = s->m->frames.v[i];
	}
	if (count)
		qsort(frames, count, sizeof(*frames), by_place);
	json_key(w, "sources");
	json_list(w);
	for (uint32_t i = 0; i < count; i++) {
		if (!i || by_place(&frames[i - 1], &frames[i]) != 0)
			put_line(w, s, &frames[i]);
	}
	json_list_end(w);
	free(frames);
}

void watched_json(struct json_writer *w, const void *scene)
{
	const struct scene *s = scene;
	const struct history *h = s->h;

	json_key(w, "watched");
	json_map(w);
	json_key_double(w, "seconds", h->last - h->first);
	json_key_int(w, "samples", (int64_t)h->samples);
	json_key_double(w, "samples_per_second", 1 / h->interval);
	put_process(w, s);
	json_key(w, "loops");
	json_list(w);
	for (uint32_t i = 0; i < h->loops.count; i++) {
		if (table_is_current(&h->loops, i))
			put_loop(w, h, table_at(&h->loops, i));
	}
	json_list_end(w);
	json_key(w, "tasks");
	json_list(w);
	for (uint32_t i = 0; i < h->tasks.count; i++) {
		if (table_is_current(&h->tasks, i))
			put_task(w, h, table_at(&h->tasks, i));
	}
	json_list_end(w);
	json_key(w, "threads");
	json_list(w);
	for (uint32_t i = 0; i < h->threads.count; i++) {
		const struct thread_track *k = table_at(&h->threads, i);

		if (!table_is_current(&h->threads, i))
			continue;
		json_map(w);
		json_key_int(w, "tid", (int64_t)k->id);
		json_key_double(w, "cpu", k->share);
		json_map_end(w);
	}
	json_list_end(w);
	json_key(w, "findings");
	json_list(w);
	for (uint32_t i = 0; i < h->finding_count; i++)
		put_finding(w, h, &h->findings[i]);
	json_list_end(w);
	put_sources(w, s);
	json_map_end(w);
}
