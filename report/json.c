/* SPDX-License-Identifier: Apache-2.0 */
/* contract.md's document, key by key. What is not read yet is null or empty. */
#include "report/json.h"

#include "model/names.h"
#include "report/await_text.h"
#include "report/json_findings.h"
#include "report/json_loop.h"
#include "report/json_parts.h"

#include <stdlib.h>
#include <time.h>

struct document {
	struct json_writer *w;
	const struct model *m;
	struct text words; /* scratch */
	json_more more; /* NULL: nothing more */
	const void *context;
	struct error *e;
};

static void put_target(struct document *d)
{
	const struct target_info *t = &d->m->target;
	struct json_writer *w = d->w;

	json_key(w, "target");
	json_map(w);
	json_key_int(w, "pid", t->pid);
	json_key(w, "command");
	json_list(w);
	for (size_t i = 0; i < t->command_count; i++)
		json_str(w, t->command[i]);
	json_list_end(w);
	json_key_word(w, "python", t->python);
	json_key_bool(w, "free_threaded", t->free_threaded);
	json_key_bool(w, "debug_build", t->debug_build);
	json_key_word(w, "layout", t->layout);
	json_key_bool(w, "container", t->container);
	json_map_end(w);
}

static void put_snapshot(struct document *d)
{
	const struct snapshot_info *s = &d->m->snapshot;
	struct json_writer *w = d->w;
	time_t seconds = (time_t)s->wall_time;
	struct tm tm;
	char date[32], text[48];

	gmtime_r(&seconds, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text, sizeof(text), "%s.%06uZ", date,
		 (unsigned)((s->wall_time - (double)seconds) * 1e6) % 1000000u);
	json_key(w, "snapshot");
	json_map(w);
	json_key_word(w, "time", text);
	json_key_bool(w, "consistent", s->consistent);
	json_key_word(w, "method", snapshot_method_name(s->method));
	json_key_int(w, "paused_us", (int64_t)s->paused_us);
	json_key_int(w, "duration_us", (int64_t)s->duration_us);
	json_key_int(w, "bytes_read", (int64_t)s->bytes_read);
	json_key_int(w, "read_calls", (int64_t)s->read_calls);
	if (s->native_note[0])
		json_key_word(w, "native_note", s->native_note);
	json_map_end(w);
}

static void put_id_of_loop(struct document *d, const char *key, uint32_t row)
{
	json_key_id(d->w, key, row == NONE ? 0 : d->m->loops.v[row].id);
}

static void put_interpreter(struct document *d, uint32_t row)
{
	json_key(d->w, "interpreter");
	if (row == NONE)
		json_null(d->w);
	else
		json_int(d->w, (int64_t)d->m->interpreters.v[row].id);
}

static void put_gil(struct document *d, const struct interpreter *i)
{
	struct json_writer *w = d->w;

	if (!i->gil_read) {
		json_key_null(w, "gil");
		return;
	}
	json_key(w, "gil");
	json_map(w);
	if (i->gil_holder)
		json_key_int(w, "holder", i->gil_holder);
	else
		json_key_null(w, "holder");
	json_key_int(w, "switches", (int64_t)i->gil_switches);
	json_map_end(w);
}

static void put_interpreters(struct document *d)
{
	json_key(d->w, "interpreters");
	json_list(d->w);
	for (uint32_t i = 0; i < d->m->interpreters.count; i++) {
		json_map(d->w);
		json_key_int(d->w, "id", (int64_t)d->m->interpreters.v[i].id);
		put_gil(d, &d->m->interpreters.v[i]);
		json_map_end(d->w);
	}
	json_list_end(d->w);
}

static void put_thread(struct document *d, const struct thread *t)
{
	struct json_writer *w = d->w;

	json_map(w);
	json_key_int(w, "tid", t->tid);
	json_key_str(w, "name", t->name);
	put_interpreter(d, t->interpreter);
	json_key_word(w, "state", thread_state_name(t->state));
	json_key_str(w, "syscall", t->syscall);
	json_key_word(w, "gil", gil_state_name(t->gil));
	put_id_of_loop(d, "loop", t->loop);
	json_key(w, "stack");
	json_stack(w, d->m, t->chain);
	json_key(w, "native");
	if (t->native == NONE)
		json_null(w);
	else
		json_stack(w, d->m, t->native);
	json_truncated(w, "native_truncated", t->native_truncated);
	json_map_end(w);
}

static void put_loop(struct document *d, const struct loop *l)
{
	const struct model *m = d->m;
	struct json_writer *w = d->w;

	json_map(w);
	json_key_id(w, "id", l->id);
	json_key_str(w, "class", l->cls == NONE ? STR_LIT("?") : m->strings.v[l->cls]);
	put_interpreter(d, l->interpreter);
	json_key(w, "tid");
	if (l->thread == NONE)
		json_null(w);
	else
		json_int(w, m->threads.v[l->thread].tid);
	json_key_word(w, "state", loop_state_name(l->state));
	json_key_bool(w, "debug", l->debug);
	json_key_double(w, "time", l->time);
	json_key_id(w, "current_task",
		    l->current_task == NONE ? 0 : m->tasks.v[l->current_task].id);
	json_loop_state(w, m, l, &d->words);
	json_map_end(w);
}

