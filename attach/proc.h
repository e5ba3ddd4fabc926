/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about a process from /proc: no ptrace, nothing stopped. Each is the kernel's word at the moment of the call. */
#ifndef AIOTRACE_ATTACH_PROC_H
#define AIOTRACE_ATTACH_PROC_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct proc_stat {
	char state; /* R S D Z T t X I of proc_pid_stat(5) */
	bool kernel_thread; /* PF_KTHREAD */
	pid_t ppid;
	uint64_t start_time; /* clock ticks since boot: with the pid, an identity */
	uint64_t start_code; /* changes with exec under ASLR; 0 or 1 where it may not be read */
	uint64_t start_stack; /* likewise, also where the executable is not position-independent */
	unsigned threads;
};

struct proc_thread {
	pid_t tid;
	char state;
	char name
		[32]; /* comm, not necessarily UTF-8 as read: made printable ASCII-safe UTF-8 here */
	uint64_t user_ticks, system_ticks;
	uint64_t
		run_count; /* times it was put on a CPU (schedstat, else the sum of context switches) */
	uint64_t run_ns; /* CPU time by schedstat, 0 where not there */
	uint64_t wait_ns; /* time in which it could have run and had no CPU, likewise */
};

/* A system call that a thread sleeps in (proc_pid_syscall(5)); needs the right to attach. */
struct proc_syscall {
	bool running; /* not asleep in the kernel: the other fields say nothing */
	int64_t number; /* -1: blocked, but not in a system call */
	uint64_t args[6];
	uint64_t sp, pc;
};

/* tid may be a thread id. ERR_GONE, ERR_ACCESS. */
must_check enum err proc_stat_read(pid_t pid, struct proc_stat *ret, struct error *e);
/* All threads, the main one first, malloc'ed into *ret (caller frees). Threads that end during the reading are left out. */
must_check enum err proc_threads(pid_t pid, struct proc_thread **ret, size_t *count_ret,
				 struct error *e);
must_check enum err proc_thread_read(pid_t pid, pid_t tid, struct proc_thread *ret);
must_check enum err proc_syscall_read(pid_t pid, pid_t tid, struct proc_syscall *ret);
/* Arguments as UTF-8 (invalid bytes become U+FFFD), in the arena. At most 4,096 arguments and 1 MiB. */
must_check enum err proc_command(pid_t pid, struct arena *a, struct str **argv_ret,
				 size_t *argc_ret);
/* Copy in the arena, with U+FFFD for what is no UTF-8; ptr NULL: no room. */
struct str proc_copy_utf8(struct arena *a, const char *bytes, size_t len);
/* Process ids of direct children; malloc'ed (caller frees). */
must_check enum err proc_children(pid_t pid, pid_t **ret, size_t *count_ret);
/* Seconds to add to our CLOCK_MONOTONIC to get the target's (time namespace); 0 as a rule. */
double proc_monotonic_offset(pid_t pid);
/* True where the target's pid or mount namespace differs from ours. */
bool proc_in_container(pid_t pid);
/* The target's own number of a task id in its innermost pid namespace (NSpid); tid itself where unknown. */
pid_t proc_namespace_tid(pid_t pid, pid_t tid);
/* Signals that the process has a handler for, in C or by way of it in Python: bit n is signal n + 1. */
must_check enum err proc_signals_caught(pid_t pid, uint64_t *ret);

#endif
