/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of commands. A new one: a file with its `run`, its prototype here, a row, and a page in man/.
 */
#include "cmd/commands.h"

#include "cmd/cli.h"

const struct command commands[] = {
	{"pstree", "what every task waits on, as a tree",
	 "Shows each event loop of process PID, its tasks with their await chains, what each leaf waits on,\n"
	 "and under each task the tasks that it waits for.",
	 GROUP_READ | GROUP_TREE, pstree_run},
	{"ps", "the same as a table, one task a row",
	 "Lists the tasks of process PID: name, state, what each waits on, for how long yet, and where.",
	 GROUP_READ | GROUP_TREE, ps_run},
	{"check", "what is wrong, with an exit code for scripts",
	 "Watches process PID for a moment and says what is wrong with its loops and tasks, worst first;\n"
	 "exits 1 where something is.",
	 GROUP_READ | GROUP_CHECK, check_run},
	{"run", "runs a command; when it is stuck, says why, and ends it",
	 "Runs COMMAND. When it takes longer than --timeout, or nothing has moved in it for --stall, says on standard\n"
	 "error what every Python process below it waits on and what is wrong, ends them all, and exits 124.\n"
	 "Otherwise exits as COMMAND does.",
	 GROUP_RUN, run_run},
	{"doctor", "what can be read of a process and how, and what to do where it can't",
	 "Says what CPython runs in process PID, how its memory is read, and, where something is refused, the one\n"
	 "command that mends it.",
	 GROUP_READ, doctor_run},
	{0},
};
