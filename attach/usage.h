/* SPDX-License-Identifier: Apache-2.0 */
/* What a process uses, by /proc: CPU time, memory, threads, age; and with which status it ended. */
#ifndef AIOTRACE_ATTACH_USAGE_H
#define AIOTRACE_ATTACH_USAGE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_usage {
	double cpu_seconds; /* of all its threads so far, user and system */
	uint64_t resident_bytes;
	unsigned threads;
	double age; /* seconds since it was started */
};

/* ERR_GONE, ERR_ACCESS, ERR_SYSTEM. */
must_check enum err proc_usage_read(pid_t pid, struct proc_usage *ret);
/* As wait(2) has it, while the process has ended and nobody has waited for it yet; false where it can't be known. */
bool proc_exit_status(pid_t pid, int *ret);

#endif
