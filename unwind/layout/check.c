/* SPDX-License-Identifier: Apache-2.0 */
/* The proofs of check.h. */
#include "unwind/layout/check.h"

#include "unwind/layout/rows.h"
#include "unwind/layout/table.h"

#include <string.h>

#define SIZE_MOST	  65536u
#define INTERPRETERS_MOST 4096
#define THREADS_MOST	  100000
#define MODULES_LOG2_MOST 32 /* of sys.modules' hash table */
#define FIRST_KEYS	  8

/* The sizeof of the structure that a row is in; SIZE_MOST where fields.def doesn't ask for it. */
static uint32_t row_bound(const struct layout *lay, const struct layout_row *row)
{
	for (size_t i = 0; i < LAYOUT_ROW_COUNT; i++) {
		const struct layout_row *other = &layout_rows[i];

		if (!other->member && !strcmp(other->type, row->type))
			return row_size_const(lay, other);
	}
	return SIZE_MOST;
}

static bool field_fits(struct field f, uint32_t bound)
{
	switch (f.size) {
	case 0:
		return !f.bits && f.offset <= bound;
	case 1:
	case 2:
	case 4:
	case 8:
		break;
	default:
		return false;
	}
	return f.offset % f.size == 0 && f.offset + f.size <= bound && f.bit + f.bits <= f.size * 8;
}

static enum err row_wrong(const struct layout_row *row, struct error *e)
{
	return error_set(e, ERR_SHAPE, 0, "%s.%s can't be where it is said to be", row->group,
			 row->name);
}

enum err layout_check_fields(const struct layout *lay, struct error *e)
{
	struct layout known = {.version = lay->version, .debug = lay->debug};

	if (!layout_table_fill(&known))
		return error_set(e, ERR_SHAPE, 0, "no table for version 0x%08x", lay->version);
	for (size_t i = 0; i < LAYOUT_ROW_COUNT; i++) {
		const struct layout_row *row = &layout_rows[i];
		struct field f;

		if (!row->member) {
			uint32_t size = row_size_const(lay, row);

			if (!size || size > SIZE_MOST)
				return row_wrong(row, e);
			continue;
		}
		f = *row_field_const(lay, row);
		if (field_present(f) != field_present(*row_field_const(&known, row)))
			return row_wrong(row, e);
		if (field_present(f) && !field_fits(f, row_bound(lay, row)))
			return row_wrong(row, e);
	}
	return ERR_OK;
}

struct checker {
	struct mem *mem;
	const struct layout *lay;
	struct error *e;
};

static enum err fail(struct checker *c, const char *what)
{
	enum err hard = mem_hard_error(c->mem);

	if (hard)
		return hard;
	return error_set(c->e, ERR_SHAPE, 0, "%s", what);
}

static bool pointer_at(struct checker *c, vaddr object, struct field f, vaddr *ret)
{
	return field_present(f) && !mem_read(c->mem, object + f.offset, ret, sizeof(*ret)) &&
	       *ret % 8 == 0;
}

static bool byte_at(struct checker *c, vaddr object, struct field f, uint8_t *ret)
{
	return !mem_read(c->mem, object + f.offset, ret, sizeof(*ret));
}

/* Whether an object's type has that name. */
static bool type_is(struct checker *c, vaddr object, const char *name, vaddr *type_ret)
{
	char text[16];
	size_t len = strlen(name) + 1;
	vaddr type, at;

	if (len > sizeof(text) || !pointer_at(c, object, c->lay->object_type, &type) || !type ||
	    mem_read(c->mem, type + c->lay->type_name.offset, &at, sizeof(at)) ||
	    mem_read(c->mem, at, text, len) || memcmp(text, name, len) != 0)
		return false;
	if (type_ret)
		*type_ret = type;
	return true;
}

static enum err check_threads(struct checker *c, vaddr interp)
{
	vaddr thread, owner;
	unsigned count = 0;

