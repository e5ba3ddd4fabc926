/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for other tasks: Lib/asyncio/tasks.py (wait, wait_for, as_completed, gather), taskgroups.py. */
#include "unwind/asyncio/waits.h"

#define CALLBACKS_MAX 1000u
#define NESTED_MAX    64u /* gathers within gathers */
#define SCANS_MAX     2000000u /* tasks looked at for as_completed() up to 3.12, in one snapshot */

/* The members of a list, a tuple or a set. */
static enum err members(struct wait *w, vaddr container, struct items *ret)
{
	const struct type_info *t;
	enum err err = type_of(w->r, container, &t);

	if (err != ERR_OK)
		return err;
	switch (t->kind) {
	case TYPE_SET:
		return object_set(w->r, container, WAITED_MAX, ret);
	case TYPE_LIST:
		return object_list(w->r, container, WAITED_MAX, ret);
	case TYPE_TUPLE:
		return object_tuple(w->r, container, WAITED_MAX, ret);
	default:
		return ERR_SHAPE;
	}
}

enum err wait_set(struct wait *w, const struct wait_rule *rule)
{
	struct items futures;
	struct str when = {0};
	uint32_t pending;
	vaddr at;
	enum err err = wait_local(w, "fs", &at);

	(void)rule;
	if (err == ERR_OK)
		err = members(w, at, &futures);
	if (err == ERR_OK)
		err = wait_add_tasks(w, &futures, &pending);
	if (err != ERR_OK)
		return err;
	w->out->id = w->c->chain->leaf;
	if (wait_local(w, "timeout_handle", &at) == ERR_OK)
		wait_until_timer(w, at);
	if (wait_local(w, "return_when", &at) == ERR_OK &&
	    object_str(w->r, at, 64, w->r->scratch, &when, NULL) == ERR_OK && when.len &&
	    !str_is(when, "ALL_COMPLETED"))
		wait_detail(w, "asyncio.wait(%.*s), %u of %u pending", STR_ARG(when), pending,
			    futures.count);
	else
		wait_detail(w, "asyncio.wait, %u of %u pending", pending, futures.count);
	return ERR_OK;
}

/* The future `fut` of a helper's frame, which waits for it through a waiter of its own. */
static enum err wait_for_future(struct wait *w, const char *what)
{
	struct items one = {.count = 1};
	uint32_t pending;
	vaddr at;
	enum err err = wait_local(w, "fut", &at);

	if (err != ERR_OK)
		return err;
	one.v = &at;
	err = wait_add_tasks(w, &one, &pending);
	if (err != ERR_OK)
		return err;
	w->out->id = at;
	if (!w->out->tasks_count)
		w->out->kind = AWAITS_FUTURE;
	wait_detail(w, "%s", what);
	return ERR_OK;
}

/* Up to 3.11 wait_for() makes a task and waits for it through `waiter`; from 3.12 on it awaits in place, under a Timeout: then others speak. */
enum err wait_wait_for(struct wait *w, const struct wait_rule *rule)
{
	vaddr handle;
	enum err err = wait_local(w, "waiter", &handle);

	(void)rule;
	if (err == ERR_OK)
		err = wait_for_future(w, "wait_for, timeout");
	if (err == ERR_OK && wait_local(w, "timeout_handle", &handle) == ERR_OK)
		wait_until_timer(w, handle);
	return err;
}

enum err wait_cancelled(struct wait *w, const struct wait_rule *rule)
{
	(void)rule;
	return wait_for_future(w,
			       "wait_for, its time is over: until what it waited for is cancelled");
}

enum err wait_group(struct wait *w, const struct wait_rule *rule)
{
	struct items tasks;
	uint32_t pending;
	vaddr self, at;
	enum err err = wait_local(w, "self", &self);

	(void)rule;
	if (err == ERR_OK)
		err = wait_attr(w, self, "_tasks", &at);
	if (err == ERR_OK)
		err = members(w, at, &tasks);
	if (err == ERR_OK)
		err = wait_add_tasks(w, &tasks, &pending);
	if (err != ERR_OK)
		return err;
	w->out->id = self;
	wait_detail(w, "%.*s, %u %s", STR_ARG(wait_class(w, self)), pending,
		    pending == 1 ? "task" : "tasks");
	return ERR_OK;
}

