/* SPDX-License-Identifier: Apache-2.0 */
/* What a task waits on, in words: the same in tree, table and JSON. */
#ifndef AIOTRACE_REPORT_AWAIT_TEXT_H
#define AIOTRACE_REPORT_AWAIT_TEXT_H

#include "model/model.h"
#include "report/text.h"

/* "sleep, 29.8 s left"; names from the target are made printable. Nothing for AWAITS_NOTHING. */
void await_text(struct text *t, const struct text_style *s, const struct model *m,
		const struct await *a);
/* The same for a row that stands for many alike ones, whose times left lie between the two. */
void await_text_range(struct text *t, const struct text_style *s, const struct model *m,
		      const struct await *a, double least_left, double most_left);

#endif
