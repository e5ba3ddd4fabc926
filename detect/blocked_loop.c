/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocked-loop: one callback holds the loop's thread. That it is the same one in several looks is proven by the loop's own count of turns and callbacks, or, for
 * loops that keep none which can be read, by the thread's not having run at all. A thread that could not work for want of a CPU or of the GIL, or that stands
 * stopped, is no fault of its callback's.
 */
#include "detect/detectors.h"

#include "detect/looks.h"
#include "detect/thread_time.h"

#include <math.h>

/* What is known of the callback that runs now. */
struct held {
	const struct loop *loop;
	const struct thread *thread;
	uint32_t first; /* the oldest look that shows it */
	struct thread_time time; /* of the thread, from that look on */
	double seconds; /* it has run at least so long */
	double most; /* and at most so long; NAN: not known */
	bool exact; /* `seconds` is its age */
	bool on_cpu;
};

/* The same callback of the same turn. */
static bool same_turn(const struct model *a, const struct loop *x, const struct model *b,
		      const struct loop *y)
{
	return x->running != NONE && y->running != NONE && x->turn_index >= 0 &&
	       x->turn_index == y->turn_index && x->turn_since == y->turn_since &&
	       a->handles.v[x->running].id == b->handles.v[y->running].id;
}

static bool sleeps(const struct thread *t)
{
	return (t->state == THREAD_SLEEPING || t->state == THREAD_DISK) &&
	       !thread_waits_for_memory(t) && t->gil != GIL_WAITING;
}

/* The thread slept in the one look and the other, in the same call, and did not run in between. */
static bool never_ran(const struct thread *a, const struct thread *b)
{
	return sleeps(a) && sleeps(b) && a->run_count && a->run_count == b->run_count;
}

static bool same_callback(const struct detection *d, uint32_t look, const struct held *h)
{
	const struct loop *before = looks_loop(d, look, h->loop);
	const struct thread *thread = looks_thread(d, look, h->thread);

	if (!before || !thread || !looks_running(before) || before->thread == NONE ||
	    &d->looks[look]->threads.v[before->thread] != thread || thread->state == THREAD_STOPPED)
		return false;
	return same_turn(d->looks[look], before, d->now, h->loop) || never_ran(thread, h->thread);
}

/* How much of the time that the callback is known to run counts against it. */
static bool is_too_long(const struct detection *d, const struct held *h)
{
	double own = thread_time_own(&h->time), share;

	if (own >= d->limits.blocked_after)
		return true;
	/* Its age is known: as it was in this window, so it was before. */
	share = h->time.seconds > 0 ? own / h->time.seconds : 0;
	return h->exact && h->seconds * share >= d->limits.blocked_after;
}

static bool find_held(const struct detection *d, const struct loop *l, struct held *ret)
{
	struct held h = {.loop = l, .first = d->count - 1, .most = NAN};
	const struct loop *then;

	if (l->thread == NONE || !looks_running(l))
		return false;
	h.thread = &d->now->threads.v[l->thread];
	while (h.first > 0 && same_callback(d, h.first - 1, &h))
		h.first--;
	if (h.first == d->count - 1 || h.thread->state == THREAD_STOPPED ||
	    !thread_time_read(d, h.first, h.thread->tid, &h.time))
		return false;
	h.seconds = h.time.seconds;
	then = looks_loop(d, h.first, l);
	if (then && same_turn(d->looks[h.first], then, d->now, l)) {
		h.most = l->time - l->turn_since;
		h.exact = l->turn_index == 0 && h.most >= h.seconds;
	}
	if (h.exact)
		h.seconds = h.most;
	/* Of the time in which it could run, it ran at least half. */
	h.on_cpu = h.time.counted ? h.time.cpu * 2 >= h.time.seconds - h.time.starved
				  : !h.time.asleep;
	*ret = h;
	return is_too_long(d, &h);
}

/* The call that it slept in, as the looks say; one that was interrupted by a stop has lost its name. */
static struct str system_call(const struct detection *d, const struct held *h)
{
	struct str any = {0};

	for (uint32_t i = d->count; i-- > h->first;) {
		const struct thread *t = looks_thread(d, i, h->thread);

		if (!t || !sleeps(t))
			continue;
		any = t->syscall_text.ptr ? t->syscall_text : t->syscall;
		if (!str_is(t->syscall, "restart_syscall"))
			break;
	}
	return any;
}

/* The innermost frame of the user's own that the callback runs, not one that runs the loop. */
static uint32_t own_frame(const struct model *m, uint32_t chain)
{
	for (; chain != NONE; chain = m->chains.v[chain].outer) {
		uint32_t row = m->chains.v[chain].frame;
		const struct frame *f = &m->frames.v[row];

		if (f->library && str_ends_with(f->function, "Handle._run"))
			return NONE;
		if (looks_is_own(f))
			return row;
	}
	return NONE;
}