enum err wait_completed_iterator(struct wait *w, const struct wait_rule *rule)
{
	struct items futures;
	uint32_t pending;
	vaddr self, at;
	enum err err = wait_local(w, "self", &self);

	(void)rule;
	if (err == ERR_OK)
		err = wait_attr(w, self, "_todo", &at);
	if (err == ERR_OK)
		err = members(w, at, &futures);
	if (err == ERR_OK)
		err = wait_add_tasks(w, &futures, &pending);
	if (err != ERR_OK)
		return err;
	w->out->id = self;
	wait_detail(w, "as_completed, %u pending", pending);
	if (attr_get(w->r, self, "_timeout_handle", &at) == ERR_OK && at &&
	    !object_is_none(w->r, at))
		wait_until_timer(w, at);
	return ERR_OK;
}

/* Has this task as_completed()'s own callback, for the queue `done`? */
static bool completes_into(struct wait *w, vaddr task, vaddr done)
{
	struct future_view f;
	struct items callbacks;
	const struct type_info *t;
	vaddr queue;

	if (future_read(w->r, task, &f) != ERR_OK || f.state != 0 ||
	    future_callbacks(w->r, &f, CALLBACKS_MAX, &callbacks) != ERR_OK)
		return false;
	for (uint32_t i = 0; i < callbacks.count; i++) {
		if (type_of(w->r, callbacks.v[i], &t) == ERR_OK && t->kind == TYPE_FUNCTION &&
		    function_closure(w->r, callbacks.v[i], "done", &queue) == ERR_OK &&
		    queue == done)
			return true;
	}
	return false;
}

/* Up to 3.12 the waiting frame knows its queue alone; the tasks know it by their callbacks. */
enum err wait_completed(struct wait *w, const struct wait_rule *rule)
{
	struct asyncio *a = w->c->a;
	vaddr done;
	enum err err = wait_local(w, "done", &done);

	(void)rule;
	if (err != ERR_OK)
		return err;
	w->out->id = done;
	for (uint32_t i = 0; i < w->m->tasks.count; i++) {
		if (a->scanned++ >= SCANS_MAX) {
			w->out->tasks_truncated = true;
			break;
		}
		if (completes_into(w, w->m->tasks.v[i].id, done))
			wait_add_task(w, w->m->tasks.v[i].id);
	}
	wait_detail(w, "as_completed, %u pending", w->out->tasks_count);
	return ERR_OK;
}

/* Children of gather()'s future; a child may be a gather of its own. An explicit stack, and a bound, instead of recursion. */
enum err wait_gathered(struct wait *w, vaddr gathering, uint32_t *total_ret, uint32_t *pending_ret)
{
	vaddr stack[NESTED_MAX] = {gathering};
	uint32_t depth = 1, seen = 0;

	*total_ret = *pending_ret = 0;
	while (depth) {
		struct items children;
		vaddr at;
		enum err err = wait_attr(w, stack[--depth], "_children", &at);

		if (err == ERR_OK)
			err = members(w, at, &children);
		if (err != ERR_OK)
			return err;
		for (uint32_t i = 0; i < children.count; i++) {
			struct future_view f;

			err = future_read(w->r, children.v[i], &f);
			if (err != ERR_OK)
				return err;
			if (!f.is_task &&
			    type_is(w->r, f.type, "asyncio.tasks", "_GatheringFuture")) {
				if (depth == NESTED_MAX || seen++ == CALLBACKS_MAX)
					w->out->tasks_truncated = true;
				else if (f.state == 0)
					stack[depth++] = f.at;
				continue;
			}
			++*total_ret;
			*pending_ret += f.state == 0;
			if (f.state == 0 && f.is_task)
				wait_add_task(w, f.at);
		}
		w->out->tasks_truncated |= children.truncated;
	}
	return ERR_OK;
}
