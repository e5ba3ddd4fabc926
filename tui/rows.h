/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The task table without a terminal: which rows there are, in which order, for what the user chose (filter, sort, fold, tree). Nothing is put into words here but
 * what a filter or a search looks at.
 */
#ifndef AIOTRACE_TUI_ROWS_H
#define AIOTRACE_TUI_ROWS_H

#include "report/fold.h"
#include "report/paths.h"
#include "tui/history.h"

enum sort_column {
	SORT_NAME,
	SORT_STATE,
	SORT_WAITS,
	SORT_SINCE,
	SORT_STEPS,
	SORT_WHERE,
	SORT_COLUMNS
};

#define OPENED_MOST 32u

struct row_options {
	enum sort_column sort;
	bool reverse;
	bool fold, tree;
	const char *filter; /* part of name, wait or place, in any case; "" all */
	uint64_t opened[OPENED_MOST]; /* folded rows that are shown open, by rows_sign */
	uint32_t opened_count;
};

/* Where a row stands in its fold or in the tree. */
enum row_kind {
	ROW_TASK, /* one task, or one group of alike ones */
	ROW_MEMBER, /* a task of the opened group above */
	ROW_ELSEWHERE /* tree: a task that is shown in full elsewhere */
};

struct row {
	struct group g;
	enum row_kind kind;
	bool opened; /* a group whose members follow */
	uint32_t depth; /* 0 at the left */
	uint64_t lines; /* tree: bit n: on level n siblings follow below */
	double since; /* when the longest of them came where it is, NAN unknown */
	bool since_known; /* false: it was there when it was first seen */
	double steps; /* a second, of all of them; NAN unknown */
};

struct rows {
	const struct model *m;
	const struct history *h;
	struct row *v;
	uint32_t count, capacity;
	uint32_t shown; /* tasks that the filter lets through */
	uint32_t **slices; /* what the groups' rows point into */
	uint32_t slice_count, slice_capacity;
	struct paths paths;
	uint64_t *chains; /* history_chains */
	struct selection all;
};

/* The pictures and history must live as long as the rows. */
must_check enum err rows_init(struct rows *r, const struct model *m, const struct history *h,
			      const struct row_options *o);
void rows_deinit(struct rows *r); /* accepts a zeroed one */

/* The row that shows the task, by itself or within a group; NONE where none does. Where a group is open: the group's own row or its member's. */
uint32_t rows_find(const struct rows *r, vaddr task, bool group);
/* What makes the tasks of a folded row alike, as a number that is the same in the next picture: whichever they are by then, and whatever object each waits on. */
uint64_t rows_sign(const struct rows *r, const struct row *row);
/* The first row from `from` on (and around again) with `part` in its words, in any case; NONE. */
uint32_t rows_search(const struct rows *r, const char *part, uint32_t from);
/* Whether a task's name, wait or place has `part` in it, in any case. `words` is scratch. */
bool task_has(const struct model *m, const struct paths *p, const struct task *t, const char *part,
	      struct text *words);
/* "Task-1 worker.py:12 …" is what is looked at. */
const char *sort_column_title(enum sort_column c);

#endif
