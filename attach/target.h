/* SPDX-License-Identifier: Apache-2.0 */
/* One process that is looked at: its identity, mappings and memory. The only type of attach/ that layers above pass around. */
#ifndef AIOTRACE_ATTACH_TARGET_H
#define AIOTRACE_ATTACH_TARGET_H

#include "attach/fds.h"
#include "attach/maps.h"
#include "attach/mem.h"
#include "attach/proc.h"

struct target {
	pid_t pid;
	struct proc_stat identity; /* as it was when opened */
	struct maps maps;
	struct mem *mem;
	struct fds *fds;
};

/*
 * ERR_GONE (no such process, a zombie, a thread id that is no process), ERR_NOT_PYTHON (kernel thread: no memory), ERR_ACCESS with reason and remedy,
 * ERR_NOMEM. Each with a one-line text that names the pid.
 */
must_check enum err target_open(pid_t pid, struct target *ret, struct error *e);
void target_close(struct target *t); /* accepts a zeroed one */
/* ERR_OK while the same process runs the same program; ERR_GONE "process N ended" / "executed another program while it was read". */
must_check enum err target_check(struct target *t, struct error *e);

#endif
