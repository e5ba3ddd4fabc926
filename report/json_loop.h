/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a loop's inner state in contract.md's document. */
#ifndef AIOTRACE_REPORT_JSON_LOOP_H
#define AIOTRACE_REPORT_JSON_LOOP_H

#include "model/model.h"
#include "report/json_writer.h"
#include "report/text.h"

/* ready_count, ready, timers, fds, executor: into the object that is open. `words` is scratch. */
void json_loop_state(struct json_writer *w, const struct model *m, const struct loop *l,
		     struct text *words);

#endif
