/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What /proc says of the target's threads at one moment, beside what the memory says. Where threads are stopped for a copy, it must be asked around the stop
 * and not when the copy is looked at: by then they have run on, and while they stand they look stopped.
 */
#ifndef AIOTRACE_UNWIND_FACTS_H
#define AIOTRACE_UNWIND_FACTS_H

#include "attach/proc.h"
#include "attach/still.h"

struct thread_fact {
	struct proc_thread thread;
	struct proc_syscall call;
	bool call_known;
};

struct thread_facts {
	struct thread_fact *v; /* the main thread first */
	size_t count;
};

/* States and names. ERR_GONE, ERR_ACCESS, ERR_NOMEM. */
must_check enum err thread_facts_take(pid_t pid, struct thread_facts *ret);
/* Adds the system calls that they are in now. A thread that turns out to be in none runs. */
void thread_facts_add_calls(pid_t pid, struct thread_facts *f);
/* Drops the threads that are not in *now: they have ended since. */
void thread_facts_keep(struct thread_facts *f, const struct still *now);
void thread_facts_deinit(struct thread_facts *f); /* accepts a zeroed one */

#endif
