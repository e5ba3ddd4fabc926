/* SPDX-License-Identifier: Apache-2.0 */
/* Where the diagnosis of a command goes: standard error, and files in a folder. */
#ifndef AIOTRACE_CMD_RUN_REPORT_H
#define AIOTRACE_CMD_RUN_REPORT_H

#include "cmd/cli.h"
#include "report/stuck.h"

/* The folder and those above it, so that a report that can't be written is known before the command has run. ERR_SYSTEM. */
must_check enum err report_prepare(const char *folder, struct error *e);
/* Text on standard error; "::error" lines where GITHUB_ACTIONS is set. ERR_SYSTEM, ERR_NOMEM. */
must_check enum err report_say(const struct cli *cli, const struct stuck *all, struct error *e);
/* process-PID.json, junit.xml, and index.json when all else is there. ERR_SYSTEM, ERR_NOMEM. */
must_check enum err report_files(const struct cli *cli, const struct stuck *all, struct error *e);

#endif
