/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tasks are alike: the same class, state, chain and kind of wait, and alike tasks below them. Names, time left and the objects waited on may differ.
 * Siblings that are alike become one group.
 */
#ifndef AIOTRACE_REPORT_FOLD_H
#define AIOTRACE_REPORT_FOLD_H

#include "report/select.h"

#define FOLD_FROM 4 /* fewer alike siblings are shown one by one */

struct fold {
	const struct model *m;
	uint64_t *view; /* by row: equal for alike tasks; NULL: nothing is folded */
};

/* One line of a report. Its rows are a slice of the array given to fold_group. */
struct group {
	const uint32_t *rows;
	uint32_t count;
	uint32_t low, high; /* rows of the first and the last name */
	double left_low, left_high; /* range of the time left; NAN none */
	bool details_differ;
	uint32_t objects; /* how many different objects are waited on; 0 where that means nothing */
};

/* The group of that task alone; *row must live as long as it. */
struct group group_alone(const uint32_t *row);
/* below: tasks are alike only with alike tasks below them. A task of a ring, and one that several wait for, is like no other. */
must_check enum err fold_init(struct fold *f, const struct selection *s, bool enabled, bool below);
void fold_deinit(struct fold *f);
/* Sorts rows (in place) into groups by name. *ret is malloc'ed, the caller frees. */
must_check enum err fold_group(const struct fold *f, uint32_t *rows, uint32_t count,
			       struct group **ret, uint32_t *groups_ret);

#endif
