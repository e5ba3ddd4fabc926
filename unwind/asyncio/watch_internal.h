/* SPDX-License-Identifier: Apache-2.0 */
/* What watch.c (samples and their proof) and watch_seen.c (the account of what was seen) share. Nobody else includes this. */
#ifndef AIOTRACE_UNWIND_ASYNCIO_WATCH_INTERNAL_H
#define AIOTRACE_UNWIND_ASYNCIO_WATCH_INTERNAL_H

#include "unwind/asyncio/asyncio.h"
#include "unwind/asyncio/watch.h"

#define WATCH_FRAMES_MAX 1000u /* of a thread */

struct watcher {
	struct reader r; /* over a page cache of its own, which a sample empties */
	struct arena scratch;
	void *live; /* for live_source: what must be read in order and in one call */
	struct watched_interp *interps; /* malloc'ed */
	uint32_t interp_count;
	vaddr none; /* None, once it was met as a running loop */
	struct watch seen;
	uint64_t last_ns; /* end of the sample before; 0: a picture was between */
	uint64_t gap_ns; /* the longest time without a sample that parts no windows */
};

/* A window that is about to be proven. */
struct sighting {
	vaddr loop, task; /* task 0 none */
	vaddr state; /* of the thread that did it, 0 not known */
	struct thread_walk thread; /* valid where state is not 0 */
	/* Read before the proof is asked for, and only for the first sample of each. */
	struct str task_name;
	struct frame frames[WINDOW_FRAMES];
	uint32_t frame_count;
	uint32_t ready, targets;
	bool known; /* its name and frames are in the account already */
};

/* Fills what is said above of it: name, frames, ready queue. */
void sighting_read(struct watcher *w, struct sighting *s);
/* It is proven: counts. */
void seen_add(struct watcher *w, const struct sighting *s, uint64_t now_ns);
/* A sample was taken. */
void seen_sample(struct watcher *w, double seconds, double busy);
/* Length of the loop's ready queue. */
void seen_ready(struct watcher *w, vaddr loop, uint64_t length);
/* There is no window of that loop now. */
void seen_close(struct watcher *w, vaddr loop);
/* After a picture: windows stand on where it took little time. */
void seen_go_on(struct watcher *w, uint64_t now_ns);

#endif
