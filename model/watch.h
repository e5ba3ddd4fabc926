/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a watch of a few words, a thousand times a second, saw between two pictures: moments at which a task was entered for a loop by a thread that does not run that loop
 * (or one loop was the running loop of two threads). Filled by unwind/, judged by detect/.
 */
#ifndef AIOTRACE_MODEL_WATCH_H
#define AIOTRACE_MODEL_WATCH_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* All windows of one loop, task and thread taken together. */
struct window_seen {
	vaddr loop, task; /* task 0: none entered (the loop is shared alone) */
	pid_t thread; /* that entered it, by our numbers; 0: not known */
	struct str task_name; /* ptr NULL: not read */
	struct str function,
		file; /* innermost frame of that thread when first seen; ptr NULL: not read */
	int32_t line; /* 0: not known */
	uint64_t samples; /* in which it stood */
	uint64_t windows; /* apart from each other by a sample without it */
	double longest; /* seconds from the first to the last sample of one window: at least so long it stood */
};

struct watch {
	struct arena text;
	struct window_seen *v; /* malloc'ed */
	uint32_t count, capacity;
	uint64_t samples; /* in all */
	double seconds; /* watched in all */
};

#endif
