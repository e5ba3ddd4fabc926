/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asyncio.timeout() around a wait (Lib/asyncio/timeouts.py; from 3.12 on wait_for() too): while the body of `async with` is suspended, its frame keeps
 * what will leave the context on its value stack: a bound __aexit__, or from 3.14 on the context manager itself.
 */
#include "unwind/asyncio/waits.h"

#include <math.h>

#define STACK_MAX 64u /* slots looked at in one frame */

/* The Timeout that a slot leads to; 0 none. */
static vaddr timeout_in(struct waiting *c, vaddr object)
{
	const struct type_info *t;

	if (!object || object & 7 || type_of(c->r, object, &t) != ERR_OK)
		return 0;
	if (t->kind == TYPE_METHOD &&
	    (read_ptr(c->r, object, c->r->lay->method_self, &object) != ERR_OK ||
	     type_of(c->r, object, &t) != ERR_OK))
		return 0;
	if (!str_is(t->name, "Timeout") || !type_is(c->r, t, "asyncio.timeouts", "Timeout"))
		return 0;
	return object;
}

double wait_open_timeout(struct waiting *c)
{
	double first = NAN;

	for (uint32_t i = 0; i < c->chain->count; i++) {
		struct items stack;

		if (frame_stack(c->r, &c->chain->v[i].position, STACK_MAX, &stack) != ERR_OK)
			continue;
		/* The object awaited is on top. */
		for (uint32_t slot = 0; slot + 1 < stack.count; slot++) {
			vaddr timeout = timeout_in(c, stack.v[slot]);

			if (timeout)
				first = fmin(first, wait_due(c, timeout));
		}
	}
	return first;
}
