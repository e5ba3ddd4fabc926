/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the end of an await chain waits on: a table of asyncio's and anyio's own functions (file, qualified name) that says how to read each wait from the variables
 * of its suspended frame, and readers of the objects behind it. Shared by waits*.c; callers use waits_describe of asyncio.h.
 *
 * These readers are forgiving: what can't be read is left out of the words, never invented. Time over and hard errors are kept by the memory
 * (mem_deadline_hit, mem_hard_error) and returned once, by waits_describe.
 */
#ifndef AIOTRACE_UNWIND_ASYNCIO_WAITS_H
#define AIOTRACE_UNWIND_ASYNCIO_WAITS_H

#include "unwind/asyncio/asyncio.h"
#include "unwind/asyncio/words.h"

#define CALLBACKS_MAX	1000u
#define FUTURE_HOPS_MAX 50u /* shields of shields, gathers in gathers, futures chained to futures */

/* One wait that is being described. */
struct waiting {
	struct asyncio *a;
	struct reader *r;
	struct waits *w;
	uint32_t task; /* model row */
	const struct await_chain *chain;
	uint32_t frame; /* index in the chain of the frame whose rule is asked */
	const struct wait_rule *rule;
	vaddr leaf; /* future that the innermost frame awaits, 0 none */
	uint32_t chained; /* futures of concurrent.futures that were followed */
	bool own_timeout; /* out.left is that of a timeout */
	struct await out; /* kind AWAITS_NOTHING until somebody knows */
};

struct wait_rule {
	const char *file; /* of Lib/asyncio, or with its folders of anyio */
	const char *function; /* co_qualname */
	/* Sets out.kind when the frame is in such a wait; else leaves it, and the next frame inwards is asked. */
	void (*describe)(struct waiting *c);
	const char *verb; /* in words, for rules that share one function */
	const char *variable; /* the object's, likewise */
	bool innermost; /* only where nothing of Python runs below this frame */
	bool shared; /* the description depends on `self` alone: tasks that wait for the same share it */
};

/* --- values (waits_values.c); absent, None and unreadable are 0, -1 or NAN */
vaddr wait_local(struct waiting *c, const char *name);
vaddr wait_attr(struct waiting *c, vaddr object, const char *name);
/* Number of elements; None counts as empty. */
int64_t wait_length(struct waiting *c, vaddr object, const char *attr);
int64_t wait_number(struct waiting *c, vaddr object, const char *attr);
/* 1, 0, or -1. */
int wait_flag(struct waiting *c, vaddr object, const char *attr);
/* Seconds until a TimerHandle or Timeout is due, by its `_when`; past: 0. */
double wait_due(struct waiting *c, vaddr handle);
/* Name of the object's type. */
struct str wait_type_name(struct waiting *c, vaddr object);
/* C descriptor of a socket.socket; -1 where it is none or closed. */
int wait_socket_fd(struct waiting *c, vaddr sock);
/* ", fd 7, tcp …" */
void wait_say_fd(struct waiting *c, struct words *s, int fd);
/* ", 3 waiting"; nothing for -1. */
void wait_say_waiting(struct words *s, int64_t count);
/* ", held by Task-7, 2 waiting"; asyncio's locks don't know by whom. */
void wait_say_lock(struct waiting *c, struct words *s, vaddr lock);
/* A task by its name, and whether it has ended. */
void wait_say_task(struct waiting *c, struct words *s, vaddr task);
/* `self` of the frame becomes the object waited on; its class begins the line, the rule's verb before it. 0: there is none. */
vaddr wait_begin(struct waiting *c, enum await_kind kind, struct words *s);
/* Puts the words into the description. */
void wait_detail(struct waiting *c, const struct words *s);

/* --- tasks and futures (waits_future.c) */
/* State by _asyncio's numbers (0 pending); -1 where it is no future. */
int wait_future_state(struct waiting *c, vaddr future);
/* What waiting for this future means: a task, gather's children, shield's inner, an executor's call, or just a future. */
void wait_on_future(struct waiting *c, vaddr future);
/* A task, with the edge. */
void wait_on_task(struct waiting *c, vaddr task);
/* What shield() of this future guards; 0 where it is not shield's. */
vaddr wait_shielded(struct waiting *c, vaddr future);
/* Free variable of a function, if it is this one of asyncio's; else 0. */
vaddr wait_function_variable(struct waiting *c, vaddr at, const char *function,
			     const char *variable);
