/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for time, locks and queues: Lib/asyncio/tasks.py (sleep), locks.py, queues.py. */
#include "unwind/asyncio/waits.h"

#include <inttypes.h>
#include <math.h>

void wait_say_waiting(struct words *s, int64_t count)
{
	if (count >= 0)
		words_add(s, ", %" PRId64 " waiting", count);
}

vaddr wait_begin(struct waiting *c, enum await_kind kind, struct words *s)
{
	vaddr self = wait_local(c, "self");

	if (!self)
		return 0;
	c->out.kind = kind;
	c->out.id = self;
	words_add(s, "%s", c->rule->verb ? c->rule->verb : "");
	words_str(s, wait_type_name(c, self), 100);
	return self;
}

/* sleep(0) makes no timer: it is a bare yield. */
void wait_sleep(struct waiting *c)
{
	struct words s = {0};
	vaddr handle = wait_local(c, "h");

	if (!handle)
		return;
	c->out.kind = AWAITS_SLEEP;
	c->out.id = c->leaf;
	c->out.left = wait_due(c, handle);
	if (!isinf(c->out.left))
		return;
	c->out.left = NAN;
	words_add(&s, "sleep, for ever");
	wait_detail(c, &s);
}

/* A flag of asyncio's, the owner of anyio's, who alone may release it: what has ended never will. */
void wait_say_lock(struct waiting *c, struct words *s, vaddr lock)
{
	int held = wait_flag(c, lock, "_locked");
	vaddr owner = 0;

	if (held < 0 && attr_get(c->r, lock, "_owner_task", &owner) == ERR_OK && owner)
		held = !object_is_none(c->r, owner);
	c->out.free = held == 0 || (owner && wait_future_state(c, owner) > 0);
	if (held >= 0)
		words_add(s, held ? ", held" : ", free");
	if (held > 0 && owner) {
		words_add(s, " by ");
		wait_say_task(c, s, owner);
	}
	wait_say_waiting(s, wait_length(c, lock, "_waiters"));
}

void wait_lock(struct waiting *c)
{
	struct words s = {0};
	vaddr lock = wait_begin(c, AWAITS_LOCK, &s);

	if (!lock)
		return;
	wait_say_lock(c, &s, lock);
	wait_detail(c, &s);
}

void wait_event(struct waiting *c)
{
	struct words s = {0};
	vaddr event = wait_begin(c, AWAITS_EVENT, &s);
	int set;

	if (!event)
		return;
	set = wait_flag(c, event, "_value");
	if (set >= 0)
		words_add(&s, set ? ", set" : ", not set");
	wait_say_waiting(&s, wait_length(c, event, "_waiters"));
	wait_detail(c, &s);
}

/* After the notification it takes its lock again: then the frame inwards is the lock's. */
void wait_condition(struct waiting *c)
{
	struct words s = {0};
	vaddr condition = wait_begin(c, AWAITS_CONDITION, &s);
	const struct frame_walk *inner;

	if (!condition)
		return;
	inner = &c->chain->v[c->chain->count - 1].position;
	if (str_is(inner->info->qualname, "Lock.acquire")) {
		words_add(&s, ", notified, takes its lock again");
		wait_say_lock(c, &s, wait_attr(c, condition, "_lock"));
	} else {
		wait_say_waiting(&s, wait_length(c, condition, "_waiters"));
	}
	wait_detail(c, &s);
}

void wait_semaphore(struct waiting *c)
{
	struct words s = {0};
	vaddr semaphore = wait_begin(c, AWAITS_SEMAPHORE, &s);
	int64_t value, most;

	if (!semaphore)
		return;
	value = wait_number(c, semaphore, "_value");
	most = wait_number(c, semaphore, c->rule->variable);
	c->out.free = value > 0;
	if (value >= 0)
		words_add(&s, ", value %" PRId64, value);
	if (value >= 0 && most >= 0)
		words_add(&s, " of %" PRId64, most);
	if (value > 0)
		words_add(&s, ", free");
	wait_say_waiting(&s, wait_length(c, semaphore, "_waiters"));
	wait_detail(c, &s);
}

void wait_barrier(struct waiting *c)
{
	struct words s = {0};
	struct str state;
	vaddr barrier = wait_begin(c, AWAITS_BARRIER, &s), value;
	int64_t count, parties;

	if (!barrier)
		return;
	count = wait_number(c, barrier, "_count");
	parties = wait_number(c, barrier, "_parties");
	if (count >= 0 && parties >= 0)
		words_add(&s, ", %" PRId64 " of %" PRId64 " arrived", count, parties);
	value = wait_attr(c, wait_attr(c, barrier, "_state"), "_value_");
	if (value && !object_str_is(c->r, value, "filling") &&
	    object_str(c->r, value, 40, c->r->scratch, &state, NULL) == ERR_OK) {
		words_add(&s, ", ");
		words_str(&s, state, 40);
	}
	wait_say_waiting(&s, wait_length(c, wait_attr(c, barrier, "_cond"), "_waiters"));
	wait_detail(c, &s);
}

void wait_queue_get(struct waiting *c)
{
	struct words s = {0};
	vaddr queue = wait_begin(c, AWAITS_QUEUE, &s);
	int64_t size;

	if (!queue)
		return;
	words_add(&s, ".get");
	size = wait_length(c, queue, "_queue");
	if (size == 0)
		words_add(&s, ", empty");
	else if (size > 0)
		words_add(&s, ", %" PRId64 " in it", size);
	wait_say_waiting(&s, wait_length(c, queue, "_getters"));
	wait_detail(c, &s);
}

void wait_queue_put(struct waiting *c)
{
	struct words s = {0};
	vaddr queue = wait_begin(c, AWAITS_QUEUE, &s);
	int64_t size, most;

	if (!queue)
		return;
	words_add(&s, ".put");
	size = wait_length(c, queue, "_queue");
	most = wait_number(c, queue, "_maxsize");
	if (size >= 0 && most > 0)
		words_add(&s, ", %s%" PRId64 " of %" PRId64, size >= most ? "full, " : "", size,
			  most);
	wait_say_waiting(&s, wait_length(c, queue, "_putters"));
	wait_detail(c, &s);
}

void wait_queue_join(struct waiting *c)
{
	struct words s = {0};
	vaddr queue = wait_begin(c, AWAITS_QUEUE, &s);
	int64_t unfinished;

	if (!queue)
		return;
	words_add(&s, ".join");
	unfinished = wait_number(c, queue, "_unfinished_tasks");
	if (unfinished >= 0)
		words_add(&s, ", %" PRId64 " unfinished", unfinished);
	wait_say_waiting(&s, wait_length(c, wait_attr(c, queue, "_finished"), "_waiters"));
	wait_detail(c, &s);
}
