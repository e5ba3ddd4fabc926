/* SPDX-License-Identifier: Apache-2.0 */
/* Byte source: a live process, by process_vm_readv; by /proc/PID/mem where that call is refused (ENOSYS, seccomp). */
#ifndef AIOTRACE_ATTACH_LIVE_H
#define AIOTRACE_ATTACH_LIVE_H

#include "attach/mem.h"

#include <sys/types.h>

extern const struct mem_source live_source;
/* ctx for live_source; NULL on no memory. */
void *live_create(pid_t pid);

#endif
