/* SPDX-License-Identifier: Apache-2.0 */
/* What proc.c and proc_threads.c share: parsers of proc_pid_stat(5) and proc_pid_syscall(5), one thread at a time. */
#ifndef AIOTRACE_ATTACH_PROC_INTERNAL_H
#define AIOTRACE_ATTACH_PROC_INTERNAL_H

#include "attach/proc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STAT_FIELDS 29u

/* v[n] is field n of the manual page (from 4 on). */
struct proc_stat_fields {
	char state;
	uint64_t v[STAT_FIELDS];
};

bool proc_parse_stat(const char *text, struct proc_stat_fields *ret);
/* Reads and parses /proc/PID/stat; text keeps its line. */
must_check enum err proc_stat_line(pid_t pid, char *text, size_t size, struct proc_stat_fields *ret,
				   struct error *e);

/* Thread ids in ascending order, malloc'ed (caller frees), at least one. */
must_check enum err proc_list_tids(pid_t pid, pid_t **ret, size_t *count_ret, struct error *e);
/* Open /proc/PID/task/TID, or -errno; the calls below take it. */
int proc_thread_dir(pid_t pid, pid_t tid);
/*
 * How often the thread was put on a CPU, how long it ran and how long it waited for one. exact: counted when it is put there (schedstat); else when it is
 * taken off (context switches), so that a thread that runs at this moment is not yet counted, and both times are 0.
 */
struct proc_runs {
	uint64_t count, ns, wait_ns;
	bool exact;
};
must_check enum err proc_runs_read(int dir, struct proc_runs *ret);
/* ERR_GONE, ERR_ACCESS, ERR_SYSTEM (the kernel has no such file). */
must_check enum err proc_syscall_at(int dir, struct proc_syscall *ret);
must_check enum err proc_parse_syscall(const char *text, struct proc_syscall *ret);

#endif
