/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for several tasks at once: Lib/asyncio/tasks.py (gather, wait, wait_for, as_completed), taskgroups.py, staggered.py. Edges lead to the tasks
 * that are not done, seen through gathers in gathers and shields.
 */
#include "unwind/asyncio/waits.h"

#include <inttypes.h>
#include <math.h>

#define EDGES_MAX 16000000u /* of a whole picture */

/* Lists of futures inside each other. */
struct level {
	struct items items;
	uint32_t next;
};

/* Marks the row; false where this collection had it before. */
static bool first_time(struct waiting *c, uint32_t row)
{
	struct waits *w = c->w;

	if (!w->stamps) {
		w->stamps_count = c->r->model->tasks.count;
		w->stamps = arena_alloc(c->r->scratch, w->stamps_count * sizeof(*w->stamps));
		if (!w->stamps)
			w->stamps_count = 0;
	}
	if (row >= w->stamps_count)
		return true;
	if (w->stamps[row] == w->stamp)
		return false;
	w->stamps[row] = w->stamp;
	return true;
}

bool wait_more_edges(struct waiting *c, uint32_t count)
{
	if (count > EDGES_MAX - c->w->edges)
		return false;
	c->w->edges += count;
	return true;
}

bool wait_edge(struct waiting *c, vaddr task)
{
	struct model *m = c->r->model;
	uint32_t row = model_find_task(m, task);

	if (row == NONE)
		return false;
	if (c->out.tasks_count >= WAITED_MAX || !wait_more_edges(c, 1) ||
	    model_add_edge(m, row) == NONE) {
		c->out.tasks_truncated = true;
		return false;
	}
	c->out.tasks_count++;
	return true;
}

/* What is done and still waited for may have failed, with nobody to see it until the others are done. */
static void note_leftover(struct waiting *c, vaddr future, int state)
{
	struct future_view view;

	if (c->a->loop_state && state == 2 && future_read(c->r, future, &view) == ERR_OK)
		leftover_note(c->a, &view);
}

static void collect_task(struct waiting *c, vaddr task, struct waited_for *n)
{
	uint32_t row = model_find_task(c->r->model, task);
	int state;

	if (row != NONE && !first_time(c, row))
		return;
	n->tasks++;
	state = wait_future_state(c, task);
	note_leftover(c, task, state);
	if (state != 0)
		return;
	n->tasks_pending++;
	wait_edge(c, task);
}

/* What a future that is no task stands for: more futures in *ret, or nothing. */
static bool look_inside(struct waiting *c, vaddr future, const struct type_info *t,
			struct items *ret)
{
	vaddr inner;

	if (type_is(c->r, t, "asyncio.tasks", "_GatheringFuture")) {
		inner = wait_attr(c, future, "_children");
		return inner && object_list(c->r, inner, WAITED_MAX, ret) == ERR_OK;
	}
	inner = wait_shielded(c, future);
	if (!inner)
		return false;
	ret->v = arena_alloc(c->r->scratch, sizeof(*ret->v));
	if (!ret->v)
		return false;
	ret->v[0] = inner;
	ret->count = 1;
	return true;
}

/* True: *inner is to be walked next. */
static bool collect_one(struct waiting *c, vaddr future, struct waited_for *n, struct items *inner)
{
	const struct type_info *t;
	int state;

	if (type_of(c->r, future, &t) != ERR_OK)
		return false;
	if (t->kind == TYPE_C_TASK || t->kind == TYPE_PY_TASK) {
		collect_task(c, future, n);
		return false;
	}
	state = wait_future_state(c, future);
	if (state == 0 && look_inside(c, future, t, inner))
		return true;
	n->futures++;
	n->futures_pending += state == 0;
	note_leftover(c, future, state);
	return false;
}

