/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's counters first: they cost little and tell most. Only a process that ran, but hardly, is looked into. */
#include "cmd/run_stall.h"

#include "attach/proc.h"
#include "base/cleanup.h"
#include "cmd/read.h"
#include "cmd/run_tree.h"
#include "model/digest.h"

#include <stdlib.h>
#include <unistd.h>

/* Below this share of a CPU a process only wakes up and sleeps again. */
#define IDLE_SHARE 0.01

struct stall_row {
	struct process_below process;
	uint64_t cpu_ns, runs;
	uint64_t digest; /* what it looked like, where digested */
	bool digested;
};

void stall_init(struct stall *s, const struct cli *cli, uint64_t now_ns)
{
	*s = (struct stall){.cli = cli, .checked_ns = now_ns, .moved_ns = now_ns};
}

void stall_deinit(struct stall *s)
{
	free(s->rows);
	s->rows = NULL;
	s->count = 0;
}

void stall_forget(struct stall *s, uint64_t now_ns)
{
	stall_deinit(s);
	s->checked_ns = s->moved_ns = now_ns;
}

uint64_t stall_interval(const struct cli *cli)
{
	double seconds = cli->stall_seconds / 10;

	return (uint64_t)((seconds < 0.1 ? 0.1 : seconds > 1 ? 1 : seconds) * 1e9);
}

/* CPU time, and how often its threads ran; false where it has gone. */
static bool count_runs(struct stall_row *row)
{
	auto_free struct proc_thread *threads = NULL;
	size_t count = 0;

	if (proc_threads(row->process.pid, &threads, &count, NULL) != ERR_OK)
		return false;
	row->cpu_ns = row->runs = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t ticks = threads[i].user_ticks + threads[i].system_ticks;

		row->cpu_ns += threads[i].run_ns
				       ? threads[i].run_ns
				       : ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
		row->runs += threads[i].run_count;
	}
	return true;
}

/* Where it can't be looked at, its CPU time has to tell. */
static bool digest_process(const struct cli *cli, struct stall_row *row)
{
	struct cli looking = *cli;
	struct error e = {0};
	struct model *m = NULL;

	looking.threads = looking.loop = true;
	row->digested = read_process(&looking, row->process.pid, &m, &e) == ERR_OK;
	if (row->digested)
		row->digest = model_digest(m);
	model_destroy(m);
	return row->digested;
}

static bool same_process(const struct process_below *a, const struct process_below *b)
{
	return a->pid == b->pid && a->start_time == b->start_time && a->program == b->program;
}

/* `row` as it is now against what it was. */
static bool has_moved(const struct stall *s, struct stall_row *row, const struct stall_row *was,
		      uint64_t passed_ns)
{
	row->digest = was->digest;
	row->digested = was->digested;
	if (row->runs == was->runs && row->cpu_ns == was->cpu_ns)
		return false;
	if ((double)(row->cpu_ns - was->cpu_ns) > IDLE_SHARE * (double)passed_ns) {
		row->digested = false;
		return true;
	}
	if (!digest_process(s->cli, row))
		return false;
	return !was->digested || row->digest != was->digest;
}

static int by_pid(const void *a, const void *b)
{
	const struct stall_row *x = a, *y = b;

	return (x->process.pid > y->process.pid) - (x->process.pid < y->process.pid);
}

/* All processes with their counters; false where there is no memory. */
static bool take_rows(struct stall_row **ret, size_t *count_ret)
{
	auto_free struct process_below *below = NULL;
	struct stall_row *rows;
	size_t found = 0, count = 0;

	if (processes_below(&below, &found) != ERR_OK)
		return false;
	rows = calloc(found + 1, sizeof(*rows));
	if (!rows)
		return false;
	for (size_t i = 0; i < found; i++) {
		rows[count] = (struct stall_row){.process = below[i]};
		count += count_runs(&rows[count]);
	}
	qsort(rows, count, sizeof(*rows), by_pid);
	*ret = rows;
	*count_ret = count;
	return true;
}

static bool rows_moved(const struct stall *s, struct stall_row *rows, size_t count,
		       uint64_t passed_ns)
{
	bool moved = count != s->count;

	for (size_t i = 0; i < count; i++) {
		const struct stall_row *was =
			s->count ? bsearch(&rows[i], s->rows, s->count, sizeof(*rows), by_pid)
				 : NULL;

		if (!was || !same_process(&was->process, &rows[i].process))
			moved = true;
		else if (has_moved(s, &rows[i], was, passed_ns))
			moved = true;
	}
	return moved;
}

static bool any_python(const struct stall *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct error e = {0};
		struct opened o;

		if (process_open(s->cli, s->rows[i].process.pid, &o, &e) == ERR_OK) {
			process_close(&o);
			return true;
		}
	}
	return false;
}

bool stall_check(struct stall *s, uint64_t now_ns)
{
	struct stall_row *rows;
	size_t count;

	if (!take_rows(&rows, &count))
		return false;
	if (rows_moved(s, rows, count, now_ns - s->checked_ns))
		s->moved_ns = now_ns;
	free(s->rows);
	s->rows = rows;
	s->count = count;
	s->checked_ns = now_ns;
	if ((double)(now_ns - s->moved_ns) / 1e9 < s->cli->stall_seconds)
		return false;
	if (any_python(s))
		return true;
	s->moved_ns = now_ns;
	return false;
}
