/* SPDX-License-Identifier: Apache-2.0 */
/* One table makes the parser, the help texts and (by a test) the man pages and completions agree. */
#include "cmd/cli.h"

#include "cmd/exit.h"
#include "cmd/number.h"
#include "detect/detect.h"
#include "model/names.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_MAX 32

struct option_row {
	const char *name;
	char short_name; /* 0 none */
	unsigned group; /* 0: every command */
	const char *argument; /* NULL none */
	const char *help;
	enum err (*take)(struct cli *c, const char *value, struct error *e);
};

static enum err bad_value(struct error *e, const char *option, const char *value,
			  const char *wanted)
{
	return error_set(e, ERR_USAGE, 0, "--%s takes %s, not \"%s\"", option, wanted, value);
}

static enum err take_json(struct cli *c, const char *value, struct error *e)
{
	(void)value;
	(void)e;
	c->json = true;
	return ERR_OK;
}

static enum err take_pause(struct cli *c, const char *value, struct error *e)
{
	static const char *const words[] = {"auto", "never", "always"};

	for (int i = 0; i < 3; i++) {
		if (strcmp(value, words[i]) == 0) {
			c->pause = (enum pause_policy)i;
			return ERR_OK;
		}
	}
	return bad_value(e, "pause", value, "auto, never or always");
}

static enum err take_max_pause(struct cli *c, const char *value, struct error *e)
{
	uint64_t n;

	if (!number_parse(value, 0, 600000, &n))
		return bad_value(e, "max-pause", value, "milliseconds from 0 to 600000");
	c->max_pause_ms = (uint32_t)n;
	return ERR_OK;
}

static enum err take_children(struct cli *c, const char *value, struct error *e)
{
	(void)value;
	(void)e;
	c->children = true;
	return ERR_OK;
}

static enum err take_color(struct cli *c, const char *value, struct error *e)
{
	static const char *const words[] = {"auto", "always", "never"};

	for (int i = 0; i < 3; i++) {
		if (strcmp(value, words[i]) == 0) {
			c->color = (enum color_when)i;
			return ERR_OK;
		}
	}
	return bad_value(e, "color", value, "auto, always or never");
}

static enum err take_verbose(struct cli *c, const char *value, struct error *e)
{
	(void)value;
	(void)e;
	c->verbose = true;
	return ERR_OK;
}

static enum err take_threads(struct cli *c, const char *value, struct error *e)
{
	(void)value;
	(void)e;
	c->threads = true;
	return ERR_OK;
}

static enum err take_loop(struct cli *c, const char *value, struct error *e)
{
	(void)value;
	(void)e;
	c->loop = true;
	return ERR_OK;
}

static enum err take_task(struct cli *c, const char *value, struct error *e)
{
	(void)e;
	c->task_pattern = value;
	return ERR_OK;
}

static enum err take_max_depth(struct cli *c, const char *value, struct error *e)
{
	uint64_t n;

	if (!number_parse(value, 1, 1000000, &n))
		return bad_value(e, "max-depth", value, "a number from 1 to 1000000");
	c->max_depth = (uint32_t)n;
	return ERR_OK;
}

static enum err take_no_fold(struct cli *c, const char *value, struct error *e)
{
	(void)value;
	(void)e;
	c->no_fold = true;
	return ERR_OK;
}

static enum err take_watch(struct cli *c, const char *value, struct error *e)
{
	if (!number_parse_seconds(value, 0.05, 86400, &c->watch_seconds))
		return bad_value(e, "watch", value, "seconds from 0.05 to 86400");
	return ERR_OK;
}

static enum err take_milliseconds(const char *option, const char *value, uint32_t *ret,
				  struct error *e)
{
	uint64_t n;

	if (!number_parse(value, 1, 3600000, &n))
		return bad_value(e, option, value, "milliseconds from 1 to 3600000");
	*ret = (uint32_t)n;
	return ERR_OK;
}

