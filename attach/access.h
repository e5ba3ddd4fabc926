/* SPDX-License-Identifier: Apache-2.0 */
/* Why the target can or can't be read, and the one thing that mends it: uid, capabilities, Yama, dumpable, seccomp, user namespaces. */
#ifndef AIOTRACE_ATTACH_ACCESS_H
#define AIOTRACE_ATTACH_ACCESS_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct access_report {
	bool can_read; /* a byte of memory was read, by process_vm_readv or /proc/PID/mem */
	bool can_attach; /* by the rules below; nothing is attached to find out */
	unsigned own_uid, target_uid;
	bool own_ptrace_capability; /* CAP_SYS_PTRACE effective */
	int yama_scope; /* ptrace_scope, -1 where Yama is not there */
	int own_seccomp, target_seccomp; /* Seccomp: of status, -1 unknown */
	pid_t tracer; /* TracerPid of the target, 0 none */
	bool same_user_namespace, same_pid_namespace;
	char reason[200]; /* one sentence; "" where nothing is refused */
	char remedy[200]; /* one command or setting; "" likewise */
};

must_check enum err access_examine(pid_t pid, struct access_report *ret, struct error *e);
/* Fills *e with ERR_ACCESS, the reason and the remedy in one line. Always returns ERR_ACCESS. */
enum err access_refused(pid_t pid, struct error *e);

#endif
