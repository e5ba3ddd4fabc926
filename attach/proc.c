/* SPDX-License-Identifier: Apache-2.0 */
/* The process as a whole: identity, command line, children, namespaces. Threads are in proc_threads.c. */
#include "attach/proc.h"

#include "attach/proc_internal.h"
#include "attach/procfile.h"
#include "base/cleanup.h"
#include "base/utf8.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* include/linux/sched.h: PF_KTHREAD */
#define KERNEL_THREAD  0x00200000u
#define COMMAND_MOST   ((size_t)1 << 20)
#define ARGUMENTS_MOST 4096u
#define CHILDREN_MOST  ((size_t)1 << 20)

/* comm may hold spaces, parentheses and newlines: the last ')' ends it. */
bool proc_parse_stat(const char *text, struct proc_stat_fields *ret)
{
	const char *at = strrchr(text, ')');

	memset(ret, 0, sizeof(*ret));
	if (!at || at[1] != ' ' || !at[2])
		return false;
	ret->state = at[2];
	at += 3;
	for (unsigned field = 4; field < STAT_FIELDS; field++) {
		char *end;

		/* Some are negative; as unsigned they wrap, and none of those is used. */
		ret->v[field] = strtoull(at, &end, 10);
		if (end == at)
			return field > 24;
		at = end;
	}
	return true;
}

enum err proc_stat_line(pid_t pid, char *text, size_t size, struct proc_stat_fields *ret,
			struct error *e)
{
	char path[40];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	n = procfile_read(AT_FDCWD, path, text, size);
	if (n < 0)
		return procfile_error(pid, (int)-n, e);
	if (!proc_parse_stat(text, ret))
		return error_set(e, ERR_SYSTEM, 0, "%s can't be understood", path);
	return ERR_OK;
}

enum err proc_stat_read(pid_t pid, struct proc_stat *ret, struct error *e)
{
	struct proc_stat_fields f = {0};
	char text[2048];
	enum err err = proc_stat_line(pid, text, sizeof(text), &f, e);

	if (err != ERR_OK)
		return err;
	ret->state = f.state;
	ret->ppid = (pid_t)f.v[4];
	ret->kernel_thread = f.v[9] & KERNEL_THREAD;
	ret->threads = (unsigned)f.v[20];
	ret->start_time = f.v[22];
	ret->start_code = f.v[26];
	ret->start_stack = f.v[28];
	return ERR_OK;
}

struct str proc_copy_utf8(struct arena *a, const char *bytes, size_t len)
{
	char *to = arena_alloc(a, len * UTF8_CLEAN_GROWTH + 1);

	return to ? (struct str){to, (uint32_t)utf8_clean(to, bytes, len)} : (struct str){0};
}

enum err proc_command(pid_t pid, struct arena *a, struct str **argv_ret, size_t *argc_ret)
{
	auto_free char *text = NULL;
	char path[40];
	size_t count = 0, at = 0, len;
	struct str *argv;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	n = procfile_load(path, COMMAND_MOST, &text);
	if (n < 0)
		return procfile_error(pid, (int)-n, NULL);
	len = (size_t)n;
	for (size_t i = 0; i < len; i++)
		count += text[i] == '\0' || i + 1 == len;
	if (count > ARGUMENTS_MOST)
		count = ARGUMENTS_MOST;
	argv = arena_alloc(a, (count + 1) * sizeof(*argv));
	if (!argv)
		return ERR_NOMEM;
	for (size_t i = 0; i < count; i++) {
		size_t part = strnlen(text + at, len - at);

		argv[i] = proc_copy_utf8(a, text + at, part);
		if (!argv[i].ptr)
			return ERR_NOMEM;
		at += part + 1;
	}
	*argv_ret = argv;
	*argc_ret = count;
	return ERR_OK;
}

struct pid_list {
	pid_t *v;
	size_t count, room;
};

static bool pid_list_add(struct pid_list *l, pid_t pid)
{
	if (l->count == CHILDREN_MOST)
		return true;
	if (l->count == l->room) {
		size_t room = l->room ? l->room * 2 : 16;
		pid_t *v = realloc(l->v, room * sizeof(*v));

		if (!v)
			return false;
		l->v = v;
		l->room = room;
	}
	l->v[l->count++] = pid;
	return true;
}

