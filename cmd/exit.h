/* SPDX-License-Identifier: Apache-2.0 */
/* Exit codes of contract.md, and the only place that prints an error. */
#ifndef AIOTRACE_CMD_EXIT_H
#define AIOTRACE_CMD_EXIT_H

#include "base/error.h"

enum exit_code {
	EXIT_DONE = 0,
	EXIT_FINDINGS = 1,
	EXIT_WRONG_USAGE = 2,
	EXIT_NOT_INSPECTED = 3,
	EXIT_NO_TARGET = 4,
	EXIT_TIME_LIMIT = 124,
};

/* The exit code of a kind of error. */
int exit_code_of(enum err kind);
/* One line on standard error, "aiotrace: " before it, control characters made visible; returns the exit code. */
int exit_with(const struct error *e);

#endif
