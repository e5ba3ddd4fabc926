/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a watch of a few words, a thousand times a second, saw between the pictures: moments at which a task was entered for a loop while the loop's thread was in no step
 * of it, or, where tasks are entered by threads, at which a loop was the running loop of two threads. Each moment is proven (unwind/asyncio/watch.h). And how long each loop's
 * queue was.
 * Filled by unwind/, judged by detect/. Who watches without end cuts the time into spans, of which the last ones are kept: all counts are of these taken together.
 */
#ifndef AIOTRACE_MODEL_WATCH_H
#define AIOTRACE_MODEL_WATCH_H

#include "model/model.h"

#define WINDOW_FRAMES 16u
#define WATCH_SPANS   5u

struct window_counts {
	uint64_t samples; /* in which it stood */
	uint64_t
		windows; /* apart from each other by a sample that proved that there was none, or by many samples' time without one (a picture) */
	uint64_t continued; /* of these: 1 where the first had begun in the span before */
	double longest; /* seconds from the first to the last sample of one window */
	uint32_t ready; /* most callbacks that the loop's ready queue then held */
	uint32_t targets; /* most steps and wake-ups among these that were not cancelled */
};

/* All windows of one loop, task and thread taken together. */
struct window_seen {
	vaddr loop, task; /* task 0: none entered (the loop is shared alone) */
	pid_t thread; /* that did it, by our numbers; 0: not known */
	struct str task_name; /* ptr NULL: not read */
	struct frame frames
		[WINDOW_FRAMES]; /* of that thread when first seen, innermost first, as far as they stood still while they were read */
	uint32_t frame_count;
	struct window_counts counts;
	/* The watch's own. */
	struct window_counts spans[WATCH_SPANS];
	vaddr state; /* the thread's state, 0 not known */
	uint64_t began_ns, last_ns; /* first and last sample of the present window */
	bool open; /* it stood when last looked for */
};

/* Length of one loop's ready queue, read on its own in each sample. */
struct ready_counts {
	uint64_t samples;
	uint64_t least, most; /* callbacks */
};

struct ready_seen {
	vaddr loop;
	struct ready_counts counts;
	struct ready_counts spans[WATCH_SPANS]; /* the watch's own */
};

struct watch_counts {
	uint64_t samples;
	double seconds; /* watched, without the pictures */
	double busy; /* of these: spent on samples */
};

struct watch {
	struct arena text;
	struct window_seen *v; /* malloc'ed */
	uint32_t count, capacity;
	struct ready_seen *ready; /* malloc'ed */
	uint32_t ready_count, ready_capacity;
	struct watch_counts counts;
	struct watch_counts spans[WATCH_SPANS];
	uint32_t span; /* the newest one's place */
};

/* What the newest span says of each loop goes to the loop's row (struct loop, watched). */
void watch_tell(const struct watch *w, struct model *m);

#endif
