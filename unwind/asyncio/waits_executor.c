/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls handed to executors: Lib/concurrent/futures/thread.py and process.py. A running call is known by the worker thread whose stack has
 * _WorkItem.run of its future; the other side of run_coroutine_threadsafe by the task chained to the future.
 */
#include "unwind/asyncio/pool.h"
#include "unwind/asyncio/waits.h"

#include <inttypes.h>

#define POOL_CALLS_MAX 100000u
#define NAME_BYTES     200u
#define QUEUES_MAX     1000u
#define QUEUED_MAX     200000u

/* One call that is known to run, or to stand in a process pool. */
struct call {
	vaddr future; /* concurrent.futures.Future; 0: empty slot */
	vaddr callable; /* 0: not read */
	struct str thread_name; /* Thread.name */
	uint32_t thread; /* model row, NONE: in a pool of processes, or a thread without a row */
	uint32_t chain; /* the worker's stack inside run() */
	uint32_t ahead; /* CALL_QUEUED: calls before it */
	enum {
		CALL_RUNNING,
		CALL_QUEUED,
		CALL_IN_PROCESSES
	} place;
};

struct executors {
	struct call *v; /* open addressing */
	uint32_t mask, count;
	vaddr queues[QUEUES_MAX]; /* that were read */
	uint32_t queue_count;
};

static uint32_t slot_of(const struct executors *e, vaddr future)
{
	uint32_t i = (uint32_t)((future >> 4) * 0x9e3779b97f4a7c15ULL >> 32) & e->mask;

	while (e->v[i].future && e->v[i].future != future)
		i = (i + 1) & e->mask;
	return i;
}

static bool grow(struct reader *r, struct executors *e)
{
	struct call *old = e->v;
	uint32_t old_mask = e->mask, mask = old ? old_mask * 2 + 1 : 255;
	struct call *wider = arena_alloc(r->scratch, ((size_t)mask + 1) * sizeof(*wider));

	if (!wider)
		return false;
	e->v = wider;
	e->mask = mask;
	for (uint32_t i = 0; old && i <= old_mask; i++) {
		if (old[i].future)
			e->v[slot_of(e, old[i].future)] = old[i];
	}
	return true;
}

static void add_call(struct reader *r, struct executors *e, const struct call *call)
{
	uint32_t i;

	if (!call->future || ((!e->v || e->count >= e->mask / 2) && !grow(r, e)))
		return;
	i = slot_of(e, call->future);
	if (!e->v[i].future)
		e->count++;
	e->v[i] = *call;
}

static const struct call *find_call(const struct executors *e, vaddr future)
{
	const struct call *call = e && e->v ? &e->v[slot_of(e, future)] : NULL;

	return call && call->future ? call : NULL;
}

static vaddr variable(struct waiting *c, const struct frame_walk *f, const char *name)
{
	vaddr value = 0;

	if (frame_local(c->r, f->at, f->info, name, &value) != ERR_OK ||
	    (value && object_is_none(c->r, value)))
		return 0;
	return value;
}

static struct str text_attr(struct waiting *c, vaddr object, const char *name)
{
	vaddr value = wait_attr(c, object, name);
	struct str text = {0};

	if (!value || object_str(c->r, value, NAME_BYTES, c->r->scratch, &text, NULL) != ERR_OK)
		return (struct str){0};
	return text;
}

static void index_worker(struct waiting *c, struct executors *e, const struct thread_ref *t,
			 uint32_t run, struct str name)
{
	vaddr item = variable(c, &t->frames[run], "self");
	struct call call = {.future = wait_attr(c, item, "future"),
			    .callable = pool_callable(c->r, item),
			    .thread_name = name,
			    .thread = t->row};

	if (!call.future)
		return;
	call.chain = pool_call_stack(c->r, t, run);
	add_call(c->r, e, &call);
}

/* The thread that feeds a pool of processes holds what was submitted: {number: work item}. */
static void index_process_pool(struct waiting *c, struct executors *e, const struct frame_walk *f)
{
	vaddr items = wait_attr(c, variable(c, f, "self"), "pending_work_items");
	struct items keys, values;

	if (!items || dict_items(c->r, items, POOL_CALLS_MAX, &keys, &values) != ERR_OK)
		return;
	for (uint32_t i = 0; i < values.count; i++) {
		struct call call = {.future = wait_attr(c, values.v[i], "future"),
				    .callable = wait_attr(c, values.v[i], "fn"),
				    .thread = NONE,
				    .chain = NONE,
				    .place = CALL_IN_PROCESSES};

		add_call(c->r, e, &call);
	}
}

/* Any worker leads to what its executor has not begun. */
static void index_queue(struct waiting *c, struct executors *e, vaddr queue)
{
	struct items items;
	uint32_t ahead = 0;

	for (uint32_t i = 0; i < e->queue_count; i++) {
		if (e->queues[i] == queue)
			return;
	}
	if (!queue || e->queue_count == QUEUES_MAX)
		return;
	e->queues[e->queue_count++] = queue;
	if (object_simplequeue(c->r, queue, QUEUED_MAX, &items) != ERR_OK)
		return;
	for (uint32_t i = 0; i < items.count; i++) {
		struct call call = {.future = wait_attr(c, items.v[i], "future"),
				    .callable = pool_callable(c->r, items.v[i]),
				    .thread = NONE,
				    .chain = NONE,
				    .ahead = ahead,
				    .place = CALL_QUEUED};

		add_call(c->r, e, &call);
		ahead += call.future != 0;
	}
}

