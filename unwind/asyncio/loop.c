/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event loops: a row each, the thread that runs it, its current task, and whether that thread sleeps in the loop's selector. Which loop a thread runs
 * is kept by the thread state (Modules/_asynciomodule.c), which task is current by asyncio.tasks or the thread state.
 */
#include "unwind/asyncio/asyncio.h"

#include <string.h>
#include <sys/syscall.h>

#define RUNNING_KEY "__asyncio_running_event_loop__"
#define CURRENT_MAX 100000u

static bool ends_walk(enum err err)
{
	return err == ERR_DEADLINE || error_is_hard(err);
}

static bool attr_is_true(struct reader *r, vaddr object, const char *name)
{
	bool value = false;

	return attr_bool(r, object, name, &value) == ERR_OK && value;
}

static uint32_t known_interpreter(const struct asyncio *a, uint32_t interpreter)
{
	return interpreter == NONE && a->interp_count == 1 ? 0 : interpreter;
}

/* After a fork the holder names the parent: then no loop runs in this process's thread. */
static enum err held_loop(struct reader *r, vaddr holder, vaddr *ret)
{
	int64_t pid;
	enum err err = read_ptr(r, holder, r->lay->loopholder_loop, ret);

	if (err != ERR_OK || !*ret || !r->target || !field_present(r->lay->loopholder_pid))
		return err;
	err = read_int(r, holder, r->lay->loopholder_pid, &pid);
	if (err == ERR_OK && pid != proc_namespace_tid(r->target->pid, r->target->pid))
		*ret = 0;
	return err;
}

static enum err loop_in_dict(struct reader *r, vaddr thread, vaddr *ret)
{
	vaddr dict = 0, value = 0;
	enum err err = read_ptr(r, thread, r->lay->thread_dict, &dict);

	if (err == ERR_OK && dict)
		err = dict_get(r, dict, RUNNING_KEY, &value);
	if (err != ERR_OK || !value || object_is_none(r, value))
		return err;
	if (r->lay->running_loop == RUNNING_LOOP_HOLDER)
		return held_loop(r, value, ret);
	*ret = value;
	return ERR_OK;
}

enum err loop_of_thread(struct reader *r, vaddr thread, vaddr *loop_ret, vaddr *task_ret)
{
	const struct layout *lay = r->lay;
	enum err err = ERR_OK;

	*loop_ret = 0;
	*task_ret = 0;
	if (lay->running_loop != RUNNING_LOOP_THREAD)
		err = loop_in_dict(r, thread, loop_ret);
	else if (field_present(lay->thread_running_loop))
		err = read_ptr(r, thread, lay->thread_running_loop, loop_ret);
	if (err == ERR_OK && field_present(lay->thread_running_task))
		err = read_ptr(r, thread, lay->thread_running_task, task_ret);
	if (*loop_ret && object_is_none(r, *loop_ret))
		*loop_ret = 0;
	return err;
}

static uint32_t interpreter_row(const struct asyncio *a, vaddr interp)
{
	for (uint32_t i = 0; i < a->interp_count; i++) {
		if (a->interps[i].at == interp)
			return i;
	}
	return NONE;
}

bool loop_is_of_thread(struct reader *r, vaddr loop, const struct thread_walk *thread)
{
	int64_t thread_id;

	return attr_long(r, loop, "_thread_id", &thread_id) == ERR_OK &&
	       (uint64_t)thread_id == thread->thread_id;
}

static bool in_list(long number, const long *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (list[i] == number)
			return true;
	}
	return false;
}

static bool waits_for_events(int64_t number)
{
	static const long calls[] = {
#ifdef SYS_epoll_wait
		SYS_epoll_wait,
#endif
#ifdef SYS_poll
		SYS_poll,
#endif
#ifdef SYS_select
		SYS_select,
#endif
#ifdef SYS_epoll_pwait2
		SYS_epoll_pwait2,
#endif
		SYS_epoll_pwait,  SYS_ppoll, SYS_pselect6,
	};

	return in_list((long)number, calls, sizeof(calls) / sizeof(calls[0]));
}

/* The innermost calls are the loop's own wait for events. A task may sleep in a selector too (subprocess.communicate). */
static bool in_selector(const struct thread_ref *ref)
{
	const struct code_info *code, *caller;

	if (ref->frame_count < 2)
		return false;
	code = ref->frames[0].info;
	caller = ref->frames[1].info;
	return str_ends_with(code->file, "selectors.py") &&
	       str_ends_with(code->qualname, ".select") &&
	       str_ends_with(caller->qualname, "._run_once");
}

/* Loops that are not made of Python code show no frame of their own while they wait. */
static bool is_native(struct reader *r, const struct loop *l)
{
	const struct type_info *type;

	return type_of(r, l->id, &type) == ERR_OK &&
	       (str_starts_with(type->module, "uvloop") || type_is(r, type, "uvloop.loop", "Loop"));
}

/* Asleep in the selector, not between two callbacks, nor waiting for the GIL on its way out of it. */
static bool is_polling(struct reader *r, const struct loop *l, const struct thread_ref *ref)
{
	struct proc_syscall call;
	const struct thread *thread;

	if (!in_selector(ref) && (l->current_task != NONE || !is_native(r, l)))
		return false;
	if (ref->row == NONE)
		return true;
	thread = &r->model->threads.v[ref->row];
	if (threads_call(r, thread->tid, &call))
		return !call.running && waits_for_events(call.number);
	return thread->state != THREAD_RUNNING;
}

