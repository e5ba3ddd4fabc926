/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The picture of one process at one moment: plain tables of rows that refer to each other by index. No reads, no offsets, no I/O.
 * Text lives in the model's arena; rows live in its growing tables. `NONE` is "no row".
 *
 * contract.md's JSON is this picture written down; model/names.h has its words.
 */
#ifndef AIOTRACE_MODEL_MODEL_H
#define AIOTRACE_MODEL_MODEL_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define NONE UINT32_MAX

enum task_state {
	TASK_PENDING,
	TASK_RUNNING,
	TASK_DONE,
	TASK_CANCELLED,
	TASK_UNKNOWN
};
enum await_kind {
	AWAITS_TASK,
	AWAITS_GATHER,
	AWAITS_WAIT,
	AWAITS_SLEEP,
	AWAITS_LOCK,
	AWAITS_EVENT,
	AWAITS_CONDITION,
	AWAITS_SEMAPHORE,
	AWAITS_QUEUE,
	AWAITS_BARRIER,
	AWAITS_STREAM,
	AWAITS_FD,
	AWAITS_EXECUTOR,
	AWAITS_PROCESS,
	AWAITS_FUTURE,
	AWAITS_YIELD,
	AWAITS_RUNNING,
	AWAITS_NOT_STARTED,
	AWAITS_OTHER,
	AWAITS_NOTHING, /* done tasks; JSON null */
};
enum loop_state {
	LOOP_POLLING,
	LOOP_RUNNING,
	LOOP_BLOCKED,
	LOOP_STALLED,
	LOOP_STOPPED,
	LOOP_CLOSED,
	LOOP_UNKNOWN
};
enum thread_state {
	THREAD_RUNNING,
	THREAD_SLEEPING,
	THREAD_DISK,
	THREAD_STOPPED,
	THREAD_ZOMBIE
};
enum handle_kind {
	HANDLE_TASK_STEP, /* a step of a task: its first, or after a bare yield */
	HANDLE_TASK_WAKEUP, /* what a task waited for is done */
	HANDLE_CALLBACK,
	HANDLE_READER,
	HANDLE_WRITER
};
/* What a thread has to do with its interpreter's GIL. */
enum gil_state {
	GIL_UNKNOWN, /* not asked for, or could not be read; JSON null */
	GIL_NONE,
	GIL_HOLDING,
	GIL_WAITING
};
enum severity {
	SEVERITY_INFO,
	SEVERITY_WARNING,
	SEVERITY_CRITICAL
};
enum evidence_kind {
	EVIDENCE_TEXT,
	EVIDENCE_COUNT,
	EVIDENCE_SECONDS,
	EVIDENCE_FLAG,
	EVIDENCE_ID,
	EVIDENCE_FRAME,
	EVIDENCE_STACK,
	EVIDENCE_TASKS,
	EVIDENCE_HANDLES
};
enum snapshot_method {
	SNAPSHOT_STILL,
	SNAPSHOT_VALIDATED,
	SNAPSHOT_PAUSED,
	SNAPSHOT_TORN
};

/* One position in code. Interned: equal frames have equal indexes. */
struct frame {
	struct str function; /* qualified name */
	struct str file; /* as the code object has it */
	int32_t line; /* 0: not known */
	bool library; /* the file is part of CPython's asyncio package, or of anyio */
	struct str image; /* of native code: path of what it is in; ptr NULL: Python */
};

/* One node of a call or await chain; a stack is the index of its innermost node. Hash-consed: identical stacks are one number. */
struct chain {
	uint32_t outer; /* NONE at the outermost */
	uint32_t frame;
	uint32_t depth; /* 1 at the outermost */
};

