/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proof that no thread of the target ran between two moments: every thread asleep in the kernel (or stopped) at the first moment, the same set of
 * threads, and none put on a CPU since (schedstat's count of timeslices; context switches where the kernel lacks it).
 */
#ifndef AIOTRACE_ATTACH_STILL_H
#define AIOTRACE_ATTACH_STILL_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct still_thread {
	pid_t tid;
	uint64_t run_count;
	bool off_cpu; /* proven asleep or stopped */
	bool ran; /* set by still_compare: on a CPU at, or since, the first moment */
};

struct still {
	struct still_thread *v; /* sorted by tid */
	size_t count;
};

must_check enum err still_take(pid_t pid, struct still *ret, struct error *e);
void still_deinit(struct still *s);
/* Looks again now. True: nothing ran since *s was taken. Else marks s->v[i].ran; *new_threads (may be NULL) says that unknown threads exist. */
must_check enum err still_unchanged(pid_t pid, struct still *s, bool *ret, bool *new_threads,
				    struct error *e);

#endif
