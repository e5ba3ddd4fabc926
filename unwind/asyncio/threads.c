/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of threads: /proc's facts about each, joined with what CPython knows of it: name, stack, its part in the GIL. */
#include "unwind/asyncio/asyncio.h"

#include "attach/syscalls.h"
#include "unwind/facts.h"

#include <string.h>

#define NAME_CHARS   200u
#define OUTER_FRAMES 8u /* of a stack, from the outermost: where threading's own are */

static enum thread_state state_from_letter(char letter)
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

static void add_rows(struct reader *r, const struct thread_facts *facts)
{
	for (size_t i = 0; i < facts->count; i++) {
		const struct proc_thread *thread = &facts->v[i].thread;
		uint32_t row = model_add_thread(r->model, thread->tid);

		if (row == NONE)
			break;
		r->model->threads.v[row].name = model_text(r->model, str_from(thread->name));
		r->model->threads.v[row].state = state_from_letter(thread->state);
		r->model->threads.v[row].times_read = thread->run_ns > 0;
		r->model->threads.v[row].cpu_ns = thread->run_ns;
		r->model->threads.v[row].wait_ns = thread->wait_ns;
		r->model->threads.v[row].run_count = thread->run_count;
	}
}

void threads_add_rows(struct reader *r)
{
	struct thread_facts now = {0};

	if (r->facts)
		add_rows(r, r->facts);
	else if (r->target && thread_facts_take(r->target->pid, &now) == ERR_OK)
		add_rows(r, &now);
	thread_facts_deinit(&now);
}

/* CPython stores the thread's number as its own pid namespace counts; rows are keyed by ours. */
uint32_t threads_find_row(struct reader *r, pid_t namespace_tid)
{
	struct model *m = r->model;

	if (!m->target.container)
		return model_find_thread(m, namespace_tid);
	for (uint32_t i = 0; r->target && i < m->threads.count; i++) {
		if (proc_namespace_tid(r->target->pid, m->threads.v[i].tid) == namespace_tid)
			return i;
	}
	return NONE;
}

void threads_name(struct asyncio *a, const struct thread_ref *ref)
{
	struct reader *r = a->r;

	for (uint32_t n = 0; ref->row != NONE && n < ref->frame_count && n < OUTER_FRAMES; n++) {
		const struct frame_walk *f = &ref->frames[ref->frame_count - 1 - n];
		struct str name = {0};
		vaddr thread, text;

		if (!str_is(f->info->qualname, "Thread._bootstrap_inner"))
			continue;
		if (frame_local(r, f->at, f->info, "self", &thread) == ERR_OK && thread &&
		    attr_get(r, thread, "_name", &text) == ERR_OK && text &&
		    object_str(r, text, NAME_CHARS, &r->model->text, &name, NULL) == ERR_OK &&
		    name.len)
			r->model->threads.v[ref->row].name = name;
		return;
	}
}

/* A thread that runs code of a subinterpreter has a state in its own interpreter too, with the frames that called. Numbers only grow. */
void threads_place(struct asyncio *a, const struct thread_ref *ref, uint32_t interpreter)
{
	struct thread *row = ref->row == NONE ? NULL : &a->r->model->threads.v[ref->row];

	if (!row)
		return;
	if (row->interpreter == NONE ||
	    (ref->frame_count && a->interps[interpreter].id > a->interps[row->interpreter].id))
		row->interpreter = interpreter;
}

/* One more call of the evaluation loop in a thread, without a frame yet. */
static enum err add_eval(struct reader *r, uint32_t row, vaddr inside)
{
	struct eval_calls *e = r->evals;

	if (e->count == e->room) {
		uint32_t room = e->room ? 2 * e->room : 64;
		struct eval_call *v = arena_alloc(r->scratch, room * sizeof(*v));

		if (!v)
			return ERR_NOMEM;
		if (e->count)
			memcpy(v, e->v, e->count * sizeof(*v));
		e->v = v;
		e->room = room;
	}
	e->v[e->count++] = (struct eval_call){.thread = row, .inside = inside};
	return ERR_OK;
}

/* Called for the older interpreters first: the frames of a newer one go below those that entered it. */
static enum err fill_stack(struct asyncio *a, const struct thread_ref *ref)
{
	struct eval_calls *evals = a->r->evals;
	uint32_t node = a->r->model->threads.v[ref->row].chain;
	enum err err = ERR_OK;

	for (uint32_t f = ref->frame_count; f > 0 && err == ERR_OK; f--) {
		const struct frame_walk *frame = &ref->frames[f - 1];

		if (evals && (frame->entry || f == ref->frame_count))
			err = add_eval(a->r, ref->row, frame->entry);
		if (evals && err == ERR_OK)
			evals->v[evals->count - 1].frames++;
		node = walk_push(a->r, node, frame);
	}
	a->r->model->threads.v[ref->row].chain = node;
	return err;
}

