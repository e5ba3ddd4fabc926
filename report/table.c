/* SPDX-License-Identifier: Apache-2.0 */
/* One task a row, or one group of alike tasks: columns as wide as what is in them, cut where a terminal ends. */
#include "report/report.h"

#include "model/names.h"
#include "report/fold.h"
#include "report/handle_text.h"
#include "report/summary.h"
#include "report/task_text.h"
#include "report/tree_lines.h"

#include <stdlib.h>
#include <string.h>

#define FLUSH_AT (1 << 16) /* bytes */
#define GAP	 2 /* columns between columns */

enum column {
	TASK,
	NAME,
	STATE,
	WAITS,
	LEFT,
	WHERE,
	LOOP,
	COLUMNS
};

static const struct {
	const char *title;
	size_t most; /* columns */
	size_t least; /* what is left of it on a narrow terminal */
	enum text_color color;
} columns[COLUMNS] = {
	[TASK] = {"TASK", 20, 14, COLOR_DIM},	    [NAME] = {"NAME", 60, 12, COLOR_NAME},
	[STATE] = {"STATE", 60, 7, COLOR_PLAIN},    [WAITS] = {"WAITS ON", 160, 14, COLOR_WAIT},
	[LEFT] = {"TIME LEFT", 24, 9, COLOR_PLAIN}, [WHERE] = {"WHERE", 120, 10, COLOR_PLAIN},
	[LOOP] = {"LOOP", 40, 6, COLOR_DIM},
};

struct table {
	const struct model *m;
	const struct report_options *o;
	FILE *out;
	struct error *e;
	struct text text, cell;
	struct paths paths;
	struct selection chosen;
	struct fold fold;
	struct group *groups;
	uint32_t *rows;
	uint32_t count;
	size_t width[COLUMNS]; /* 0: the column is left out */
};

static void put_state(struct table *k, const struct group *g)
{
	const struct task *task = &k->m->tasks.v[g->low];

	if (task->state == TASK_PENDING)
		text_add(&k->cell, "pending");
	if (task->state == TASK_PENDING && (task->cancelling || task->must_cancel || task->damaged))
		text_add(&k->cell, ", ");
	task_marks(&k->cell, &k->o->style, k->m, g);
}

/* The kind's word is in every row, so that a search for it finds them all. */
static void put_waits(struct table *k, const struct group *g)
{
	const struct await *a = &k->m->tasks.v[g->low].awaits;
	const char *kind = await_kind_name(a->kind);

	if (!kind)
		return;
	if (a->kind == AWAITS_NOT_STARTED && !a->detail.len) {
		text_add(&k->cell, kind);
		return;
	}
	task_waits(&k->cell, &k->o->style, k->m, g, false);
	if (k->cell.v && strcasestr(k->cell.v, kind))
		return;
	text_clear(&k->cell);
	text_printf(&k->cell, "%s: ", kind);
	task_waits(&k->cell, &k->o->style, k->m, g, false);
}

static void put_loop(struct table *k, uint32_t row)
{
	uint32_t thread = row == NONE ? NONE : k->m->loops.v[row].thread;

	if (row == NONE)
		return;
	if (thread == NONE) {
		text_printf(&k->cell, "0x%llx", (unsigned long long)k->m->loops.v[row].id);
		return;
	}
	text_printf(&k->cell, "%d ", k->m->threads.v[thread].tid);
	text_safe(&k->cell, &k->o->style, k->m->threads.v[thread].name, 20);
}

/* The words of one cell in k->cell: all of it printable. */
static void put_cell(struct table *k, const struct group *g, enum column c)
{
	const struct task *task = &k->m->tasks.v[g->low];
	uint32_t frame;

	text_clear(&k->cell);
	switch (c) {
	case TASK:
		if (g->count == 1) {
			text_printf(&k->cell, "0x%llx", (unsigned long long)task->id);
			break;
		}
		text_add(&k->cell, k->o->style.utf8 ? "× " : "x ");
		text_number(&k->cell, g->count);
		break;
	case NAME:
		task_names(&k->cell, &k->o->style, k->m, g, columns[NAME].most);
		break;
	case STATE:
		put_state(k, g);
		break;
	case WAITS:
		put_waits(k, g);
		break;
	case LEFT:
		task_left(&k->cell, &k->o->style, g);
		break;
	case WHERE:
		frame = task_own_frame(k->m, task->chain);
		if (frame == NONE)
			break;
		frame_function(&k->cell, &k->o->style, &k->m->frames.v[frame], 60);
		text_add(&k->cell, " ");
		frame_place(&k->cell, &k->o->style, &k->paths, &k->m->frames.v[frame]);
		break;
	case LOOP:
	case COLUMNS:
		put_loop(k, task->loop);
	}
}

static size_t sum(const struct table *k)
{
	size_t total = 0;

	for (int c = 0; c < COLUMNS; c++)
		total += k->width[c] ? k->width[c] + GAP : 0;
	return total ? total - GAP : 0;
}

/* Takes from the widest until all fits; where that is not enough, whole columns go, those that say least first. */
static void squeeze(struct table *k, size_t limit)
{
	static const enum column dispensable[] = {LOOP, TASK, WHERE, STATE, LEFT};
	size_t dropped = 0;

	while (sum(k) > limit) {
		int widest = -1;

		for (int c = 0; c < COLUMNS; c++) {
			if (k->width[c] > columns[c].least &&
			    (widest < 0 || k->width[c] > k->width[widest]))
				widest = c;
		}
		if (widest >= 0)
			k->width[widest]--;
		else if (dropped < sizeof(dispensable) / sizeof(*dispensable))
			k->width[dispensable[dropped++]] = 0;
		else
			return;
	}
}

