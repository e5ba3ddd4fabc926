/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One task or future in the same words for its two forms: the C structures of Modules/_asynciomodule.c (subclasses too), and the attributes of
 * Lib/asyncio/tasks.py and futures.py.
 */
#include "unwind/asyncio/asyncio.h"

#include <inttypes.h>
#include <string.h>

#define NAME_MAX_CHARS 1000000u
#define TASK_BYTES     512u /* more than any version's TaskObj */

/* The C structure as copied by one read: all members belong to one moment. */
struct copy {
	uint8_t bytes[TASK_BYTES];
	uint32_t len;
};

static uint32_t end_of(struct field f)
{
	return field_present(f) ? (uint32_t)f.offset + f.size : 0;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* FutureObj is the head of TaskObj: what lies behind the head is read of tasks alone. */
static uint32_t bytes_needed(const struct layout *lay, bool is_task)
{
	uint32_t len = larger(larger(end_of(lay->task_loop), end_of(lay->task_callback0)),
			      larger(end_of(lay->task_callbacks), end_of(lay->task_state)));

	len = larger(len, larger(end_of(lay->task_exception), end_of(lay->task_log_tb)));
	if (!is_task)
		return len;
	len = larger(len, larger(end_of(lay->task_must_cancel),
				 end_of(lay->task_num_cancels_requested)));
	len = larger(len, larger(end_of(lay->task_fut_waiter), end_of(lay->task_coro)));
	return larger(len, end_of(lay->task_name));
}

/* An unsigned member of the copy; absent ones are 0. */
static uint64_t member(const struct copy *c, struct field f)
{
	uint64_t word = 0;

	if (!field_present(f) || !f.size || f.size > sizeof(word) || end_of(f) > c->len)
		return 0;
	memcpy(&word, c->bytes + f.offset, f.size);
	if (f.bits && f.bits < 64)
		word = word >> f.bit & (((uint64_t)1 << f.bits) - 1);
	return word;
}

static enum err read_c_form(struct reader *r, struct future_view *f)
{
	const struct layout *lay = r->lay;
	struct copy c = {.len = bytes_needed(lay, f->is_task)};
	enum err err;

	if (!field_present(lay->task_state) || c.len > sizeof(c.bytes))
		return ERR_SHAPE;
	err = mem_read(r->mem, f->at, c.bytes, c.len);
	if (err != ERR_OK)
		return err;
	f->state = (int)member(&c, lay->task_state);
	if (f->state < 0 || f->state > 2)
		return ERR_SHAPE;
	f->loop = member(&c, lay->task_loop);
	f->callback0 = member(&c, lay->task_callback0);
	f->callbacks = member(&c, lay->task_callbacks);
	f->exception = member(&c, lay->task_exception);
	f->log_tb = member(&c, lay->task_log_tb) != 0;
	if (!f->is_task)
		return ERR_OK;
	f->fut_waiter = member(&c, lay->task_fut_waiter);
	f->coro = member(&c, lay->task_coro);
	f->name = member(&c, lay->task_name);
	f->must_cancel = member(&c, lay->task_must_cancel) != 0;
	f->cancelling = (uint32_t)member(&c, lay->task_num_cancels_requested);
	return ERR_OK;
}

static enum err attr_object(struct reader *r, vaddr at, const char *name, vaddr *ret)
{
	enum err err = attr_get(r, at, name, ret);

	if (err == ERR_OK && *ret && object_is_none(r, *ret))
		*ret = 0;
	return err;
}

/* `_state` is a class attribute while pending: the instance has none until it is done. */
static enum err read_py_state(struct reader *r, struct future_view *f)
{
	vaddr state = 0;
	enum err err = attr_get(r, f->at, "_state", &state);

	if (err != ERR_OK)
		return err;
	if (!state || object_str_is(r, state, "PENDING"))
		f->state = 0;
	else if (object_str_is(r, state, "CANCELLED"))
		f->state = 1;
	else if (object_str_is(r, state, "FINISHED"))
		f->state = 2;
	else
		return ERR_SHAPE;
	return ERR_OK;
}

static enum err read_py_form(struct reader *r, struct future_view *f)
{
	int64_t cancelling = 0;
	enum err err = read_py_state(r, f);

	if (err == ERR_OK)
		err = attr_object(r, f->at, "_loop", &f->loop);
	if (err == ERR_OK)
		err = attr_object(r, f->at, "_callbacks", &f->callbacks);
	if (err != ERR_OK || !f->is_task)
		return err;
	err = attr_object(r, f->at, "_fut_waiter", &f->fut_waiter);
	if (err == ERR_OK)
		err = attr_object(r, f->at, "_coro", &f->coro);
	if (err == ERR_OK)
		err = attr_object(r, f->at, "_name", &f->name);
	if (err == ERR_OK)
		err = attr_bool(r, f->at, "_must_cancel", &f->must_cancel);
	if (err == ERR_OK)
		err = attr_long(r, f->at, "_num_cancels_requested", &cancelling);
	f->cancelling = cancelling < 0 || cancelling > UINT32_MAX ? 0 : (uint32_t)cancelling;
	return err;
}

enum err future_read(struct reader *r, vaddr at, struct future_view *ret)
{
	enum err err;

	*ret = (struct future_view){.at = at};
	err = type_of(r, at, &ret->type);
	if (err != ERR_OK)
		return err;
	switch (ret->type->kind) {
	case TYPE_C_TASK:
	case TYPE_C_FUTURE:
		ret->is_task = ret->type->kind == TYPE_C_TASK;
		return read_c_form(r, ret);
	case TYPE_PY_TASK:
	case TYPE_PY_FUTURE:
		ret->is_task = ret->type->kind == TYPE_PY_TASK;
		return read_py_form(r, ret);
	default:
		return ERR_SHAPE;
	}
}

enum err future_callbacks(struct reader *r, const struct future_view *f, uint32_t max,
			  struct items *ret)
{
	struct items pairs = {0}, pair = {0};
	enum err err = ERR_OK;

	*ret = (struct items){0};
	if (f->callbacks) {
		err = object_list(r, f->callbacks, max, &pairs);
		if (err != ERR_OK)
			return err;
	}
	ret->v = arena_alloc(r->scratch, ((size_t)pairs.count + 1) * sizeof(*ret->v));
	if (!ret->v)
		return ERR_NOMEM;
	ret->truncated = pairs.truncated;
	if (f->callback0 && max)
		ret->v[ret->count++] = f->callback0;
	for (uint32_t i = 0; i < pairs.count && ret->count < max; i++) {
		err = object_tuple(r, pairs.v[i], 2, &pair);
		if (err != ERR_OK)
			return err;
		if (!pair.count)
			return ERR_SHAPE;
		ret->v[ret->count++] = pair.v[0];
	}
	return ERR_OK;
}

enum err task_name(struct reader *r, const struct future_view *f, struct str *ret)
{
	const struct type_info *type;
	int64_t number;
	enum err err;

	*ret = (struct str){0};
	if (!f->name)
		return ERR_SHAPE;
	err = type_of(r, f->name, &type);
	if (err != ERR_OK)
		return err;
	if (type->kind == TYPE_STR)
		return object_str(r, f->name, NAME_MAX_CHARS, &r->model->text, ret, NULL);
	if (!r->lay->lazy_task_names || type->kind != TYPE_INT)
		return ERR_SHAPE;
	err = object_long(r, f->name, &number);
	if (err == ERR_OK)
		*ret = model_printf(r->model, "Task-%" PRId64, number);
	return err;
}