	if (!pointer_at(c, interp, c->lay->interp_threads_head, &thread))
		return fail(c, "the list of threads can't be read");
	while (thread) {
		if (++count > THREADS_MOST)
			return fail(c, "the list of threads does not end");
		if (!pointer_at(c, thread, c->lay->thread_interp, &owner) || owner != interp)
			return fail(c, "a thread does not point back to its interpreter");
		if (!pointer_at(c, thread, c->lay->thread_next, &thread))
			return fail(c, "the list of threads can't be read");
	}
	return ERR_OK;
}

/* The first keys of sys.modules: "sys", "builtins", …; entries: Include/internal/pycore_dict.h. */
static bool first_key_is_str(struct checker *c, vaddr keys, uint8_t kind, uint8_t index_bytes,
			     int64_t count)
{
	vaddr entry = keys + c->lay->dictkeys_indices.offset + (UINT64_C(1) << index_bytes);

	for (int64_t i = 0; i < count && i < FIRST_KEYS; i++, entry += kind ? 16 : 24) {
		uint8_t state;
		int64_t length;
		vaddr key;

		if (mem_read(c->mem, entry + (kind ? 0 : 8), &key, sizeof(key)))
			return false;
		if (!key)
			continue;
		if (kind == 0 && !type_is(c, key, "str", NULL))
			continue; /* a program may put anything there */
		return type_is(c, key, "str", NULL) && byte_at(c, key, c->lay->str_kind, &state) &&
		       (state >> c->lay->str_kind.bit & 7) == 1 &&
		       !mem_read(c->mem, key + c->lay->str_length.offset, &length, 8) &&
		       length > 0 && length < 65536;
	}
	return true;
}

static enum err check_modules(struct checker *c, vaddr modules)
{
	const struct layout *lay = c->lay;
	uint8_t log2_size, index_bytes, kind;
	int64_t used, count;
	vaddr type, keys;

	if (!type_is(c, modules, "dict", &type))
		return fail(c, "sys.modules is no dict");
	if (!type_is(c, type, "type", NULL))
		return fail(c, "dict is no type");
	if (!pointer_at(c, modules, lay->dict_keys, &keys) ||
	    mem_read(c->mem, modules + lay->dict_used.offset, &used, sizeof(used)) ||
	    mem_read(c->mem, keys + lay->dictkeys_nentries.offset, &count, sizeof(count)) ||
	    !byte_at(c, keys, lay->dictkeys_log2_size, &log2_size) ||
	    !byte_at(c, keys, lay->dictkeys_log2_index_bytes, &index_bytes) ||
	    !byte_at(c, keys, lay->dictkeys_kind, &kind))
		return fail(c, "sys.modules can't be read");
	if (log2_size > MODULES_LOG2_MOST || index_bytes < log2_size ||
	    index_bytes > log2_size + 3 || kind > 2 || used < 0 || used > count ||
	    count > INT64_C(1) << log2_size)
		return fail(c, "the hash table of sys.modules contradicts itself");
	if (!first_key_is_str(c, keys, kind, index_bytes, count))
		return fail(c, "the first name in sys.modules is no string");
	return ERR_OK;
}

enum err layout_check_live(struct mem *mem, const struct layout *lay, bool *started_ret,
			   struct error *e)
{
	struct checker c = {mem, lay, e};
	unsigned count = 0;
	vaddr interp;

	*started_ret = false;
	if (!pointer_at(&c, lay->runtime, lay->runtime_interpreters_head, &interp))
		return fail(&c, "the list of interpreters can't be read");
	while (interp) {
		vaddr modules;
		enum err r;

		if (++count > INTERPRETERS_MOST)
			return fail(&c, "the list of interpreters does not end");
		r = check_threads(&c, interp);
		if (r)
			return r;
		if (!pointer_at(&c, interp, lay->interp_sys_modules, &modules))
			return fail(&c, "sys.modules can't be read");
		if (modules) {
			r = check_modules(&c, modules);
			if (r)
				return r;
			*started_ret = true;
		}
		if (!pointer_at(&c, interp, lay->interp_next, &interp))
			return fail(&c, "the list of interpreters can't be read");
	}
	return ERR_OK;
}