/* What a task waits on, at the end of its chain. */
struct await {
	enum await_kind kind;
	vaddr id; /* the object waited on (task, future, lock…), 0 none */
	uint32_t tasks_first,
		tasks_count; /* in model.edges: rows of the tasks that must finish first */
	bool tasks_truncated;
	bool any_of; /* the first of these that ends ends the wait; else all must end */
	uint32_t
		futures_count; /* of what it waits for beside those tasks: futures that are not done */
	bool done; /* what it waits on is done: it goes on in the loop's next turn */
	bool free; /* a lock or semaphore that could be had, by its own state, while this one waits for it */
	bool for_ever; /* a future made where it is awaited, without a name, or by the loop's main task: nobody was meant to end it */
	int64_t other_refs; /* references to the future but those of the tasks that wait for it; -1: not read */
	struct str
		detail; /* in words, without the time left: "Lock (held), 3 waiting", "tcp 127.0.0.1:5000 -> …" */
	double left; /* seconds until it ends by itself (sleep, or the timeout around it); NAN: no such time */
	uint32_t thread; /* executor work: the worker's row, NONE while queued or unknown */
	uint32_t
		worker_chain; /* executor work: stack of the worker when it runs the call, else NONE */
};

struct task {
	vaddr id;
	struct str name; /* ptr NULL: not read */
	uint32_t cls; /* row of model.strings: "Task", "MyTask" */
	uint32_t loop; /* NONE: its loop could not be read */
	uint32_t chain; /* await chain, innermost node; NONE: no coroutine (finished) */
	uint32_t thread; /* row of the thread whose stack has its coroutine's frame, NONE */
	enum task_state state;
	bool must_cancel;
	bool chain_truncated;
	bool damaged; /* something in it could not be read: shown, and marked */
	uint32_t cancelling; /* requests to cancel so far */
	bool handling; /* some frame of its chain handles an exception, or can't be seen: except or finally may be running */
	int64_t other_refs; /* references to the task but those of the future that it waits on; -1: not read */
	struct await awaits;
	uint32_t awaited_by_first,
		awaited_by_count; /* in model.back_edges, filled by model_finish */
};

/* asyncio.Handle or TimerHandle: one call that the loop will make. */
struct handle {
	vaddr id;
	enum handle_kind kind;
	struct str callback; /* in words: "ping", "Task.task_wakeup"; ptr NULL: not read */
	uint32_t task; /* row of the task that it steps or wakes, NONE */
	bool cancelled;
	double due; /* deadline of a timer, in the loop's time; NAN: no timer */
	uint32_t source; /* row of frames where it was made (debug mode), NONE */
};

/* A descriptor that a loop's selector watches. */
struct fd_row {
	int fd;
	bool read, write;
	struct str target; /* what it is: "tcp 127.0.0.1:5000 -> …", "pipe"; ptr NULL: not known */
	uint32_t reader, writer; /* rows of handles, NONE */
	bool self_pipe; /* the loop's own, for wake-ups from threads and signals */
};

/* A call that a worker thread of an executor runs. */
struct executor_call {
	vaddr id; /* its work item, 0: not read */
	uint32_t thread; /* row, NONE */
	struct str callable; /* in words; ptr NULL: not read */
	uint32_t
		chain; /* what runs in it, without the executor's own frames; NONE: no Python frame */
};

/* A ThreadPoolExecutor; -1: that number could not be read. */
struct executor_state {
	bool present;
	int64_t workers, max_workers, idle, queued;
	vaddr next; /* work item at the head of the queue, 0: none, or not read */
	uint32_t calls_first, calls_count; /* model.calls: what its workers run */
};

/* What a watch between pictures saw of a loop's windows (model/watch.h). */
struct loop_watched {
	uint64_t samples, seen; /* in all, and those that saw one */
	uint64_t windows;
	double longest; /* seconds */
};

