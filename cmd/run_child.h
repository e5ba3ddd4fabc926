/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command that `run` starts: our child, in our process group and on our terminal, as if we were not there. Signals that somebody sends to us go on to it; those that
 * the terminal sends reach it without us. All processes below it become our children when their parents end, so that none gets lost.
 */
#ifndef AIOTRACE_CMD_RUN_CHILD_H
#define AIOTRACE_CMD_RUN_CHILD_H

#include "base/error.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

struct child {
	pid_t pid;
	bool ended;
	int status; /* as waitpid(2) has it, once ended */
	bool alone; /* nothing is left below us */
	unsigned asked; /* signals to end that came to us so far */
	uint64_t away_ns; /* for how long all of us were stopped, by Ctrl-Z and its like */
	int signals; /* signalfd */
	int terminal; /* -1: none, or not in its foreground when we began */
	struct termios modes; /* the terminal's, as they were */
};

/*
 * Blocks the signals that are passed on, for good. Where the command can't be run, *e says so, and *code is the exit code by custom: 127 not found, 126 not
 * executable.
 */
must_check enum err child_start(char **argv, struct child *ret, int *code, struct error *e);
/* Until then (clock_now_ns), or until something happened: a signal came, a process below ended. */
void child_wait(struct child *c, uint64_t until_ns);
/* To the command alone; nothing when it has ended. */
void child_signal(const struct child *c, int number);
/* What the command left of the terminal: takes its foreground back, and with `modes` its modes too. */
void child_restore_terminal(struct child *c, bool modes);
/* The exit code of the command: its own, or 128 and the signal that ended it. */
int child_exit_code(const struct child *c);
/* Closes what is open; the command must have ended. */
void child_deinit(struct child *c);

#endif