static void measure(struct table *k)
{
	const struct text_style *s = &k->o->style;
	/* What is in a cell is printable already: its width is that of its characters. */
	for (uint32_t i = 0; i < k->count; i++) {
		for (enum column c = 0; c < COLUMNS; c++) {
			size_t width;

			if (c == LOOP && k->m->loops.count < 2)
				continue;
			put_cell(k, &k->groups[i], c);
			width = text_width(s, text_str(&k->cell), columns[c].most);
			if (width > k->width[c])
				k->width[c] = width;
		}
	}
	for (enum column c = 0; c < COLUMNS; c++) {
		if (k->width[c] && k->width[c] < strlen(columns[c].title))
			k->width[c] = strlen(columns[c].title);
	}
	if (s->width)
		squeeze(k, s->width);
}

/* Spaces up to this cell are only written once something follows: no line ends in blanks. */
static void put_line(struct table *k, const struct group *g)
{
	size_t pending = 0;

	for (enum column c = 0; c < COLUMNS; c++) {
		size_t width;

		if (!k->width[c])
			continue;
		if (g) {
			put_cell(k, g, c);
		} else {
			text_clear(&k->cell);
			text_add(&k->cell, columns[c].title);
		}
		if (k->cell.len) {
			text_spaces(&k->text, pending);
			pending = 0;
			text_color(&k->text, &k->o->style, g ? columns[c].color : COLOR_BOLD);
			width = text_safe(&k->text, &k->o->style, text_str(&k->cell), k->width[c]);
			text_color(&k->text, &k->o->style, COLOR_PLAIN);
		} else {
			width = 0;
		}
		pending += k->width[c] - width + GAP;
	}
	text_add(&k->text, "\n");
}

static enum err flush(struct table *k, size_t least)
{
	if (k->text.len < least && !k->text.failed)
		return ERR_OK;
	return text_write(&k->text, k->out, k->e);
}

static enum err table_init(struct table *k)
{
	uint32_t n = k->m->tasks.count, rows = 0;

	paths_init(&k->paths, k->m);
	if (selection_init(&k->chosen, k->m, k->o->task_pattern) != ERR_OK)
		return ERR_NOMEM;
	if (k->o->max_depth && selection_limit(&k->chosen, k->o->max_depth) != ERR_OK)
		return ERR_NOMEM;
	k->rows = malloc((n + 1ul) * sizeof(*k->rows));
	if (!k->rows || fold_init(&k->fold, &k->chosen, !k->o->no_fold, false) != ERR_OK)
		return ERR_NOMEM;
	for (uint32_t t = 0; t < n; t++) {
		if (k->chosen.shown[t])
			k->rows[rows++] = t;
	}
	return fold_group(&k->fold, k->rows, rows, &k->groups, &k->count);
}

static void put_threads(struct table *k)
{
	struct tree_lines lines;

	tree_lines_init(&lines, k->m, &k->o->style);
	for (uint32_t i = 0; i < k->m->threads.count; i++) {
		text_add(&k->text, "\n");
		summary_thread(&k->text, &k->o->style, k->m, i);
		text_add(&k->text, "\n");
		tree_lines_thread(&lines, &k->text, &k->m->threads.v[i], STR_LIT("    "));
	}
	tree_lines_deinit(&lines);
}

static void put_loops(struct table *k)
{
	for (uint32_t i = 0; i < k->m->loops.count; i++) {
		text_add(&k->text, "\n");
		summary_loop(&k->text, &k->o->style, k->m, i);
		text_add(&k->text, "\n");
		loop_state_lines(&k->text, &k->o->style, k->m, &k->paths, i, !k->o->no_fold);
	}
}

static enum err put_table(struct table *k)
{
	enum err err = ERR_OK;

	summary_process(&k->text, &k->o->style, k->m, &k->chosen);
	if (k->count) {
		measure(k);
		text_add(&k->text, "\n");
		put_line(k, NULL);
	} else if (k->o->task_pattern) {
		text_add(&k->text, "\nno task has such a name\n");
	}
	for (uint32_t i = 0; i < k->count && err == ERR_OK; i++) {
		put_line(k, &k->groups[i]);
		err = flush(k, FLUSH_AT);
	}
	if (err != ERR_OK)
		return err;
	if (k->o->loop)
		put_loops(k);
	if (k->o->threads)
		put_threads(k);
	text_add(&k->text, "\n");
	summary_snapshot(&k->text, &k->o->style, k->m);
	text_add(&k->text, "\n");
	return flush(k, 0);
}

enum err table_render(FILE *out, const struct model *m, const struct report_options *o,
		      struct error *e)
{
	struct table k = {.m = m, .o = o, .out = out, .e = e};
	enum err err = table_init(&k);

	if (err == ERR_OK)
		err = put_table(&k);
	else
		error_set(e, err, 0, "out of memory");
	free(k.rows);
	free(k.groups);
	fold_deinit(&k.fold);
	selection_deinit(&k.chosen);
	text_deinit(&k.text);
	text_deinit(&k.cell);
	return err;
}
