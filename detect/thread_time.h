/* SPDX-License-Identifier: Apache-2.0 */
/* What one thread did with its time between two looks: by the scheduler's counts, and by what each look in between saw it do. */
#ifndef AIOTRACE_DETECT_THREAD_TIME_H
#define AIOTRACE_DETECT_THREAD_TIME_H

#include "detect/detect.h"

struct thread_time {
	double seconds; /* from the first of the looks to the newest, without the stops that were ours */
	bool counted; /* the next two and `runs` are known */
	double cpu;
	double starved; /* it could have run, and had no CPU; with a wait that is not over yet, which the scheduler has not counted */
	uint64_t runs; /* times it was put on a CPU */
	/* Looks by what it did: */
	uint32_t looks, asleep, on_cpu;
	uint32_t wants_gil; /* asleep, for the GIL */
	uint32_t stopped; /* by a signal or a debugger */
};

/* From look `from` to the newest one. False where the thread is not in all of these looks. */
bool thread_time_read(const struct detection *d, uint32_t from, pid_t tid, struct thread_time *ret);
/*
 * Of its seconds those that are its own doing: on a CPU, or asleep in a call of its own choice; not those in which it had no CPU or no GIL. A lower bound:
 * where its sleep can't be told from waiting for the GIL, CPU time alone counts.
 */
double thread_time_own(const struct thread_time *t);

/*
 * A thread that sleeps, but not for what it asked for: in a page fault or for a tracer (in no system call), or for the map of its memory, which whoever reads that memory
 * holds too. No callback's doing.
 */
bool thread_waits_for_memory(const struct thread *t);

/* "0.25 s", "12.3 s", "4 min": for a sentence. */
struct time_text {
	char v[32];
};
struct time_text time_text(double seconds);

#endif
