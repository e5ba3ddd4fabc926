/* SPDX-License-Identifier: Apache-2.0 */
/* What all text reports take. */
#ifndef AIOTRACE_REPORT_REPORT_H
#define AIOTRACE_REPORT_REPORT_H

#include "base/error.h"
#include "model/model.h"
#include "report/text.h"

#include <stdio.h>

struct report_options {
	struct text_style style;
	bool threads; /* thread stacks too */
	bool no_fold; /* alike tasks one by one */
	const char *task_pattern; /* fnmatch(3) pattern of task names; NULL: all */
	uint32_t max_depth; /* levels of tasks below each other; 0: no limit */
};

/* Writes and flushes. ERR_SYSTEM where `out` can't be written, ERR_NOMEM. */
must_check enum err tree_render(FILE *out, const struct model *m, const struct report_options *o,
				struct error *e);
must_check enum err table_render(FILE *out, const struct model *m, const struct report_options *o,
				 struct error *e);

#endif
