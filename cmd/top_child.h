/* SPDX-License-Identifier: Apache-2.0 */
/* The command of `top -- COMMAND`: in a session of its own, without our terminal; what it says is kept and shown when we end. It does not outlive us. */
#ifndef AIOTRACE_CMD_TOP_CHILD_H
#define AIOTRACE_CMD_TOP_CHILD_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct top_child {
	pid_t pid; /* 0: none */
	int output; /* what it wrote to standard output and error, -1 none */
};

/* to_stderr: what it says goes to our standard error at once. ERR_USAGE where it can't be run. */
must_check enum err top_child_start(char **argv, bool to_stderr, struct top_child *ret,
				    struct error *e);
/* SIGTERM to all of its session, after a while SIGKILL; then its last words to our standard error. Accepts a zeroed one. */
void top_child_end(struct top_child *c);

#endif
