/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of the reads is the proof. First the count of a thread's turns on a CPU, then that it is off the CPU: if the count stands later, it has not been on one in
 * between. Where the kernel counts only the leaving of a CPU, the second look asks again whether the thread is off it, before it reads the count.
 *
 * The list of threads is read before and after: only a thread that runs can start another, and all that are listed were off the CPU.
 */
#include "attach/still.h"

#include "attach/proc_internal.h"
#include "attach/procfile.h"
#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

#define TRIES 3u

/*
 * Not on a CPU, and not about to be: what /proc/PID/task/TID/syscall says of a thread, it says only after the scheduler has put it away (kernel/sched/core.c
 * wait_task_inactive). Without the right to read that, or without the file, the state letter must do; a thread on its way into a sleep shows it a little early.
 */
static bool is_off_cpu(int dir)
{
	struct proc_stat_fields f;
	struct proc_syscall call;
	char text[2048];
	enum err err = proc_syscall_at(dir, &call);

	if (err == ERR_OK)
		return !call.running;
	if (err == ERR_GONE || procfile_read(dir, "stat", text, sizeof(text)) <= 0 ||
	    !proc_parse_stat(text, &f))
		return false;
	return f.state == 'S' || f.state == 'D' || f.state == 'T' || f.state == 't';
}

/* A thread that has ended but is still listed (a main thread before the others) does not run any more. */
static bool has_ended(int dir)
{
	struct proc_stat_fields f;
	char text[2048];

	return procfile_read(dir, "stat", text, sizeof(text)) > 0 && proc_parse_stat(text, &f) &&
	       (f.state == 'Z' || f.state == 'X');
}

static void look(pid_t pid, struct still_thread *t)
{
	auto_close int dir = proc_thread_dir(pid, t->tid);
	struct proc_runs runs;

	t->off_cpu = dir >= 0 && proc_runs_read(dir, &runs) == ERR_OK &&
		     (is_off_cpu(dir) || has_ended(dir));
	if (t->off_cpu)
		t->run_count = runs.count;
}

enum err still_take(pid_t pid, struct still *ret, struct error *e)
{
	struct still s = {0};
	enum err err = ERR_OK;

	for (unsigned i = 0; i < TRIES; i++) {
		auto_free pid_t *before = NULL;
		auto_free pid_t *after = NULL;
		size_t count, count_after;

		still_deinit(&s);
		err = proc_list_tids(pid, &before, &count, e);
		if (err != ERR_OK)
			return err;
		s.v = calloc(count, sizeof(*s.v));
		if (!s.v)
			return error_set(e, ERR_NOMEM, 0, "no memory");
		s.count = count;
		for (size_t n = 0; n < count; n++) {
			s.v[n].tid = before[n];
			look(pid, &s.v[n]);
		}
		err = proc_list_tids(pid, &after, &count_after, e);
		if (err != ERR_OK)
			break;
		if (count == count_after && memcmp(before, after, count * sizeof(*before)) == 0)
			break;
		/* They come and go: what is listed now is the truth, but proves nothing. */
		for (size_t n = 0; n < count; n++)
			s.v[n].off_cpu = false;
	}
	if (err != ERR_OK) {
		still_deinit(&s);
		return err;
	}
	*ret = s;
	return ERR_OK;
}

void still_deinit(struct still *s)
{
	free(s->v);
	*s = (struct still){0};
}

static bool did_run(pid_t pid, const struct still_thread *t)
{
	auto_close int dir = proc_thread_dir(pid, t->tid);
	struct proc_runs now;

	if (!t->off_cpu || dir < 0 || proc_runs_read(dir, &now) != ERR_OK ||
	    now.count != t->run_count)
		return true;
	if (now.exact)
		return false;
	if (!is_off_cpu(dir) && !has_ended(dir))
		return true;
	return proc_runs_read(dir, &now) != ERR_OK || now.count != t->run_count;
}

static struct still_thread *find(const struct still *s, pid_t tid)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->v[middle].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->count && s->v[low].tid == tid ? &s->v[low] : NULL;
}

enum err still_unchanged(pid_t pid, struct still *s, bool *ret, bool *new_threads, struct error *e)
{
	auto_free pid_t *tids = NULL;
	bool unchanged = true, fresh = false;
	size_t count;
	enum err err = proc_list_tids(pid, &tids, &count, e);

	if (err != ERR_OK)
		return err;
	for (size_t i = 0; i < count; i++)
		fresh = fresh || !find(s, tids[i]);
	for (size_t i = 0; i < s->count; i++) {
		s->v[i].ran = did_run(pid, &s->v[i]);
		unchanged = unchanged && !s->v[i].ran;
	}
	if (new_threads)
		*new_threads = fresh;
	*ret = unchanged && !fresh;
	return ERR_OK;
}
