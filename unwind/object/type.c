/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Type objects, read once a walk: kind, name, module. What a type is called says what its instances look like only where the type was made in C: static
 * types have undotted names of their own, types made from a spec dotted ones, and a class statement makes neither.
 */
#include "unwind/object/address_table.h"
#include "unwind/object/internal.h"

#include <stdlib.h>
#include <string.h>

#define TYPES_MAX      (1u << 16)
#define TYPE_ARENA     ((size_t)256 << 20)
#define TYPE_BASES_MAX 64u
#define TYPE_NAME_MAX  4096u

/* Include/object.h */
#define FLAG_HEAPTYPE	   ((uint64_t)1 << 9)
#define FLAG_TYPE_SUBCLASS ((uint64_t)1 << 31)

struct type_cache {
	struct arena arena;
	struct address_table table;
	struct memo_table memo;
	bool looking; /* into one type's dict and bases: into no other's meanwhile, or a target could make us recurse */
};

static const struct {
	const char *name; /* the whole tp_name */
	enum type_kind kind;
} static_types[] = {
	{"NoneType", TYPE_NONE},
	{"bool", TYPE_BOOL},
	{"int", TYPE_INT},
	{"float", TYPE_FLOAT},
	{"str", TYPE_STR},
	{"bytes", TYPE_BYTES},
	{"tuple", TYPE_TUPLE},
	{"list", TYPE_LIST},
	{"dict", TYPE_DICT},
	{"collections.OrderedDict", TYPE_DICT}, /* begins with a PyDictObject */
	{"set", TYPE_SET},
	{"frozenset", TYPE_SET},
	{"module", TYPE_MODULE},
	{"code", TYPE_CODE},
	{"function", TYPE_FUNCTION},
	{"method", TYPE_METHOD},
	{"builtin_function_or_method", TYPE_BUILTIN},
	{"method-wrapper", TYPE_METHOD_WRAPPER},
	{"cell", TYPE_CELL},
	{"weakref", TYPE_WEAKREF}, /* 3.11 */
	{"weakref.ReferenceType", TYPE_WEAKREF},
	{"coroutine", TYPE_COROUTINE},
	{"generator", TYPE_GENERATOR},
	{"async_generator", TYPE_ASYNC_GENERATOR},
	{"coroutine_wrapper", TYPE_CORO_WRAPPER},
	{"async_generator_asend", TYPE_ASEND},
	{"async_generator_athrow", TYPE_ATHROW},
	{"anext_awaitable", TYPE_ANEXT},
	{"TaskStepMethWrapper", TYPE_STEP_WRAPPER}, /* 3.11: bare */
};

static const struct {
	const char *name;
	enum type_kind kind;
} dotted_types[] = {
	{"collections.deque", TYPE_DEQUE},
	{"functools.partial", TYPE_PARTIAL},
	{"_asyncio.Task", TYPE_C_TASK},
	{"_asyncio.Future", TYPE_C_FUTURE},
	{"_asyncio.FutureIter", TYPE_FUTURE_ITER},
	{"_asyncio.TaskStepMethWrapper", TYPE_STEP_WRAPPER},
};

static const struct {
	const char *module, *name;
	enum type_kind kind;
} python_types[] = {
	{"asyncio.tasks", "Task", TYPE_PY_TASK},
	{"asyncio.tasks", "_PyTask", TYPE_PY_TASK},
	{"asyncio.futures", "Future", TYPE_PY_FUTURE},
	{"asyncio.futures", "_PyFuture", TYPE_PY_FUTURE},
};

struct type_cache *type_cache_create(void)
{
	struct type_cache *c = calloc(1, sizeof(*c));

	if (c && !arena_init(&c->arena, TYPE_ARENA)) {
		free(c);
		return NULL;
	}
	return c;
}

void type_cache_clear(struct type_cache *c)
{
	address_table_clear(&c->table);
	c->looking = false;
	memo_clear(&c->memo);
	arena_reset(&c->arena);
}

void type_cache_destroy(struct type_cache *c)
{
	if (!c)
		return;
	address_table_deinit(&c->table);
	memo_deinit(&c->memo);
	arena_deinit(&c->arena);
	free(c);
}

struct memo_table *type_cache_memo(struct type_cache *c)
{
	return &c->memo;
}

