/* SPDX-License-Identifier: Apache-2.0 */
/* The sampler from inside: for its two files alone. */
#ifndef AIOTRACE_CMD_TOP_SAMPLER_INNER_H
#define AIOTRACE_CMD_TOP_SAMPLER_INNER_H

#include "attach/still.h"
#include "attach/usage.h"
#include "cmd/top_sampler.h"
#include "unwind/asyncio/watch.h"

#include <sys/wait.h>

#define QUEUE_MOST  4u
#define WINDOW_MOST 5u /* pictures that are judged together */
#define POOL_MOST                   \
	(WINDOW_MOST + QUEUE_MOST + \
	 4) /* those in the window, underway, and held by the one that shows */

struct sampler {
	struct cli cli;
	pid_t pid;
	struct sources *sources;
	pthread_t thread;
	int event;
	/* Under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stop, native_asked, sources_asked;
	struct message queue[QUEUE_MOST];
	unsigned first, queued;
	struct look pool[POOL_MOST]; /* holders */
	/* The thread's own. */
	struct opened opened;
	bool is_open, was_open, ended;
	struct look *window[WINDOW_MOST]; /* oldest first */
	unsigned window_count;
	struct watcher *watcher; /* between the looks; NULL: there is no memory for it */
	uint64_t watch_due; /* of the watch's next sample, CLOCK_MONOTONIC */
	struct still still; /* taken before the newest picture */
	bool still_taken;
	unsigned unmoved; /* samples in a row that saw nothing move */
	unsigned looks; /* taken so far */
	double cost; /* processor seconds that a look takes, smoothed */
	double interval; /* seconds between samples as they come */
	struct usage usage; /* as last taken */
	double usage_cpu, usage_at;
};

void sampler_post(struct sampler *s, const struct message *m);
/* One sample: a picture and its findings, or the word that nothing moved. native: it was asked for (sampler_ask_native). *pause_ret: seconds until the next one. */
must_check enum err sampler_look(struct sampler *s, bool native, double *pause_ret,
				 struct error *e);
/* Nothing has moved for a while. */
bool sampler_rests(const struct sampler *s);
/* Before the first one of a process that was opened. */
void sampler_begin(struct sampler *s);
/* The pictures so far belong to a process that is gone: before it is closed. */
void sampler_forget(struct sampler *s);
void sampler_destroy(struct sampler *s);

#endif
