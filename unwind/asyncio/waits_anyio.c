/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for anyio's own primitives on asyncio, anyio 4: _backends/_asyncio.py (Lock, Semaphore, CapacityLimiter, TaskGroup, worker threads, sockets),
 * _core/_synchronization.py (Condition), streams/memory.py. Its Event and sleep are asyncio's. What ends a wait early is the deadline of the cancel scopes that
 * the task is in.
 */
#include "unwind/asyncio/pool.h"
#include "unwind/asyncio/waits.h"

#include <inttypes.h>
#include <math.h>

#define NAME_BYTES     200u
#define BORROWERS_SAID 3u
#define SCOPES_MAX     100u /* cancel scopes around each other */
#define BACKEND	       "anyio._backends._asyncio"

void wait_say_task(struct waiting *c, struct words *s, vaddr task)
{
	struct future_view view;
	struct str name;

	if (future_read(c->r, task, &view) != ERR_OK || !view.is_task ||
	    task_name(c->r, &view, &name) != ERR_OK)
		words_add(s, "a task");
	else
		words_str(s, name, NAME_BYTES);
	if (wait_future_state(c, task) > 0)
		words_add(s, " (which has ended)");
}

static void say_borrowers(struct waiting *c, struct words *s, vaddr set)
{
	const struct type_info *t;
	struct items borrowers;
	uint32_t said = 0;

	if (!set || object_set(c->r, set, BORROWERS_SAID, &borrowers) != ERR_OK)
		return;
	for (uint32_t i = 0; i < borrowers.count; i++) {
		if (type_of(c->r, borrowers.v[i], &t) != ERR_OK ||
		    (t->kind != TYPE_C_TASK && t->kind != TYPE_PY_TASK))
			continue; /* anybody may borrow */
		words_add(s, said++ ? ", " : " by ");
		wait_say_task(c, s, borrowers.v[i]);
	}
	if (said && borrowers.truncated)
		words_add(s, " and others");
}

/* Before and after the wait it gives way to others: then there is no event yet. */
void wait_anyio_limiter(struct waiting *c)
{
	struct words s = {0};
	vaddr limiter = wait_local(c, "event") ? wait_begin(c, AWAITS_SEMAPHORE, &s) : 0, total;
	int64_t borrowed;
	double most = NAN;

	if (!limiter)
		return;
	borrowed = wait_length(c, limiter, "_borrowers");
	total = wait_attr(c, limiter, "_total_tokens");
	if (!total || object_float(c->r, total, &most) != ERR_OK)
		most = NAN;
	if (borrowed >= 0 && !isnan(most)) {
		words_add(&s, ", %" PRId64 " of %.0f borrowed", borrowed, most);
		say_borrowers(c, &s, wait_attr(c, limiter, "_borrowers"));
		c->out.free = (double)borrowed < most;
		if (c->out.free)
			words_add(&s, ", free");
	}
	wait_say_waiting(&s, wait_length(c, limiter, "_wait_queue"));
	wait_detail(c, &s);
}

/* After the notification it takes its lock again. A Condition that was made outside a loop has an adapter for its lock. */
void wait_anyio_condition(struct waiting *c)
{
	const struct frame_walk *inner = &c->chain->v[c->chain->count - 1].position;
	struct words s = {0};
	vaddr condition = wait_local(c, "event") ? wait_begin(c, AWAITS_CONDITION, &s) : 0, lock,
	      real;

	if (!condition)
		return;
	if (str_is(inner->info->qualname, "Lock.acquire")) {
		lock = wait_attr(c, condition, "_lock");
		real = wait_attr(c, lock, "_internal_lock");
		words_add(&s, ", notified, takes its lock again");
		wait_say_lock(c, &s, real ? real : lock);
	} else {
		wait_say_waiting(&s, wait_length(c, condition, "_waiters"));
	}
	wait_detail(c, &s);
}

