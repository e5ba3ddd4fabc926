/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stops are made by a thread of our own that does nothing else, and that is for the case where it goes wrong: a thread of the target deep in the kernel (state D)
 * takes no stop, and PTRACE_INTERRUPT can't be taken back. When the stopping thread ends, the kernel takes it back: all that it traced is let go, also what has not
 * stopped yet (kernel/ptrace.c exit_ptrace).
 */
#include "attach/freeze.h"

#include "attach/access.h"
#include "attach/proc.h"
#include "attach/procfile.h"
#include "base/clock.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

/* A running thread stops within a few microseconds, one that waits for a CPU within a timeslice. */
#define SPINS  200u
#define NAP_NS 50000

enum hold_state {
	HOLD_SEIZED,
	HOLD_STOPPED,
	HOLD_ENDED
};

/* One thread of the target. */
struct hold {
	pid_t tid;
	enum hold_state state;
	int signal; /* to be passed on at the end, 0 none */
	bool registers_read;
	struct user_regs_struct registers;
};

enum phase {
	PHASE_STOPPING,
	PHASE_STOPPED,
	PHASE_FAILED,
	PHASE_RELEASE
};

struct freeze {
	pid_t pid;
	struct hold *holds;
	size_t count;
	uint64_t deadline;
	pthread_t tracer;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum phase phase; /* under the lock */
	enum err err; /* these belong to the tracer until it has failed or ended */
	struct error error;
	uint64_t began, ended;
};

static void freeze_free(struct freeze *f)
{
	pthread_cond_destroy(&f->changed);
	pthread_mutex_destroy(&f->lock);
	free(f->holds);
	free(f);
}

static pid_t tracer_of(pid_t pid, pid_t tid)
{
	char path[64], text[4096];
	uint64_t tracer = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	if (procfile_read(AT_FDCWD, path, text, sizeof(text)) > 0)
		(void)procfile_number(text, "TracerPid", 10, &tracer);
	return (pid_t)tracer;
}

/* Only the kernel's "no": is it because the thread has just ended, because somebody else is there, or for want of rights? */
static enum err refused(struct freeze *f, struct hold *h)
{
	struct proc_thread t;
	pid_t tracer;

	if (proc_thread_read(f->pid, h->tid, &t) != ERR_OK || t.state == 'Z' || t.state == 'X') {
		h->state = HOLD_ENDED;
		return ERR_OK;
	}
	tracer = tracer_of(f->pid, h->tid);
	if (tracer)
		return error_set(&f->error, ERR_ACCESS, EPERM,
				 "process %d can't be paused: process %d traces it already",
				 (int)f->pid, (int)tracer);
	return access_refused(f->pid, &f->error);
}

static enum err seize_all(struct freeze *f)
{
	for (size_t i = 0; i < f->count; i++) {
		struct hold *h = &f->holds[i];
		enum err err;

		if (ptrace(PTRACE_SEIZE, h->tid, NULL, NULL) == 0)
			continue;
		if (errno == ESRCH) {
			h->state = HOLD_ENDED;
			continue;
		}
		if (errno != EPERM)
			return error_set(&f->error, ERR_SYSTEM, errno, "ptrace of thread %d: %s",
					 (int)h->tid, strerror(errno));
		err = refused(f, h);
		if (err != ERR_OK)
			return err;
	}
	return ERR_OK;
}

/* Two microseconds beside the fifty that a stop takes: read for all, since only the tracer can. */
static void read_registers(struct hold *h)
{
	struct iovec v = {&h->registers, sizeof(h->registers)};

	h->registers_read = ptrace(PTRACE_GETREGSET, h->tid, (void *)(uintptr_t)NT_PRSTATUS, &v) ==
				    0 &&
			    v.iov_len == sizeof(h->registers);
}

static void take_status(struct hold *h, int status)
{
	if (!WIFSTOPPED(status)) {
		h->state = HOLD_ENDED;
		return;
	}
	h->state = HOLD_STOPPED;
	/* Without an event the thread stands before the delivery of a signal, which is ours to pass on. The event is our interrupt, or a stop by job control,
	 * which the kernel restores by itself. */
	if (status >> 16 == 0)
		h->signal = WSTOPSIG(status);
	read_registers(h);
}

/* True when none is left to wait for. */
static bool collect_stops(struct freeze *f)
{
	bool all = true;

	for (size_t i = 0; i < f->count; i++) {
		struct hold *h = &f->holds[i];
		int status;
		pid_t got;

		if (h->state != HOLD_SEIZED)
			continue;
		got = waitpid(h->tid, &status, __WALL | __WNOTHREAD | WNOHANG);
		if (got == h->tid)
			take_status(h, status);
		else if (got < 0 && errno == ECHILD)
			h->state = HOLD_ENDED;
		all = all && h->state != HOLD_SEIZED;
	}
	return all;
}

