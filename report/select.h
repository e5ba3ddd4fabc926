/* SPDX-License-Identifier: Apache-2.0 */
/* Which tasks of a picture are shown, and which of them nobody shown above leads to. */
#ifndef AIOTRACE_REPORT_SELECT_H
#define AIOTRACE_REPORT_SELECT_H

#include "model/model.h"

struct selection {
	const struct model *m;
	bool *shown; /* a row a task */
	uint32_t *ring; /* model_rings */
	uint32_t *ring_size; /* by ring number; [0] unused */
	uint32_t *
		roots; /* rows: shown tasks that nobody awaits, and one of each ring that nothing outside leads to */
	uint32_t root_count, shown_count;
};

/* pattern: glob on names, NULL for all; tasks that lead to a match and those that it leads to are shown too. */
must_check enum err selection_init(struct selection *s, const struct model *m, const char *pattern);
void selection_deinit(struct selection *s);
/* Hides what is more than `levels` below a root. */
must_check enum err selection_limit(struct selection *s, uint32_t levels);

#endif