static enum err take_sample(struct cli *c, const char *value, struct error *e)
{
	return take_milliseconds("sample", value, &c->sample_ms, e);
}

static enum err take_blocked_after(struct cli *c, const char *value, struct error *e)
{
	return take_milliseconds("blocked-after", value, &c->blocked_after_ms, e);
}

static enum err take_fail_on(struct cli *c, const char *value, struct error *e)
{
	for (enum severity s = SEVERITY_INFO; s <= SEVERITY_CRITICAL; s++) {
		if (strcmp(value, severity_name(s)) == 0) {
			c->fail_on = s;
			return ERR_OK;
		}
	}
	return bad_value(e, "fail-on", value, "info, warning or critical");
}

/* "blocked-loop,dead-loop" as a set. */
static enum err take_ids(const char *value, uint32_t *set, struct error *e)
{
	const char *at = value;

	for (;;) {
		size_t n = strcspn(at, ",");
		const struct detector *d = detector_find((struct str){at, (uint32_t)n});

		if (!d)
			return error_set(e, ERR_USAGE, 0,
					 "\"%.*s\" is no finding (aiotrace-findings(7) lists them)",
					 n < 100 ? (int)n : 100, at);
		*set |= 1u << (d - detectors);
		if (!at[n])
			return ERR_OK;
		at += n + 1;
	}
}

static enum err take_only(struct cli *c, const char *value, struct error *e)
{
	return take_ids(value, &c->only, e);
}

static enum err take_ignore(struct cli *c, const char *value, struct error *e)
{
	return take_ids(value, &c->ignore, e);
}

static enum err take_seconds(const char *option, const char *value, double least, double *ret,
			     struct error *e)
{
	if (!number_parse_seconds(value, least, 1e7, ret))
		return bad_value(e, option, value, "seconds, such as 60 or 0.5");
	return ERR_OK;
}

static enum err take_timeout(struct cli *c, const char *value, struct error *e)
{
	return take_seconds("timeout", value, 0.1, &c->timeout_seconds, e);
}

static enum err take_stall(struct cli *c, const char *value, struct error *e)
{
	return take_seconds("stall", value, 0.5, &c->stall_seconds, e);
}

static enum err take_grace(struct cli *c, const char *value, struct error *e)
{
	return take_seconds("grace", value, 0, &c->grace_seconds, e);
}

static enum err take_report(struct cli *c, const char *value, struct error *e)
{
	if (!value[0])
		return bad_value(e, "report", value, "a folder");
	c->report = value;
	return ERR_OK;
}

