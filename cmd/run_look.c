/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A judgement takes a sample's time, nearly all of it asleep: with one process after the other, a test run of fifty workers would be looked at for a quarter of a minute.
 * So a few threads share the work; each process is one thread's alone.
 */
#include "cmd/run_look.h"

#include "attach/syscalls.h"
#include "base/cleanup.h"
#include "cmd/read.h"
#include "cmd/run_tree.h"
#include "cmd/sample.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LOOKERS 8

struct work {
	struct cli cli;
	struct stuck_process *v;
	size_t count;
	atomic_size_t next;
	atomic_bool no_memory;
};

static enum thread_state state_of(char letter)
{
	switch (letter) {
	case 'R':
		return THREAD_RUNNING;
	case 'D':
		return THREAD_DISK;
	case 'T':
	case 't':
		return THREAD_STOPPED;
	case 'Z':
	case 'X':
		return THREAD_ZOMBIE;
	default:
		return THREAD_SLEEPING;
	}
}

/* The kernel's word on each thread; the calls only where the process may be read. */
static void add_threads(struct model *m, pid_t pid, struct target *t)
{
	auto_free struct proc_thread *threads = NULL;
	size_t count = 0;

	if (proc_threads(pid, &threads, &count, NULL) != ERR_OK)
		return;
	for (size_t i = 0; i < count; i++) {
		uint32_t row = model_add_thread(m, threads[i].tid);
		struct proc_syscall call;

		if (row == NONE)
			return;
		m->threads.v[row].name = model_text(m, str_from(threads[i].name));
		m->threads.v[row].state = state_of(threads[i].state);
		if (!t || proc_syscall_read(pid, threads[i].tid, &call) != ERR_OK)
			continue;
		m->threads.v[row].syscall = syscall_name(&call, &m->text);
		m->threads.v[row].syscall_text = syscall_describe(&call, t, &m->text);
	}
}

/* Of a process without CPython, or one that can't be read. */
static enum err look_from_outside(pid_t pid, struct model **ret)
{
	struct model *m = NULL;
	struct error e = {0};
	struct target t;

	if (model_create(&m) != ERR_OK)
		return ERR_NOMEM;
	m->target.pid = pid;
	if (proc_command(pid, &m->text, &m->target.command, &m->target.command_count) != ERR_OK)
		m->target.command_count = 0;
	if (target_open(pid, &t, &e) == ERR_OK) {
		add_threads(m, pid, &t);
		target_close(&t);
	} else {
		add_threads(m, pid, NULL);
	}
	*ret = m;
	return ERR_OK;
}

/* Without asyncio there is nothing to judge, but stacks to show. ERR_GONE, ERR_NOMEM; all else is said in words. */
static enum err look_at(const struct cli *cli, struct stuck_process *p)
{
	struct error e = {0}, second = {0};
	enum err err = sample_process(cli, p->pid, &p->picture, &e);

	p->judged = err == ERR_OK;
	if (err == ERR_UNSUPPORTED)
		err = read_process(cli, p->pid, &p->picture, &second);
	p->python = err == ERR_OK;
	if (err == ERR_OK || err == ERR_GONE)
		return err;
	memcpy(p->problem, second.text[0] ? second.text : e.text, sizeof(p->problem));
	return look_from_outside(p->pid, &p->picture);
}

static void *looker(void *arg)
{
	struct work *w = arg;

	for (;;) {
		size_t i = atomic_fetch_add(&w->next, 1);

		if (i >= w->count)
			return NULL;
		if (look_at(&w->cli, &w->v[i]) == ERR_NOMEM)
			w->no_memory = true;
	}
}

/* Where no thread can be had, our own does it all. */
static void look_at_all(struct work *w)
{
	pthread_t threads[LOOKERS];
	size_t n = 0;

	while (n < LOOKERS && n + 1 < w->count && pthread_create(&threads[n], NULL, looker, w) == 0)
		n++;
	looker(w);
	for (size_t i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

/* Those that ended meanwhile have no picture. */
static size_t keep_seen(struct stuck_process *v, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (v[i].picture)
			v[kept++] = v[i];
	}
	return kept;
}

enum err stuck_look(const struct cli *cli, struct stuck *ret, struct error *e)
{
	auto_free struct process_below *below = NULL;
	struct work w = {.cli = *cli};

	if (processes_below(&below, &w.count) != ERR_OK)
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	w.cli.threads = w.cli.loop = true;
	w.v = calloc(w.count + 1, sizeof(*w.v));
	if (!w.v)
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	for (size_t i = 0; i < w.count; i++) {
		w.v[i].pid = below[i].pid;
		w.v[i].parent = below[i].parent;
	}
	look_at_all(&w);
	ret->v = w.v;
	ret->count = keep_seen(w.v, w.count);
	if (w.no_memory)
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	return ERR_OK;
}

void stuck_deinit(struct stuck *s)
{
	for (size_t i = 0; i < s->count; i++)
		model_destroy(s->v[i].picture);
	free(s->v);
	s->v = NULL;
	s->count = 0;
}