/* First positional argument of the first done-callback that is a partial of this method of asyncio's loop; 0 none. */
vaddr wait_callback_argument(struct waiting *c, vaddr future, const char *method);

/* --- groups (waits_group.c): edges of the description */
struct waited_for {
	uint32_t tasks, futures; /* all */
	uint32_t tasks_pending, futures_pending;
	bool truncated;
};
/* Adds an edge for each pending task among these futures, seen through gathers and shields; once each. */
void wait_collect(struct waiting *c, const struct items *futures, struct waited_for *ret);
/* ", 3 tasks", ", 2 of 5 pending" */
void wait_say_waited_for(struct words *s, const struct waited_for *n);
/* One edge; false where the task has no row. */
bool wait_edge(struct waiting *c, vaddr task);
/* A task on a thread's stack that runs a loop until something is done, inside itself: the edge to what it runs. */
void wait_nested_run(struct waiting *c);
/* Counts edges that are used once more; false where the picture has too many. */
bool wait_more_edges(struct waiting *c, uint32_t count);

/* --- executors (waits_executor.c): a call that a concurrent.futures.Future stands for */
void wait_on_concurrent(struct waiting *c, vaddr concurrent);

/* --- asyncio.timeout (waits_timeout.c): seconds until the first of the timeouts that are open around the chain; NAN none */
double wait_open_timeout(struct waiting *c);

/* --- anyio (waits_anyio.c): seconds until the first deadline of the cancel scopes that the task is in; NAN none */
double wait_anyio_deadline(struct waiting *c);

/* --- what the rules call */
void wait_sleep(struct waiting *c);
void wait_lock(struct waiting *c);
void wait_event(struct waiting *c);
void wait_condition(struct waiting *c);
void wait_semaphore(struct waiting *c);
void wait_barrier(struct waiting *c);
void wait_queue_get(struct waiting *c);
void wait_queue_put(struct waiting *c);
void wait_queue_join(struct waiting *c);
void wait_for_311(struct waiting *c);
void wait_cancel_and_wait(struct waiting *c);
void wait_set(struct waiting *c);
void wait_as_completed(struct waiting *c);
void wait_as_completed_iterator(struct waiting *c);
void wait_task_group(struct waiting *c);
void wait_staggered(struct waiting *c);
void wait_stream(struct waiting *c);
void wait_socket(struct waiting *c);
void wait_transport(struct waiting *c);
void wait_server(struct waiting *c);
void wait_server_closed(struct waiting *c);
void wait_shutdown_executor(struct waiting *c);
void wait_process(struct waiting *c);
void wait_process_transport(struct waiting *c);
void wait_anyio_limiter(struct waiting *c);
void wait_anyio_condition(struct waiting *c);
void wait_anyio_receive(struct waiting *c);
void wait_anyio_send(struct waiting *c);
void wait_anyio_thread(struct waiting *c);
void wait_anyio_fd(struct waiting *c);
void wait_anyio_stream(struct waiting *c);

/* --- rules (waits_rules.c) */
const struct wait_rule *wait_rule_find(const struct code_info *info);
/* True for the rule of futures' own __await__ in Python. */
bool wait_rule_is_future(const struct wait_rule *rule);

/* --- per walk (waits.c) */
struct executors; /* waits_executor.c */
struct waits {
	struct executors *executors; /* NULL until the first executor call */
	uint32_t *stamps; /* by task row: the last collection it was in */
	uint32_t stamp, stamps_count;
	uint64_t edges; /* of all descriptions */
	vaddr *scopes; /* by task row: anyio's innermost cancel scope */
	uint32_t scopes_count;
	bool scopes_known;
	struct kept_wait *kept;
	struct kept_words *suffixed;
};

#endif
