/* SPDX-License-Identifier: Apache-2.0 */
/* See windows.h. */
#include "detect/windows.h"

#include "detect/thread_time.h"

#include <math.h>

static void in_looks(const struct detection *d, window_judge judge, struct windows *w)
{
	for (uint32_t i = d->count; i-- > 0;) {
		const struct model *m = d->looks[i];
		uint32_t row = model_find_loop(m, d->now->loops.v[w->loop].id);
		uint32_t task = NONE, thread = NONE;

		if (row == NONE || !m->snapshot.consistent || !judge(m, row, &task, &thread))
			continue;
		w->looks++;
		if (w->then)
			continue;
		w->then = m;
		w->then_task = task;
		w->then_thread = thread;
	}
}

static void in_watch(const struct detection *d, struct windows *w)
{
	for (uint32_t i = 0; d->watch && i < d->watch->count; i++) {
		const struct window_seen *seen = &d->watch->v[i];

		if (seen->loop != d->now->loops.v[w->loop].id)
			continue;
		w->windows += seen->counts.windows;
		w->samples += seen->counts.samples;
		if (seen->counts.longest > w->longest)
			w->longest = seen->counts.longest;
		if (seen->counts.targets > w->targets)
			w->targets = seen->counts.targets;
		if (seen->counts.ready > w->ready)
			w->ready = seen->counts.ready;
		if (!w->seen || seen->counts.samples > w->seen->counts.samples)
			w->seen = seen;
	}
}

static void set_frame(const struct detection *d, struct windows *w)
{
	w->frame = looks_own_frame(d->now, w->stack);
	if (w->frame == NONE)
		w->frame = looks_innermost(d->now, w->stack);
}

static void actors_of_look(const struct detection *d, struct windows *w)
{
	if (w->then_task != NONE) {
		w->task_name = looks_task_name(&w->then->tasks.v[w->then_task]);
		w->task = model_find_task(d->now, w->then->tasks.v[w->then_task].id);
	}
	if (w->then_thread != NONE) {
		const struct thread *t = &w->then->threads.v[w->then_thread];

		w->thread_name = t->name;
		w->thread = model_find_thread(d->now, t->tid);
		w->stack = looks_stack_now(d, w->then, t->chain);
		set_frame(d, w);
	}
}

static void actors_of_watch(const struct detection *d, struct windows *w)
{
	const struct window_seen *seen = w->seen;

	if (seen->task_name.ptr)
		w->task_name = seen->task_name;
	if (seen->task)
		w->task = model_find_task(d->now, seen->task);
	if (seen->thread)
		w->thread = model_find_thread(d->now, seen->thread);
	if (w->thread != NONE)
		w->thread_name = d->now->threads.v[w->thread].name;
	for (uint32_t i = seen->frame_count; i-- > 0;) {
		const struct frame *f = &seen->frames[i];
		uint32_t row = model_intern_frame(d->now, f->function, f->file, f->line);

		if (row == NONE)
			continue;
		d->now->frames.v[row].library = f->library;
		w->stack = model_push(d->now, w->stack, row);
	}
	set_frame(d, w);
}

bool windows_find(const struct detection *d, uint32_t loop, window_judge judge, struct windows *ret)
{
	struct windows w = {.loop = loop,
			    .then_task = NONE,
			    .then_thread = NONE,
			    .task_name = STR_LIT("?"),
			    .thread_name = STR_LIT("?"),
			    .task = NONE,
			    .thread = NONE,
			    .frame = NONE,
			    .stack = NONE};

	in_looks(d, judge, &w);
	in_watch(d, &w);
	if (!w.looks && !w.seen)
		return false;
	if (w.then)
		actors_of_look(d, &w);
	else
		actors_of_watch(d, &w);
	*ret = w;
	return true;
}

struct str windows_often(const struct detection *d, const struct windows *w)
{
	if (!w->windows)
		return (struct str){0};
	if (w->samples == d->watch->counts.samples)
		return model_printf(d->now, " (all the time for %s)",
				    time_text(fmax(d->watch->counts.seconds, w->longest)).v);
	if (w->windows == 1)
		return model_printf(d->now, " (once in %s)", time_text(d->watch->counts.seconds).v);
	return model_printf(d->now, " (%llu times in %s)", (unsigned long long)w->windows,
			    time_text(d->watch->counts.seconds).v);
}

void windows_say(const struct detection *d, const struct windows *w, uint32_t finding)
{
	struct model *m = d->now;

	m->findings.v[finding].loop = w->loop;
	m->findings.v[finding].task = w->task;
	m->findings.v[finding].thread = w->thread;
	m->findings.v[finding].brief = true;
	evidence_count(m, finding, "looks", w->looks);
	if (d->watch && d->watch->counts.samples) {
		evidence_count(m, finding, "samples", (int64_t)d->watch->counts.samples);
		evidence_count(m, finding, "samples_with_it", (int64_t)w->samples);
		evidence_count(m, finding, "windows", (int64_t)w->windows);
		/* One that no two samples saw was shorter than what is between them. */
		if (w->longest > 0)
			evidence_seconds(m, finding, "longest_s", w->longest);
		evidence_seconds(m, finding, "watched_s", d->watch->counts.seconds);
		if (w->samples)
			evidence_count(m, finding, "ready_in_window", w->ready);
	}
	if (w->frame != NONE)
		evidence_frame(m, finding, "frame", w->frame);
	if (w->stack != NONE)
		evidence_stack(m, finding, "stack", w->stack);
}
