/* SPDX-License-Identifier: Apache-2.0 */
/* What dashboard and --batch have in common: the sampler's messages, and the scene that they make. */
#ifndef AIOTRACE_CMD_TOP_STATE_H
#define AIOTRACE_CMD_TOP_STATE_H

#include "cmd/top_sampler.h"
#include "tui/ui.h"

#include <signal.h>
#include <stdio.h>

struct top_state {
	const struct cli *cli;
	struct sampler *sampler;
	struct sources sources;
	struct history live, kept; /* kept: of a picture that is held */
	struct look *newest, *held, *drawn;
	struct usage usage;
	struct ui ui;
	struct process_row *processes; /* commands malloc'ed */
	uint32_t process_count;
	char clock[16], ended[300], note[300];
	bool came; /* something new to draw */
	bool over; /* the process has ended and none has come after it */
	bool leaked; /* the sampler hangs: what it uses stays */
	struct error *e;
};

/* opened as for sampler_start. */
must_check enum err top_begin(struct top_state *t, const struct cli *cli, pid_t pid,
			      struct opened *opened, const struct text_style *style,
			      struct error *e);
void top_end(struct top_state *t);
/* Another process instead. */
must_check enum err top_switch(struct top_state *t, pid_t pid, struct error *e);
/* Takes all messages that are there. */
void top_take(struct top_state *t);
/* What there is to show now. */
struct scene top_scene(struct top_state *t);
/* The picture of the scene is what is drawn, and must live until the next one is. */
void top_keep_drawn(struct top_state *t);
/* One picture with native stacks, which is then held; or says why not. */
void top_ask_native(struct top_state *t);
/* ui.held has changed. */
must_check enum err top_hold(struct top_state *t, struct error *e);
/* The Python processes below the target, and it itself, to choose from. */
must_check enum err top_list(struct top_state *t, struct error *e);
/* The present picture as a JSON document. */
must_check enum err top_json(struct top_state *t, FILE *out, struct error *e);
/* The same to a new file in the working folder, whose name goes to the status line; so does a failure. */
void top_save(struct top_state *t);

/* Signals that come through a descriptor: blocked before the first thread is started. */
void top_signals(sigset_t *ret);
/* top_screen.c, top_batch.c: return the exit code. */
int top_on_screen(struct top_state *t);
int top_in_batch(struct top_state *t);

#endif
