/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asyncio's state: tasks, futures, loops, await chains, and what a leaf waits on. Two passes over the tasks: the first makes one row for each (so that any task can be
 * found by its id), the second fills chains and waits.
 */
#ifndef AIOTRACE_UNWIND_ASYNCIO_ASYNCIO_H
#define AIOTRACE_UNWIND_ASYNCIO_ASYNCIO_H

#include "unwind/python/python.h"

#define TASKS_MAX	 4000000u /* rows of one snapshot */
#define CHAIN_MAX	 20000u /* frames of one await chain */
#define THREADS_MAX	 20000u /* thread states of one interpreter */
#define INTERPRETERS_MAX 1000u
#define WAITED_MAX	 1000000u /* tasks that one task waits for (gather of many) */

/* A thread state with the row it has in the model. */
struct thread_ref {
	struct thread_walk walk;
	uint32_t row; /* model.threads */
	vaddr running_loop; /* 0 none */
	vaddr running_task; /* 3.14 on; 0 none */
	/* The Python stack, innermost first, read once and shared by running tasks and executor look-ups. */
	struct frame_walk *frames;
	uint32_t frame_count;
	bool frames_truncated;
};

/* What is known of one walk: shared by all readers of asyncio. */
struct waits; /* waits.h */
struct held_future; /* holders.c */
struct asyncio {
	struct reader *r;
	struct interp_walk *interps;
	uint32_t interp_count;
	struct thread_ref *threads;
	uint32_t thread_count;
	double now; /* loop.time() of the target (its CLOCK_MONOTONIC) when the walk began */
	uint32_t *first_task; /* by interpreter: its first row of model.tasks; tasks_enumerate's */
	struct chain_position *chain; /* await_chain_read's buffer, used again by the next call */
	uint32_t chain_capacity;
	struct waits *waits; /* waits.c's, made at its first use */
	bool loop_state; /* what is read on demand alone */
	struct held_future *held; /* holders.c's */
	uint32_t held_count;
};

/* The whole walk: interpreters, threads, loops, tasks, chains, waits, into r->model. Soft errors mark rows; hard ones are returned. */
must_check enum err asyncio_walk(struct reader *r, bool thread_stacks, bool loop_state);

/* A position as an interned node of the model's chains, below `outer`. */
uint32_t walk_push(struct reader *r, uint32_t outer, const struct frame_walk *f);

/* --- threads.c: the model's rows of threads. */
/* One for each thread of the process, as /proc lists them. */
void threads_add_rows(struct reader *r);
/* Row of a thread by the number that CPython has stored; NONE. */
uint32_t threads_find_row(struct reader *r, pid_t namespace_tid);
/* The interpreter (row) that the thread is in: of several, the one that it entered last. */
void threads_place(struct asyncio *a, const struct thread_ref *ref, uint32_t interpreter);
/* The name that threading gave it, where its stack tells. */
void threads_name(struct asyncio *a, const struct thread_ref *ref);
/* The system call that it is in; where threads were stopped for a copy, as it was then. False: not known. */
bool threads_call(struct reader *r, pid_t tid, struct proc_syscall *ret);
/* What is read on demand alone: Python stacks, system calls, who holds the GIL and who waits for it. */
must_check enum err threads_fill(struct asyncio *a);

/* --- tasks.c: enumeration. */
/* One row per distinct task of an interpreter: all the sets and lists of the layout's all_tasks rule. */
must_check enum err tasks_enumerate(struct asyncio *a, const struct interp_walk *interp);
/* After all interpreters: reads in bulk the pages of all tasks, their names and coroutines, so that what follows finds them in the cache. */
void tasks_prefetch(struct asyncio *a);
/* The interpreter (row) in whose sets the task (row) was found. */
uint32_t tasks_interpreter(const struct asyncio *a, uint32_t task);

/* --- task.c: one task or future; the same words for the C and the Python form, and subclasses. */
struct future_view {
	vaddr at;
	const struct type_info *type;
	bool is_task;
	int state; /* 0 pending, 1 cancelled, 2 finished: _asyncio's numbers */
	vaddr loop, fut_waiter, coro,
		name; /* fut_waiter, coro, name: tasks only; None and NULL are 0 */
	vaddr callback0,
		callbacks; /* callbacks of the C form; a list of (callback, context) in both */
	vaddr exception; /* of the C form, like the next */
	bool log_tb; /* it has an exception that nobody has looked at */
	bool must_cancel;
	uint32_t cancelling;
};
/* ERR_SHAPE where the object is no Future of asyncio's. */
must_check enum err future_read(struct reader *r, vaddr at, struct future_view *ret);
/* Done-callbacks of a future: objects to be called. */
must_check enum err future_callbacks(struct reader *r, const struct future_view *f, uint32_t max,
				     struct items *ret);
