/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gil-starved: the loop's thread waits for the GIL and one other thread keeps it. That nobody else had it meanwhile is proven by the GIL's own count of switches.
 * Threads that share it hand it over every few milliseconds; a holder that had no CPU, or stands stopped, could not.
 */
#include "detect/detectors.h"

#include "detect/looks.h"
#include "detect/thread_time.h"

struct starved {
	const struct thread *thread; /* the loop's */
	const struct thread *holder;
	uint32_t first; /* the oldest look that shows it waiting for this holder */
	struct thread_time holder_time; /* from that look on */
};

static const struct interpreter *gil_of(const struct model *m, const struct thread *t)
{
	const struct interpreter *i = t->interpreter == NONE ? NULL
							     : &m->interpreters.v[t->interpreter];

	return i && i->gil_read && i->gil_holder ? i : NULL;
}

/* Between that look and the newest one the GIL went to nobody. */
static bool is_kept_since(const struct detection *d, uint32_t look, const struct starved *s)
{
	const struct thread *then = looks_thread(d, look, s->thread);
	const struct interpreter *now = gil_of(d->now, s->thread),
				 *before = then ? gil_of(d->looks[look], then) : NULL;

	return now && before && before->id == now->id && before->gil_holder == now->gil_holder &&
	       before->gil_switches == now->gil_switches;
}

/* A thread that waits wakes up every few milliseconds to ask for the GIL: not every look sees it asleep. But it never gives up. */
static bool find_starved(const struct detection *d, const struct loop *l, struct starved *ret)
{
	struct starved s = {.first = d->count};
	const struct interpreter *gil;
	uint32_t holder, waits = 0, look = d->count;

	if (l->thread == NONE)
		return false;
	s.thread = &d->now->threads.v[l->thread];
	gil = gil_of(d->now, s.thread);
	holder = gil ? model_find_thread(d->now, gil->gil_holder) : NONE;
	if (holder == NONE || holder == l->thread)
		return false;
	s.holder = &d->now->threads.v[holder];
	while (look-- > 0 && is_kept_since(d, look, &s)) {
		if (looks_thread(d, look, s.thread)->gil != GIL_WAITING)
			continue;
		s.first = look;
		waits++;
	}
	if (waits < 2 || !thread_time_read(d, s.first, s.holder->tid, &s.holder_time))
		return false;
	*ret = s;
	return thread_time_own(&s.holder_time) >= d->limits.blocked_after;
}

/* "thread 1234 (worker)" */
static struct str thread_words(struct model *m, const struct thread *t)
{
	if (!t->name.ptr || !t->name.len)
		return model_printf(m, "thread %d", (int)t->tid);
	return model_printf(m, "thread %d (%.*s)", (int)t->tid, STR_ARG(t->name));
}

/* " in digs (app.py:7)"; empty where it runs no Python code. */
static struct str where(struct model *m, uint32_t frame)
{
	struct str place = looks_place(m, frame);

	if (frame == NONE)
		return STR_LIT("");
	return model_printf(m, " in %.*s (%.*s)", STR_ARG(m->frames.v[frame].function),
			    STR_ARG(place));
}

static void say(const struct detection *d, uint32_t loop, const struct starved *s)
{
	struct model *m = d->now;
	uint32_t f = finding_add(m, "gil-starved", SEVERITY_WARNING), frame;
	struct str who = thread_words(m, s->holder), at;

	if (f == NONE)
		return;
	frame = looks_innermost(m, s->holder->chain);
	at = where(m, frame);
	m->findings.v[f].loop = loop;
	m->findings.v[f].task = m->loops.v[loop].current_task;
	m->findings.v[f].thread = m->loops.v[loop].thread;
	finding_summary(
		m, f, "the loop's thread has waited for the GIL for at least %s: %.*s keeps it%.*s",
		time_text(s->holder_time.seconds).v, STR_ARG(who), STR_ARG(at));
	evidence_seconds(m, f, "waited_for_s", s->holder_time.seconds);
	evidence_count(m, f, "holder_tid", s->holder->tid);
	if (s->holder->name.ptr)
		evidence_text(m, f, "holder_name", "%.*s", STR_ARG(s->holder->name));
	evidence_frame(m, f, "holder_frame", frame);
	evidence_frame(m, f, "holder_own_frame", looks_own_frame(m, s->holder->chain));
	evidence_stack(m, f, "holder_stack", s->holder->chain);
	if (s->holder->syscall_text.ptr)
		evidence_text(m, f, "holder_system_call", "%.*s", STR_ARG(s->holder->syscall_text));
	finding_advice(
		m, f,
		"look at the native code that the holder calls: it should release the GIL around long work, or run in another process");
}

enum err detect_gil_starved(struct detection *d)
{
	struct starved s;

	for (uint32_t i = 0; i < d->now->loops.count; i++) {
		if (find_starved(d, &d->now->loops.v[i], &s))
			say(d, i, &s);
	}
	return ERR_OK;
}
