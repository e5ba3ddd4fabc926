/* SPDX-License-Identifier: Apache-2.0 */
/* A loop's inner state in words: ready queue, timers, descriptors, executor; alike handles are one line. */
#ifndef AIOTRACE_REPORT_HANDLE_TEXT_H
#define AIOTRACE_REPORT_HANDLE_TEXT_H

#include "model/model.h"
#include "report/paths.h"
#include "report/text.h"

/* "step of worker-1", "wake-up of fetch-7", "Server.tick"; nothing where its callback is not known. Not made printable: for JSON. */
void handle_words(struct text *t, const struct model *m, const struct handle *h);

/* Lines below a loop's own, each with its newline. Says so where the loop is of a kind whose state can't be read. */
void loop_state_lines(struct text *t, const struct text_style *s, const struct model *m,
		      const struct paths *p, uint32_t loop, bool fold);

#endif
