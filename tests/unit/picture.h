/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures made by hand for unit tests of what shows them: a model with one loop on one thread, tasks that wait as they are told, rows of the dashboard as text. */
#ifndef AIOTRACE_TESTS_PICTURE_H
#define AIOTRACE_TESTS_PICTURE_H

#include "tests/unit/check.h"
#include "tui/rows.h"

#include <math.h>
#include <stdlib.h>

#define PICTURE_LOOP   ((vaddr)0x10)
#define PICTURE_THREAD 17
#define PICTURE_ID(n)  ((vaddr)0x1000 + 16ull * (n)) /* of the task number n, from 0 */

static inline void picture_need(bool ok)
{
	if (ok)
		return;
	fprintf(stderr, "the picture could not be made\n");
	exit(1);
}

/* Taken at that time, by our monotonic clock. */
static inline struct model *picture_new(double when)
{
	struct model *m = NULL;
	uint32_t loop, thread;

	picture_need(model_create(&m) == ERR_OK);
	m->target.pid = 4711;
	strcpy(m->target.python, "3.12.1");
	m->snapshot = (struct snapshot_info){
		.method = SNAPSHOT_STILL, .consistent = true, .monotonic = when};
	thread = model_add_thread(m, PICTURE_THREAD);
	m->threads.v[thread].times_read = true;
	loop = model_add_loop(m, PICTURE_LOOP);
	m->loops.v[loop].thread = thread;
	m->loops.v[loop].state = LOOP_POLLING;
	m->loops.v[loop].time = when;
	m->loops.v[loop].inner_read = true;
	return m;
}

/* Its chain is one frame. */
static inline void picture_at(struct model *m, uint32_t task, const char *function,
			      const char *file, int32_t line)
{
	m->tasks.v[task].chain = model_push(
		m, NONE, model_intern_frame(m, str_from(function), str_from(file), line));
}

/* A pending task that waits for a future of its own in work, app.py:12. */
static inline uint32_t picture_task_with(struct model *m, vaddr id, const char *name)
{
	uint32_t row = model_add_task(m, id);
	struct task *t = &m->tasks.v[row];

	t->name = model_text(m, str_from(name));
	t->cls = model_intern_string(m, STR_LIT("Task"));
	t->loop = 0;
	t->state = TASK_PENDING;
	t->awaits.kind = AWAITS_FUTURE;
	t->awaits.id = id + 8;
	picture_at(m, row, "work", "/srv/app.py", 12);
	return row;
}

static inline uint32_t picture_task(struct model *m, const char *name)
{
	return picture_task_with(m, PICTURE_ID(m->tasks.count), name);
}

/* `count` tasks that are alike: "w-1" and so on. */
static inline void picture_tasks(struct model *m, const char *prefix, uint32_t count)
{
	char name[64];

	for (uint32_t i = 1; i <= count; i++) {
		snprintf(name, sizeof(name), "%s-%u", prefix, i);
		picture_task(m, name);
	}
}

static inline void picture_waits(struct model *m, uint32_t task, enum await_kind kind,
				 const char *detail)
{
	m->tasks.v[task].awaits.kind = kind;
	m->tasks.v[task].awaits.detail = model_text(m, str_from(detail));
}

/* All that one task awaits is said in one go. */
static inline void picture_awaits(struct model *m, uint32_t task, uint32_t awaited)
{
	struct await *a = &m->tasks.v[task].awaits;
	uint32_t edge = model_add_edge(m, awaited);

	if (!a->tasks_count++)
		a->tasks_first = edge;
	a->kind = a->tasks_count > 1 ? AWAITS_GATHER : AWAITS_TASK;
	a->detail = a->tasks_count > 1 ? STR_LIT("gather") : (struct str){NULL, 0};
	a->left = NAN;
}

/* The rest of what a reader would do. */
static inline const struct model *picture_done(struct model *m)
{
	picture_need(model_finish(m) == ERR_OK);
	return m;
}

/* The history sees it, and it is gone. */
static inline void picture_seen(struct history *h, struct model *m)
{
	history_add(h, picture_done(m));
	model_destroy(m);
}

static inline struct history picture_history(void)
{
	struct history h;

	picture_need(history_init(&h, true) == ERR_OK);
	return h;
}

/* "+5 w-1 … w-5", "-5 …" where it is open, two blanks a level; malloc'ed. */
static inline char *picture_rows(const struct rows *r)
{
	struct text t = {0};

	for (uint32_t i = 0; i < r->count; i++) {
		const struct row *row = &r->v[i];

		text_spaces(&t, 2ul * row->depth);
		if (row->g.count > 1)
			text_printf(&t, "%c%u ", row->opened ? '-' : '+', row->g.count);
		text_printf(&t, "%.*s", STR_ARG(r->m->tasks.v[row->g.low].name));
		if (row->g.count > 1)
			text_printf(&t, " … %.*s", STR_ARG(r->m->tasks.v[row->g.high].name));
		text_add(&t, row->kind == ROW_ELSEWHERE ? " (shown above)\n" : "\n");
	}
	return t.v ? t.v : calloc(1, 1);
}

static inline void check_rows(const struct rows *r, const char *want, const char *what,
			      const char *file, int line)
{
	char *got = picture_rows(r);

	check_text(got, want, what, file, line);
	free(got);
}

/* Rows that were made already. */
#define CHECK_ROWS(r, want) check_rows((r), (want), #r, __FILE__, __LINE__)

static inline void check_listed(const struct model *m, const struct history *h,
				const struct row_options *o, const char *want, const char *what,
				const char *file, int line)
{
	struct rows r;

	picture_need(rows_init(&r, m, h, o) == ERR_OK);
	check_rows(&r, want, what, file, line);
	rows_deinit(&r);
}

/* The rows of a picture with these options, which are written out as of struct row_options. */
#define CHECK_LISTED(m, h, want, ...)                                                          \
	check_listed((m), (h), &(const struct row_options){__VA_ARGS__}, (want), #__VA_ARGS__, \
		     __FILE__, __LINE__)

#endif
