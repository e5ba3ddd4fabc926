/* SPDX-License-Identifier: Apache-2.0 */
/* The words of contract.md for the model's enums: spelled here and nowhere else. */
#ifndef AIOTRACE_MODEL_NAMES_H
#define AIOTRACE_MODEL_NAMES_H

#include "model/model.h"

const char *task_state_name(enum task_state s); /* NULL for TASK_UNKNOWN */
const char *await_kind_name(enum await_kind k); /* NULL for AWAITS_NOTHING */
const char *loop_state_name(enum loop_state s); /* NULL for LOOP_UNKNOWN */
const char *handle_kind_name(enum handle_kind k);
const char *thread_state_name(enum thread_state s);
const char *gil_state_name(enum gil_state s); /* NULL for GIL_UNKNOWN */
const char *severity_name(enum severity s);
const char *snapshot_method_name(enum snapshot_method m);

#endif
