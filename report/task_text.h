/* SPDX-License-Identifier: Apache-2.0 */
/* One task, or one group of alike tasks, in words: the same in tree and table. */
#ifndef AIOTRACE_REPORT_TASK_TEXT_H
#define AIOTRACE_REPORT_TASK_TEXT_H

#include "report/fold.h"
#include "report/paths.h"
#include "report/text.h"

/* "Task-1", of a group "worker-1 … worker-9998"; within `columns`. */
void task_names(struct text *t, const struct text_style *s, const struct model *m,
		const struct group *g, size_t columns);
/* "running, cancel requested twice"; nothing for a plain pending task. */
void task_marks(struct text *t, const struct text_style *s, const struct model *m,
		const struct group *g);
/* What it waits on; for a group with the range of the time left, and whether they wait on different things. */
void task_waits(struct text *t, const struct text_style *s, const struct model *m,
		const struct group *g, bool with_time);
/* "29.8 s", "12.1 s … 42.0 s"; nothing where no time is known. */
void task_left(struct text *t, const struct text_style *s, const struct group *g);
/* The innermost frame of the chain that is not asyncio's own; else the innermost; NONE without frames. */
uint32_t task_own_frame(const struct model *m, uint32_t chain);
/* "handle", at most `columns`. */
size_t frame_function(struct text *t, const struct text_style *s, const struct frame *f,
		      size_t columns);
/* "app.py:12". */
void frame_place(struct text *t, const struct text_style *s, const struct paths *p,
		 const struct frame *f);

#endif