struct loop {
	vaddr id;
	uint32_t cls; /* row of model.strings */
	uint32_t interpreter; /* row */
	uint32_t thread; /* row of the thread that runs it, NONE: none does */
	enum loop_state state;
	bool debug;
	double time; /* loop.time() of the snapshot, seconds */
	uint32_t current_task; /* row, NONE */
	uint32_t task_count; /* filled by model_finish */
	/* What follows is read on demand alone, and of loops that are made of Python code. */
	bool inner_read;
	uint32_t running; /* handle that its thread runs now, NONE */
	uint32_t ready_first, ready_rows; /* handles, in order: the first ones of */
	uint32_t ready_count; /* length of _ready */
	vaddr timers; /* the list that they are in: another one after cancelled ones were thrown out */
	uint32_t timers_first, timers_rows; /* handles, in the heap's order: the first ones of */
	uint32_t timers_count; /* length of _scheduled */
	uint32_t timers_cancelled; /* among the rows */
	double timers_next; /* seconds until the first timer that is not cancelled, NAN none */
	double timers_last; /* seconds until the last of all, cancelled ones too, NAN none */
	int64_t timer_cancelled_counter; /* the loop's own _timer_cancelled_count, -1: not read */
	uint32_t timer_bytes; /* size of a timer and its deadline by their types, 0: not read */
	bool ready_truncated, timers_truncated; /* not all are rows, or some could not be read */
	uint32_t fds_first, fds_count; /* model.fds */
	bool fds_read; /* the selector's descriptors are known */
	bool fds_truncated;
	bool executor_read; /* executor tells whether there is one */
	struct executor_state executor; /* the default one */
	int64_t signal_handlers; /* set on the loop, -1: not read */
	/* Of a loop that runs a callback: which one, told apart from all others. NAN and -1: none, or not read. */
	double turn_since; /* loop.time() at which this turn of _run_once began with its callbacks, and the clock's resolution */
	int64_t turn_index; /* the callback's place in that turn, from 0 */
	struct loop_watched watched; /* since the picture before; zeros where nobody watched */
};

struct thread {
	pid_t tid;
	struct str name;
	uint32_t interpreter; /* row */
	uint32_t loop; /* its running loop, NONE */
	uint32_t task; /* the task that it has entered, where threads keep that; NONE */
	enum thread_state state;
	uint32_t chain; /* Python stack, NONE: no Python frame (or not asked for) */
	enum gil_state gil;
	struct str
		syscall; /* name of the system call that it is in; ptr NULL: in none, not asked for, or not known */
	struct str
		syscall_text; /* with its arguments in words: "read, fd 5, pipe"; ptr NULL as above */
	uint32_t
		native; /* native stack with the Python frames in their places, NONE: not asked for, or not to be had */
	bool native_truncated;
	bool times_read; /* the next three are known */
	uint64_t cpu_ns; /* CPU time so far */
	uint64_t wait_ns; /* time so far in which it could have run and had no CPU */
	uint64_t run_count; /* times it was put on a CPU */
	double events_timeout; /* asleep in epoll_wait, poll or select: its timeout in seconds, INFINITY none; NAN: it is in no such call */
};

struct interpreter {
	uint64_t id;
	bool gil_read; /* the next two are known */
	pid_t gil_holder; /* the thread that holds its GIL (which another interpreter may share), 0 none */
	uint64_t gil_switches; /* how often the GIL went from one thread to another */
};

struct snapshot_info {
	double wall_time; /* seconds since the epoch */
	double monotonic; /* our CLOCK_MONOTONIC when the walk that became the picture began, seconds */
	bool consistent;
	enum snapshot_method method;
	uint32_t
		looks; /* pictures that its findings were judged by, this one among them; 0: not judged */
	double watched; /* seconds from the first of them to this one */
	uint64_t paused_us, duration_us, bytes_read, read_calls;
	bool signals_read; /* the next is known; read with the loops */
	uint64_t signals_caught; /* bit n: a handler is set for signal n + 1 */
	char note[160]; /* why the method is not the one hoped for; "" as a rule */
	char native_note[160]; /* why there are no native stacks although asked for; "" as a rule */
};

/* A finished task or future whose exception nobody has looked at. Read with the loops. */
struct unretrieved {
	vaddr id;
	struct str name; /* the task's; ptr NULL: a future, or not read */
	uint32_t loop, task; /* rows, NONE */
	struct str type; /* of the exception; ptr NULL: not read */
	struct str message; /* its only argument where that is a str; ptr NULL: none */
};

struct target_info {
	pid_t pid;
	struct str *command;
	size_t command_count;
	char python[32]; /* "3.12.1" */
	bool free_threaded, debug_build, container;
	bool thread_tasks; /* a task is entered by its thread (3.14 on), not for its loop whichever thread does it */
	const char *layout; /* "debug-offsets", "table", "dwarf" */
};

