/* SPDX-License-Identifier: Apache-2.0 */
/* Findings in words, worst first as they stand: the sentence, the evidence, what to do. */
#ifndef AIOTRACE_REPORT_FINDINGS_H
#define AIOTRACE_REPORT_FINDINGS_H

#include "base/error.h"
#include "model/model.h"
#include "report/paths.h"
#include "report/text.h"

#include <stdio.h>

/* "critical  blocked-loop: Task-3 has held …" in its severity's colour, one line without its newline. */
void finding_headline(struct text *t, const struct text_style *s, const struct finding *f);
/* All of one finding: headline, evidence and advice, each line with its newline. */
void finding_lines(struct text *t, const struct text_style *s, const struct model *m,
		   const struct paths *p, const struct finding *f);
/* A whole process: its line, its findings, what was looked at. ERR_SYSTEM, ERR_NOMEM. */
must_check enum err findings_render(FILE *out, const struct model *m, const struct text_style *s,
				    struct error *e);

#endif
