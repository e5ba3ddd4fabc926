/* SPDX-License-Identifier: Apache-2.0 */
/* Linux' system calls by number, for our own architecture (which is the target's), and what the arguments of those that can block mean. */
#ifndef AIOTRACE_ATTACH_SYSCALLS_H
#define AIOTRACE_ATTACH_SYSCALLS_H

#include "attach/target.h"

/* What a call waits for, as far as its arguments tell. */
enum syscall_shape {
	SYSCALL_PLAIN, /* nothing to be said */
	SYSCALL_FD, /* the first argument is a descriptor */
	SYSCALL_EPOLL, /* epoll_wait, epoll_pwait: milliseconds */
	SYSCALL_EPOLL2, /* epoll_pwait2: a timespec */
	SYSCALL_POLL,
	SYSCALL_PPOLL,
	SYSCALL_SELECT,
	SYSCALL_PSELECT,
	SYSCALL_FUTEX,
	SYSCALL_NANOSLEEP,
	SYSCALL_CLOCK_NANOSLEEP,
	SYSCALL_WAIT4,
	SYSCALL_WAITID,
};

struct syscall_row {
	int number;
	const char *name;
	enum syscall_shape shape;
};

/* NULL where the number is not in the table. */
const struct syscall_row *syscall_find(int64_t number);
/* "read"; "syscall 451" where it is not known. ptr NULL: not in a system call, or no memory. */
struct str syscall_name(const struct proc_syscall *s, struct arena *a);
/* "read, fd 5, pipe", "epoll_wait, fd 3, no timeout", "clock_nanosleep, 12.3 s left". What can't be read is left out. */
struct str syscall_describe(const struct proc_syscall *s, struct target *t, struct arena *a);
/* The address that the thread sleeps on, 0 where it is not in a futex call. */
vaddr syscall_futex_address(const struct proc_syscall *s);

/* Of a call that waits for events (epoll_wait, poll, select): its timeout in seconds, INFINITY for none. NAN: it is no such call, or could not be read. */
double syscall_events_timeout(const struct proc_syscall *s, struct target *t);

#endif
