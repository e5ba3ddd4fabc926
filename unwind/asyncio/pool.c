/* SPDX-License-Identifier: Apache-2.0 */
/* _WorkItem and its call: `fn` up to 3.13, first of `task` from 3.14 on. */
#include "unwind/asyncio/pool.h"

#define CALLABLE_HOPS 16u

bool pool_is(const struct code_info *info, const char *function)
{
	return str_is(info->qualname, function) &&
	       str_ends_with(info->file, "/concurrent/futures/thread.py");
}

vaddr pool_callable(struct reader *r, vaddr item)
{
	vaddr fn = attr_present(r, item, "fn"), task;
	struct items parts;

	if (fn)
		return fn;
	task = attr_present(r, item, "task");
	if (!task || object_tuple(r, task, 1, &parts) != ERR_OK || !parts.count)
		return 0;
	return parts.v[0];
}

/* to_thread() submits partial(context.run, function, …): the function is what people know. */
static vaddr behind_context(struct reader *r, vaddr partial, vaddr fn)
{
	const struct type_info *t;
	struct items args;
	vaddr self, tuple;

	if (type_of(r, fn, &t) != ERR_OK || t->kind != TYPE_BUILTIN ||
	    read_ptr(r, fn, r->lay->cfunction_self, &self) != ERR_OK || !self ||
	    type_of(r, self, &t) != ERR_OK || !str_is(t->name, "Context") ||
	    read_ptr(r, partial, r->lay->partial_args, &tuple) != ERR_OK ||
	    object_tuple(r, tuple, 1, &args) != ERR_OK || !args.count)
		return fn;
	return args.v[0];
}

struct str pool_callable_name(struct reader *r, vaddr callable)
{
	const struct type_info *t;
	struct str name;

	for (uint32_t i = 0; callable && i < CALLABLE_HOPS; i++) {
		vaddr fn;

		if (type_of(r, callable, &t) != ERR_OK || t->kind != TYPE_PARTIAL ||
		    read_ptr(r, callable, r->lay->partial_fn, &fn) != ERR_OK)
			break;
		callable = behind_context(r, callable, fn);
	}
	if (!callable || callable_name(r, callable, &name) != ERR_OK || !name.len)
		return (struct str){0};
	return name;
}

uint32_t pool_call_stack(struct reader *r, const struct thread_ref *t, uint32_t run)
{
	uint32_t node = NONE;

	for (uint32_t i = run; i-- > 0;) {
		const struct frame_walk *f = &t->frames[i];

		if (node == NONE && str_ends_with(f->info->file, "/concurrent/futures/thread.py"))
			continue;
		node = walk_push(r, node, f);
		if (node == NONE)
			return NONE;
	}
	return node;
}