static const struct option_row rows[] = {
	{"timeout", 0, GROUP_RUN, "S", "end the command after S seconds, with a diagnosis",
	 take_timeout},
	{"stall", 0, GROUP_RUN, "S", "the same when nothing has moved for S seconds", take_stall},
	{"grace", 0, GROUP_RUN, "S", "seconds between SIGTERM and SIGKILL (default 5)", take_grace},
	{"report", 0, GROUP_RUN, "DIR", "write the diagnosis there too: JSON and JUnit XML",
	 take_report},
	{"sample", 0, GROUP_CHECK | GROUP_RUN, "MS", "watch for MS milliseconds (default 250)",
	 take_sample},
	{"fail-on", 0, GROUP_CHECK, "SEVERITY",
	 "exit 1 from this severity on: info, warning (default) or critical", take_fail_on},
	{"blocked-after", 0, GROUP_CHECK | GROUP_RUN, "MS",
	 "how long a callback may hold its loop (default 100)", take_blocked_after},
	{"only", 0, GROUP_CHECK | GROUP_RUN, "ID,...", "look for these findings alone", take_only},
	{"ignore", 0, GROUP_CHECK | GROUP_RUN, "ID,...", "do not look for these findings",
	 take_ignore},
	{"threads", 0, GROUP_TREE, NULL, "show every thread too: system call, GIL, stack",
	 take_threads},
	{"loop", 0, GROUP_TREE, NULL,
	 "show each loop's ready queue, timers, descriptors and executor too", take_loop},
	{"task", 0, GROUP_TREE, "PATTERN",
	 "only tasks whose name matches (shell pattern), with those above and below them",
	 take_task},
	{"max-depth", 0, GROUP_TREE, "N", "show at most N levels of tasks below each other",
	 take_max_depth},
	{"no-fold", 0, GROUP_TREE, NULL, "show alike tasks one by one", take_no_fold},
	{"watch", 0, GROUP_TREE, "SEC", "repeat every SEC seconds, until interrupted", take_watch},
	{"children", 0, GROUP_READ, NULL, "the process and every Python process below it",
	 take_children},
	{"json", 0, GROUP_READ, NULL, "one JSON document (aiotrace-json(5)) on standard output",
	 take_json},
	{"pause", 0, GROUP_READ | GROUP_RUN, "WHEN",
	 "auto (default), never or always: may the process be stopped while it is read",
	 take_pause},
	{"max-pause", 0, GROUP_READ | GROUP_RUN, "MS", "longest stop allowed (default 50)",
	 take_max_pause},
	{"color", 0, GROUP_READ | GROUP_RUN, "WHEN", "auto (default), always or never", take_color},
	{"verbose", 'v', GROUP_READ | GROUP_RUN, NULL,
	 "say on standard error what is done and how long it takes", take_verbose},
	{"help", 'h', 0, NULL, "show this help", NULL},
};

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

static bool taken_by(const struct option_row *row, const struct command *command)
{
	return !row->group || (row->group & command->groups);
}

static void print_options(const struct command *command)
{
	for (size_t i = 0; i < ROW_COUNT; i++) {
		char left[40];

		if (!taken_by(&rows[i], command))
			continue;
		snprintf(left, sizeof(left), "%s--%s%s%s",
			 rows[i].short_name == 'v'   ? "-v, "
			 : rows[i].short_name == 'h' ? "-h, "
						     : "    ",
			 rows[i].name, rows[i].argument ? "=" : "",
			 rows[i].argument ? rows[i].argument : "");
		printf("  %-24s  %s\n", left, rows[i].help);
	}
}

static int command_help(const struct command *command)
{
	printf("usage: aiotrace %s [OPTION]... %s\n\n%s\n\noptions:\n", command->name,
	       command->groups & GROUP_RUN ? "[--] COMMAND [ARGUMENT]..." : "PID",
	       command->description);
	print_options(command);
	return EXIT_DONE;
}

static int program_help(void)
{
	printf("usage: aiotrace COMMAND [OPTION]... PID\n"
	       "       aiotrace run [OPTION]... [--] COMMAND [ARGUMENT]...\n\n"
	       "Says, from outside, what the tasks of a live asyncio process wait on.\n\ncommands:\n");
	for (const struct command *c = commands; c->name; c++)
		printf("  %-10s %s\n", c->name, c->summary);
	printf("\n`aiotrace COMMAND --help` lists a command's options.\n"
	       "exit codes: 0 done, 1 something found (check), 2 wrong usage, 3 the process can't be inspected, 4 it is not there, 124 time limit (run)\n");
	return EXIT_DONE;
}

/* Names what is wrong, then where the help is. */
__attribute__((format(printf, 2, 3))) static int usage_error(const char *command,
							     const char *format, ...)
{
	struct error e;
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	error_set(&e, ERR_USAGE, 0, "%s (see aiotrace %s%s--help)", text, command,
		  command[0] ? " " : "");
	return exit_with(&e);
}

/* getopt's own table, for one command. */
static void fill_options(const struct command *command, struct option *longs)
{
	size_t n = 0;

	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (!taken_by(&rows[i], command))
			continue;
		longs[n++] = (struct option){rows[i].name,
					     rows[i].argument ? required_argument : no_argument,
					     NULL, 256 + (int)i};
	}
	longs[n] = (struct option){0};
}