/* /proc/PID/task/TID/children of every thread; false where the kernel lacks the file (CONFIG_PROC_CHILDREN). */
static bool children_by_file(pid_t pid, struct pid_list *l, enum err *err)
{
	char path[64];
	auto_closedir DIR *d = NULL;
	struct dirent *entry;
	bool known = false;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	if (!d) {
		*err = procfile_error(pid, errno, NULL);
		return true;
	}
	while ((entry = readdir(d))) {
		auto_free char *text = NULL;
		char *at, *end;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.12s/children", (int)pid,
			 entry->d_name);
		if (procfile_load(path, (size_t)16 << 20, &text) < 0)
			continue;
		known = true;
		for (at = text; *at; at = end) {
			long child = strtol(at, &end, 10);

			if (end == at)
				break;
			if (!pid_list_add(l, (pid_t)child))
				*err = ERR_NOMEM;
		}
	}
	return known;
}

static enum err children_by_parent(pid_t pid, struct pid_list *l)
{
	auto_closedir DIR *d = opendir("/proc");
	struct dirent *entry;

	if (!d)
		return ERR_SYSTEM;
	while ((entry = readdir(d))) {
		struct proc_stat s = {0};
		long child = strtol(entry->d_name, NULL, 10);

		if (child <= 0 || proc_stat_read((pid_t)child, &s, NULL) != ERR_OK)
			continue;
		if (s.ppid == pid && !pid_list_add(l, (pid_t)child))
			return ERR_NOMEM;
	}
	return ERR_OK;
}

enum err proc_children(pid_t pid, pid_t **ret, size_t *count_ret)
{
	struct pid_list l = {0};
	enum err err = ERR_OK;

	if (!children_by_file(pid, &l, &err))
		err = children_by_parent(pid, &l);
	if (err != ERR_OK) {
		free(l.v);
		return err;
	}
	*ret = l.v;
	*count_ret = l.count;
	return ERR_OK;
}

/* "monotonic  86400  0": seconds and nanoseconds that the namespace adds to the machine's clock. */
static double monotonic_offset(const char *path)
{
	char text[256];
	const char *at;
	long long seconds;
	long nanoseconds;

	if (procfile_read(AT_FDCWD, path, text, sizeof(text)) < 0)
		return 0;
	at = strstr(text, "monotonic");
	if (!at || sscanf(at, "monotonic %lld %ld", &seconds, &nanoseconds) != 2)
		return 0;
	return (double)seconds + (double)nanoseconds / 1e9;
}

/* Same object behind two links of /proc/…/ns? -1: one of them can't be seen. */
static int same_namespace(pid_t pid, const char *kind)
{
	char path[64];
	struct stat own, other;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
	if (stat(path, &own) != 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, kind);
	if (stat(path, &other) != 0)
		return -1;
	return own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

double proc_monotonic_offset(pid_t pid)
{
	char path[40];

	if (same_namespace(pid, "time") != 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/timens_offsets", (int)pid);
	return monotonic_offset(path) - monotonic_offset("/proc/self/timens_offsets");
}

/* Last of the numbers of the status line NSpid, and how many they are. */
static pid_t innermost_pid(const char *status, size_t *depth_ret)
{
	const char *at = procfile_field(status, "NSpid");
	pid_t last = 0;

	*depth_ret = 0;
	while (at && *at && *at != '\n') {
		char *end;
		long n = strtol(at, &end, 10);

		if (end == at)
			break;
		last = (pid_t)n;
		(*depth_ret)++;
		at = end + strspn(end, " \t");
	}
	return last;
}

bool proc_in_container(pid_t pid)
{
	char path[40], text[4096];
	size_t depth;

	if (same_namespace(pid, "pid") == 0 || same_namespace(pid, "mnt") == 0)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (procfile_read(AT_FDCWD, path, text, sizeof(text)) < 0)
		return false;
	/* Numbers from our own namespace (that of this /proc) inwards. */
	innermost_pid(text, &depth);
	return depth > 1;
}

pid_t proc_namespace_tid(pid_t pid, pid_t tid)
{
	char path[64], text[4096];
	size_t depth;
	pid_t inner;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	if (procfile_read(AT_FDCWD, path, text, sizeof(text)) < 0)
		return tid;
	inner = innermost_pid(text, &depth);
	return inner > 0 ? inner : tid;
}

enum err proc_signals_caught(pid_t pid, uint64_t *ret)
{
	char path[40], text[4096];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	n = procfile_read(AT_FDCWD, path, text, sizeof(text));
	if (n < 0)
		return procfile_error(pid, (int)-n, NULL);
	return procfile_number(text, "SigCgt", 16, ret) ? ERR_OK : ERR_SYSTEM;
}
