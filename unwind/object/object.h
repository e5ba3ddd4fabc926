/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python objects in the target's memory: one reader each, all bounded. An address of an object is never 0 and 8-aligned; every function checks that and the
 * type where a wrong one would mislead, and answers ERR_SHAPE. Lists cut short set `truncated`. Results go to the reader's scratch arena unless said otherwise.
 */
#ifndef AIOTRACE_UNWIND_OBJECT_OBJECT_H
#define AIOTRACE_UNWIND_OBJECT_OBJECT_H

#include "unwind/reader.h"

struct items {
	vaddr *v;
	uint32_t count;
	bool truncated;
};

/* --- types (type.c). Cached by address. */
enum type_kind { /* by walking tp_base to a builtin that is known by name, once per type */
	TYPE_OTHER,
	TYPE_NONE,
	TYPE_BOOL,
	TYPE_INT,
	TYPE_FLOAT,
	TYPE_STR,
	TYPE_BYTES,
	TYPE_TUPLE,
	TYPE_LIST,
	TYPE_DICT,
	TYPE_SET,
	TYPE_DEQUE,
	TYPE_MODULE,
	TYPE_CODE,
	TYPE_FUNCTION,
	TYPE_METHOD,
	TYPE_BUILTIN,
	TYPE_METHOD_WRAPPER,
	TYPE_PARTIAL,
	TYPE_CELL,
	TYPE_WEAKREF,
	TYPE_COROUTINE,
	TYPE_GENERATOR,
	TYPE_ASYNC_GENERATOR,
	TYPE_CORO_WRAPPER,
	TYPE_ASEND,
	TYPE_ATHROW,
	TYPE_ANEXT,
	TYPE_C_TASK,
	TYPE_C_FUTURE,
	TYPE_FUTURE_ITER,
	TYPE_STEP_WRAPPER, /* of _asyncio, subclasses too for task and future */
	TYPE_PY_TASK,
	TYPE_PY_FUTURE, /* asyncio.tasks._PyTask, asyncio.futures._PyFuture in their pure-Python form, subclasses too */
};
struct type_info {
	vaddr at;
	enum type_kind kind;
	struct str name; /* last component of tp_name: "Task", "Lock" */
	struct str module; /* "asyncio.locks": tp_name or __module__; ptr NULL: unknown */
	uint64_t flags;
	int64_t basicsize, dictoffset;
	vaddr cached_keys; /* of heap types with shared keys, else 0 */
};
/* Pointer valid until the reader's caches are emptied. */
must_check enum err type_of(struct reader *r, vaddr object, const struct type_info **ret);
must_check enum err type_read(struct reader *r, vaddr type, const struct type_info **ret);
/* True when the object's type or a base of it has that module and name ("asyncio.locks", "Lock"). */
bool type_is(struct reader *r, const struct type_info *t, const char *module, const char *name);
/* Byte offset of a member descriptor (__slots__) by name in the type or a base; ERR_SHAPE where there is none. Cached. */
must_check enum err type_slot(struct reader *r, const struct type_info *t, const char *slot,
			      uint32_t *ret);
struct type_cache *type_cache_create(void);
void type_cache_clear(struct type_cache *c);
void type_cache_destroy(struct type_cache *c);

/* --- text and numbers (str.c, number.c) */
/* A str object as UTF-8 in `to`; lone surrogates become U+FFFD. More than max_chars: cut, *truncated_ret (may be NULL) set. */
must_check enum err object_str(struct reader *r, vaddr at, uint32_t max_chars, struct arena *to,
			       struct str *ret, bool *truncated_ret);
/* Compares without copying. False also when it can't be read. */
bool object_str_is(struct reader *r, vaddr at, const char *ascii);
must_check enum err object_long(struct reader *r, vaddr at,
				int64_t *ret); /* int, bool; ERR_BOUND beyond 64 bits */
must_check enum err object_float(struct reader *r, vaddr at, double *ret); /* float or int */
must_check enum err object_bool(struct reader *r, vaddr at,
				bool *ret); /* True, False, int; None is false */
bool object_is_none(struct reader *r, vaddr at);

/* --- containers (list.c, dict.c, set.c, deque.c, simplequeue.c) */
must_check enum err object_list(struct reader *r, vaddr at, uint32_t max, struct items *ret);
must_check enum err object_tuple(struct reader *r, vaddr at, uint32_t max, struct items *ret);
must_check enum err object_deque(struct reader *r, vaddr at, uint32_t max, struct items *ret);
/* Live keys of a set; deleted entries are skipped. */
must_check enum err object_set(struct reader *r, vaddr at, uint32_t max, struct items *ret);
/* Live objects of a weakref.WeakSet (Python object with `data`); dead references are skipped. */
must_check enum err object_weakset(struct reader *r, vaddr at, uint32_t max, struct items *ret);
/* What a queue.SimpleQueue holds, first in first. */
must_check enum err object_simplequeue(struct reader *r, vaddr at, uint32_t max, struct items *ret);
/* Number of elements without reading them: list, tuple, deque, set, dict, bytes. */
must_check enum err object_length(struct reader *r, vaddr at, int64_t *ret);
/* Value of a str key in a dict; *ret 0 where absent (that is no error). */
must_check enum err dict_get(struct reader *r, vaddr dict, const char *key, vaddr *ret);
/* All pairs, in order of insertion (split dicts: of the shared keys): keys and values of equal count. */
must_check enum err dict_items(struct reader *r, vaddr dict, uint32_t max, struct items *keys_ret,
			       struct items *values_ret);

/* --- attributes (attr.c): instance dict (split, inline, managed or plain), then __slots__. Not class attributes, no properties. *ret 0 where absent. */
must_check enum err attr_get(struct reader *r, vaddr object, const char *name, vaddr *ret);
/* The same, forgivingly: 0 also where it is None, or can't be read, or where there is no object. */
vaddr attr_present(struct reader *r, vaddr object, const char *name);
/* attr_get, then as int/float/bool; absent: ERR_SHAPE. */
must_check enum err attr_long(struct reader *r, vaddr object, const char *name, int64_t *ret);
must_check enum err attr_bool(struct reader *r, vaddr object, const char *name, bool *ret);

/* --- callables (callable.c) */
/* Qualified name of a function, bound method, builtin, partial, coroutine, type or instance: "worker.<locals>.run", "Task.task_wakeup". In the model's text. */
must_check enum err callable_name(struct reader *r, vaddr at, struct str *ret);
/* Free variable of a function (its closure) by name; *ret 0 where absent. */
must_check enum err function_closure(struct reader *r, vaddr function, const char *name,
				     vaddr *ret);

#endif
