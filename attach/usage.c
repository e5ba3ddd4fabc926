/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of proc_pid_stat(5). */
#include "attach/usage.h"

#include "attach/proc_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum err proc_usage_read(pid_t pid, struct proc_usage *ret)
{
	double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
	struct proc_stat_fields f = {0};
	struct timespec boot;
	char text[2048];
	enum err err = proc_stat_line(pid, text, sizeof(text), &f, NULL);

	if (err != ERR_OK)
		return err;
	clock_gettime(CLOCK_BOOTTIME, &boot);
	*ret = (struct proc_usage){
		.cpu_seconds = (double)(f.v[14] + f.v[15]) * tick,
		.resident_bytes = f.v[24] * (uint64_t)sysconf(_SC_PAGESIZE),
		.threads = (unsigned)f.v[20],
		.age = (double)boot.tv_sec + (double)boot.tv_nsec / 1e9 - (double)f.v[22] * tick,
	};
	if (ret->age < 0)
		ret->age = 0;
	return ERR_OK;
}

bool proc_exit_status(pid_t pid, int *ret)
{
	struct proc_stat_fields f = {0};
	const char *last;
	char text[2048];

	if (proc_stat_line(pid, text, sizeof(text), &f, NULL) != ERR_OK || f.state != 'Z')
		return false;
	/* exit_code is the last of the line's 52 fields. */
	last = strrchr(text, ' ');
	if (!last)
		return false;
	*ret = (int)strtol(last, NULL, 10);
	return true;
}
