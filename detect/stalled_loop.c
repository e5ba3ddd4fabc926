/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stalled-loop: a callback stands in _ready while the loop sleeps in its selector. A loop that polls has nothing ready; what is there then came from another
 * thread, which should have woken the loop and did not. The loop's own turn would have taken the handle out of the queue: as long as it stands there, no turn was
 * made, however often the thread woke in between (a stop makes it wake).
 */
#include "detect/detectors.h"

#include "base/cleanup.h"
#include "detect/looks.h"
#include "detect/thread_time.h"

#include <math.h>
#include <stdlib.h>

#define WAKES_PER_LOOK 16u /* of the loop's thread, by stops of ours */

/* Some thread is between the queue and the self-pipe: it has put a callback there, and is about to wake the loop. */
static bool is_being_woken(const struct model *m)
{
	for (uint32_t i = 0; i < m->threads.count; i++) {
		for (uint32_t c = m->threads.v[i].chain; c != NONE; c = m->chains.v[c].outer) {
			const struct frame *f = &m->frames.v[m->chains.v[c].frame];

			if (f->library && (str_ends_with(f->function, ".call_soon_threadsafe") ||
					   str_ends_with(f->function, "._add_callback_signalsafe")))
				return true;
		}
	}
	return false;
}

static bool is_asleep(const struct model *m, const struct loop *l)
{
	const struct thread *t = &m->threads.v[l->thread];

	return l->state == LOOP_POLLING && t->state == THREAD_SLEEPING && t->gil != GIL_WAITING;
}

/* In the selector's call, if perhaps awake for a moment: after a stop the call goes on. */
static bool in_selector(const struct model *m, const struct loop *l)
{
	uint32_t frame;

	if (!l->inner_read || l->thread == NONE || l->running != NONE || l->current_task != NONE)
		return false;
	frame = looks_innermost(m, m->threads.v[l->thread].chain);
	return frame != NONE && str_ends_with(m->frames.v[frame].function, ".select");
}

/* Id of the handle at that place of the queue; 0: none, or cancelled. */
static vaddr waiting_at(const struct model *m, const struct loop *l, uint32_t place)
{
	const struct handle *h = place < l->ready_rows ? &m->handles.v[l->ready_first + place]
						       : NULL;

	return h && !h->cancelled ? h->id : 0;
}

/* The loop was in its selector in every look, asleep in most, and hardly woke in between. */
static bool slept(const struct detection *d, const struct loop *l)
{
	struct thread_time time;
	uint32_t asleep = 0;

	for (uint32_t i = 0; i < d->count; i++) {
		const struct loop *then = looks_loop(d, i, l);

		if (!then || !in_selector(d->looks[i], then) || is_being_woken(d->looks[i]))
			return false;
		asleep += is_asleep(d->looks[i], then);
	}
	return asleep * 2 > d->count &&
	       thread_time_read(d, 0, d->now->threads.v[l->thread].tid, &time) && !time.stopped &&
	       time.runs <= WAKES_PER_LOOK * d->count;
}

/* Rows of the handles that stood in all looks, in order. Nothing is taken out of the queue, so each keeps its place. */
static uint32_t collect(const struct detection *d, const struct loop *l, uint32_t *rows)
{
	uint32_t count = 0;

	for (uint32_t place = 0; place < l->ready_rows; place++) {
		vaddr id = waiting_at(d->now, l, place);
		bool stood = id != 0;

		for (uint32_t i = 0; i + 1 < d->count && stood; i++)
			stood = waiting_at(d->looks[i], looks_loop(d, i, l), place) == id;
		if (stood)
			rows[count++] = l->ready_first + place;
	}
	return count;
}

static struct str words(struct model *m, const struct handle *h)
{
	if (h->task != NONE) {
		struct str name = looks_task_name(&m->tasks.v[h->task]);

		return model_printf(m, "%s of task %.*s",
				    h->kind == HANDLE_TASK_WAKEUP ? "the wake-up" : "a step",
				    STR_ARG(name));
	}
	return h->callback.ptr ? h->callback : STR_LIT("a callback");
}

/* When the loop wakes by itself: its first timer, cancelled or not. INFINITY: never. */
static double wakes_in(const struct model *m, const struct loop *l)
{
	double first = INFINITY;

	for (uint32_t i = 0; i < l->timers_rows; i++) {
		double in = m->handles.v[l->timers_first + i].due - l->time;

		if (in < first)
			first = in;
	}
	return first;
}

static void say(const struct detection *d, uint32_t loop, const uint32_t *rows, uint32_t count)
{
	struct model *m = d->now;
	const struct loop *l = &m->loops.v[loop];
	const struct handle *h = &m->handles.v[rows[0]];
	const struct thread *t = &m->threads.v[l->thread];
	uint32_t f = finding_add(m, "stalled-loop", SEVERITY_CRITICAL);
	struct str what = words(m, h);
	double wakes = wakes_in(m, l);

	if (f == NONE)
		return;
	m->findings.v[f].loop = loop;
	m->findings.v[f].task = h->task;
	m->findings.v[f].thread = l->thread;
	m->findings.v[f].certain = looks_consistent(d);
	if (count == 1)
		finding_summary(
			m, f,
			"%.*s has waited in the ready queue for at least %s while its loop sleeps: nothing woke the loop",
			STR_ARG(what), time_text(looks_span(d)).v);
	else
		finding_summary(
			m, f,
			"%u callbacks have waited in the ready queue for at least %s while their loop sleeps, %.*s first: nothing woke the loop",
			count, time_text(looks_span(d)).v, STR_ARG(what));
	evidence_handles(m, f, "waiting", rows, count);
	evidence_seconds(m, f, "waiting_for_s", looks_span(d));
	if (h->source != NONE)
		evidence_frame(m, f, "scheduled_at", h->source);
	if (t->syscall_text.ptr)
		evidence_text(m, f, "system_call", "%.*s", STR_ARG(t->syscall_text));
	if (isfinite(wakes))
		evidence_seconds(m, f, "next_timer_s", wakes);
	finding_advice(
		m, f,
		"from other threads and from signal handlers use loop.call_soon_threadsafe or asyncio.run_coroutine_threadsafe: call_soon, create_task and Future.set_result do not wake the loop");
	m->loops.v[loop].state = LOOP_STALLED;
}

enum err detect_stalled_loop(struct detection *d)
{
	for (uint32_t i = 0; i < d->now->loops.count; i++) {
		const struct loop *l = &d->now->loops.v[i];
		auto_free uint32_t *rows = NULL;
		uint32_t count;

		if (!l->ready_rows || d->count < 2 || !slept(d, l))
			continue;
		rows = calloc(l->ready_rows, sizeof(*rows));
		if (!rows)
			return ERR_NOMEM;
		count = collect(d, l, rows);
		if (count)
			say(d, i, rows, count);
	}
	return ERR_OK;
}
