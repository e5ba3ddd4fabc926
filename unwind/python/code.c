/* SPDX-License-Identifier: Apache-2.0 */
/* Code objects (Include/cpython/code.h), read once a walk: names, line table, and which variable stands where. */
#include "unwind/object/address_table.h"
#include "unwind/object/internal.h"
#include "unwind/python/python.h"

#include <stdlib.h>
#include <string.h>

#define CODES_MAX	 (1u << 18)
#define CODE_ARENA	 ((size_t)1 << 30)
#define CODE_NAME_MAX	 100000u
#define CODE_TABLE_MAX	 (4u << 20)
#define CODE_LOCALS_MAX	 65536u
#define LOCAL_CELL_KINDS 0xc0u /* CO_FAST_CELL, CO_FAST_FREE of Include/internal/pycore_code.h */

struct code_cache {
	struct arena arena;
	struct address_table table;
};

struct code_cache *code_cache_create(void)
{
	struct code_cache *c = calloc(1, sizeof(*c));

	if (c && !arena_init(&c->arena, CODE_ARENA)) {
		free(c);
		return NULL;
	}
	return c;
}

void code_cache_clear(struct code_cache *c)
{
	address_table_clear(&c->table);
	arena_reset(&c->arena);
}

void code_cache_destroy(struct code_cache *c)
{
	if (!c)
		return;
	address_table_deinit(&c->table);
	arena_deinit(&c->arena);
	free(c);
}

/*
 * CPython's own package lies in ".../python3.12/asyncio/", ".../python312.zip/asyncio/", ".../Lib/asyncio/", or plainly "asyncio/" where the path was cut
 * (frozen applications); "redis/asyncio/" is somebody else's.
 */
static bool file_is_asyncio(struct str file)
{
	static const char package[] = "asyncio/";
	uint32_t base = file.len, parent, start;
	struct str above;

	while (base && file.ptr[base - 1] != '/')
		base--;
	if (base < sizeof(package) - 1)
		return false;
	parent = base - (uint32_t)(sizeof(package) - 1);
	if (memcmp(file.ptr + parent, package, sizeof(package) - 1) != 0)
		return false;
	if (!parent)
		return true;
	if (file.ptr[parent - 1] != '/')
		return false;
	for (start = parent - 1; start && file.ptr[start - 1] != '/';)
		start--;
	above = (struct str){file.ptr + start, parent - 1 - start};
	return str_is(above, "Lib") || (str_starts_with(above, "python") && above.len > 6 &&
					above.ptr[6] >= '0' && above.ptr[6] <= '9');
}

/* The package's files that a wait goes through; a folder of somebody's own may have that name too, but hardly these below it. */
static bool file_is_anyio(struct str file)
{
	static const char *const parts[] = {
		"/anyio/_backends/_asyncio.py", "/anyio/_core/_synchronization.py",
		"/anyio/_core/_eventloop.py",	"/anyio/_core/_tasks.py",
		"/anyio/streams/memory.py",	"/anyio/to_thread.py",
		"/anyio/lowlevel.py",		"/anyio/_core/_sockets.py",
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (str_ends_with(file, parts[i]))
			return true;
	}
	return false;
}

/* One copy in the model of what many code objects share. */
static enum err text_read(struct reader *r, vaddr at, struct str *ret)
{
	struct str s;
	uint32_t row;
	enum err err = object_str(r, at, CODE_NAME_MAX, r->scratch, &s, NULL);

	if (err != ERR_OK)
		return err;
	row = model_intern_string(r->model, s);
	if (row == NONE)
		return ERR_NOMEM;
	*ret = r->model->strings.v[row];
	return ERR_OK;
}

static enum err table_read(struct reader *r, vaddr at, struct code_info *info)
{
	vaddr table;
	int64_t len;
	uint8_t *copy;
	enum err err = read_ptr(r, at, r->lay->code_linetable, &table);

	if (err == ERR_OK)
		err = object_expect(r, table, TYPE_BYTES, NULL);
	if (err == ERR_OK)
		err = object_length(r, table, &len);
	if (err != ERR_OK)
		return err;
	if (len > CODE_TABLE_MAX)
		return ERR_BOUND;
	copy = arena_alloc(&r->codes->arena, len ? (size_t)len : 1);
	if (!copy)
		return ERR_BOUND;
	info->linetable = copy;
	info->linetable_len = (uint32_t)len;
	return mem_read(r->mem, table + r->lay->bytes_value.offset, copy, (size_t)len);
}

static enum err code_fill(struct reader *r, vaddr at, struct code_info *info)
{
	const struct layout *lay = r->lay;
	uint64_t flags, nlocalsplus;
	int64_t first;
	enum err err;

