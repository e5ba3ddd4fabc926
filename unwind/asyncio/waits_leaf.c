/* SPDX-License-Identifier: Apache-2.0 */
/* What the object at the end of a chain says by itself: a task, gather's future, a future whose callbacks tell whose it is (shield, an executor's), anything else. */
#include "unwind/asyncio/waits.h"

#define CALLBACKS_MAX 64u

/* The callbacks of Lib/asyncio that tell what completes a future, and the free variable that holds it. */
static const struct {
	const char *function, *variable;
} sources[] = {
	{"_chain_future.<locals>._call_check_cancel",
	 "source"}, /* futures.py: wrap_future(), run_in_executor() */
	{"shield.<locals>._outer_done_callback", "inner"}, /* tasks.py */
};

enum source {
	SOURCE_EXECUTOR,
	SOURCE_SHIELD,
	SOURCE_NONE
};

static enum source source_of_callback(struct wait *w, vaddr callback, vaddr *ret)
{
	const struct type_info *t;
	struct code_info *info;
	vaddr code;

	if (type_of(w->r, callback, &t) != ERR_OK || t->kind != TYPE_FUNCTION ||
	    read_ptr(w->r, callback, w->r->lay->function_code, &code) != ERR_OK ||
	    code_read(w->r, code, &info) != ERR_OK || !info->asyncio)
		return SOURCE_NONE;
	for (int i = 0; i < SOURCE_NONE; i++) {
		if (str_is(info->qualname, sources[i].function) &&
		    function_closure(w->r, callback, sources[i].variable, ret) == ERR_OK && *ret)
			return (enum source)i;
	}
	return SOURCE_NONE;
}

static enum err describe_shield(struct wait *w, vaddr inner)
{
	struct future_view f;
	enum err err = future_read(w->r, inner, &f);

	if (err != ERR_OK)
		return err;
	w->out->id = inner;
	w->out->kind = f.is_task ? AWAITS_TASK : AWAITS_FUTURE;
	if (f.is_task)
		wait_add_task(w, inner);
	w->out->detail = f.is_task ? STR_LIT("shield around a task")
				   : STR_LIT("shield around a future");
	return ERR_OK;
}

static const char *state_words(const struct future_view *f)
{
	return f->state == 0   ? "pending"
	       : f->state == 1 ? "cancelled: the task runs on in the loop's next turn"
			       : "done: the task runs on in the loop's next turn";
}

static enum err describe_future(struct wait *w, const struct future_view *f)
{
	struct items callbacks;
	vaddr source;

	w->out->kind = AWAITS_FUTURE;
	w->out->id = f->at;
	if (f->state == 0 && future_callbacks(w->r, f, CALLBACKS_MAX, &callbacks) == ERR_OK) {
		for (uint32_t i = 0; i < callbacks.count; i++) {
			switch (source_of_callback(w, callbacks.v[i], &source)) {
			case SOURCE_EXECUTOR:
				return wait_executor(w, source);
			case SOURCE_SHIELD:
				return describe_shield(w, source);
			default:
				break;
			}
		}
	}
	wait_detail(w, "%.*s, %s", STR_ARG(f->type->name), state_words(f));
	return ERR_OK;
}

static enum err describe_gathering(struct wait *w, vaddr gathering)
{
	uint32_t total, pending;
	enum err err = wait_gathered(w, gathering, &total, &pending);

	if (err != ERR_OK)
		return err;
	w->out->kind = AWAITS_GATHER;
	w->out->id = gathering;
	wait_detail(w, "gather, %u of %u pending", pending, total);
	return ERR_OK;
}

static enum err describe_task(struct wait *w, const struct future_view *f)
{
	w->out->kind = AWAITS_TASK;
	w->out->id = f->at;
	wait_add_task(w, f->at);
	if (f->state != 0)
		wait_detail(w, "task, %s", state_words(f));
	return ERR_OK;
}

static enum err describe_nothing(struct wait *w)
{
	switch (w->c->chain->leaf_state) {
	case GEN_SUSPENDED:
		w->out->kind = AWAITS_YIELD;
		break;
	case GEN_CREATED:
		w->out->kind = AWAITS_NOT_STARTED;
		break;
	default:
		w->out->kind = AWAITS_OTHER;
	}
	return ERR_OK;
}

enum err wait_describe_leaf(struct wait *w, vaddr leaf)
{
	struct future_view f;
	const struct type_info *t;
	enum err err;

	if (!leaf)
		return describe_nothing(w);
	err = type_of(w->r, leaf, &t);
	if (err != ERR_OK)
		return err;
	switch (t->kind) {
	case TYPE_C_TASK:
	case TYPE_PY_TASK:
		err = future_read(w->r, leaf, &f);
		return err == ERR_OK ? describe_task(w, &f) : err;
	case TYPE_C_FUTURE:
	case TYPE_PY_FUTURE:
		err = future_read(w->r, leaf, &f);
		if (err != ERR_OK)
			return err;
		if (f.state == 0 && type_is(w->r, t, "asyncio.tasks", "_GatheringFuture"))
			return describe_gathering(w, leaf);
		return describe_future(w, &f);
	default:
		/* An awaitable without a frame: C, Cython, an iterator of its own. What the task itself waits on is known all the same. */
		if (w->c->future->fut_waiter && w->c->future->fut_waiter != leaf)
			return wait_describe_leaf(w, w->c->future->fut_waiter);
		w->out->kind = AWAITS_OTHER;
		w->out->id = leaf;
		wait_detail(w, "%.*s object", STR_ARG(t->name));
		return ERR_OK;
	}
}
