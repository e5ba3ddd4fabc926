/* SPDX-License-Identifier: Apache-2.0 */
/* The picture in words, to a stdio stream: ERR_SYSTEM where it can't be written, ERR_NOMEM. (JSON: report/json.h.) */
#ifndef AIOTRACE_REPORT_REPORT_H
#define AIOTRACE_REPORT_REPORT_H

#include "model/model.h"
#include "report/text.h"

#include <stdio.h>

struct report_options {
	struct text_style style;
	bool no_fold; /* alike tasks one by one, not as one line */
	bool threads; /* the threads' stacks too */
	bool loop; /* the loops' inner state too */
	const char *
		task_pattern; /* glob on task names, NULL: all; those above and below a match are shown too */
	uint32_t max_depth; /* levels of tasks, 0: all */
};

/* Loop > task > its await chain > the tasks it awaits. */
must_check enum err tree_render(FILE *out, const struct model *m, const struct report_options *o,
				struct error *e);
/* One task a row. */
must_check enum err table_render(FILE *out, const struct model *m, const struct report_options *o,
				 struct error *e);

#endif
