/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: one table of options, of which each command names the groups that it takes; parsing, help, and what was asked for. */
#ifndef AIOTRACE_CMD_CLI_H
#define AIOTRACE_CMD_CLI_H

#include "base/error.h"
#include "model/model.h"
#include "unwind/snapshot.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum color_when {
	COLOR_AUTO,
	COLOR_ALWAYS,
	COLOR_NEVER
};

/* Options come in groups; a command takes some of them. */
enum cli_group {
	GROUP_READ = 1 << 0, /* every reading command */
	GROUP_TREE = 1 << 1, /* what pstree and ps show */
	GROUP_CHECK = 1 << 2, /* what is judged, and how long it is watched */
	GROUP_RUN = 1 << 3, /* a command of its own instead of a process id, and its limits */
	GROUP_TOP = 1 << 4, /* the dashboard; takes a command instead of a process id too */
};

struct cli {
	pid_t pid;
	bool json, children, verbose;
	enum pause_policy pause;
	bool pause_given; /* not the command's own choice */
	uint32_t max_pause_ms;
	enum color_when color;
	bool native; /* GROUP_TREE, where it goes with threads, GROUP_CHECK and GROUP_TOP */
	/* GROUP_TREE */
	bool threads, loop, no_fold;
	const char *task_pattern; /* NULL: all */
	uint32_t max_depth; /* 0: no limit */
	double watch_seconds; /* 0: once */
	/* GROUP_CHECK */
	uint32_t sample_ms;
	uint32_t blocked_after_ms;
	enum severity fail_on;
	uint32_t only, ignore; /* sets of detectors; only 0: all */
	/* GROUP_RUN */
	char **command; /* ends with NULL; NULL for top: a process id was given */
	double timeout_seconds, stall_seconds; /* 0: no such limit */
	double grace_seconds;
	const char *report; /* folder, NULL: none */
	/* GROUP_TOP */
	double rate; /* pictures a second */
	uint32_t batch; /* pictures to print, 0: none, on a terminal */
};

struct command {
	const char *name;
	const char *summary; /* one line for `aiotrace --help` */
	const char *description; /* for `aiotrace COMMAND --help` */
	unsigned groups;
	int (*run)(const struct cli *cli); /* returns the exit code */
};

/* commands.c; ends with a row without a name. */
extern const struct command commands[];

/* Parses argv and runs; returns the exit code. */
int cli_main(int argc, char **argv);

#endif