/*
 * Without _asyncio the running loop is kept in a threading.local of asyncio.events; the loop's own word for its thread is at hand. With it that
 * word is not asked: it outlives a fork.
 */
static void bind_by_thread_id(struct asyncio *a, struct loop *l)
{
	struct reader *r = a->r;
	int64_t thread_id = 0;
	uint32_t interpreter;
	vaddr module = 0;

	if (attr_long(r, l->id, "_thread_id", &thread_id) != ERR_OK)
		return;
	for (uint32_t i = 0; i < a->thread_count; i++) {
		struct thread_ref *ref = &a->threads[i];

		if (ref->running_loop || ref->walk.thread_id != (uint64_t)thread_id)
			continue;
		interpreter = interpreter_row(a, ref->walk.interp);
		if (interpreter == NONE || !a->interps[interpreter].modules ||
		    (module_dict(r, &a->interps[interpreter], "_asyncio", &module) == ERR_OK &&
		     module))
			continue;
		ref->running_loop = l->id;
		l->thread = ref->row;
		if (ref->row != NONE)
			r->model->threads.v[ref->row].loop = model_find_loop(r->model, l->id);
		l->state = is_polling(r, l, ref) ? LOOP_POLLING : LOOP_RUNNING;
		return;
	}
}

uint32_t loop_row(struct asyncio *a, vaddr loop, uint32_t interpreter)
{
	struct reader *r = a->r;
	struct model *m = r->model;
	const struct type_info *type;
	struct loop *l;
	uint32_t row;

	if (!loop)
		return NONE;
	interpreter = known_interpreter(a, interpreter);
	row = model_find_loop(m, loop);
	if (row != NONE) {
		if (m->loops.v[row].interpreter == NONE)
			m->loops.v[row].interpreter = interpreter;
		return row;
	}
	if (type_of(r, loop, &type) != ERR_OK || type->kind == TYPE_NONE)
		return NONE;
	row = model_add_loop(m, loop);
	if (row == NONE)
		return NONE;
	l = &m->loops.v[row];
	l->cls = model_intern_string(m, type->name);
	l->interpreter = interpreter;
	l->debug = attr_is_true(r, loop, "_debug");
	l->state = attr_is_true(r, loop, "_closed") ? LOOP_CLOSED : LOOP_STOPPED;
	l->time = a->now;
	if (l->state == LOOP_STOPPED)
		bind_by_thread_id(a, l);
	return row;
}

static void bind_thread(struct asyncio *a, struct thread_ref *ref)
{
	struct model *m = a->r->model;
	uint32_t row = loop_row(a, ref->running_loop, interpreter_row(a, ref->walk.interp));
	struct loop *l;

	if (row == NONE)
		return;
	l = &m->loops.v[row];
	if (ref->row != NONE) {
		m->threads.v[ref->row].loop = row;
		m->threads.v[ref->row].task =
			ref->running_task ? model_find_task(m, ref->running_task) : NONE;
	}
	if (l->state == LOOP_CLOSED)
		return;
	if (l->state != LOOP_STOPPED && !loop_is_of_thread(a->r, l->id, &ref->walk))
		return;
	l->thread = ref->row;
	if (ref->running_task)
		l->current_task = model_find_task(m, ref->running_task);
	l->state = is_polling(a->r, l, ref) ? LOOP_POLLING : LOOP_RUNNING;
}

/* asyncio.tasks._current_tasks: {loop: task} while a step runs. */
enum err loop_tasks_dict(struct reader *r, const struct interp_walk *interp, vaddr *ret)
{
	vaddr module = 0;
	enum err err = module_dict(r, interp, "asyncio.tasks", &module);

	*ret = 0;
	return err == ERR_OK && module ? dict_get(r, module, "_current_tasks", ret) : err;
}

static enum err read_current(struct asyncio *a, uint32_t interpreter)
{
	struct reader *r = a->r;
	struct items loops = {0}, tasks = {0};
	vaddr dict = 0;
	enum err err = loop_tasks_dict(r, &a->interps[interpreter], &dict);

	if (err == ERR_OK && dict)
		err = dict_items(r, dict, CURRENT_MAX, &loops, &tasks);
	for (uint32_t i = 0; err == ERR_OK && i < loops.count && i < tasks.count; i++) {
		uint32_t row = loop_row(a, loops.v[i], interpreter);
		uint32_t task = model_find_task(r->model, tasks.v[i]);

		if (row != NONE && task != NONE)
			r->model->loops.v[row].current_task = task;
	}
	return err;
}

enum err loops_read(struct asyncio *a)
{
	struct model *m = a->r->model;
	enum err err;

	for (uint32_t i = 0; i < a->thread_count; i++) {
		err = loop_of_thread(a->r, a->threads[i].walk.at, &a->threads[i].running_loop,
				     &a->threads[i].running_task);
		if (ends_walk(err))
			return err;
		m->loops_truncated |= err != ERR_OK;
	}
	for (uint32_t i = 0; i < a->interp_count; i++) {
		err = read_current(a, i);
		if (ends_walk(err))
			return err;
		m->loops_truncated |= err != ERR_OK;
	}
	for (uint32_t i = 0; i < a->thread_count; i++)
		bind_thread(a, &a->threads[i]);
	return m->out_of_memory ? ERR_NOMEM : ERR_OK;
}