/* tp_name split at its last dot; type names keep dots of "<locals>" out, so the last one ends the module. */
static void name_split(struct str full, struct type_info *t)
{
	const char *dot = NULL;

	for (uint32_t i = 0; i < full.len; i++) {
		if (full.ptr[i] == '.')
			dot = full.ptr + i;
	}
	t->name = full;
	if (!dot)
		return;
	t->module = (struct str){full.ptr, (uint32_t)(dot - full.ptr)};
	t->name = (struct str){dot + 1, full.len - t->module.len - 1};
}

/* The plain members; kind and a class's module are found later. */
static enum err type_head(struct reader *r, vaddr at, struct type_info *t)
{
	const struct layout *lay = r->lay;
	struct str full;
	uint64_t flags;
	vaddr meta, name;
	enum err err;

	*t = (struct type_info){.at = at};
	if (!object_plausible(at))
		return ERR_SHAPE;
	if ((err = read_ptr(r, at, lay->object_type, &meta)) != ERR_OK)
		return err;
	if (!object_plausible(meta))
		return ERR_SHAPE;
	if ((err = read_uint(r, meta, lay->type_flags, &flags)) != ERR_OK)
		return err;
	if (!(flags & FLAG_TYPE_SUBCLASS))
		return ERR_SHAPE;
	if ((err = read_uint(r, at, lay->type_flags, &t->flags)) != ERR_OK ||
	    (err = read_int(r, at, lay->type_basicsize, &t->basicsize)) != ERR_OK ||
	    (err = read_int(r, at, lay->type_dictoffset, &t->dictoffset)) != ERR_OK ||
	    (err = read_ptr(r, at, lay->type_name, &name)) != ERR_OK)
		return err;
	if ((t->flags & FLAG_HEAPTYPE) && field_present(lay->heaptype_cached_keys)) {
		err = read_ptr(r, at, lay->heaptype_cached_keys, &t->cached_keys);
		if (err != ERR_OK)
			return err;
	}
	err = c_string_read(r, name, TYPE_NAME_MAX, &r->types->arena, &full);
	if (err != ERR_OK)
		return err;
	name_split(full, t);
	return ERR_OK;
}

static enum type_kind kind_by_name(const struct layout *lay, const struct type_info *t)
{
	enum type_kind kind = TYPE_OTHER;
	/* The name is one buffer, module and last component in it. */
	struct str full = t->module.ptr
				  ? (struct str){t->module.ptr, t->module.len + 1 + t->name.len}
				  : t->name;

	for (size_t i = 0; i < sizeof(dotted_types) / sizeof(dotted_types[0]); i++) {
		if (t->module.ptr && str_is(full, dotted_types[i].name))
			return dotted_types[i].kind;
	}
	if (t->flags & FLAG_HEAPTYPE)
		return TYPE_OTHER;
	for (size_t i = 0; i < sizeof(static_types) / sizeof(static_types[0]); i++) {
		if (str_is(full, static_types[i].name))
			kind = static_types[i].kind;
	}
	/* Cython's own coroutines have borne the same bare names; theirs have no room for a frame. */
	if ((kind == TYPE_COROUTINE || kind == TYPE_GENERATOR || kind == TYPE_ASYNC_GENERATOR) &&
	    t->basicsize < lay->gen_iframe.offset)
		kind = TYPE_OTHER;
	return kind;
}

/* __module__ of a class. */
static enum err class_module(struct reader *r, struct type_info *t)
{
	struct type_cache *c = r->types;
	vaddr dict, module = 0;
	enum err err;

	err = read_ptr(r, t->at, r->lay->type_dict, &dict);
	if (err != ERR_OK || !dict)
		return err;
	err = dict_get(r, dict, "__module__", &module);
	if (err == ERR_OK && module)
		err = object_str(r, module, TYPE_NAME_MAX, &c->arena, &t->module, NULL);
	/* A module that is no str is a module that is not known. */
	return error_is_hard(err) ? err : ERR_OK;
}

/* By tp_base: where instances have a shape of their own CPython lets only one line of bases carry it. */
static enum err kind_by_base(struct reader *r, struct type_info *t)
{
	struct type_info base = *t;
	enum err err;

