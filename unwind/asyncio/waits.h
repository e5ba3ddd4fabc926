/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the leaf of an await chain waits on, in words. Two sources: the functions of CPython's asyncio that a task is suspended in (rules, by file and qualified name; their
 * locals hold the lock, the queue, the set of tasks), and the object at the very end (a task, a gathering future, a future with telling callbacks).
 */
#ifndef AIOTRACE_UNWIND_ASYNCIO_WAITS_H
#define AIOTRACE_UNWIND_ASYNCIO_WAITS_H

#include "unwind/asyncio/asyncio.h"

/* One wait that is being described: where it is, and the row that it goes to. */
struct wait {
	struct wait_context *c;
	struct reader *r;
	struct model *m;
	struct await *out;
	const struct chain_position *at; /* the frame that the rule is for */
};

struct wait_rule {
	const char *file; /* in the asyncio package: "locks.py" */
	const char *function; /* qualified name */
	enum await_kind kind;
	/* Fills w->out. ERR_SHAPE where the frame does not hold what it should: then the object at the end speaks. */
	enum err (*describe)(struct wait *w, const struct wait_rule *rule);
	bool outermost; /* wins over rules further in: Queue.join over the Event.wait that it uses */
};

/* waits_rules.c: NULL where a function says nothing of a wait. Remembered in the code object's info. */
const struct wait_rule *wait_rule_of(struct code_info *info);

/* waits_leaf.c: by the object at the end of the chain (0: none). */
must_check enum err wait_describe_leaf(struct wait *w, vaddr leaf);

/* Describers, used by the table. */
enum err wait_lock(struct wait *w, const struct wait_rule *rule);
enum err wait_event(struct wait *w, const struct wait_rule *rule);
enum err wait_condition(struct wait *w, const struct wait_rule *rule);
enum err wait_semaphore(struct wait *w, const struct wait_rule *rule);
enum err wait_barrier(struct wait *w, const struct wait_rule *rule);
enum err wait_queue_get(struct wait *w, const struct wait_rule *rule);
enum err wait_queue_put(struct wait *w, const struct wait_rule *rule);
enum err wait_queue_join(struct wait *w, const struct wait_rule *rule);
enum err wait_sleep(struct wait *w, const struct wait_rule *rule);
enum err wait_turn(struct wait *w, const struct wait_rule *rule);
enum err wait_set(struct wait *w, const struct wait_rule *rule);
enum err wait_wait_for(struct wait *w, const struct wait_rule *rule);
enum err wait_cancelled(struct wait *w, const struct wait_rule *rule);
enum err wait_group(struct wait *w, const struct wait_rule *rule);
enum err wait_completed(struct wait *w, const struct wait_rule *rule);
enum err wait_completed_iterator(struct wait *w, const struct wait_rule *rule);
enum err wait_stream(struct wait *w, const struct wait_rule *rule);
enum err wait_drain(struct wait *w, const struct wait_rule *rule);
enum err wait_socket(struct wait *w, const struct wait_rule *rule);
enum err wait_server(struct wait *w, const struct wait_rule *rule);
enum err wait_process(struct wait *w, const struct wait_rule *rule);
enum err wait_process_transport(struct wait *w, const struct wait_rule *rule);

/* Helpers. */
/* A local of the rule's frame; ERR_SHAPE where it is not set. */
must_check enum err wait_local(struct wait *w, const char *name, vaddr *ret);
/* An attribute that must be there. */
must_check enum err wait_attr(struct wait *w, vaddr object, const char *name, vaddr *ret);
/* Length of a container attribute; 0 for None or absent. */
must_check enum err wait_attr_length(struct wait *w, vaddr object, const char *name, int64_t *ret);
/* "Lock": class name of an object. */
struct str wait_class(struct wait *w, vaddr object);
/* Adds an edge for each task among the futures that is not done; *pending_ret counts what is not done, tasks or not. */
must_check enum err wait_add_tasks(struct wait *w, const struct items *futures,
				   uint32_t *pending_ret);
/* An edge to one task, where it is one that is known. */
void wait_add_task(struct wait *w, vaddr task);
/* Lowers the time left to the timer handle's; says nothing where it is no handle. */
void wait_until_timer(struct wait *w, vaddr handle);
/* The same for a time on the loop's clock. */
void wait_until(struct wait *w, double when);
void wait_detail(struct wait *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "fd 7, tcp 127.0.0.1:1 -> 127.0.0.1:2 established". */
void wait_detail_fd(struct wait *w, const char *what, int64_t fd);
/* A pending gathering future's tasks, nested ones too; their number and how many are done. */
must_check enum err wait_gathered(struct wait *w, vaddr gathering, uint32_t *total_ret,
				  uint32_t *pending_ret);
/* waits_executor.c: work of a concurrent.futures executor. */
must_check enum err wait_executor(struct wait *w, vaddr concurrent_future);

#endif