static void say_open(struct waiting *c, struct words *s, vaddr state, const char *attr,
		     const char *who)
{
	int64_t open = wait_number(c, state, attr);

	if (open >= 0)
		words_add(s, ", %" PRId64 " %s%s open", open, who, open == 1 ? "" : "s");
}

/* Clones of a stream share its state: that is what tasks meet at. */
static vaddr begin_stream(struct waiting *c, const char *event, struct words *s)
{
	vaddr self = wait_local(c, event) ? wait_begin(c, AWAITS_QUEUE, s) : 0;
	vaddr state = wait_attr(c, self, "_state");

	if (state)
		c->out.id = state;
	return state;
}

void wait_anyio_receive(struct waiting *c)
{
	struct words s = {0};
	vaddr state = begin_stream(c, "receive_event", &s);
	int64_t size;

	if (!state)
		return;
	size = wait_length(c, state, "buffer");
	words_add(&s, ".receive");
	if (size >= 0)
		words_add(&s, size ? ", %" PRId64 " in it" : ", empty", size);
	wait_say_waiting(&s, wait_length(c, state, "waiting_receivers"));
	say_open(c, &s, state, "open_send_channels", "sender");
	wait_detail(c, &s);
}

void wait_anyio_send(struct waiting *c)
{
	struct words s = {0};
	vaddr state = begin_stream(c, "send_event", &s), limit;
	int64_t size;
	double most;

	if (!state)
		return;
	size = wait_length(c, state, "buffer");
	limit = wait_attr(c, state, "max_buffer_size");
	words_add(&s, ".send");
	if (size >= 0 && limit && object_float(c->r, limit, &most) == ERR_OK)
		words_add(&s, ", %s%" PRId64 " of %.0f", (double)size >= most ? "full, " : "", size,
			  most);
	wait_say_waiting(&s, wait_length(c, state, "waiting_senders"));
	say_open(c, &s, state, "open_receive_channels", "receiver");
	wait_detail(c, &s);
}

static const struct thread_ref *thread_of(struct waiting *c, vaddr worker)
{
	int64_t id = wait_number(c, worker, "_native_id");

	for (uint32_t i = 0; id > 0 && i < c->a->thread_count; i++) {
		if (c->a->threads[i].walk.tid == id)
			return &c->a->threads[i];
	}
	return NULL;
}

/* The frame of WorkerThread.run that is at the call of this future; NONE: before it, or after it while the loop has yet to take the result. */
static uint32_t frame_of_call(struct waiting *c, const struct thread_ref *t, vaddr future)
{
	for (uint32_t n = 0; n < t->frame_count && n < POOL_OUTER_FRAMES; n++) {
		uint32_t i = t->frame_count - 1 - n;
		const struct frame_walk *f = &t->frames[i];
		vaddr its = 0;

		if (f->info->anyio && str_is(f->info->qualname, "WorkerThread.run"))
			return frame_local(c->r, f->at, f->info, "future", &its) == ERR_OK &&
					       its == future
				       ? i
				       : NONE;
	}
	return NONE;
}

/* A worker has one call at a time: without one in its queue it has taken this. */
static const char *place_in_queue(struct waiting *c, vaddr worker)
{
	int64_t queued = wait_length(c, wait_attr(c, worker, "queue"), "queue");

	if (queued < 0)
		return "given to a worker: ";
	return queued ? "queued for a worker: " : "taken by a worker: ";
}

void wait_anyio_thread(struct waiting *c)
{
	struct words s = {0};
	vaddr future = wait_local(c, "future"), worker = wait_local(c, "worker");
	const struct thread_ref *t = thread_of(c, worker);
	uint32_t run = future && t ? frame_of_call(c, t, future) : NONE;
	struct str name;

	if (!future)
		return;
	c->out.kind = AWAITS_EXECUTOR;
	c->out.id = future;
	words_add(&s, "%s", run == NONE ? place_in_queue(c, worker) : "running ");
	name = pool_callable_name(c->r, wait_local(c, "func"));
	words_str(&s, name.len ? name : STR_LIT("a call"), NAME_BYTES);
	if (run != NONE) {
		c->out.thread = t->row;
		c->out.worker_chain = pool_call_stack(c->r, t, run);
		words_add(&s, " in thread ");
		if (t->row != NONE)
			words_str(&s, c->r->model->threads.v[t->row].name, NAME_BYTES);
		else
			words_add(&s, "%d", (int)t->walk.tid);
	}
	wait_detail(c, &s);
}