/* One thing that a finding stands on (model/finding.h); which member counts is told by kind. */
struct evidence {
	const char *key;
	enum evidence_kind kind;
	bool flag;
	uint32_t row; /* frame, chain; NONE */
	uint32_t row_count;
	const uint32_t *rows; /* tasks, handles */
	int64_t count;
	double seconds;
	vaddr id;
	struct str text;
};

/* What is wrong, by contract.md's table. */
struct finding {
	const char *id;
	enum severity severity;
	bool certain; /* false: it could come from a torn read */
	bool brief; /* of moments that come and go, which a watch counts (struct loop, watched) */
	uint32_t loop, task, thread; /* rows that it is about, NONE */
	struct str summary, advice;
	uint32_t evidence_first, evidence_count;
};

#define TABLE(type)                       \
	struct {                          \
		type *v;                  \
		uint32_t count, capacity; \
	}

struct hash_index; /* model/intern.c */

struct model {
	struct arena text;
	struct target_info target;
	struct snapshot_info snapshot;
	TABLE(struct interpreter) interpreters;
	TABLE(struct thread) threads;
	TABLE(struct loop) loops;
	TABLE(struct task) tasks;
	TABLE(struct handle) handles;
	TABLE(struct fd_row) fds;
	TABLE(struct executor_call) calls;
	TABLE(struct frame) frames;
	TABLE(struct chain) chains;
	TABLE(struct str) strings; /* interned class names */
	TABLE(struct unretrieved) unretrieved;
	TABLE(uint32_t) edges; /* awaits: task rows */
	TABLE(uint32_t) back_edges; /* awaited by: task rows */
	TABLE(struct finding) findings; /* model/finding.h */
	TABLE(struct evidence) evidence;
	bool tasks_truncated, threads_truncated, loops_truncated;
	bool out_of_memory; /* some row was dropped for want of memory */
	struct hash_index *index; /* interning; the model's own */
};

must_check enum err model_create(struct model **ret);
void model_destroy(struct model *m); /* accepts NULL */
/* Empties all tables and text, keeps the memory: the next attempt at the same picture. target is kept. */
void model_clear(struct model *m);

/* Rows; NONE on no memory (and out_of_memory is set). The new row is zeroed, its indexes set to NONE, times to NAN. */
uint32_t model_add_interpreter(struct model *m, uint64_t id);
uint32_t model_add_thread(struct model *m, pid_t tid);
uint32_t model_add_loop(struct model *m, vaddr id);
uint32_t model_add_task(struct model *m, vaddr id);
uint32_t model_add_handle(struct model *m, vaddr id);
uint32_t model_add_fd(struct model *m, int fd);
/* The row's text must live in the model. */
void model_add_unretrieved(struct model *m, const struct unretrieved *row);
uint32_t model_add_call(struct model *m);
/* Edge lists are appended in one go for one task: returns the first index. */
uint32_t model_add_edge(struct model *m, uint32_t task);
/* Row of a task, loop or NONE, by id. O(1). */
uint32_t model_find_task(const struct model *m, vaddr id);
uint32_t model_find_loop(const struct model *m, vaddr id);
uint32_t model_find_thread(const struct model *m, pid_t tid);
/* Interning. function and file are copied when new. */
uint32_t model_intern_string(struct model *m, struct str s);
uint32_t model_intern_frame(struct model *m, struct str function, struct str file, int32_t line);
/* The same for native code; image must not be absent. */
uint32_t model_intern_native(struct model *m, struct str function, struct str image,
			     struct str file, int32_t line);
/* The node (outer, frame): same pair, same index. outer NONE starts a stack. */
uint32_t model_push(struct model *m, uint32_t outer, uint32_t frame);
/* Copies text into the arena. */
struct str model_text(struct model *m, struct str s);
struct str model_printf(struct model *m, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* After all rows are in: inverts the edges (awaited_by), counts tasks per loop. */
must_check enum err model_finish(struct model *m);

/* graph.c: for each task row, the number (from 1) of the ring of awaits that it belongs to, 0 none. malloc'ed, caller frees. */
must_check enum err model_rings(const struct model *m, uint32_t **ret, uint32_t *rings_ret);

#endif
