/* SPDX-License-Identifier: Apache-2.0 */
/* --batch and --json: pictures one after the other on standard output. Also what a terminal gets that can't place its cursor. */
#include "cmd/top_state.h"

#include "base/clock.h"
#include "cmd/exit.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define WIDTH_USUAL 160u

/* Columns that the lines have to keep to; 0: nobody says. */
static unsigned width_of(const struct text_style *style)
{
	const char *columns = getenv("COLUMNS");
	unsigned long n = columns ? strtoul(columns, NULL, 10) : 0;

	return n >= 20 && n <= 10000 ? (unsigned)n : style->width;
}

static struct str without_blanks(struct str line)
{
	while (line.len && line.ptr[line.len - 1] == ' ')
		line.len--;
	return line;
}

static enum err print_picture(struct top_state *t, struct canvas *picture, struct canvas *paper,
			      struct error *e)
{
	struct scene s = top_scene(t);
	unsigned width = width_of(&t->ui.style);

	if (t->cli->json)
		return top_json(t, stdout, e);
	canvas_begin(picture, width ? width : WIDTH_USUAL, 0, &t->ui.style);
	ui_draw(&t->ui, &s, picture);
	top_keep_drawn(t);
	/* Nobody can move this text to the side, as on the screen: what is too long goes on below. */
	canvas_begin(paper, width, 0, &t->ui.style);
	for (uint32_t i = 0; i < picture->count; i++) {
		struct str line = without_blanks(canvas_words(picture, i));

		if (line.len)
			canvas_body(paper, line, 0, UINT32_MAX, LINE_PLAIN, width > 0);
		else
			canvas_line(paper, LINE_PLAIN, NO_ROW);
	}
	canvas_end(paper);
	for (uint32_t i = 0; i < paper->count; i++) {
		struct str line = without_blanks(canvas_words(paper, i));

		printf("%.*s\n", STR_ARG(line));
	}
	fputc('\n', stdout);
	if (picture->failed || paper->failed)
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	return ERR_OK;
}

/* Until then, taking what comes; false: we are to end. */
static bool wait_until(struct top_state *t, int signals, uint64_t until_ns)
{
	for (;;) {
		struct pollfd fds[] = {{.fd = sampler_fd(t->sampler), .events = POLLIN},
				       {.fd = signals, .events = POLLIN}};
		uint64_t now = clock_now_ns();

		if (now >= until_ns)
			return true;
		poll(fds, 2, (int)((until_ns - now) / 1000000u) + 1);
		top_take(t);
		if (fds[1].revents)
			return false;
		if (t->over)
			return true;
	}
}

static int outcome(struct top_state *t, enum err err, struct error *e, bool shown)
{
	int code;

	if (err != ERR_OK)
		return output_left_alone(e) ? EXIT_DONE : exit_with(e);
	if (!t->over)
		return EXIT_DONE;
	error_set(e, ERR_GONE, 0, "%s", t->ended);
	code = exit_with(e);
	return shown ? EXIT_DONE : code;
}

int top_in_batch(struct top_state *t)
{
	uint32_t most = t->cli->batch ? t->cli->batch : t->cli->json ? 1 : UINT32_MAX;
	uint64_t period = (uint64_t)(1e9 / t->cli->rate), due = clock_now_ns();
	struct canvas picture = {0}, paper = {0};
	struct error e = {0};
	enum err err = ERR_OK;
	bool shown = false;
	sigset_t ends;
	int signals;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	signals = signalfd(-1, &ends, SFD_CLOEXEC);
	for (uint32_t i = 0; i < most && err == ERR_OK && !t->over;) {
		due += period;
		if (!wait_until(t, signals, due))
			break;
		/* A command that has only just been started is no Python yet. */
		if (!t->newest)
			continue;
		err = print_picture(t, &picture, &paper, &e);
		if (err == ERR_OK)
			err = output_flush(&e);
		shown |= err == ERR_OK;
		i++;
	}
	canvas_deinit(&picture);
	canvas_deinit(&paper);
	if (signals >= 0)
		close(signals);
	return outcome(t, err, &e, shown);
}
