/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop that is run again from inside a task (nest_asyncio and its kin): run_until_complete() stands on the stack below the task's own frames, and the task goes on
 * when what it was given is done.
 */
#include "unwind/asyncio/waits.h"

/* The future that the call waits for: asyncio keeps it in `future`, others put what they make of a coroutine in `f`. */
static vaddr awaited_by_call(struct waiting *c)
{
	static const char *const names[] = {"f", "task", "future"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		vaddr future = wait_local(c, names[i]);

		if (future && wait_future_state(c, future) == 0)
			return future;
	}
	return 0;
}

void wait_nested_run(struct waiting *c)
{
	struct words s = {0};
	struct waited_for n;
	vaddr future = 0;

	for (uint32_t i = c->chain->count; i-- > 0 && !future;) {
		if (c->chain->v[i].generator)
			return;
		if (!str_ends_with(c->chain->v[i].position.info->qualname, "run_until_complete"))
			continue;
		c->frame = i;
		future = awaited_by_call(c);
	}
	if (!future)
		return;
	wait_collect(c, &(struct items){&future, 1, false}, &n);
	words_add(&s, "running, until the loop that it runs inside itself is through with it");
	wait_detail(c, &s);
}