static void fill_call(struct reader *r, struct thread *row, const struct proc_syscall *call)
{
	row->syscall = syscall_name(call, &r->model->text);
	row->syscall_text = syscall_describe(call, r->target, &r->model->text);
	row->events_timeout = syscall_events_timeout(call, r->target);
	/* Listed as asleep, then seen running, or the other way round: the later look counts. */
	if (call->running && row->state == THREAD_SLEEPING)
		row->state = THREAD_RUNNING;
	else if (row->syscall.ptr && row->state == THREAD_RUNNING && !r->facts)
		row->state = THREAD_SLEEPING;
}

bool threads_call(struct reader *r, pid_t tid, struct proc_syscall *ret)
{
	if (!r->facts)
		return r->target && proc_syscall_read(r->target->pid, tid, ret) == ERR_OK;
	for (size_t i = 0; i < r->facts->count; i++) {
		if (r->facts->v[i].thread.tid == tid) {
			*ret = r->facts->v[i].call;
			return r->facts->v[i].call_known;
		}
	}
	return false;
}

/* The GIL's words, by interpreter. */
struct gil {
	struct gil_walk walk;
	bool known;
};

static void fill_gil(struct asyncio *a, const struct gil *gils, const struct thread_ref *ref,
		     const struct proc_syscall *call)
{
	struct thread *row = &a->r->model->threads.v[ref->row];
	const struct gil *gil = NULL;
	vaddr sleeps_on = call ? syscall_futex_address(call) : 0;

	for (uint32_t i = 0; i < a->interp_count; i++) {
		if (a->interps[i].at == ref->walk.interp)
			gil = &gils[i];
	}
	if (!gil || !gil->known || row->gil == GIL_HOLDING)
		return;
	if (gil->walk.holder == ref->walk.at)
		row->gil = GIL_HOLDING;
	else if (sleeps_on >= gil->walk.at && sleeps_on - gil->walk.at < gil->walk.size)
		row->gil = GIL_WAITING;
	else if (row->gil == GIL_UNKNOWN)
		row->gil = GIL_NONE;
}

static const struct thread_ref *holder_of(const struct asyncio *a, vaddr state)
{
	for (uint32_t i = 0; state && i < a->thread_count; i++) {
		if (a->threads[i].walk.at == state)
			return &a->threads[i];
	}
	return NULL;
}

static enum err read_gils(struct asyncio *a, struct gil **ret)
{
	struct model *m = a->r->model;
	struct gil *gils = arena_alloc(a->r->scratch, (a->interp_count + 1ul) * sizeof(*gils));

	if (!gils)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < a->interp_count; i++) {
		struct interpreter *row = &m->interpreters.v[i];
		const struct thread_ref *holder;

		gils[i].known = gil_read(a->r, &a->interps[i], &gils[i].walk) == ERR_OK;
		holder = holder_of(a, gils[i].walk.holder);
		/* Held by a thread state that is in no list: being made or ended. */
		gils[i].known &= !gils[i].walk.holder || holder;
		row->gil_read = gils[i].known;
		row->gil_switches = gils[i].walk.switches;
		row->gil_holder = holder && holder->row != NONE ? m->threads.v[holder->row].tid : 0;
	}
	*ret = gils;
	return ERR_OK;
}

enum err threads_fill(struct asyncio *a)
{
	struct model *m = a->r->model;
	struct proc_syscall *calls =
		arena_alloc(a->r->scratch, (m->threads.count + 1ul) * sizeof(*calls));
	bool *known = arena_alloc(a->r->scratch, m->threads.count + 1ul);
	struct gil *gils;
	enum err err = calls && known ? read_gils(a, &gils) : ERR_NOMEM;

	if (err != ERR_OK)
		return err;
	for (uint32_t i = 0; i < m->threads.count; i++) {
		known[i] = threads_call(a->r, m->threads.v[i].tid, &calls[i]);
		if (known[i])
			fill_call(a->r, &m->threads.v[i], &calls[i]);
	}
	/* The runtime lists the newest interpreter first. */
	for (uint32_t i = a->thread_count; i > 0; i--) {
		const struct thread_ref *ref = &a->threads[i - 1];

		if (ref->row == NONE)
			continue;
		err = fill_stack(a, ref);
		if (err != ERR_OK)
			return err;
		fill_gil(a, gils, ref, known[ref->row] ? &calls[ref->row] : NULL);
	}
	/* A thread without a thread state is none of Python's. */
	for (uint32_t i = 0; i < m->threads.count && !m->threads_truncated; i++) {
		if (m->threads.v[i].interpreter == NONE)
			m->threads.v[i].gil = GIL_NONE;
	}
	return ERR_OK;
}
