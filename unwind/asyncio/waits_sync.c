/* SPDX-License-Identifier: Apache-2.0 */
/* Sleeps, locks and queues: Lib/asyncio/tasks.py, locks.py, queues.py. `self` is the primitive; how many wait is the length of its deque. */
#include "unwind/asyncio/waits.h"

static enum err waited_on(struct wait *w, vaddr *self, int64_t *waiters)
{
	enum err err = wait_local(w, "self", self);

	if (err != ERR_OK)
		return err;
	w->out->id = *self;
	return wait_attr_length(w, *self, "_waiters", waiters);
}

enum err wait_lock(struct wait *w, const struct wait_rule *rule)
{
	vaddr self;
	int64_t waiters;
	bool locked;
	enum err err = waited_on(w, &self, &waiters);

	(void)rule;
	if (err == ERR_OK)
		err = attr_bool(w->r, self, "_locked", &locked);
	if (err == ERR_OK)
		wait_detail(w, "%.*s, %s, %lld waiting", STR_ARG(wait_class(w, self)),
			    locked ? "held" : "free", (long long)waiters);
	return err;
}

enum err wait_event(struct wait *w, const struct wait_rule *rule)
{
	vaddr self;
	int64_t waiters;
	bool set;
	enum err err = waited_on(w, &self, &waiters);

	(void)rule;
	if (err == ERR_OK)
		err = attr_bool(w->r, self, "_value", &set);
	if (err == ERR_OK)
		wait_detail(w, "%.*s, %s, %lld waiting", STR_ARG(wait_class(w, self)),
			    set ? "set" : "not set", (long long)waiters);
	return err;
}

enum err wait_condition(struct wait *w, const struct wait_rule *rule)
{
	vaddr self;
	int64_t waiters;
	enum err err = waited_on(w, &self, &waiters);

	(void)rule;
	if (err == ERR_OK)
		wait_detail(w, "%.*s, %lld waiting", STR_ARG(wait_class(w, self)),
			    (long long)waiters);
	return err;
}

enum err wait_semaphore(struct wait *w, const struct wait_rule *rule)
{
	vaddr self;
	int64_t waiters, value;
	enum err err = waited_on(w, &self, &waiters);

	(void)rule;
	if (err == ERR_OK)
		err = attr_long(w->r, self, "_value", &value);
	if (err == ERR_OK)
		wait_detail(w, "%.*s, value %lld, %lld waiting", STR_ARG(wait_class(w, self)),
			    (long long)value, (long long)waiters);
	return err;
}

enum err wait_barrier(struct wait *w, const struct wait_rule *rule)
{
	vaddr self;
	int64_t parties, count;
	enum err err = wait_local(w, "self", &self);

	(void)rule;
	if (err == ERR_OK)
		err = attr_long(w->r, self, "_parties", &parties);
	if (err == ERR_OK)
		err = attr_long(w->r, self, "_count", &count);
	if (err != ERR_OK)
		return err;
	w->out->id = self;
	wait_detail(w, "%.*s, %lld of %lld waiting", STR_ARG(wait_class(w, self)), (long long)count,
		    (long long)parties);
	return ERR_OK;
}

/* Length of the queue's own container, -1 where a subclass keeps its items elsewhere. */
static int64_t queued(struct wait *w, vaddr self)
{
	int64_t n;
	vaddr at;

	if (attr_get(w->r, self, "_queue", &at) != ERR_OK || !at ||
	    object_length(w->r, at, &n) != ERR_OK)
		return -1;
	return n;
}

static enum err wait_queue(struct wait *w, const char *what, const char *waiters_attr)
{
	vaddr self;
	int64_t waiters, most = 0, items;
	enum err err = wait_local(w, "self", &self);

	if (err == ERR_OK)
		err = wait_attr_length(w, self, waiters_attr, &waiters);
	if (err == ERR_OK)
		err = attr_long(w->r, self, "_maxsize", &most);
	if (err != ERR_OK)
		return err;
	w->out->id = self;
	items = queued(w, self);
	if (items < 0)
		wait_detail(w, "%.*s.%s, %lld waiting", STR_ARG(wait_class(w, self)), what,
			    (long long)waiters);
	else if (most > 0)
		wait_detail(w, "%.*s.%s, %lld of %lld items, %lld waiting",
			    STR_ARG(wait_class(w, self)), what, (long long)items, (long long)most,
			    (long long)waiters);
	else
		wait_detail(w, "%.*s.%s, %lld items, %lld waiting", STR_ARG(wait_class(w, self)),
			    what, (long long)items, (long long)waiters);
	return ERR_OK;
}

enum err wait_queue_get(struct wait *w, const struct wait_rule *rule)
{
	(void)rule;
	return wait_queue(w, "get", "_getters");
}

enum err wait_queue_put(struct wait *w, const struct wait_rule *rule)
{
	(void)rule;
	return wait_queue(w, "put", "_putters");
}

enum err wait_queue_join(struct wait *w, const struct wait_rule *rule)
{
	vaddr self, finished;
	int64_t unfinished, waiters = 0;
	enum err err = wait_local(w, "self", &self);

	(void)rule;
	if (err == ERR_OK)
		err = attr_long(w->r, self, "_unfinished_tasks", &unfinished);
	if (err != ERR_OK)
		return err;
	w->out->id = self;
	if (attr_get(w->r, self, "_finished", &finished) == ERR_OK && finished)
		err = wait_attr_length(w, finished, "_waiters", &waiters);
	wait_detail(w, "%.*s.join, %lld unfinished, %lld waiting", STR_ARG(wait_class(w, self)),
		    (long long)unfinished, (long long)waiters);
	return err;
}

enum err wait_sleep(struct wait *w, const struct wait_rule *rule)
{
	vaddr handle;
	enum err err = wait_local(w, "h", &handle);

	(void)rule;
	w->out->id = w->c->chain->leaf;
	w->out->detail = STR_LIT("sleep");
	if (err == ERR_OK)
		wait_until_timer(w, handle);
	return err;
}

enum err wait_turn(struct wait *w, const struct wait_rule *rule)
{
	(void)rule;
	w->out->detail = STR_LIT("sleep(0): it runs on in the loop's next turn");
	return ERR_OK;
}