static const struct option_row *row_of(int key)
{
	if (key == 'v' || key == 'h') {
		for (size_t i = 0; i < ROW_COUNT; i++) {
			if (rows[i].short_name == key)
				return &rows[i];
		}
	}
	return key >= 256 && key < 256 + (int)ROW_COUNT ? &rows[key - 256] : NULL;
}

static int refused_option(const struct command *command, char **argv, int key)
{
	char letter[3] = {'-', (char)optopt, 0};
	const struct option_row *row = row_of(optopt);
	const char *word = optopt && optopt < 256 ? letter : argv[optind - 1];

	if (key == ':')
		return usage_error(command->name, "%s needs a value", word);
	if (row && !row->argument)
		return usage_error(command->name, "%s takes no value", word);
	return usage_error(command->name, "unknown option %s", word);
}

static int take_target(const struct command *command, int argc, char **argv, struct cli *c)
{
	struct error e;
	uint64_t pid;

	if (optind >= argc)
		return usage_error(command->name, "%s needs a process id", command->name);
	if (optind + 1 < argc)
		return usage_error(command->name, "one process id is enough: \"%s\" is too much",
				   argv[optind + 1]);
	if (number_parse(argv[optind], 1, INT32_MAX, &pid)) {
		c->pid = (pid_t)pid;
		return EXIT_DONE;
	}
	error_set(&e, ERR_USAGE, 0, "\"%.100s\" is no process id", argv[optind]);
	return exit_with(&e);
}

static int take_command(const struct command *command, int argc, char **argv, struct cli *c)
{
	if (optind >= argc)
		return usage_error(command->name, "%s needs a command", command->name);
	c->command = argv + optind;
	return EXIT_DONE;
}

static int run_command(const struct command *command, int argc, char **argv)
{
	struct cli c = {.max_pause_ms = 50,
			.sample_ms = 250,
			.blocked_after_ms = 100,
			.fail_on = SEVERITY_WARNING,
			.grace_seconds = 5};
	/* What follows a command are its own options. */
	bool own = command->groups & GROUP_RUN;
	struct option longs[OPTIONS_MAX];
	struct error e;
	int key, code;

	_Static_assert(ROW_COUNT < OPTIONS_MAX, "getopt's table is too small");
	fill_options(command, longs);
	opterr = 0;
	optind = 1;
	while ((key = getopt_long(argc, argv, own ? "+:vh" : ":vh", longs, NULL)) != -1) {
		const struct option_row *row = row_of(key);

		if (!row)
			return refused_option(command, argv, key);
		if (!row->take)
			return command_help(command);
		if (row->take(&c, optarg, &e) != ERR_OK)
			return exit_with(&e);
	}
	code = own ? take_command(command, argc, argv, &c) : take_target(command, argc, argv, &c);
	return code == EXIT_DONE ? command->run(&c) : code;
}

/* What could not be written is an error like any other; but a reader that went away (head, less) wants to hear nothing. */
static int flushed(int code)
{
	struct error e;

	errno = 0;
	if ((fflush(stdout) == 0 && !ferror(stdout)) || code != EXIT_DONE || errno == EPIPE)
		return code;
	error_set(&e, ERR_SYSTEM, errno, "can't write to standard output%s%s", errno ? ": " : "",
		  errno ? strerror(errno) : "");
	return exit_with(&e);
}

int cli_main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	if (!name)
		return usage_error("", "which command?");
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help"))
		return flushed(program_help());
	if (!strcmp(name, "--version")) {
		printf("aiotrace %s\n", AIOTRACE_VERSION);
		return flushed(EXIT_DONE);
	}
	for (const struct command *c = commands; c->name; c++) {
		if (strcmp(c->name, name) == 0)
			return flushed(run_command(c, argc - 1, argv + 1));
	}
	if (name[0] == '-')
		return usage_error("", "unknown option %s", name);
	return usage_error("", "unknown command \"%s\"", name);
}
