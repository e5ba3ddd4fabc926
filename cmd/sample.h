/* SPDX-License-Identifier: Apache-2.0 */
/* Several pictures of one process over a short time, and the findings that they lead to. */
#ifndef AIOTRACE_CMD_SAMPLE_H
#define AIOTRACE_CMD_SAMPLE_H

#include "cmd/cli.h"
#include "model/model.h"

/*
 * Looks for cli->sample_ms, at least three times, and judges. On success *ret is the newest picture with its findings (model_destroy).
 * ERR_UNSUPPORTED where the process has no asyncio loop or task, and the kinds of read_process.
 */
must_check enum err sample_process(const struct cli *cli, pid_t pid, struct model **ret,
				   struct error *e);
/* The worst severity among the findings, -1 none. */
int sample_worst(const struct model *m);

#endif
