/* SPDX-License-Identifier: Apache-2.0 */
/* Walked by parents. Since orphans become our children, a process that lives below us can always be reached this way. */
#include "cmd/run_tree.h"

#include "attach/proc.h"
#include "base/cleanup.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <unistd.h>

/* More than these below one command are a fork bomb; the next walk gets the rest. */
#define PROCESSES_MAX 10000

static bool describe(pid_t pid, pid_t parent, struct process_below *ret)
{
	struct proc_stat s;

	if (proc_stat_read(pid, &s, NULL) != ERR_OK || s.state == 'X')
		return false;
	/* The main thread may have ended before the others. */
	if (s.state == 'Z' && s.threads <= 1)
		return false;
	*ret = (struct process_below){pid, parent, s.start_time, s.start_code ^ s.start_stack};
	return true;
}

static void add_children(pid_t parent, struct process_below *v, size_t *count)
{
	auto_free pid_t *children = NULL;
	size_t n = 0;

	if (proc_children(parent, &children, &n) != ERR_OK)
		return;
	for (size_t i = 0; i < n && *count < PROCESSES_MAX; i++)
		*count += describe(children[i], parent, &v[*count]);
}

enum err processes_below(struct process_below **ret, size_t *count_ret)
{
	struct process_below *v = malloc(PROCESSES_MAX * sizeof(*v));
	size_t count = 0;

	if (!v)
		return ERR_NOMEM;
	add_children(getpid(), v, &count);
	for (size_t i = 0; i < count; i++)
		add_children(v[i].pid, v, &count);
	*ret = v;
	*count_ret = count;
	return ERR_OK;
}

size_t processes_signal(int number)
{
	auto_free struct process_below *v = NULL;
	size_t count = 0;

	if (processes_below(&v, &count) != ERR_OK)
		return 0;
	for (size_t i = 0; i < count; i++) {
		auto_close int fd = pidfd_open(v[i].pid, 0);
		struct process_below now;

		if (fd >= 0 && describe(v[i].pid, v[i].parent, &now) &&
		    now.start_time == v[i].start_time)
			pidfd_send_signal(fd, number, NULL, 0);
	}
	return count;
}
