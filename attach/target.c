/* SPDX-License-Identifier: Apache-2.0 */
/* Opening says at once and in words why a process can't be looked at, so that nobody above has to guess. */
#include "attach/target.h"

#include "attach/access.h"
#include "attach/live.h"
#include "attach/procfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Most memory of cached pages; pages are fetched only where they are looked at. */
#define BUDGET ((size_t)4 << 30)
/*
 * So much below the main thread's stack is never read ahead. Since Linux 6.5 a read of another process up to 64 KiB below a stack makes the kernel
 * complain in its log, with a call trace ("GUP no longer grows the stack": mm/gup.c, gup_vma_lookup); the stack may grow while we look. The
 * kernel keeps other mappings as far away as this (stack_guard_gap).
 */
#define STACK_GAP ((vaddr)1 << 20)

static enum err target_absent(pid_t pid, struct error *e)
{
	/* Signal 0 is no signal: the kernel only answers whether it could be sent. */
	if (kill(pid, 0) != 0 && errno == EPERM)
		return error_set(
			e, ERR_ACCESS, EPERM,
			"process %d is hidden by /proc's mount option hidepid: run as root (sudo)",
			(int)pid);
	return error_set(e, ERR_GONE, ESRCH, "no process %d", (int)pid);
}

static enum err identify(pid_t pid, struct proc_stat *ret, struct error *e)
{
	char path[40], text[4096];
	struct proc_thread t;
	uint64_t leader;
	enum err err = pid > 0 ? proc_stat_read(pid, ret, e) : ERR_GONE;

	if (err == ERR_GONE)
		return pid > 0 ? target_absent(pid, e)
			       : error_set(e, ERR_GONE, ESRCH, "no process %d", (int)pid);
	if (err != ERR_OK)
		return err;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (procfile_read(AT_FDCWD, path, text, sizeof(text)) > 0 &&
	    procfile_number(text, "Tgid", 10, &leader) && leader != (uint64_t)pid)
		return error_set(e, ERR_GONE, ESRCH, "no process %d: it is a thread of process %d",
				 (int)pid, (int)leader);
	if (ret->kernel_thread) {
		if (proc_thread_read(pid, pid, &t) != ERR_OK)
			t.name[0] = '\0';
		return error_set(e, ERR_NOT_PYTHON, 0,
				 "process %d (%s) is a kernel thread: it has no CPython in it",
				 (int)pid, t.name);
	}
	/* A main thread that ended before the others is a zombie too, but the process lives. */
	if ((ret->state == 'Z' || ret->state == 'X') && ret->threads <= 1)
		return error_set(e, ERR_GONE, ESRCH, "process %d has ended (zombie)", (int)pid);
	return ERR_OK;
}

/* Reads one byte that is there, so that a refusal comes now and with its reason. */
static enum err probe_memory(struct target *t, struct error *e)
{
	unsigned char byte;

	for (size_t i = 0; i < t->maps.count; i++) {
		const struct map *m = &t->maps.v[i];

		if (m->read && mem_read(t->mem, m->start, &byte, 1) == ERR_OK)
			return ERR_OK;
		if (mem_hard_error(t->mem) == ERR_ACCESS)
			return access_refused(t->pid, e);
		if (mem_hard_error(t->mem) == ERR_GONE)
			return error_set(e, ERR_GONE, ESRCH, "process %d has ended", (int)t->pid);
	}
	return error_set(e, ERR_GONE, ESRCH, "process %d has ended: it has no memory left",
			 (int)t->pid);
}

/* The process's own number; where the main thread has ended before the others, memory is seen through one of those. */
static pid_t reader_id(const struct target *t)
{
	struct proc_thread *threads = NULL;
	size_t count = 0;
	pid_t id = t->pid;

	if (t->identity.state != 'Z' || proc_threads(t->pid, &threads, &count, NULL) != ERR_OK)
		return id;
	for (size_t i = 0; i < count && id == t->pid; i++)
		if (threads[i].state != 'Z' && threads[i].state != 'X')
			id = threads[i].tid;
	free(threads);
	return id;
}

static void spare_stack_gap(struct target *t)
{
	for (size_t i = 0; i < t->maps.count; i++) {
		const struct map *m = &t->maps.v[i];

		if (!strcmp(m->path, "[stack]") && m->start > STACK_GAP)
			mem_set_no_ahead(t->mem, m->start - STACK_GAP, m->start);
	}
}

static enum err open_memory(struct target *t, struct error *e)
{
	pid_t id = reader_id(t);
	void *ctx = live_create(id);
	enum err err;

	if (!ctx)
		return error_set(e, ERR_NOMEM, 0, "no memory");
	err = mem_create(&live_source, ctx, BUDGET, &t->mem);
	if (err != ERR_OK) {
		live_source.close(ctx);
		return error_set(e, err, 0, "no memory");
	}
	err = maps_load(id, &t->maps, e);
	if (err == ERR_OK) {
		spare_stack_gap(t);
		err = probe_memory(t, e);
	}
	if (err != ERR_OK)
		return err;
	mem_forget(t->mem);
	t->fds = fds_create(t->pid);
	return t->fds ? ERR_OK : error_set(e, ERR_NOMEM, 0, "no memory");
}

enum err target_open(pid_t pid, struct target *ret, struct error *e)
{
	struct target t = {.pid = pid};
	enum err err = identify(pid, &t.identity, e);

	if (err == ERR_OK)
		err = open_memory(&t, e);
	if (err != ERR_OK) {
		target_close(&t);
		return err;
	}
	*ret = t;
	return ERR_OK;
}

void target_close(struct target *t)
{
	mem_destroy(t->mem);
	maps_deinit(&t->maps);
	fds_destroy(t->fds);
	*t = (struct target){0};
}

enum err target_check(struct target *t, struct error *e)
{
	struct proc_stat now;
	enum err err = proc_stat_read(t->pid, &now, e);

	if (err != ERR_OK && err != ERR_GONE)
		return err;
	if (err == ERR_GONE || now.start_time != t->identity.start_time ||
	    ((now.state == 'Z' || now.state == 'X') && now.threads <= 1))
		return error_set(e, ERR_GONE, ESRCH, "process %d ended while it was read",
				 (int)t->pid);
	if (now.start_code != t->identity.start_code || now.start_stack != t->identity.start_stack)
		return error_set(e, ERR_GONE, 0,
				 "process %d executed another program while it was read",
				 (int)t->pid);
	return ERR_OK;
}