	info->at = at;
	if ((err = object_expect(r, at, TYPE_CODE, NULL)) != ERR_OK ||
	    (err = read_ptr(r, at, lay->code_qualname, &info->qualname_at)) != ERR_OK ||
	    (err = read_ptr(r, at, lay->code_filename, &info->filename_at)) != ERR_OK ||
	    (err = read_ptr(r, at, lay->code_localsplusnames, &info->localsplusnames)) != ERR_OK ||
	    (err = read_int(r, at, lay->code_firstlineno, &first)) != ERR_OK ||
	    (err = read_uint(r, at, lay->code_flags, &flags)) != ERR_OK ||
	    (err = read_uint(r, at, lay->code_nlocalsplus, &nlocalsplus)) != ERR_OK ||
	    (err = text_read(r, info->qualname_at, &info->qualname)) != ERR_OK ||
	    (err = text_read(r, info->filename_at, &info->file)) != ERR_OK ||
	    (err = table_read(r, at, info)) != ERR_OK)
		return err;
	if (nlocalsplus > CODE_LOCALS_MAX)
		return ERR_BOUND;
	info->firstlineno = (int32_t)first;
	info->flags = (uint32_t)flags;
	info->nlocalsplus = (uint32_t)nlocalsplus;
	info->code_adaptive = at + lay->code_code_adaptive.offset;
	info->asyncio = file_is_asyncio(info->file);
	info->anyio = file_is_anyio(info->file);
	return ERR_OK;
}

/* Still the code object that was read: its names are still its own. They lie side by side in all versions. */
static bool code_unchanged(struct reader *r, const struct code_info *info)
{
	struct field qualname = r->lay->code_qualname, filename = r->lay->code_filename;
	uint16_t start = qualname.offset < filename.offset ? qualname.offset : filename.offset;
	uint8_t buffer[64];
	const uint8_t *p;
	uint64_t q, f;
	enum err err;

	qualname.offset = (uint16_t)(qualname.offset - start);
	filename.offset = (uint16_t)(filename.offset - start);
	if (qualname.offset > sizeof(buffer) - POINTER_SIZE ||
	    filename.offset > sizeof(buffer) - POINTER_SIZE)
		return false;
	p = view(r, info->at + start,
		 (qualname.offset > filename.offset ? qualname.offset : filename.offset) +
			 POINTER_SIZE,
		 buffer, &err);
	return p && field_decode(p, qualname, &q) && field_decode(p, filename, &f) &&
	       q == info->qualname_at && f == info->filename_at;
}

enum err code_read(struct reader *r, vaddr code, struct code_info **ret)
{
	struct code_cache *c = r->codes;
	struct code_info *info;
	enum err err;

	if (!object_plausible(code))
		return ERR_SHAPE;
	info = address_table_find(&c->table, code);
	if (info && code_unchanged(r, info)) {
		*ret = info;
		return ERR_OK;
	}
	if (!address_table_reserve(&c->table, CODES_MAX))
		return ERR_BOUND;
	info = arena_alloc(&c->arena, sizeof(*info));
	if (!info)
		return ERR_BOUND;
	err = code_fill(r, code, info);
	if (err != ERR_OK)
		return err;
	address_table_put(&c->table, code, info);
	*ret = info;
	return ERR_OK;
}

int32_t code_line(const struct reader *r, struct code_info *info, int64_t addr)
{
	uint32_t i = (uint32_t)(addr / 2) % CODE_LINES_KEPT;

	if (!info->lines[i].known || info->lines[i].addr != addr) {
		info->lines[i].line = linetable_line(r->lay->linetable, info->linetable,
						     info->linetable_len, info->firstlineno, addr);
		info->lines[i].addr = addr;
		info->lines[i].known = true;
	}
	return info->lines[i].line;
}

/* Is the variable a cell or a free one? Where that can't be read it counts as one: a cell is known by its type too. */
static bool local_in_cell(struct reader *r, const struct code_info *info, uint32_t index)
{
	vaddr kinds;
	uint8_t kind;

	if (read_ptr(r, info->at, r->lay->code_localspluskinds, &kinds) != ERR_OK ||
	    object_expect(r, kinds, TYPE_BYTES, NULL) != ERR_OK ||
	    read_u8(r, kinds + r->lay->bytes_value.offset + index, &kind) != ERR_OK)
		return true;
	return kind & LOCAL_CELL_KINDS;
}

enum err code_local(struct reader *r, struct code_info *info, const char *name, int32_t *ret,
		    bool *cell_ret)
{
	uint64_t hash = name_hash(name);
	struct items names;
	uint32_t i;
	enum err err;

	for (i = 0; i < info->locals_kept && i < CODE_LOCALS_KEPT; i++) {
		if (info->locals[i].name == hash) {
			*ret = info->locals[i].index;
			*cell_ret = info->locals[i].cell;
			return ERR_OK;
		}
	}
	*ret = -1;
	*cell_ret = false;
	err = object_tuple(r, info->localsplusnames, info->nlocalsplus, &names);
	if (err != ERR_OK)
		return err;
	for (i = 0; i < names.count && *ret < 0; i++) {
		if (object_str_is(r, names.v[i], name))
			*ret = (int32_t)i;
	}
	if (*ret >= 0)
		*cell_ret = local_in_cell(r, info, (uint32_t)*ret);
	i = info->locals_kept++ % CODE_LOCALS_KEPT;
	info->locals[i].name = hash;
	info->locals[i].index = *ret;
	info->locals[i].cell = *cell_ret;
	return ERR_OK;
}
