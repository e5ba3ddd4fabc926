/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A watch of the few words that tell who has entered which task, often enough to see what lasts for a fraction of a millisecond, without a stop.
 *
 * One sample is not one moment: the GIL's words make it one. They name the thread that held the GIL last and count how often it went to another one. Where both are the
 * same before and after the other words were read, and the name is not that of the loop's thread, then that thread has run no bytecode in between, and its frames
 * stood still. So a current task of a loop whose thread is inside no callback is proven wrong, and a running loop that stood in two threads stood in both at one moment.
 * Free-threaded processes have no such words and are not watched.
 */
#ifndef AIOTRACE_UNWIND_ASYNCIO_WATCH_H
#define AIOTRACE_UNWIND_ASYNCIO_WATCH_H

#include "attach/target.h"
#include "model/watch.h"
#include "unwind/layout/layout.h"

struct watcher;

/* Both outlive the watcher. ERR_NOMEM. */
must_check enum err watcher_create(struct target *t, const struct layout *lay,
				   struct watcher **ret);
void watcher_destroy(struct watcher *w); /* accepts NULL */
/* Finds threads and loops as they are now. Windows that stood end here unless the last sample was but a few samples' time ago. */
void watcher_refresh(struct watcher *w);
/* How often. */
struct watch_pace {
	uint64_t every_ns; /* from one sample's begin to the next one's */
	uint32_t pause; /* a sample is followed by at least so many times its own length */
};
/* One sample. What can't be read or proven counts as seen by nobody. Returns when the next one is due, of CLOCK_MONOTONIC; UINT64_MAX: there is nothing to watch. */
uint64_t watcher_sample(struct watcher *w, const struct watch_pace *pace);
/* Samples until that moment. */
void watcher_run(struct watcher *w, const struct watch_pace *pace, uint64_t until_ns);
/* A new span begins; of those before it the newest `keep` (fewer than WATCH_SPANS) are kept. */
void watcher_turn(struct watcher *w, uint32_t keep);
const struct watch *watcher_seen(const struct watcher *w);

#endif
