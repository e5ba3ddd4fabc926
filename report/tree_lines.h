/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of one task in the tree; where they stand is the caller's matter. */
#ifndef AIOTRACE_REPORT_TREE_LINES_H
#define AIOTRACE_REPORT_TREE_LINES_H

#include "report/fold.h"
#include "report/paths.h"
#include "report/text.h"

struct tree_lines {
	const struct model *m;
	const struct text_style *style;
	struct paths paths;
	struct text words; /* scratch */
	uint32_t *stack; /* scratch: a chain from outside inwards */
	uint32_t stack_room;
};

void tree_lines_init(struct tree_lines *l, const struct model *m, const struct text_style *style);
void tree_lines_deinit(struct tree_lines *l);

/* "Task-1 (MyTask)  × 9,998  [running] → sleep, 29.8 s left", without a newline. */
void tree_line_task(struct tree_lines *l, struct text *t, const struct group *g);
/* Several tasks that stand elsewhere in the tree: "worker-1 … worker-9  × 9". */
void tree_line_others(struct tree_lines *l, struct text *t, const struct group *g);
/* The chain's frames, one a line, outermost first; each line begins with `before`. */
void tree_lines_chain(struct tree_lines *l, struct text *t, uint32_t chain, bool truncated,
		      struct str before);
/* The thread's stack, the native one where there is one; "no Python frames" where there is none. */
void tree_lines_thread(struct tree_lines *l, struct text *t, const struct thread *thread,
		       struct str before);
/* Where the worker thread is that runs what a task waits for; nothing for NONE. */
void tree_line_worker(struct tree_lines *l, struct text *t, uint32_t chain, struct str before);

#endif