static void index_thread(struct waiting *c, struct executors *e, const struct thread_ref *t)
{
	struct str name = {0};

	for (uint32_t n = 0; n < t->frame_count && n < POOL_OUTER_FRAMES; n++) {
		uint32_t i = t->frame_count - 1 - n;
		const struct code_info *info = t->frames[i].info;

		if (str_is(info->qualname, "Thread._bootstrap_inner"))
			name = text_attr(c, variable(c, &t->frames[i], "self"), "_name");
		else if (pool_is(info, "_WorkItem.run"))
			index_worker(c, e, t, i, name);
		else if (pool_is(info, "_worker"))
			index_queue(c, e, variable(c, &t->frames[i], "work_queue"));
		else if (str_is(info->qualname, "_ExecutorManagerThread.run") &&
			 str_ends_with(info->file, "/concurrent/futures/process.py"))
			index_process_pool(c, e, &t->frames[i]);
	}
}

static const struct executors *executors_of(struct waiting *c)
{
	struct executors *e = c->w->executors;

	if (e)
		return e;
	e = arena_alloc(c->r->scratch, sizeof(*e));
	if (!e)
		return NULL;
	for (uint32_t t = 0; t < c->a->thread_count; t++)
		index_thread(c, e, &c->a->threads[t]);
	c->w->executors = e;
	return e;
}

static bool say_callable(struct waiting *c, struct words *s, vaddr callable)
{
	struct str name = pool_callable_name(c->r, callable);

	words_str(s, name, NAME_BYTES);
	return name.len > 0;
}

/* "running digs in thread asyncio_0" */
static void say_running(struct waiting *c, struct words *s, const struct call *call)
{
	words_add(s, "running ");
	if (!say_callable(c, s, call->callable))
		words_add(s, "a call");
	words_add(s, " in ");
	if (call->thread_name.len) {
		words_add(s, "thread ");
		words_str(s, call->thread_name, NAME_BYTES);
	} else if (call->thread != NONE) {
		words_add(s, "thread %d", (int)c->r->model->threads.v[call->thread].tid);
	} else {
		words_add(s, "a thread");
	}
	c->out.thread = call->thread;
	c->out.worker_chain = call->chain;
}

static const char *state_word(struct waiting *c, vaddr state)
{
	if (object_str_is(c->r, state, "PENDING"))
		return "pending";
	if (object_str_is(c->r, state, "RUNNING"))
		return "running";
	return object_str_is(c->r, state, "FINISHED") ? "finished" : "cancelled";
}

static void say_place(struct waiting *c, struct words *s, vaddr state, const struct call *call)
{
	if (!call) {
		words_add(s, "concurrent.futures.Future, %s", state_word(c, state));
		return;
	}
	if (call->place == CALL_IN_PROCESSES)
		words_add(s, "%s in a process pool: ", state_word(c, state));
	else if (call->ahead)
		words_add(s, "queued, %" PRIu32 " ahead: ", call->ahead);
	else
		words_add(s, "queued, next: ");
	if (!say_callable(c, s, call->callable))
		words_add(s, "a call");
}

/* The task that another loop runs for this future (run_coroutine_threadsafe); 0 none. */
static vaddr chained_task(struct waiting *c, vaddr concurrent)
{
	vaddr list = wait_attr(c, concurrent, "_done_callbacks"), source;
	struct items callbacks;

	if (!list || object_list(c->r, list, CALLBACKS_MAX, &callbacks) != ERR_OK)
		return 0;
	for (uint32_t i = 0; i < callbacks.count; i++) {
		source = wait_function_variable(
			c, callbacks.v[i], "_chain_future.<locals>._call_check_cancel", "source");
		if (source && wait_future_state(c, source) >= 0)
			return source;
	}
	return 0;
}

void wait_on_concurrent(struct waiting *c, vaddr concurrent)
{
	const struct call *call = find_call(executors_of(c), concurrent);
	vaddr state = wait_attr(c, concurrent, "_state");
	vaddr other = call || c->chained++ ? 0 : chained_task(c, concurrent);
	struct words s = {0};

	if (other) {
		wait_on_future(c, other);
		if (c->out.kind == AWAITS_TASK && !c->out.detail.len) {
			words_add(&s, "through a concurrent.futures.Future");
			wait_detail(c, &s);
		}
		return;
	}
	if (!state)
		return;
	c->out.kind = AWAITS_EXECUTOR;
	c->out.id = concurrent;
	if (call && call->place == CALL_RUNNING)
		say_running(c, &s, call);
	else
		say_place(c, &s, state, call);
	wait_detail(c, &s);
}