static void put_task_ids(struct document *d, const char *key, const uint32_t *rows, uint32_t count)
{
	json_key(d->w, key);
	json_list(d->w);
	for (uint32_t i = 0; i < count; i++)
		json_id(d->w, d->m->tasks.v[rows[i]].id);
	json_list_end(d->w);
}

static void put_awaits(struct document *d, const struct await *a)
{
	static const struct text_style whole = {.utf8 = true};
	struct json_writer *w = d->w;

	json_key(w, "awaits");
	if (a->kind == AWAITS_NOTHING) {
		json_null(w);
		return;
	}
	text_clear(&d->words);
	await_text(&d->words, &whole, d->m, a);
	json_map(w);
	json_key_word(w, "kind", await_kind_name(a->kind));
	json_key_id(w, "id", a->id);
	put_task_ids(d, "tasks", d->m->edges.v + a->tasks_first, a->tasks_count);
	json_truncated(w, "tasks_truncated", a->tasks_truncated);
	json_key_str(w, "detail", text_str(&d->words));
	json_map_end(w);
}

static void put_task(struct document *d, const struct task *t)
{
	const struct model *m = d->m;
	struct json_writer *w = d->w;

	json_map(w);
	json_key_id(w, "id", t->id);
	json_key_str(w, "name", t->name);
	json_key_str(w, "class", t->cls == NONE ? STR_LIT("?") : m->strings.v[t->cls]);
	put_id_of_loop(d, "loop", t->loop);
	json_key_word(w, "state", task_state_name(t->state));
	json_key_int(w, "cancelling", t->cancelling);
	json_key_bool(w, "must_cancel", t->must_cancel);
	json_key(w, "stack");
	json_stack(w, d->m, t->chain);
	json_truncated(w, "stack_truncated", t->chain_truncated);
	put_awaits(d, &t->awaits);
	put_task_ids(d, "awaited_by", m->back_edges.v + t->awaited_by_first, t->awaited_by_count);
	json_map_end(w);
}

static void put_document(struct document *d)
{
	const struct model *m = d->m;
	struct json_writer *w = d->w;

	json_map(w);
	json_key_word(w, "schema", "aiotrace/1");
	json_key_word(w, "aiotrace", AIOTRACE_VERSION);
	put_target(d);
	put_snapshot(d);
	put_interpreters(d);
	json_key(w, "threads");
	json_list(w);
	for (uint32_t i = 0; i < m->threads.count; i++)
		put_thread(d, &m->threads.v[i]);
	json_list_end(w);
	json_truncated(w, "threads_truncated", m->threads_truncated);
	json_key(w, "loops");
	json_list(w);
	for (uint32_t i = 0; i < m->loops.count; i++)
		put_loop(d, &m->loops.v[i]);
	json_list_end(w);
	json_truncated(w, "loops_truncated", m->loops_truncated);
	json_key(w, "tasks");
	json_list(w);
	for (uint32_t i = 0; i < m->tasks.count; i++)
		put_task(d, &m->tasks.v[i]);
	json_list_end(w);
	json_truncated(w, "tasks_truncated", m->tasks_truncated);
	json_findings(w, m);
	if (d->more)
		d->more(w, d->context);
	json_map_end(w);
}

static enum err finish(struct document *d)
{
	bool failed = d->words.failed;
	enum err err = json_close(d->w, d->e);

	text_deinit(&d->words);
	return err == ERR_OK && failed ? error_set(d->e, ERR_NOMEM, 0, "out of memory") : err;
}

enum err json_document(FILE *out, const struct model *m, struct error *e)
{
	return json_document_with(out, m, NULL, NULL, e);
}

enum err json_document_with(FILE *out, const struct model *m, json_more more, const void *context,
			    struct error *e)
{
	struct document d = {.w = json_open(out), .m = m, .more = more, .context = context, .e = e};

	if (!d.w)
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	put_document(&d);
	return finish(&d);
}

enum err json_processes(FILE *out, struct model *const *models, size_t count, struct error *e)
{
	struct document d = {.w = json_open(out), .e = e};

	if (!d.w)
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	json_map(d.w);
	json_key_word(d.w, "schema", "aiotrace/1");
	json_key(d.w, "processes");
	json_list(d.w);
	for (size_t i = 0; i < count; i++) {
		d.m = models[i];
		put_document(&d);
	}
	json_list_end(d.w);
	json_map_end(d.w);
	return finish(&d);
}
