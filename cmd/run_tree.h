/* SPDX-License-Identifier: Apache-2.0 */
/* All processes below us: which they are, and a signal to each. */
#ifndef AIOTRACE_CMD_RUN_TREE_H
#define AIOTRACE_CMD_RUN_TREE_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process_below {
	pid_t pid, parent;
	uint64_t start_time; /* with the pid, an identity */
	uint64_t program; /* changes when it executes another one */
};

/* Parents first, zombies left out; malloc'ed. What starts or ends meanwhile may be missing. ERR_NOMEM. */
must_check enum err processes_below(struct process_below **ret, size_t *count_ret);
/* To each process below us; to one that another has the number of by now, nothing. How many there were. */
size_t processes_signal(int number);

#endif