static enum err stop_all(struct freeze *f)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};
	size_t stopped = 0;

	f->began = clock_now_ns();
	for (size_t i = 0; i < f->count; i++)
		if (f->holds[i].state == HOLD_SEIZED)
			(void)ptrace(PTRACE_INTERRUPT, f->holds[i].tid, NULL, NULL);
	for (unsigned spins = 0; !collect_stops(f); spins++) {
		if (clock_now_ns() >= f->deadline)
			return error_set(&f->error, ERR_DEADLINE, 0,
					 "process %d did not stop in the time allowed",
					 (int)f->pid);
		if (spins < SPINS)
			sched_yield();
		else
			nanosleep(&nap, NULL);
	}
	for (size_t i = 0; i < f->count; i++)
		stopped += f->holds[i].state == HOLD_STOPPED;
	return stopped ? ERR_OK
		       : error_set(&f->error, ERR_GONE, ESRCH, "process %d has ended", (int)f->pid);
}

static void release_all(struct freeze *f)
{
	for (size_t i = 0; i < f->count; i++) {
		struct hold *h = &f->holds[i];

		if (h->state == HOLD_STOPPED)
			(void)ptrace(PTRACE_DETACH, h->tid, NULL, (void *)(intptr_t)h->signal);
	}
	f->ended = clock_now_ns();
}

static void set_phase(struct freeze *f, enum phase phase)
{
	pthread_mutex_lock(&f->lock);
	f->phase = phase;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
}

static enum phase wait_past(struct freeze *f, enum phase phase)
{
	enum phase now;

	pthread_mutex_lock(&f->lock);
	while (f->phase == phase)
		pthread_cond_wait(&f->changed, &f->lock);
	now = f->phase;
	pthread_mutex_unlock(&f->lock);
	return now;
}

static void *tracer_main(void *arg)
{
	struct freeze *f = arg;

	f->err = seize_all(f);
	if (f->err == ERR_OK)
		f->err = stop_all(f);
	if (f->err == ERR_OK) {
		set_phase(f, PHASE_STOPPED);
		wait_past(f, PHASE_STOPPED);
		release_all(f);
	} else {
		release_all(f);
		set_phase(f, PHASE_FAILED);
	}
	return NULL;
}

/* Signals are for the others of our threads. */
static int start_tracer(struct freeze *f)
{
	sigset_t all, before;
	int sys;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	sys = pthread_create(&f->tracer, NULL, tracer_main, f);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return sys;
}

enum err freeze_begin(pid_t pid, const pid_t *tids, size_t count, uint64_t deadline_ns,
		      struct freeze **ret, struct error *e)
{
	struct freeze *f = calloc(1, sizeof(*f));
	int sys;

	if (!f)
		return error_set(e, ERR_NOMEM, 0, "no memory");
	f->pid = pid;
	f->count = count;
	f->deadline = deadline_ns;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->changed, NULL);
	f->holds = calloc(count + 1, sizeof(*f->holds));
	if (!f->holds) {
		freeze_free(f);
		return error_set(e, ERR_NOMEM, 0, "no memory");
	}
	for (size_t i = 0; i < count; i++)
		f->holds[i].tid = tids[i];
	sys = start_tracer(f);
	if (sys) {
		freeze_free(f);
		return error_set(e, ERR_SYSTEM, sys, "starting a thread: %s", strerror(sys));
	}
	if (wait_past(f, PHASE_STOPPING) == PHASE_FAILED) {
		enum err err = f->err;

		pthread_join(f->tracer, NULL);
		if (e)
			*e = f->error;
		freeze_free(f);
		return err;
	}
	*ret = f;
	return ERR_OK;
}

const struct user_regs_struct *freeze_registers(const struct freeze *f, pid_t tid)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct hold *h = &f->holds[i];

		if (h->tid == tid && h->state == HOLD_STOPPED)
			return h->registers_read ? &h->registers : NULL;
	}
	return NULL;
}

uint64_t freeze_end(struct freeze *f)
{
	uint64_t stood;

	if (!f)
		return 0;
	set_phase(f, PHASE_RELEASE);
	pthread_join(f->tracer, NULL);
	stood = (f->ended - f->began) / 1000;
	freeze_free(f);
	return stood;
}
