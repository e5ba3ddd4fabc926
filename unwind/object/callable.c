/* SPDX-License-Identifier: Apache-2.0 */
/* What a callable is called, as Python's own __qualname__ would say, and what a function has closed over. */
#include "unwind/object/internal.h"
#include "unwind/python/python.h"

#include <string.h>

#define CALLABLE_DEPTH_MAX 16u /* partials of partials, methods of methods */
#define CALLABLE_NAME_MAX  65536u
#define CLOSURE_MAX	   65536u

/* Include/object.h: instances of a type with this flag are types. */
#define FLAG_TYPE_SUBCLASS ((uint64_t)1 << 31)
/* PyMethodDef of Include/methodobject.h begins with ml_name, a C string. */
#define METHODDEF_NAME 0u

/* The same few callables are named for thousands of handles: one copy in the model. */
static struct str kept(struct reader *r, struct str s)
{
	uint32_t row = model_intern_string(r->model, s);

	if (row == NONE)
		return (struct str){0};
	return r->model->strings.v[row];
}

/* "Task.task_wakeup": the class of what it is bound to, where that is no module. */
static enum err builtin_name(struct reader *r, vaddr at, struct str *ret)
{
	const struct type_info *self_type;
	vaddr ml, self, name;
	struct str text, whole;
	char *joined;
	enum err err;

	if ((err = read_ptr(r, at, r->lay->cfunction_ml, &ml)) != ERR_OK ||
	    (err = read_ptr(r, at, r->lay->cfunction_self, &self)) != ERR_OK ||
	    (err = read_u64(r, ml + METHODDEF_NAME, &name)) != ERR_OK ||
	    (err = c_string_read(r, name, CALLABLE_NAME_MAX, r->scratch, &text)) != ERR_OK)
		return err;
	*ret = text;
	if (!self || type_of(r, self, &self_type) != ERR_OK || self_type->kind == TYPE_MODULE)
		return ERR_OK;
	if ((self_type->flags & FLAG_TYPE_SUBCLASS) && type_read(r, self, &self_type) != ERR_OK)
		return ERR_OK;
	err = scratch_alloc(r, (uint64_t)self_type->name.len + 1 + text.len, 1, &joined);
	if (err != ERR_OK)
		return err;
	whole = (struct str){joined, self_type->name.len + 1 + text.len};
	memcpy(joined, self_type->name.ptr, self_type->name.len);
	joined[self_type->name.len] = '.';
	memcpy(joined + self_type->name.len + 1, text.ptr, text.len);
	*ret = whole;
	return ERR_OK;
}

static enum err str_member(struct reader *r, vaddr at, struct field f, struct str *ret)
{
	vaddr name;
	enum err err = read_ptr(r, at, f, &name);

	if (err != ERR_OK)
		return err;
	return object_str(r, name, CALLABLE_NAME_MAX, r->scratch, ret, NULL);
}

/* *next_ret: the callable behind this one whose name counts, 0 where *ret is the name. */
static enum err name_step(struct reader *r, vaddr at, struct str *ret, vaddr *next_ret)
{
	const struct type_info *t;
	enum err err = type_of(r, at, &t);

	*next_ret = 0;
	if (err != ERR_OK)
		return err;
	switch (t->kind) {
	case TYPE_FUNCTION:
		return str_member(r, at, r->lay->function_qualname, ret);
	case TYPE_METHOD:
		return read_ptr(r, at, r->lay->method_function, next_ret);
	case TYPE_PARTIAL:
		return read_ptr(r, at, r->lay->partial_fn, next_ret);
	case TYPE_BUILTIN:
		return builtin_name(r, at, ret);
	case TYPE_COROUTINE:
	case TYPE_GENERATOR:
	case TYPE_ASYNC_GENERATOR:
		return str_member(r, at, r->lay->gen_qualname, ret);
	default:
		break;
	}
	if (t->flags & FLAG_TYPE_SUBCLASS) {
		err = type_read(r, at, &t);
		if (err != ERR_OK)
			return err;
	}
	*ret = t->name;
	return ERR_OK;
}

enum err callable_name(struct reader *r, vaddr at, struct str *ret)
{
	struct str name = {0};

	*ret = name;
	for (uint32_t i = 0; i < CALLABLE_DEPTH_MAX; i++) {
		vaddr next;
		enum err err = name_step(r, at, &name, &next);

		if (err != ERR_OK)
			return err;
		if (!next) {
			*ret = kept(r, name);
			return ret->ptr ? ERR_OK : ERR_NOMEM;
		}
		at = next;
	}
	return ERR_BOUND;
}

enum err function_closure(struct reader *r, vaddr function, const char *name, vaddr *ret)
{
	struct code_info *info;
	struct items cells, names;
	vaddr code, closure;
	uint32_t first;
	enum err err = object_expect(r, function, TYPE_FUNCTION, NULL);

	*ret = 0;
	if (err != ERR_OK)
		return err;
	if ((err = read_ptr(r, function, r->lay->function_closure, &closure)) != ERR_OK || !closure)
		return err;
	if ((err = read_ptr(r, function, r->lay->function_code, &code)) != ERR_OK ||
	    (err = code_read(r, code, &info)) != ERR_OK ||
	    (err = object_tuple(r, closure, CLOSURE_MAX, &cells)) != ERR_OK ||
	    (err = object_tuple(r, info->localsplusnames, CLOSURE_MAX, &names)) != ERR_OK)
		return err;
	/* Free variables come last among the fast locals, in the order of the closure. */
	if (cells.count > names.count)
		return ERR_SHAPE;
	first = names.count - cells.count;
	for (uint32_t i = 0; i < cells.count; i++) {
		if (!object_str_is(r, names.v[first + i], name))
			continue;
		err = object_expect(r, cells.v[i], TYPE_CELL, NULL);
		return err == ERR_OK ? read_ptr(r, cells.v[i], r->lay->cell_ref, ret) : err;
	}
	return ERR_OK;
}
