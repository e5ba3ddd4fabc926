/* SPDX-License-Identifier: Apache-2.0 */
/* See thread_time.h. */
#include "detect/thread_time.h"

#include <stdio.h>

bool thread_waits_for_memory(const struct thread *t)
{
	static const char *const calls[] = {"mmap",	"munmap", "mremap",
					    "mprotect", "brk",	  "madvise"};

	if (!t->syscall.ptr)
		return true;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (str_is(t->syscall, calls[i]))
			return true;
	}
	return false;
}

static void count_look(struct thread_time *ret, const struct thread *t)
{
	ret->looks++;
	if (t->state == THREAD_STOPPED || t->state == THREAD_ZOMBIE)
		ret->stopped++;
	else if (t->gil == GIL_WAITING)
		ret->wants_gil++;
	else if (t->state == THREAD_RUNNING || thread_waits_for_memory(t))
		ret->on_cpu++;
	else
		ret->asleep++;
}

static double seconds_between(uint64_t before_ns, uint64_t after_ns)
{
	return after_ns > before_ns ? (double)(after_ns - before_ns) / 1e9 : 0;
}

/* Seconds from that look to the next in which the thread may have run: without those for which all were stopped. */
static double span(const struct detection *d, uint32_t look)
{
	const struct snapshot_info *a = &d->looks[look]->snapshot;
	double seconds = d->looks[look + 1]->snapshot.monotonic - a->monotonic;

	seconds -= (double)a->paused_us / 1e6;
	return seconds > 0 ? seconds : 0;
}

/*
 * Ready to run in both looks, and it did not. What it waits then is counted in wait_ns only when it gets a CPU (sched_info_arrive of
 * kernel/sched/stats.h).
 */
static bool waits_for_cpu(const struct thread *a, const struct thread *b)
{
	return a->times_read && b->times_read && a->state == THREAD_RUNNING &&
	       b->state == THREAD_RUNNING && a->run_count == b->run_count &&
	       a->cpu_ns == b->cpu_ns && a->wait_ns == b->wait_ns;
}

bool thread_time_read(const struct detection *d, uint32_t from, pid_t tid, struct thread_time *ret)
{
	struct thread_time time = {0};
	const struct thread *first = NULL, *last = NULL;
	double uncounted = 0;

	for (uint32_t i = from; i < d->count; i++) {
		const struct model *m = d->looks[i];
		uint32_t row = model_find_thread(m, tid);
		const struct thread *t;

		if (row == NONE)
			return false;
		t = &m->threads.v[row];
		count_look(&time, t);
		if (last) {
			time.seconds += span(d, i - 1);
			uncounted = waits_for_cpu(last, t) ? uncounted + span(d, i - 1) : 0;
		} else {
			first = t;
		}
		last = t;
	}
	if (!first)
		return false;
	time.counted = first->times_read && last->times_read;
	time.cpu = seconds_between(first->cpu_ns, last->cpu_ns);
	time.starved = seconds_between(first->wait_ns, last->wait_ns) + uncounted;
	time.runs = last->run_count - first->run_count;
	*ret = time;
	return true;
}

double thread_time_own(const struct thread_time *t)
{
	double own = t->cpu;

	if (t->stopped)
		return 0;
	if (t->asleep && !t->wants_gil)
		own = t->counted || !t->on_cpu ? t->seconds - t->starved : 0;
	if (own > t->seconds)
		own = t->seconds;
	return own > 0 ? own : 0;
}

struct time_text time_text(double seconds)
{
	struct time_text t;

	if (seconds >= 600)
		snprintf(t.v, sizeof(t.v), "%.0f min", seconds / 60);
	else
		snprintf(t.v, sizeof(t.v),
			 seconds < 10	 ? "%.2f s"
			 : seconds < 100 ? "%.1f s"
					 : "%.0f s",
			 seconds);
	return t;
}
