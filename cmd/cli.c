/* SPDX-License-Identifier: Apache-2.0 */
/* One table makes the parser, the help texts and (by a test) the man pages and completions agree. */
#include "cmd/cli.h"

#include "cmd/exit.h"
#include "cmd/number.h"
#include "cmd/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool taken_by(const struct option_row *row, const struct command *command)
{
	return !row->group || (row->group & command->groups);
}

static void print_options(const struct command *command)
{
	for (size_t i = 0; options[i].name; i++) {
		char left[40];

		if (!taken_by(&options[i], command))
			continue;
		snprintf(left, sizeof(left), "%s--%s%s%s",
			 options[i].short_name == 'v'	? "-v, "
			 : options[i].short_name == 'h' ? "-h, "
							: "    ",
			 options[i].name, options[i].argument ? "=" : "",
			 options[i].argument ? options[i].argument : "");
		printf("  %-24s  %s\n", left, options[i].help);
	}
}

static int command_help(const struct command *command)
{
	printf("usage: aiotrace %s [OPTION]... %s\n", command->name,
	       command->groups & GROUP_RUN ? "[--] COMMAND [ARGUMENT]..." : "PID");
	if (command->groups & GROUP_TOP)
		printf("       aiotrace %s [OPTION]... -- COMMAND [ARGUMENT]...\n", command->name);
	printf("\n%s\n\noptions:\n", command->description);
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

	for (size_t i = 0; options[i].name; i++) {
		if (!taken_by(&options[i], command))
			continue;
		longs[n++] = (struct option){options[i].name,
					     options[i].argument ? required_argument : no_argument,
					     NULL, 256 + (int)i};
	}
	longs[n] = (struct option){0};
}

static const struct option_row *row_of(int key)
{
	if (key == 'v' || key == 'h') {
		for (size_t i = 0; options[i].name; i++) {
			if (options[i].short_name == key)
				return &options[i];
		}
	}
	return key >= 256 && key < 256 + OPTIONS_MAX ? &options[key - 256] : NULL;
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
			.pause = command->groups & GROUP_TOP ? PAUSE_NEVER : PAUSE_AUTO,
			.rate = 2,
			.fail_on = SEVERITY_WARNING,
			.grace_seconds = 5};
	/* What follows a command are its own options. */
	bool own = command->groups & GROUP_RUN;
	struct option longs[OPTIONS_MAX];
	struct error e;
	int key, code;

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
	if (command->groups & GROUP_TOP && optind < argc && strcmp(argv[optind - 1], "--") == 0) {
		c.command = argv + optind;
		return command->run(&c);
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