void wait_collect(struct waiting *c, const struct items *futures, struct waited_for *ret)
{
	struct level levels[FUTURE_HOPS_MAX];
	uint32_t depth = 1, seen = 0;

	*ret = (struct waited_for){.truncated = futures->truncated};
	c->w->stamp++;
	c->out.tasks_first = c->r->model->edges.count;
	levels[0] = (struct level){.items = *futures};
	while (depth > 0) {
		struct level *top = &levels[depth - 1];
		struct items inner = {0};

		if (top->next >= top->items.count) {
			depth--;
			continue;
		}
		if (seen++ >= WAITED_MAX) {
			ret->truncated = true;
			break;
		}
		if (!collect_one(c, top->items.v[top->next++], ret, &inner))
			continue;
		ret->truncated |= inner.truncated || depth == FUTURE_HOPS_MAX;
		if (depth < FUTURE_HOPS_MAX)
			levels[depth++] = (struct level){.items = inner};
	}
	c->out.tasks_truncated |= ret->truncated;
	c->out.futures_count = ret->futures_pending;
}

static void say_count(struct words *s, uint32_t count, const char *noun)
{
	words_add(s, "%" PRIu32 " %s%s", count, noun, count == 1 ? "" : "s");
}

void wait_say_waited_for(struct words *s, const struct waited_for *n)
{
	uint32_t all = n->tasks + n->futures, pending = n->tasks_pending + n->futures_pending;

	words_add(s, ", ");
	if (pending < all) {
		words_add(s, "%" PRIu32 " of %" PRIu32 " pending", pending, all);
		return;
	}
	if (n->tasks || !n->futures)
		say_count(s, n->tasks, "task");
	if (n->tasks && n->futures)
		words_add(s, " and ");
	if (n->futures)
		say_count(s, n->futures, "future");
}

/* The set (or list) of futures, in `words`; false where it can't be read. */
static bool wait_for_these(struct waiting *c, vaddr futures, struct words *s)
{
	const struct type_info *t;
	struct waited_for n;
	struct items items;
	enum err err;

	if (!futures || type_of(c->r, futures, &t) != ERR_OK)
		return false;
	switch (t->kind) {
	case TYPE_SET:
		err = object_set(c->r, futures, WAITED_MAX, &items);
		break;
	case TYPE_LIST:
		err = object_list(c->r, futures, WAITED_MAX, &items);
		break;
	case TYPE_TUPLE:
		err = object_tuple(c->r, futures, WAITED_MAX, &items);
		break;
	default:
		return false;
	}
	if (err != ERR_OK)
		return false;
	wait_collect(c, &items, &n);
	wait_say_waited_for(s, &n);
	return true;
}

/* The timer that ends the wait before its time. */
static void with_handle(struct waiting *c, vaddr handle)
{
	c->out.left = handle ? wait_due(c, handle) : NAN;
	c->own_timeout = !isnan(c->out.left);
}

/* 3.11: wait_for() makes a task and waits for a future of its own; from 3.12 on it awaits what it was given, inside asyncio.timeout(). */
void wait_for_311(struct waiting *c)
{
	vaddr handle = wait_local(c, "timeout_handle"), inner = wait_local(c, "fut");

	if (!handle || wait_future_state(c, inner) < 0)
		return;
	wait_on_future(c, inner);
	with_handle(c, handle);
}

void wait_cancel_and_wait(struct waiting *c)
{
	vaddr inner = wait_local(c, "fut");

	if (inner)
		wait_on_future(c, inner);
}

/* asyncio.wait(): _wait() has the set and what it returns on. */
void wait_set(struct waiting *c)
{
	struct words s = {0};
	vaddr futures = wait_local(c, "fs"), when = wait_local(c, "return_when");

	if (!futures)
		return;
	c->out.kind = AWAITS_WAIT;
	c->out.id = c->leaf;
	words_add(&s, "asyncio.wait");
	c->out.any_of = !when || !object_str_is(c->r, when, "ALL_COMPLETED");
	if (when && object_str_is(c->r, when, "FIRST_COMPLETED"))
		words_add(&s, "(FIRST_COMPLETED)");
	else if (when && object_str_is(c->r, when, "FIRST_EXCEPTION"))
		words_add(&s, "(FIRST_EXCEPTION)");
	wait_for_these(c, futures, &s);
	with_handle(c, wait_local(c, "timeout_handle"));
	wait_detail(c, &s);
}

