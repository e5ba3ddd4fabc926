/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for time, locks and queues: Lib/asyncio/tasks.py (sleep), locks.py, queues.py. */
#include "unwind/asyncio/waits.h"

#include <inttypes.h>

/* ", 3 waiting" */
static void say_waiting(struct words *s, int64_t count)
{
	if (count >= 0)
		words_add(s, ", %" PRId64 " waiting", count);
}

/* `self` of the frame becomes the object waited on; its class begins the line. */
static vaddr begin(struct waiting *c, enum await_kind kind, struct words *s)
{
	vaddr self = wait_local(c, "self");

	if (!self)
		return 0;
	c->out.kind = kind;
	c->out.id = self;
	words_str(s, wait_type_name(c, self), 100);
	return self;
}

/* sleep(0) makes no timer: it is a bare yield. */
void wait_sleep(struct waiting *c)
{
	vaddr handle = wait_local(c, "h");

	if (!handle)
		return;
	c->out.kind = AWAITS_SLEEP;
	c->out.id = c->leaf;
	c->out.left = wait_due(c, handle);
}

static void say_lock(struct waiting *c, struct words *s, vaddr lock)
{
	int held = wait_flag(c, lock, "_locked");

	c->out.free = held == 0;
	if (held >= 0)
		words_add(s, held ? ", held" : ", free");
	say_waiting(s, wait_length(c, lock, "_waiters"));
}

void wait_lock(struct waiting *c)
{
	struct words s = {0};
	vaddr lock = begin(c, AWAITS_LOCK, &s);

	if (!lock)
		return;
	say_lock(c, &s, lock);
	wait_detail(c, &s);
}

void wait_event(struct waiting *c)
{
	struct words s = {0};
	vaddr event = begin(c, AWAITS_EVENT, &s);
	int set;

	if (!event)
		return;
	set = wait_flag(c, event, "_value");
	if (set >= 0)
		words_add(&s, set ? ", set" : ", not set");
	say_waiting(&s, wait_length(c, event, "_waiters"));
	wait_detail(c, &s);
}

/* After the notification it takes its lock again: then the frame inwards is the lock's. */
void wait_condition(struct waiting *c)
{
	struct words s = {0};
	vaddr condition = begin(c, AWAITS_CONDITION, &s);
	const struct frame_walk *inner;

	if (!condition)
		return;
	inner = &c->chain->v[c->chain->count - 1].position;
	if (str_is(inner->info->qualname, "Lock.acquire")) {
		words_add(&s, ", notified, takes its lock again");
		say_lock(c, &s, wait_attr(c, condition, "_lock"));
	} else {
		say_waiting(&s, wait_length(c, condition, "_waiters"));
	}
	wait_detail(c, &s);
}

void wait_semaphore(struct waiting *c)
{
	struct words s = {0};
	vaddr semaphore = begin(c, AWAITS_SEMAPHORE, &s);
	int64_t value, bound;

	if (!semaphore)
		return;
	value = wait_number(c, semaphore, "_value");
	bound = wait_number(c, semaphore, "_bound_value");
	c->out.free = value > 0;
	if (value >= 0)
		words_add(&s, ", value %" PRId64, value);
	if (value >= 0 && bound >= 0)
		words_add(&s, " of %" PRId64, bound);
	say_waiting(&s, wait_length(c, semaphore, "_waiters"));
	wait_detail(c, &s);
}

void wait_barrier(struct waiting *c)
{
	struct words s = {0};
	struct str state;
	vaddr barrier = begin(c, AWAITS_BARRIER, &s), value;
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
	say_waiting(&s, wait_length(c, wait_attr(c, barrier, "_cond"), "_waiters"));
	wait_detail(c, &s);
}

void wait_queue_get(struct waiting *c)
{
	struct words s = {0};
	vaddr queue = begin(c, AWAITS_QUEUE, &s);
	int64_t size;

	if (!queue)
		return;
	words_add(&s, ".get");
	size = wait_length(c, queue, "_queue");
	if (size == 0)
		words_add(&s, ", empty");
	else if (size > 0)
		words_add(&s, ", %" PRId64 " in it", size);
	say_waiting(&s, wait_length(c, queue, "_getters"));
	wait_detail(c, &s);
}

void wait_queue_put(struct waiting *c)
{
	struct words s = {0};
	vaddr queue = begin(c, AWAITS_QUEUE, &s);
	int64_t size, most;

	if (!queue)
		return;
	words_add(&s, ".put");
	size = wait_length(c, queue, "_queue");
	most = wait_number(c, queue, "_maxsize");
	if (size >= 0 && most > 0)
		words_add(&s, ", %s%" PRId64 " of %" PRId64, size >= most ? "full, " : "", size,
			  most);
	say_waiting(&s, wait_length(c, queue, "_putters"));
	wait_detail(c, &s);
}

void wait_queue_join(struct waiting *c)
{
	struct words s = {0};
	vaddr queue = begin(c, AWAITS_QUEUE, &s);
	int64_t unfinished;

	if (!queue)
		return;
	words_add(&s, ".join");
	unfinished = wait_number(c, queue, "_unfinished_tasks");
	if (unfinished >= 0)
		words_add(&s, ", %" PRId64 " unfinished", unfinished);
	say_waiting(&s, wait_length(c, wait_attr(c, queue, "_finished"), "_waiters"));
	wait_detail(c, &s);
}
