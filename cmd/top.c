/* SPDX-License-Identifier: Apache-2.0 */
/* top: which process, on which kind of output; then the loop of that. */
#include "cmd/commands.h"

#include "cmd/exit.h"
#include "cmd/top_child.h"
#include "cmd/top_state.h"
#include "tui/screen.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void top_signals(sigset_t *ret)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT};

	sigemptyset(ret);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaddset(ret, numbers[i]);
}

/* Threads that are started later leave them alone too. */
static void block_signals(void)
{
	sigset_t set;

	top_signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* The first of the family that can be read: with --children the target itself need not be a Python. */
static enum err open_first(const struct cli *cli, pid_t *pid_ret, struct opened *ret,
			   struct error *e)
{
	pid_t *pids = NULL;
	size_t count = 0;
	enum err err = process_open(cli, cli->pid, ret, e);

	*pid_ret = cli->pid;
	if (err == ERR_OK || !cli->children)
		return err;
	if (read_family(cli, &pids, &count, e) != ERR_OK)
		return e->kind;
	for (size_t i = 1; i < count && err != ERR_OK; i++) {
		struct error own = {0};

		*pid_ret = pids[i];
		err = process_open(cli, pids[i], ret, &own);
	}
	free(pids);
	return err;
}

/* Whether there will be a picture at all is known before anything is drawn. */
static enum err begin(struct top_state *t, const struct cli *cli, bool batch,
		      struct top_child *child, struct error *e)
{
	struct text_style style = output_style(cli);
	struct opened opened = {0};
	pid_t pid = 0;
	enum err err;

	block_signals();
	if (cli->command) {
		err = top_child_start(cli->command, batch, child, e);
		pid = child->pid;
	} else {
		err = open_first(cli, &pid, &opened, e);
	}
	return err == ERR_OK ? top_begin(t, cli, pid, &opened, &style, e) : err;
}

int top_run(const struct cli *cli)
{
	struct top_child child = {0, -1};
	struct top_state t = {0};
	struct cli quiet = *cli;
	struct error e = {0};
	const char *why = "";
	bool batch = cli->batch || cli->json || !screen_possible(&why);
	int code;

	if (!cli->batch && !cli->json && !isatty(STDOUT_FILENO)) {
		error_set(&e, ERR_USAGE, 0,
			  "top needs a terminal: %s (--batch=N prints N pictures as text)", why);
		return exit_with(&e);
	}
	if (batch && why[0])
		fprintf(stderr, "aiotrace: %s: pictures come one below the other\n", why);
	quiet.verbose = batch && cli->verbose;
	if (begin(&t, &quiet, batch, &child, &e) == ERR_OK)
		code = batch ? top_in_batch(&t) : top_on_screen(&t);
	else
		code = exit_with(&e);
	top_end(&t);
	top_child_end(&child);
	return code;
}
