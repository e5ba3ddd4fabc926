/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asyncio.Handle and TimerHandle (Lib/asyncio/events.py): __slots__, so their members are found through the type. A task's step is an object of
 * _asyncio or a bound method of a Python task; its wake-up a builtin bound to the task, or such a method.
 */
#include "unwind/asyncio/asyncio.h"

#include <math.h>

#define HANDLE_BYTES 128u
#define SOURCE_MAX   64u /* frames; asyncio keeps ten (constants.DEBUG_STACK_DEPTH) */
#define TEXT_MAX     4096u

/* Members by slot; subclasses with a __dict__ may have them there. *ret 0 where unset or None. */
static enum err handle_member(struct reader *r, vaddr at, const struct type_info *t,
			      const char *name, vaddr *ret)
{
	uint32_t slot;
	enum err err = type_slot(r, t, name, &slot);

	*ret = 0;
	if (err == ERR_OK)
		err = read_u64(r, at + slot, ret);
	else if (err == ERR_SHAPE)
		err = attr_get(r, at, name, ret);
	if (err == ERR_OK && *ret && object_is_none(r, *ret))
		*ret = 0;
	return err;
}

static bool is_task(struct reader *r, vaddr at)
{
	const struct type_info *t;

	return at && type_of(r, at, &t) == ERR_OK &&
	       (t->kind == TYPE_C_TASK || t->kind == TYPE_PY_TASK);
}

/* The task that a callback steps or wakes up; 0 where it is any other callback. */
static vaddr task_of(struct reader *r, vaddr callback, struct str name, enum handle_kind *kind_ret)
{
	const struct type_info *t;
	vaddr task = 0;

	if (type_of(r, callback, &t) != ERR_OK)
		return 0;
	if (t->kind == TYPE_STEP_WRAPPER) {
		*kind_ret = HANDLE_TASK_STEP;
		return read_ptr(r, callback, r->lay->stepwrapper_task, &task) == ERR_OK ? task : 0;
	}
	if (t->kind == TYPE_BUILTIN && str_ends_with(name, ".task_wakeup")) {
		*kind_ret = HANDLE_TASK_WAKEUP;
		if (read_ptr(r, callback, r->lay->cfunction_self, &task) != ERR_OK)
			return 0;
	} else if (t->kind == TYPE_METHOD && str_ends_with(name, "Task.__wakeup")) {
		*kind_ret = HANDLE_TASK_WAKEUP;
	} else if (t->kind == TYPE_METHOD && (str_ends_with(name, "Task.__step") ||
					      str_ends_with(name, "Task.__eager_start"))) {
		*kind_ret = HANDLE_TASK_STEP;
	} else {
		return 0;
	}
	if (t->kind == TYPE_METHOD && read_ptr(r, callback, r->lay->method_self, &task) != ERR_OK)
		return 0;
	return is_task(r, task) ? task : 0;
}

static void read_callback(struct asyncio *a, struct handle *h, vaddr callback)
{
	struct reader *r = a->r;
	enum handle_kind kind = HANDLE_CALLBACK;
	vaddr task;

	if (callable_name(r, callback, &h->callback) != ERR_OK)
		h->callback = (struct str){0};
	if (h->kind != HANDLE_CALLBACK)
		return;
	task = task_of(r, callback, h->callback, &kind);
	if (!task)
		return;
	h->kind = kind;
	h->task = model_find_task(r->model, task);
	h->callback = kind == HANDLE_TASK_STEP ? STR_LIT("Task.step") : STR_LIT("Task.wakeup");
}

/* One traceback.FrameSummary as a frame of the picture. */
static uint32_t source_frame(struct reader *r, vaddr summary)
{
	vaddr file = 0, name = 0;
	struct str file_text, name_text;
	int64_t line = 0;

	if (attr_get(r, summary, "filename", &file) != ERR_OK || !file ||
	    attr_get(r, summary, "name", &name) != ERR_OK || !name ||
	    object_str(r, file, TEXT_MAX, r->scratch, &file_text, NULL) != ERR_OK ||
	    object_str(r, name, TEXT_MAX, r->scratch, &name_text, NULL) != ERR_OK)
		return NONE;
	if (attr_long(r, summary, "lineno", &line) != ERR_OK || line < 0 || line > INT32_MAX)
		line = 0;
	return model_intern_frame(r->model, name_text, file_text, (int32_t)line);
}

/* Where it was made: the innermost frame that is not asyncio's own. */
static uint32_t read_source(struct reader *r, vaddr traceback)
{
	struct items frames;
	uint32_t innermost = NONE;

	if (!traceback || object_list(r, traceback, SOURCE_MAX, &frames) != ERR_OK ||
	    frames.truncated)
		return NONE;
	for (uint32_t i = frames.count; i-- > 0;) {
		uint32_t frame = source_frame(r, frames.v[i]);

		if (frame == NONE)
			return innermost;
		if (innermost == NONE)
			innermost = frame;
		if (!r->model->frames.v[frame].library)
			return frame;
	}
	return innermost;
}

static double read_due(struct reader *r, vaddr at, const struct type_info *t)
{
	vaddr when;
	double due;

	if (handle_member(r, at, t, "_when", &when) != ERR_OK || !when ||
	    object_float(r, when, &due) != ERR_OK || !isfinite(due))
		return NAN;
	return due;
}

uint32_t handle_row(struct asyncio *a, vaddr at, enum handle_kind kind)
{
	struct reader *r = a->r;
	const struct type_info *t;
	vaddr callback, cancelled, traceback;
	struct handle h = {.kind = kind, .task = NONE};
	uint32_t row;

	if (type_of(r, at, &t) != ERR_OK ||
	    handle_member(r, at, t, "_cancelled", &cancelled) != ERR_OK || !cancelled ||
	    object_bool(r, cancelled, &h.cancelled) != ERR_OK ||
	    handle_member(r, at, t, "_callback", &callback) != ERR_OK)
		return NONE;
	if (callback)
		read_callback(a, &h, callback);
	h.due = read_due(r, at, t);
	if (handle_member(r, at, t, "_source_traceback", &traceback) != ERR_OK)
		traceback = 0;
	h.source = read_source(r, traceback);
	row = model_add_handle(r->model, at);
	if (row == NONE)
		return NONE;
	h.id = at;
	r->model->handles.v[row] = h;
	return row;
}

void handles_prefetch(struct asyncio *a, const struct items *handles)
{
	static const char *const members[] = {"_callback", "_when"};
	struct reader *r = a->r;
	const struct type_info *t;
	vaddr value;

	for (uint32_t i = 0; i < handles->count; i++)
		mem_want(r->mem, handles->v[i], HANDLE_BYTES);
	mem_fetch(r->mem);
	for (uint32_t i = 0; i < handles->count; i++) {
		if (type_of(r, handles->v[i], &t) != ERR_OK)
			continue;
		for (size_t k = 0; k < sizeof(members) / sizeof(*members); k++) {
			if (handle_member(r, handles->v[i], t, members[k], &value) == ERR_OK &&
			    value)
				mem_want(r->mem, value, 1);
		}
	}
	mem_fetch(r->mem);
}
