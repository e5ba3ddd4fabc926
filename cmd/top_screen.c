/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of the dashboard: waits for keys, samples and signals, and draws: at once for a key, at the chosen rate for samples. */
#include "cmd/top_state.h"

#include "base/clock.h"
#include "cmd/exit.h"
#include "tui/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct dashboard {
	struct top_state *t;
	struct canvas canvas;
	int signals;
	uint64_t drawn_ns;
	bool quit, dirty;
};

static void draw(struct dashboard *l)
{
	struct scene s = top_scene(l->t);
	unsigned width, height;

	screen_size(&width, &height);
	canvas_begin(&l->canvas, width, height, &l->t->ui.style);
	ui_draw(&l->t->ui, &s, &l->canvas);
	top_keep_drawn(l->t);
	screen_draw(&l->canvas);
	l->drawn_ns = clock_now_ns();
	l->dirty = l->t->came = false;
}

static void react(struct dashboard *l, unsigned what)
{
	struct top_state *t = l->t;
	struct error e = {0};
	enum err err = ERR_OK;

	l->dirty |= (what & REACT_DRAW) != 0;
	l->quit |= (what & REACT_QUIT) != 0;
	if (what & REACT_SAVE)
		top_save(t);
	if (what & REACT_NATIVE)
		top_ask_native(t);
	if (what & REACT_HOLD)
		err = top_hold(t, &e);
	if (what & REACT_PROCESS)
		err = top_switch(t, t->ui.process, &e);
	if (err != ERR_OK) {
		error_set(t->e, err, 0, "%s", e.text);
		l->quit |= !t->sampler;
		ui_say(&t->ui, "%s", e.text);
	}
}

static void take_keys(struct dashboard *l)
{
	struct press_event event;

	while (!l->quit && screen_key(&event)) {
		struct scene s = top_scene(l->t);
		enum view before = l->t->ui.view;
		struct error e;

		react(l, ui_press(&l->t->ui, &s, &event));
		if (l->t->ui.view == before)
			continue;
		if (l->t->ui.view == VIEW_PROCESSES && l->t->cli->children &&
		    top_list(l->t, &e) != ERR_OK)
			ui_say(&l->t->ui, "%s", e.text);
		/* Keys that were typed ahead move in what is shown now. */
		if (!l->quit)
			draw(l);
	}
}

/* Ctrl-Z: the terminal is the shell's until we are continued. */
static void suspend(struct dashboard *l)
{
	struct error e;

	screen_close();
	kill(getpid(), SIGSTOP);
	if (screen_open(l->t->ui.style.color, &e) != ERR_OK)
		l->quit = true;
	l->dirty = true;
}

static void take_signals(struct dashboard *l)
{
	struct signalfd_siginfo info;

	while (!l->quit && read(l->signals, &info, sizeof(info)) == sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGWINCH:
		case SIGCONT:
			screen_resized();
			l->dirty = true;
			break;
		case SIGTSTP:
			suspend(l);
			break;
		default:
			l->quit = true;
		}
	}
}

static int milliseconds_to_draw(const struct dashboard *l)
{
	uint64_t period = (uint64_t)(1e9 / l->t->ui.rate), now = clock_now_ns();
	uint64_t due = l->drawn_ns + period;

	if (l->dirty || (l->t->came && now >= due))
		return 0;
	return l->t->came ? (int)((due - now) / 1000000u) + 1 : -1;
}

static void run(struct dashboard *l)
{
	while (!l->quit) {
		struct pollfd fds[] = {
			{.fd = STDIN_FILENO, .events = POLLIN},
			{.fd = l->signals, .events = POLLIN},
			{.fd = sampler_fd(l->t->sampler), .events = POLLIN},
		};
		int wait = milliseconds_to_draw(l);

		if (wait == 0) {
			draw(l);
			continue;
		}
		if (poll(fds, 3, wait) < 0 && errno != EINTR)
			return;
		if (fds[1].revents)
			take_signals(l);
		if (fds[0].revents & POLLIN)
			take_keys(l);
		else if (fds[0].revents) /* the terminal is gone */
			return;
		if (!l->quit && fds[2].revents)
			top_take(l->t);
	}
}

int top_on_screen(struct top_state *t)
{
	struct dashboard l = {.t = t, .dirty = true};
	struct error e = {0};
	sigset_t set;

	top_signals(&set);
	l.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l.signals < 0) {
		error_set(&e, ERR_SYSTEM, errno, "can't wait for signals: %s", strerror(errno));
		return exit_with(&e);
	}
	if (screen_open(t->ui.style.color, &e) != ERR_OK) {
		close(l.signals);
		return exit_with(&e);
	}
	run(&l);
	screen_close();
	canvas_deinit(&l.canvas);
	close(l.signals);
	if (t->sampler)
		return EXIT_DONE;
	return exit_with(t->e);
}
