/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether anything moves below us. Moved has: a process that started, ended or executes another program; one that used more than a hundredth of a CPU since the last
 * check; and a Python process in which a task's state, chain or wait changed, a loop began another turn, or a thread without a loop stands elsewhere. A sleep that goes on
 * has not moved, whenever it may end; nor has a thread that wakes, finds nothing to do and sleeps again.
 */
#ifndef AIOTRACE_CMD_RUN_STALL_H
#define AIOTRACE_CMD_RUN_STALL_H

#include "cmd/cli.h"

#include <stddef.h>
#include <stdint.h>

struct stall_row;

struct stall {
	const struct cli *cli;
	struct stall_row *rows; /* a process each, sorted by pid */
	size_t count;
	uint64_t checked_ns, moved_ns;
};

void stall_init(struct stall *s, const struct cli *cli, uint64_t now_ns);
void stall_deinit(struct stall *s);
/* Begins anew: the command was stopped meanwhile. */
void stall_forget(struct stall *s, uint64_t now_ns);
/* Nanoseconds between two checks. */
uint64_t stall_interval(const struct cli *cli);
/* Looks now. True: nothing has moved for cli->stall_seconds, and there is a Python process below us. */
bool stall_check(struct stall *s, uint64_t now_ns);

#endif