/* "task fetch-3", "callback Server.tick" */
static struct str subject(struct model *m, const struct held *h)
{
	const struct loop *l = h->loop;

	if (l->current_task != NONE) {
		struct str name = looks_task_name(&m->tasks.v[l->current_task]);

		return model_printf(m, "task %.*s", STR_ARG(name));
	}
	if (l->running != NONE && m->handles.v[l->running].callback.ptr)
		return model_printf(m, "callback %.*s", STR_ARG(m->handles.v[l->running].callback));
	return STR_LIT("a callback");
}

/* " in create_connection (socket.py:836), called from fetch (app.py:7)": the innermost frame, and the user's where that is another. */
static struct str places(struct model *m, uint32_t own, uint32_t innermost)
{
	const struct frame *f;
	struct str at, own_at;

	if (innermost == NONE)
		return STR_LIT("");
	f = &m->frames.v[innermost];
	at = looks_place(m, innermost);
	if (own == NONE || own == innermost)
		return model_printf(m, " in %.*s (%.*s)", STR_ARG(f->function), STR_ARG(at));
	own_at = looks_place(m, own);
	return model_printf(m, " in %.*s (%.*s), called from %.*s (%.*s)", STR_ARG(f->function),
			    STR_ARG(at), STR_ARG(m->frames.v[own].function), STR_ARG(own_at));
}

static void add_evidence(const struct detection *d, uint32_t f, const struct held *h,
			 struct str call)
{
	struct model *m = d->now;
	const struct loop *l = h->loop;

	if (l->running != NONE && m->handles.v[l->running].callback.ptr)
		evidence_text(m, f, "callback", "%.*s", STR_ARG(m->handles.v[l->running].callback));
	evidence_seconds(m, f, "blocked_for_s", h->seconds);
	if (!h->exact && isfinite(h->most))
		evidence_seconds(m, f, "at_most_s", h->most);
	evidence_flag(m, f, "on_cpu", h->on_cpu);
	if (!h->on_cpu && call.ptr)
		evidence_text(m, f, "system_call", "%.*s", STR_ARG(call));
	if (h->time.counted && h->time.seconds > 0)
		evidence_count(m, f, "cpu_percent",
			       (int64_t)(100 * h->time.cpu / h->time.seconds + 0.5));
	if (h->thread->gil == GIL_HOLDING)
		evidence_flag(m, f, "holds_gil", true);
}

static void add_places(struct model *m, uint32_t f, const struct held *h, uint32_t chain,
		       uint32_t own)
{
	evidence_frame(m, f, "where", looks_innermost(m, chain));
	evidence_frame(m, f, "own_frame", own);
	evidence_stack(m, f, "stack", chain);
	if (h->thread->native == NONE)
		return;
	evidence_frame(m, f, "native_function", looks_innermost(m, h->thread->native));
	evidence_stack(m, f, "native", h->thread->native);
}

static void say(const struct detection *d, uint32_t loop, const struct held *h)
{
	struct model *m = d->now;
	const struct loop *l = h->loop;
	uint32_t f = finding_add(m, "blocked-loop", SEVERITY_CRITICAL);
	uint32_t task_chain = l->current_task == NONE ? NONE : m->tasks.v[l->current_task].chain;
	uint32_t chain = task_chain == NONE ? h->thread->chain : task_chain;
	uint32_t own = own_frame(m, chain);
	struct str call = system_call(d, h), who = subject(m, h);
	struct str where = places(m, own, looks_innermost(m, chain));
	struct str waits_in = {0};

	if (f == NONE)
		return;
	if (!h->on_cpu)
		waits_in = call;
	m->findings.v[f].loop = loop;
	m->findings.v[f].task = l->current_task;
	m->findings.v[f].thread = l->thread;
	for (uint32_t i = h->first; i < d->count; i++)
		m->findings.v[f].certain &= d->looks[i]->snapshot.consistent;
	finding_summary(m, f, "%.*s has held the loop's thread for %s%s%.*s, %s%.*s", STR_ARG(who),
			h->exact ? "" : "at least ", time_text(h->seconds).v, STR_ARG(where),
			h->on_cpu  ? "on the CPU"
			: call.ptr ? "asleep in "
				   : "asleep",
			STR_ARG(waits_in));
	add_evidence(d, f, h, call);
	add_places(m, f, h, chain, own);
	if (h->on_cpu)
		finding_advice(
			m, f,
			"hand the work to a thread or a process (loop.run_in_executor), or split it with awaits in between: no other task of the loop runs until it returns");
	else
		finding_advice(
			m, f,
			"make the call in a thread (asyncio.to_thread), or use one that is awaited: no other task of the loop runs until it returns");
	m->loops.v[loop].state = LOOP_BLOCKED;
}

enum err detect_blocked_loop(struct detection *d)
{
	struct held h;

	for (uint32_t i = 0; i < d->now->loops.count; i++) {
		if (find_held(d, &d->now->loops.v[i], &h))
			say(d, i, &h);
	}
	return ERR_OK;
}