	for (uint32_t i = 0; i < TYPE_BASES_MAX; i++) {
		vaddr next;

		t->kind = kind_by_name(r->lay, &base);
		if (t->kind != TYPE_OTHER)
			return ERR_OK;
		err = read_ptr(r, base.at, r->lay->type_base, &next);
		if (err != ERR_OK)
			return err;
		if (!next)
			return ERR_OK;
		err = type_head(r, next, &base);
		if (err != ERR_OK)
			return err;
	}
	return ERR_BOUND;
}

static enum type_kind kind_by_python(const struct type_info *t)
{
	for (size_t i = 0; i < sizeof(python_types) / sizeof(python_types[0]); i++) {
		if (str_is(t->name, python_types[i].name) &&
		    str_is(t->module, python_types[i].module))
			return python_types[i].kind;
	}
	return TYPE_OTHER;
}

/* By tp_mro: the pure-Python Task and Future may stand behind a mixin. */
static enum err kind_by_mro(struct reader *r, struct type_info *t)
{
	struct items mro;
	enum err err;

	t->kind = kind_by_python(t);
	if (t->kind != TYPE_OTHER || !(t->flags & FLAG_HEAPTYPE))
		return ERR_OK;
	err = type_mro_read(r, t->at, &mro);
	for (uint32_t i = 0; err == ERR_OK && i < mro.count && t->kind == TYPE_OTHER; i++) {
		struct type_info base;

		if (mro.v[i] == t->at)
			continue;
		err = type_head(r, mro.v[i], &base);
		if (err == ERR_OK && (base.flags & FLAG_HEAPTYPE) && !base.module.ptr) {
			err = class_module(r, &base);
			t->kind = kind_by_python(&base);
		}
	}
	return error_is_hard(err) ? err : ERR_OK;
}

/* Kind and module, after the head. A type met on the way into another one goes without what only its own dict and bases could say. */
static enum err type_complete(struct reader *r, struct type_info *t)
{
	struct type_cache *c = r->types;
	enum err err = kind_by_base(r, t);

	if (err != ERR_OK)
		return err;
	if (!(t->flags & FLAG_HEAPTYPE)) {
		if (!t->module.ptr)
			t->module = STR_LIT("builtins");
		return ERR_OK;
	}
	if (c->looking)
		return ERR_OK;
	c->looking = true;
	if (!t->module.ptr)
		err = class_module(r, t);
	if (err == ERR_OK && t->kind == TYPE_OTHER)
		err = kind_by_mro(r, t);
	c->looking = false;
	return err;
}

/* Gives back what was handed out since `used`, unless a type that is kept lies in it. */
static void arena_unwind(struct type_cache *c, size_t used, uint32_t count)
{
	if (c->table.count != count)
		return;
	memset(c->arena.base + used, 0, c->arena.used - used);
	c->arena.used = used;
}

enum err type_read(struct reader *r, vaddr type, const struct type_info **ret)
{
	struct type_cache *c = r->types;
	struct type_info *t = address_table_find(&c->table, type);
	size_t used = c->arena.used;
	uint32_t count = c->table.count;
	enum err err;

	if (t) {
		*ret = t;
		return ERR_OK;
	}
	t = arena_alloc(&c->arena, sizeof(*t));
	if (!t)
		return ERR_BOUND;
	err = type_head(r, type, t);
	if (err == ERR_OK)
		err = type_complete(r, t);
	if (err == ERR_OK && !address_table_reserve(&c->table, TYPES_MAX))
		err = ERR_BOUND;
	if (err != ERR_OK) {
		arena_unwind(c, used, count);
		return err;
	}
	/* Looking into it may have cached other types, even this one, and grown the table. */
	if (!address_table_find(&c->table, type) && (!c->looking || !(t->flags & FLAG_HEAPTYPE)))
		address_table_put(&c->table, type, t);
	*ret = t;
	return ERR_OK;
}

enum err type_of(struct reader *r, vaddr object, const struct type_info **ret)
{
	vaddr type;
	enum err err;

	if (!object_plausible(object))
		return ERR_SHAPE;
	err = read_ptr(r, object, r->lay->object_type, &type);
	if (err != ERR_OK)
		return err;
	return type_read(r, type, ret);
}

enum err object_expect(struct reader *r, vaddr at, enum type_kind kind,
		       const struct type_info **type_ret)
{
	const struct type_info *t;
	enum err err = type_of(r, at, &t);

	if (err != ERR_OK)
		return err;
	if (type_ret)
		*type_ret = t;
	return t->kind == kind ? ERR_OK : ERR_SHAPE;
}
