/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that looks at one process again and again, judges each picture together with those before it, and hands them over. It keeps itself to a share of a processor,
 * and where a reader does not come to take its pictures, it waits.
 */
#ifndef AIOTRACE_CMD_TOP_SAMPLER_H
#define AIOTRACE_CMD_TOP_SAMPLER_H

#include "cmd/read.h"
#include "cmd/top_sources.h"
#include "tui/ui.h"

#define SAMPLES_PER_SECOND 10.0

struct sampler;

/* A picture that several hold; read only. */
struct look {
	struct model *m;
	unsigned holders; /* the sampler's own matter */
};

enum message_kind {
	MESSAGE_LOOK, /* a new picture, judged */
	MESSAGE_SAME, /* nothing has moved since the last one */
	MESSAGE_AGAIN, /* another program, or another process of that number: the next picture has nothing to do with the last */
	MESSAGE_ENDED, /* text says how */
	MESSAGE_TROUBLE /* it can't be read at the moment: text says why */
};

struct message {
	enum message_kind kind;
	struct look *look; /* MESSAGE_LOOK: the taker holds it */
	bool native_asked; /* it is the answer to sampler_ask_native */
	double when; /* CLOCK_MONOTONIC */
	struct usage usage;
	char text[300];
	char note[160]; /* how sampling goes; "" as it should */
};

/* Takes over *opened, zeroed: none yet, it will be opened when it can be. cli and sources must live until sampler_stop. */
must_check enum err sampler_start(const struct cli *cli, pid_t pid, struct opened *opened,
				  struct sources *sources, struct sampler **ret, struct error *e);
/* Accepts NULL. False: it hangs in a system call and was left alone with what it uses. */
bool sampler_stop(struct sampler *s);
/* The next picture comes at once and with native stacks, for which all threads are stopped, whatever the options say of stops. */
void sampler_ask_native(struct sampler *s);
/* The files that are wanted are read at once, or after the look that is underway. */
void sampler_read_sources(struct sampler *s);
/* Readable while there are messages. */
int sampler_fd(const struct sampler *s);
/* The next message; false: none. */
bool sampler_take(struct sampler *s, struct message *ret);
void sampler_hold(struct sampler *s, struct look *l);
void sampler_release(struct sampler *s, struct look *l); /* accepts NULL */

#endif
