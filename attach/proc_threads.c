/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, one by one: state, CPU time, how often they ran, and the system call they sleep in. */
#include "attach/proc.h"

#include "attach/proc_internal.h"
#include "attach/procfile.h"
#include "base/cleanup.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* comm is whatever prctl(PR_SET_NAME) was given: controls and broken UTF-8 become '?'. */
static void copy_name(char *to, size_t size, const char *stat)
{
	const char *open = strchr(stat, '('), *close = strrchr(stat, ')');
	size_t out = 0;

	to[0] = '\0';
	if (!open || !close || close <= open)
		return;
	for (const char *at = open + 1; at < close;) {
		size_t n = 0;
		int32_t c = utf8_decode(at, (size_t)(close - at), &n);
		bool shown = c >= 0x20 && (c < 0x7f || c >= 0xa0);
		size_t size_shown = shown ? n : 1;

		if (out + size_shown + 1 > size)
			break;
		memcpy(to + out, shown ? at : "?", size_shown);
		out += size_shown;
		at += n;
	}
	to[out] = '\0';
}

/* The kernel's count of context switches: counted when a thread is taken off a CPU. */
static uint64_t context_switches(int dir)
{
	char text[4096];
	uint64_t voluntary = 0, other = 0;

	if (procfile_read(dir, "status", text, sizeof(text)) < 0)
		return 0;
	procfile_number(text, "voluntary_ctxt_switches", 10, &voluntary);
	procfile_number(text, "nonvoluntary_ctxt_switches", 10, &other);
	return voluntary + other;
}

enum err proc_runs_read(int dir, struct proc_runs *ret)
{
	char text[96], *at = text;
	uint64_t v[3] = {0};
	ssize_t n = procfile_read(dir, "schedstat", text, sizeof(text));

	if (n == -ENOENT && faccessat(dir, "stat", F_OK, 0) != 0)
		return ERR_GONE;
	if (n < 0 && n != -ENOENT)
		return n == -ESRCH ? ERR_GONE : ERR_ACCESS;
	for (unsigned i = 0; n > 0 && i < 3; i++)
		v[i] = strtoull(at, &at, 10);
	/* All zero: the kernel does not keep the count (sched_info off), or the thread never ran; both counts are 0 then. */
	*ret = (struct proc_runs){.count = v[2] ? v[2] : context_switches(dir),
				  .ns = v[0],
				  .wait_ns = v[1],
				  .exact = v[2] != 0};
	return ERR_OK;
}

static enum err read_thread(int dir, pid_t tid, struct proc_thread *ret)
{
	struct proc_stat_fields f;
	char text[2048];
	struct proc_runs runs;
	enum err err;

	if (procfile_read(dir, "stat", text, sizeof(text)) <= 0 || !proc_parse_stat(text, &f))
		return ERR_GONE;
	memset(ret, 0, sizeof(*ret));
	ret->tid = tid;
	ret->state = f.state;
	copy_name(ret->name, sizeof(ret->name), text);
	ret->user_ticks = f.v[14];
	ret->system_ticks = f.v[15];
	err = proc_runs_read(dir, &runs);
	if (err != ERR_OK)
		return err;
	ret->run_count = runs.count;
	ret->run_ns = runs.ns;
	ret->wait_ns = runs.wait_ns;
	return ERR_OK;
}

int proc_thread_dir(pid_t pid, pid_t tid)
{
	char path[48];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

enum err proc_thread_read(pid_t pid, pid_t tid, struct proc_thread *ret)
{
	auto_close int dir = proc_thread_dir(pid, tid);

	if (dir < 0)
		return procfile_error(pid, -dir, NULL);
	return read_thread(dir, tid, ret);
}

static int compare_tid(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

enum err proc_list_tids(pid_t pid, pid_t **ret, size_t *count_ret, struct error *e)
{
	char path[32];
	auto_closedir DIR *d = NULL;
	auto_free pid_t *v = NULL;
	size_t count = 0, room = 0;
	struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	if (!d)
		return procfile_error(pid, errno, e);
	while ((entry = readdir(d))) {
		long tid = strtol(entry->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		if (count == room) {
			pid_t *more = realloc(v, (room ? room * 2 : 64) * sizeof(*v));

			if (!more)
				return error_set(e, ERR_NOMEM, 0, "no memory");
			v = more;
			room = room ? room * 2 : 64;
		}
		v[count++] = (pid_t)tid;
	}
	if (!count)
		return procfile_error(pid, ESRCH, e);
	qsort(v, count, sizeof(*v), compare_tid);
	*ret = v;
	*count_ret = count;
	v = NULL;
	return ERR_OK;
}

enum err proc_threads(pid_t pid, struct proc_thread **ret, size_t *count_ret, struct error *e)
{
	auto_free pid_t *tids = NULL;
	struct proc_thread *v;
	size_t listed = 0, count = 0;
	enum err err = proc_list_tids(pid, &tids, &listed, e);

	if (err != ERR_OK)
		return err;
	v = calloc(listed + 1, sizeof(*v));
	if (!v)
		return error_set(e, ERR_NOMEM, 0, "no memory");
	for (size_t i = 0; i < listed; i++) {
		if (proc_thread_read(pid, tids[i], &v[count]) != ERR_OK)
			continue;
		/* Numbers wrap around: the main thread's is not always the lowest. */
		if (tids[i] == pid && count) {
			struct proc_thread main_thread = v[count];

			memmove(v + 1, v, count * sizeof(*v));
			v[0] = main_thread;
		}
		count++;
	}
	if (!count) {
		free(v);
		return procfile_error(pid, ESRCH, e);
	}
	*ret = v;
	*count_ret = count;
	return ERR_OK;
}

/* "running", "-1 SP PC", or "NUMBER 0xA0 … 0xA5 SP PC". */
enum err proc_parse_syscall(const char *text, struct proc_syscall *ret)
{
	uint64_t v[8] = {0};
	char *at;
	unsigned count = 0;

	memset(ret, 0, sizeof(*ret));
	if (strncmp(text, "running", 7) == 0) {
		ret->running = true;
		return ERR_OK;
	}
	ret->number = strtoll(text, &at, 10);
	if (at == text)
		return ERR_SYSTEM;
	while (count < 8 && *at == ' ')
		v[count++] = strtoull(at, &at, 16);
	if (count >= 2) {
		ret->sp = v[count - 2];
		ret->pc = v[count - 1];
	}
	if (count == 8)
		memcpy(ret->args, v, sizeof(ret->args));
	return ERR_OK;
}

enum err proc_syscall_at(int dir, struct proc_syscall *ret)
{
	char text[256];
	ssize_t n = procfile_read(dir, "syscall", text, sizeof(text));

	if (n == -ESRCH)
		return ERR_GONE;
	if (n == -ENOENT)
		return faccessat(dir, "stat", F_OK, 0) == 0 ? ERR_SYSTEM : ERR_GONE;
	if (n < 0)
		return ERR_ACCESS;
	/* Empty: the thread has just ended. */
	return n == 0 ? ERR_GONE : proc_parse_syscall(text, ret);
}

enum err proc_syscall_read(pid_t pid, pid_t tid, struct proc_syscall *ret)
{
	auto_close int dir = proc_thread_dir(pid, tid);

	if (dir < 0)
		return procfile_error(pid, -dir, NULL);
	return proc_syscall_at(dir, ret);
}
