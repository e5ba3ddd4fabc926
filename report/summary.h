/* SPDX-License-Identifier: Apache-2.0 */
/* The lines around tree and table: which process, what its tasks wait on taken together, its loops, how the picture was taken. */
#ifndef AIOTRACE_REPORT_SUMMARY_H
#define AIOTRACE_REPORT_SUMMARY_H

#include "base/error.h"
#include "report/select.h"
#include "report/text.h"

#include <stdio.h>

/* Its command line within 100 columns. */
void summary_command(struct text *t, const struct text_style *s, const struct target_info *i);
/* Two lines: process, and how many tasks wait on what. */
void summary_process(struct text *t, const struct text_style *s, const struct model *m,
		     const struct selection *chosen);
/* One line without its newline. */
void summary_loop(struct text *t, const struct text_style *s, const struct model *m, uint32_t loop);
/* One line without its newline. */
void summary_thread(struct text *t, const struct text_style *s, const struct model *m,
		    uint32_t thread);
/* The last line: which proof the picture has and what it cost. */
void summary_snapshot(struct text *t, const struct text_style *s, const struct model *m);
/* Writes what has gathered and empties it. ERR_SYSTEM, ERR_NOMEM. */
must_check enum err text_write(struct text *t, FILE *out, struct error *e);

#endif
