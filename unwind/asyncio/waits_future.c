/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a future stands for, where no function of asyncio's tells: a task, gather() by its class, shield() and futures chained to a
 * concurrent.futures.Future by the done-callbacks that asyncio has put on them (Lib/asyncio/tasks.py, futures.py).
 */
#include "unwind/asyncio/waits.h"

#include <inttypes.h>

#define NAME_BYTES 200u

static bool is_future(const struct type_info *t)
{
	return t->kind == TYPE_C_TASK || t->kind == TYPE_C_FUTURE || t->kind == TYPE_PY_TASK ||
	       t->kind == TYPE_PY_FUTURE;
}

static bool is_task(const struct type_info *t)
{
	return t->kind == TYPE_C_TASK || t->kind == TYPE_PY_TASK;
}

int wait_future_state(struct waiting *c, vaddr future)
{
	const struct type_info *t;
	struct future_view view;
	uint64_t state;

	if (!future || type_of(c->r, future, &t) != ERR_OK || !is_future(t))
		return -1;
	if (t->kind == TYPE_C_TASK || t->kind == TYPE_C_FUTURE) {
		if (read_uint(c->r, future, c->r->lay->task_state, &state) != ERR_OK || state > 2)
			return -1;
		return (int)state;
	}
	return future_read(c->r, future, &view) == ERR_OK ? view.state : -1;
}

/* The function of a callback that asyncio may have made: its own when it has this qualified name. */
static bool is_function(struct waiting *c, vaddr at, const char *qualname)
{
	struct code_info *info;
	vaddr code;

	return read_ptr(c->r, at, c->r->lay->function_code, &code) == ERR_OK &&
	       code_read(c->r, code, &info) == ERR_OK && info->asyncio &&
	       str_is(info->qualname, qualname);
}

/* Nearly always there is one, the wake-up of a task in C, which tells nothing. */
static bool read_callbacks(struct waiting *c, vaddr future, struct items *ret)
{
	struct future_view view;
	const struct type_info *t;

	*ret = (struct items){0};
	if (future_read(c->r, future, &view) != ERR_OK)
		return false;
	if (!view.callbacks && view.callback0 && type_of(c->r, view.callback0, &t) == ERR_OK &&
	    t->kind == TYPE_BUILTIN)
		return true;
	return future_callbacks(c->r, &view, CALLBACKS_MAX, ret) == ERR_OK;
}

vaddr wait_function_variable(struct waiting *c, vaddr at, const char *function,
			     const char *variable)
{
	const struct type_info *t;
	vaddr value = 0;

	if (type_of(c->r, at, &t) != ERR_OK || t->kind != TYPE_FUNCTION ||
	    !is_function(c, at, function) ||
	    function_closure(c->r, at, variable, &value) != ERR_OK || !value ||
	    object_is_none(c->r, value))
		return 0;
	return value;
}

static vaddr variable_among(struct waiting *c, const struct items *callbacks, const char *function,
			    const char *variable)
{
	vaddr value = 0;

	for (uint32_t i = 0; i < callbacks->count && !value; i++)
		value = wait_function_variable(c, callbacks->v[i], function, variable);
	return value;
}

vaddr wait_shielded(struct waiting *c, vaddr future)
{
	struct items callbacks;

	if (!read_callbacks(c, future, &callbacks))
		return 0;
	return variable_among(c, &callbacks, "shield.<locals>._outer_done_callback", "inner");
}

static bool is_partial_of(struct waiting *c, vaddr at, const char *method)
{
	const struct type_info *t;
	vaddr fn, function;

	return type_of(c->r, at, &t) == ERR_OK && t->kind == TYPE_PARTIAL &&
	       read_ptr(c->r, at, c->r->lay->partial_fn, &fn) == ERR_OK &&
	       type_of(c->r, fn, &t) == ERR_OK && t->kind == TYPE_METHOD &&
	       read_ptr(c->r, fn, c->r->lay->method_function, &function) == ERR_OK &&
	       type_of(c->r, function, &t) == ERR_OK && t->kind == TYPE_FUNCTION &&
	       is_function(c, function, method);
}

vaddr wait_callback_argument(struct waiting *c, vaddr future, const char *method)
{
	struct items callbacks, args;
	vaddr tuple;

	if (!read_callbacks(c, future, &callbacks))
		return 0;
	for (uint32_t i = 0; i < callbacks.count; i++) {
		if (!is_partial_of(c, callbacks.v[i], method))
			continue;
		if (read_ptr(c->r, callbacks.v[i], c->r->lay->partial_args, &tuple) == ERR_OK &&
		    object_tuple(c->r, tuple, 1, &args) == ERR_OK && args.count)
			return args.v[0];
	}
	return 0;
}

void wait_on_task(struct waiting *c, vaddr task)
{
	c->out.kind = AWAITS_TASK;
	c->out.id = task;
	c->out.tasks_first = c->r->model->edges.count;
	wait_edge(c, task);
}

static void wait_on_gather(struct waiting *c, vaddr gather)
{
	struct words s = {0};
	struct waited_for n;
	struct items one = {&gather, 1, false};

	c->out.kind = AWAITS_GATHER;
	c->out.id = gather;
	wait_collect(c, &one, &n);
	words_add(&s, "gather");
	wait_say_waited_for(&s, &n);
	wait_detail(c, &s);
}

/* A subclass is worth its name. */
static void wait_on_plain(struct waiting *c, vaddr future, const struct type_info *t)
{
	struct words s = {0};

	c->out.kind = AWAITS_FUTURE;
	c->out.id = future;
	if (str_is(t->name, "Future"))
		return;
	words_str(&s, t->name, NAME_BYTES);
	wait_detail(c, &s);
}

/* The report names the task that a description is about: only what there is to add is said here. */
static void say_shield(struct waiting *c)
{
	struct words s = {0};

	words_add(&s, c->out.kind == AWAITS_TASK ? "shield" : "shield of ");
	if (c->out.kind != AWAITS_TASK && c->out.detail.len)
		words_str(&s, c->out.detail, 800);
	else if (c->out.kind != AWAITS_TASK)
		words_add(&s, "a future");
	wait_detail(c, &s);
}

void wait_on_future(struct waiting *c, vaddr future)
{
	const struct type_info *t = NULL;
	vaddr source = 0;
	bool shield = false, gather = false;

	for (uint32_t hop = 0; hop < FUTURE_HOPS_MAX; hop++) {
		struct items callbacks;
		vaddr inner;

		if (type_of(c->r, future, &t) != ERR_OK || !is_future(t))
			return;
		gather = type_is(c->r, t, "asyncio.tasks", "_GatheringFuture");
		if (is_task(t) || gather || !read_callbacks(c, future, &callbacks))
			break;
		inner = variable_among(c, &callbacks, "shield.<locals>._outer_done_callback",
				       "inner");
		if (!inner) {
			source = variable_among(c, &callbacks,
						"_chain_future.<locals>._call_check_cancel",
						"source");
			break;
		}
		shield = true;
		future = inner;
	}
	if (is_task(t))
		wait_on_task(c, future);
	else if (gather)
		wait_on_gather(c, future);
	else if (source)
		wait_on_concurrent(c, source);
	if (c->out.kind == AWAITS_NOTHING)
		wait_on_plain(c, future, t);
	if (shield)
		say_shield(c);
}
