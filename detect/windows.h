/* SPDX-License-Identifier: Apache-2.0 */
/* Moments at which a thread meddles with the loop of another one, taken together from the looks and from the watch between them. */
#ifndef AIOTRACE_DETECT_WINDOWS_H
#define AIOTRACE_DETECT_WINDOWS_H

#include "detect/looks.h"

/* What one picture says of a loop (row): rows of the task that was entered and of the thread that did it, NONE each where not known. */
typedef bool (*window_judge)(const struct model *m, uint32_t loop, uint32_t *task_ret,
			     uint32_t *thread_ret);

struct windows {
	uint32_t loop; /* row of the newest look */
	uint32_t looks; /* that show one */
	const struct model *then; /* the newest of these; NULL: none */
	uint32_t then_task, then_thread; /* its rows, NONE */
	const struct window_seen *seen; /* what the watch saw most of; NULL: nothing */
	uint64_t windows, samples; /* the watch's */
	double longest;
	uint32_t ready,
		targets; /* the watch's: most in the ready queue, and steps and wake-ups among them */
	/* Who it was, by the looks, since they are proven as a whole; else by the watch. Rows of the newest look. */
	struct str task_name, thread_name; /* "?" where not known */
	uint32_t task, thread, frame, stack; /* NONE */
};

/* False: none was seen. */
bool windows_find(const struct detection *d, uint32_t loop, window_judge judge,
		  struct windows *ret);
/* " (43 times in 0.25 s)", " (all the time for 0.25 s)", or nothing. */
struct str windows_often(const struct detection *d, const struct windows *w);
/* Rows of a finding, and the evidence: how often, how long, in which frame. */
void windows_say(const struct detection *d, const struct windows *w, uint32_t finding);

#endif
