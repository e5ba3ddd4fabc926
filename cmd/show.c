/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures on standard output, once or with --watch. */
#include "cmd/exit.h"
#include "cmd/read.h"
#include "report/json.h"

#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

struct text_style stream_style(const struct cli *cli, int fd)
{
	struct text_style s = {.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0};
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
	bool terminal = isatty(fd);
	struct winsize size;

	s.color = cli->color == COLOR_ALWAYS ||
		  (cli->color == COLOR_AUTO && terminal && !(no_color && no_color[0]) && term &&
		   strcmp(term, "dumb") != 0);
	if (terminal && ioctl(fd, TIOCGWINSZ, &size) == 0)
		s.width = size.ws_col;
	return s;
}

struct text_style output_style(const struct cli *cli)
{
	return stream_style(cli, STDOUT_FILENO);
}

enum err pictures_json(const struct cli *cli, const struct pictures *p, struct error *e)
{
	if (cli->children)
		return json_processes(stdout, p->v, p->count, e);
	return json_document(stdout, p->v[0], e);
}

static enum err show(const struct cli *cli, const struct pictures *p, render_text render,
		     struct error *e)
{
	const struct report_options options = {
		.style = output_style(cli),
		.threads = cli->threads,
		.loop = cli->loop,
		.no_fold = cli->no_fold,
		.task_pattern = cli->task_pattern,
		.max_depth = cli->max_depth,
	};
	enum err err = ERR_OK;

	if (cli->json)
		return pictures_json(cli, p, e);
	for (size_t i = 0; i < p->count && err == ERR_OK; i++) {
		if (i)
			fputc('\n', stdout);
		err = render(stdout, p->v[i], &options, e);
	}
	return err;
}

enum err output_flush(struct error *e)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return ERR_OK;
	return error_set(e, ERR_SYSTEM, errno, "can't write to standard output: %s",
			 strerror(errno));
}

bool output_left_alone(const struct error *e)
{
	if (e->kind != ERR_SYSTEM || e->sys != EPIPE)
		return false;
	__fpurge(stdout);
	clearerr(stdout);
	return true;
}

static enum err show_once(const struct cli *cli, render_text render, struct error *e)
{
	struct pictures p = {0};
	enum err err = pictures_take(cli, read_process, &p, e);

	if (err == ERR_OK)
		err = show(cli, &p, render, e);
	pictures_deinit(&p);
	return err == ERR_OK ? output_flush(e) : err;
}

/* Sleeps, unless or until interrupted: signals are only let in while asleep, so that none is missed before. */
static void nap(double seconds)
{
	struct timespec ts = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
	sigset_t ends, before;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, &before);
	if (!interrupted)
		ppoll(NULL, 0, &ts, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* A new picture replaces the old one on a terminal, and follows it elsewhere. */
static void between_pictures(const struct cli *cli)
{
	nap(cli->watch_seconds);
	if (interrupted || cli->json)
		return;
	fputs(isatty(STDOUT_FILENO) ? "\033[H\033[2J" : "\n", stdout);
}

static void catch_interrupts(void)
{
	struct sigaction action = {.sa_handler = on_interrupt};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

int read_and_show(const struct cli *cli, render_text render)
{
	struct error e = {0};
	enum err err = ERR_OK;
	bool shown = false;

	if (cli->watch_seconds > 0)
		catch_interrupts();
	while (!interrupted && err == ERR_OK) {
		err = show_once(cli, render, &e);
		if (!(cli->watch_seconds > 0))
			break;
		shown |= err == ERR_OK;
		if (err == ERR_OK)
			between_pictures(cli);
	}
	/* The end of what was watched is an end, not a failure. */
	if (err == ERR_GONE && shown) {
		fprintf(stderr, "aiotrace: %s\n", e.text);
		return EXIT_DONE;
	}
	return err == ERR_OK || output_left_alone(&e) ? EXIT_DONE : exit_with(&e);
}