/* The wait of wait_readable() and wait_writable(), of sockets that are no transports: what was given, and its number. */
void wait_anyio_fd(struct waiting *c)
{
	struct words s = {0};
	vaddr object = wait_local(c, c->rule->variable), fd = wait_local(c, "fd");
	int64_t number;

	if (!object)
		return;
	c->out.kind = AWAITS_FD;
	c->out.id = object;
	words_add(&s, "anyio %s", c->rule->verb);
	if (!fd || object_long(c->r, fd, &number) != ERR_OK || number < 0 || number > INT32_MAX)
		number = wait_socket_fd(c, wait_attr(c, object, "_RawSocketMixin__raw_socket"));
	wait_say_fd(c, &s, (int)number);
	wait_detail(c, &s);
}

/* --- cancel scopes */

/* _task_states of one interpreter: a WeakKeyDictionary, task to state. */
static void index_interpreter(struct waiting *c, const struct interp_walk *interp)
{
	const struct type_info *t;
	vaddr module = 0, states = 0, task;
	struct items keys, values;

	if (module_dict(c->r, interp, BACKEND, &module) != ERR_OK || !module ||
	    dict_get(c->r, module, "_task_states", &states) != ERR_OK)
		return;
	states = wait_attr(c, states, "data");
	if (!states || dict_items(c->r, states, TASKS_MAX, &keys, &values) != ERR_OK)
		return;
	for (uint32_t i = 0; i < keys.count; i++) {
		uint32_t row;

		if (type_of(c->r, keys.v[i], &t) != ERR_OK || t->kind != TYPE_WEAKREF ||
		    read_ptr(c->r, keys.v[i], c->r->lay->weakref_object, &task) != ERR_OK)
			continue;
		row = model_find_task(c->r->model, task);
		if (row < c->w->scopes_count)
			c->w->scopes[row] = wait_attr(c, values.v[i], "cancel_scope");
	}
}

/* The innermost scope that the task is in; 0 none. */
static vaddr scope_of(struct waiting *c)
{
	struct waits *w = c->w;

	if (!w->scopes_known) {
		w->scopes_known = true;
		w->scopes_count = c->r->model->tasks.count;
		w->scopes =
			arena_alloc(c->r->scratch, (w->scopes_count + 1ul) * sizeof(*w->scopes));
		if (!w->scopes)
			w->scopes_count = 0;
		for (uint32_t i = 0; w->scopes && i < c->a->interp_count; i++)
			index_interpreter(c, &c->a->interps[i]);
	}
	return c->task < w->scopes_count ? w->scopes[c->task] : 0;
}

/* Outwards, up to a scope that is shielded from those around it. One that has been cancelled tells nothing of when. */
double wait_anyio_deadline(struct waiting *c)
{
	vaddr scope = scope_of(c);
	double first = NAN;

	for (uint32_t i = 0; scope && i < SCOPES_MAX; i++) {
		vaddr deadline = wait_attr(c, scope, "_deadline");
		double at;

		if (wait_flag(c, scope, "_cancel_called") != 0)
			break;
		if (deadline && object_float(c->r, deadline, &at) == ERR_OK && isfinite(at))
			first = fmin(first, fmax(at - c->a->now, 0));
		if (wait_flag(c, scope, "_shield") != 0)
			break;
		scope = wait_attr(c, scope, "_parent_scope");
	}
	return first;
}
