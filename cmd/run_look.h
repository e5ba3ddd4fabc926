/* SPDX-License-Identifier: Apache-2.0 */
/* All processes below us at the moment when the command is given up: each looked at and judged, several at a time. */
#ifndef AIOTRACE_CMD_RUN_LOOK_H
#define AIOTRACE_CMD_RUN_LOOK_H

#include "cmd/cli.h"
#include "report/stuck.h"

/* Fills ret->v and count, parents first; processes that end meanwhile are left out. ERR_NOMEM. */
must_check enum err stuck_look(const struct cli *cli, struct stuck *ret, struct error *e);
void stuck_deinit(struct stuck *s);

#endif