/* "Task-5" or the given name; in the model's text. */
must_check enum err task_name(struct reader *r, const struct future_view *f, struct str *ret);

/* --- await.c: the chain of one task. */
struct chain_position {
	struct frame_walk position;
	vaddr generator; /* the coroutine or generator whose frame it is; 0 when it is a plain call of a running task */
};
struct await_chain {
	struct chain_position *v; /* outermost first */
	uint32_t count;
	bool truncated, damaged;
	enum gen_state leaf_state; /* state of the innermost generator */
	const struct thread_ref
		*thread; /* whose stack has the outermost of those that execute; NULL: none does */
	vaddr leaf; /* what the innermost awaits: a future, an awaitable in C; 0: bare yield, or running, or finished */
};
/*
 * From a task's coroutine inwards, through generators, async generators' asend/athrow/aclose, anext, coroutine wrappers. ret->v is valid until the next call.
 * A running coroutine goes on as calls of its thread's stack. A leaf that is a future's iterator is given as its future.
 * Soft errors are in ret (damaged); ERR_NOMEM, ERR_DEADLINE and hard ones are returned.
 */
must_check enum err await_chain_read(struct asyncio *a, vaddr coro, struct await_chain *ret);
/* Does a frame of the chain handle an exception: is it inside `except`, or in `finally` because of one? True also where a part of the chain can't be seen. */
bool await_chain_handles(struct reader *r, const struct await_chain *c);

/* --- waits (waits.h): what the leaf waits on, in words. Fills task row `task`'s awaits, edges included. */
struct wait_context {
	struct asyncio *a;
	uint32_t task; /* model row */
	const struct future_view *future; /* of that task */
	const struct await_chain *chain;
};
must_check enum err waits_describe(struct wait_context *c);

/* --- holders.c: who holds the futures that tasks wait on. Read with the loops alone. */
/* After the task's wait is described. What can't be accounted for exactly is left at -1, "not read". */
void holders_count(struct asyncio *a, uint32_t row, const struct future_view *task,
		   const struct await_chain *chain);
/* After the last task: several may wait for the same future. */
void holders_finish(struct asyncio *a);

/* --- leftovers.c: the exception of a finished task or future that nobody has looked at, as a row of the picture. Read with the loops alone. */
void leftover_note(struct asyncio *a, const struct future_view *f);

/* --- loop.c */
/* Row of a loop object, made when new (class, debug, closed, thread). NONE when it is no loop that can be read. */
uint32_t loop_row(struct asyncio *a, vaddr loop, uint32_t interpreter);
/* loops of threads, and their current tasks. Before the tasks are filled. */
must_check enum err loops_read(struct asyncio *a);

/* The loop that a thread state says it runs, and the task that it has entered where threads keep that; 0 none. */
must_check enum err loop_of_thread(struct reader *r, vaddr thread, vaddr *loop_ret,
				   vaddr *task_ret);
/* Does the loop itself say that it runs in this thread? It decides between two threads that both have it as theirs. */
bool loop_is_of_thread(struct reader *r, vaddr loop, const struct thread_walk *thread);
/* The dict {loop: task} of the tasks that are entered, where loops keep them; 0 where asyncio is not imported. */
must_check enum err loop_tasks_dict(struct reader *r, const struct interp_walk *interp, vaddr *ret);

/* --- handles.c: asyncio.Handle and TimerHandle. */
/*
 * A model row for a handle, NONE where it is none (or no memory). HANDLE_CALLBACK: whether it is a step or a wake-up is told by its callback; the
 * other kinds are kept.
 */
uint32_t handle_row(struct asyncio *a, vaddr at, enum handle_kind kind);
/* Reads in bulk the pages of many and of what they refer to. */
void handles_prefetch(struct asyncio *a, const struct items *handles);

/* --- loop_inner.c: what is read on demand alone: ready queue, timers, descriptors, default executor. After the tasks are filled. */
must_check enum err loops_read_inner(struct asyncio *a);

#endif
