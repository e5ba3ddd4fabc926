/* SPDX-License-Identifier: Apache-2.0 */
/* What rows.c and rows_tree.c share. */
#ifndef AIOTRACE_TUI_ROWS_INNER_H
#define AIOTRACE_TUI_ROWS_INNER_H

#include "tui/rows.h"

struct build {
	struct rows *r;
	const struct row_options *o;
	bool *passes; /* a task row: the filter lets it through; NULL: all pass */
	struct fold fold;
};

/* A fresh row at the end; NULL on no memory. Pointers live until the next call. */
struct row *rows_add(struct rows *r, const struct group *g);
/* `count` task rows as groups, sorted as the user wants; *ret is malloc'ed. rows is kept by r. */
must_check enum err rows_group(struct build *b, uint32_t *rows, uint32_t count, struct row **ret,
			       uint32_t *count_ret);
/* The tree instead of the list. */
must_check enum err rows_tree(struct build *b);

#endif
