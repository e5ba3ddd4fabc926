/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stopping threads for the length of a copy (PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH): no signal is sent, pending ones are passed on.
 * The kernel lets the threads go when we die. The tracing is done by a thread of ours that lives as long as the freeze, so any thread may end it.
 */
#ifndef AIOTRACE_ATTACH_FREEZE_H
#define AIOTRACE_ATTACH_FREEZE_H

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>
#include <sys/user.h>

struct freeze;

/*
 * Stops the threads of the list; all are stopped on success, none on failure. deadline: CLOCK_MONOTONIC ns until which all must stand.
 * ERR_ACCESS (EPERM: no right, or another tracer is there), ERR_GONE, ERR_DEADLINE. Threads of the list that have ended are left out.
 */
must_check enum err freeze_begin(pid_t pid, const pid_t *tids, size_t count, uint64_t deadline_ns,
				 struct freeze **ret, struct error *e);
/* Registers of a thread as it stands; NULL where it does not stand, or did not tell. Valid until freeze_end. */
const struct user_regs_struct *freeze_registers(const struct freeze *f, pid_t tid);
/* Lets all go and frees. Returns for how many microseconds the first-stopped thread stood. Accepts NULL (0). */
uint64_t freeze_end(struct freeze *f);

#endif