static void as_completed(struct waiting *c, vaddr id, vaddr todo, vaddr handle)
{
	struct words s = {0};

	c->out.kind = AWAITS_WAIT;
	c->out.id = id;
	c->out.any_of = true;
	words_add(&s, "as_completed");
	wait_for_these(c, todo, &s);
	with_handle(c, handle);
	wait_detail(c, &s);
}

/* 3.13 on: a class. */
void wait_as_completed_iterator(struct waiting *c)
{
	vaddr self = wait_local(c, "self");

	if (self)
		as_completed(c, self, wait_attr(c, self, "_todo"),
			     wait_attr(c, self, "_timeout_handle"));
}

/* A variable of the generator as_completed(), where `value` is that generator. */
static vaddr generator_variable(struct waiting *c, vaddr value, const char *name)
{
	const struct type_info *t;
	struct gen_walk g;
	vaddr ret = 0;

	if (!value || type_of(c->r, value, &t) != ERR_OK || t->kind != TYPE_GENERATOR ||
	    gen_read(c->r, value, &g) != ERR_OK || !g.frame || !g.position.info->asyncio ||
	    !str_is(g.position.info->qualname, "as_completed") ||
	    frame_local(c->r, g.frame, g.position.info, name, &ret) != ERR_OK ||
	    (ret && object_is_none(c->r, ret)))
		return 0;
	return ret;
}

#define CALLER_SLOTS_MAX 256u

/* The generator as_completed() of this queue among the variables and the stack of a caller; 0 none. */
static vaddr generator_of(struct waiting *c, const struct frame_walk *caller, vaddr done)
{
	vaddr base = caller->at + c->r->lay->frame_localsplus.offset;
	struct items stack = {0};
	uint64_t slot;

	if (frame_stack(c->r, caller, CALLER_SLOTS_MAX, &stack) != ERR_OK)
		stack.count = 0;
	for (uint32_t i = 0; i < stack.count; i++) {
		if (generator_variable(c, stack.v[i], "done") == done)
			return stack.v[i];
	}
	for (uint32_t i = 0; i < caller->info->nlocalsplus && i < CALLER_SLOTS_MAX; i++) {
		if (read_u64(c->r, base + (vaddr)i * 8, &slot) != ERR_OK)
			break;
		if (generator_variable(c, stackref_object(c->r, slot), "done") == done)
			return stackref_object(c->r, slot);
	}
	return 0;
}

/* Up to 3.12 a coroutine that knows its queue alone: the set is the generator's, which some caller iterates over. */
void wait_as_completed(struct waiting *c)
{
	vaddr done = wait_local(c, "done"), generator = 0;

	if (!done)
		return;
	for (uint32_t f = c->frame; f-- > 0 && !generator;)
		generator = generator_of(c, &c->chain->v[f].position, done);
	as_completed(c, done, generator_variable(c, generator, "todo"),
		     generator_variable(c, generator, "timeout_handle"));
}

void wait_task_group(struct waiting *c)
{
	struct words s = {0};
	vaddr group = wait_local(c, "self"), tasks;

	tasks = wait_attr(c, group, "_tasks");
	if (!tasks)
		return;
	c->out.kind = AWAITS_WAIT;
	c->out.id = group;
	words_add(&s, "%s", c->rule->verb ? c->rule->verb : "");
	words_str(&s, wait_type_name(c, group), 100);
	wait_for_these(c, tasks, &s);
	if (wait_flag(c, group, "_aborting") == 1 ||
	    wait_flag(c, wait_attr(c, group, "cancel_scope"), "_cancel_called") == 1)
		words_add(&s, ", cancelling them");
	wait_detail(c, &s);
}

/* create_connection() with happy_eyeballs_delay. Up to 3.13.0 it calls asyncio.wait, whose rule is asked next. */
void wait_staggered(struct waiting *c)
{
	struct words s = {0};
	vaddr tasks = wait_local(c, "running_tasks");

	if (!tasks)
		return;
	c->out.kind = AWAITS_WAIT;
	c->out.id = c->leaf;
	c->out.any_of = true;
	words_add(&s, "staggered_race");
	wait_for_these(c, tasks, &s);
	wait_detail(c, &s);
}
