/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small made-up process for unit tests of the readers: builtin types, and functions that lay out objects as the tables of one CPython version say. Fill
 * it, then world_show it to the reader; after a change show it again.
 */
#ifndef AIOTRACE_TESTS_WORLD_H
#define AIOTRACE_TESTS_WORLD_H

#include "attach/image.h"
#include "unwind/layout/table.h"
#include "unwind/python/python.h"

#include <stdlib.h>
#include <string.h>

#define WORLD_BASE    ((vaddr)0x10000000)
#define WORLD_SIZE    ((size_t)8 << 20)
#define WORLD_NOWHERE ((vaddr)0x7000000000) /* never mapped */

/* Include/object.h */
#define WORLD_INLINE_VALUES ((uint64_t)1 << 2)
#define WORLD_MANAGED_DICT  ((uint64_t)1 << 4)
#define WORLD_HEAPTYPE	    ((uint64_t)1 << 9)
#define WORLD_TYPE_SUBCLASS ((uint64_t)1 << 31)

struct world {
	struct layout lay;
	unsigned char *bytes;
	size_t used;
	struct mem *mem;
	struct arena scratch;
	struct reader r;
	vaddr type, object, none, str, tuple, dict; /* types */
};

static inline void world_need(bool ok)
{
	if (ok)
		return;
	fprintf(stderr, "the made-up process could not be made\n");
	exit(1);
}

static inline unsigned char *world_at(struct world *w, vaddr at)
{
	world_need(at >= WORLD_BASE && at < WORLD_BASE + WORLD_SIZE);
	return w->bytes + (at - WORLD_BASE);
}

static inline void world_put(struct world *w, vaddr at, uint64_t value, size_t size)
{
	memcpy(world_at(w, at), &value, size);
}

static inline void world_put_field(struct world *w, vaddr object, struct field f, uint64_t value)
{
	uint64_t word = 0, mask;
	unsigned char *p = world_at(w, object + f.offset);

	if (!f.bits) {
		world_put(w, object + f.offset, value, f.size);
		return;
	}
	mask = (((uint64_t)1 << f.bits) - 1) << f.bit;
	memcpy(&word, p, f.size);
	word = (word & ~mask) | (value << f.bit & mask);
	memcpy(p, &word, f.size);
}

/* Room for an object, with 64 bytes before it for what lies before instances. */
static inline vaddr world_room(struct world *w, size_t size)
{
	vaddr at = WORLD_BASE + w->used + 64;

	w->used += (size + 64 + 15) & ~(size_t)15;
	world_need(w->used <= WORLD_SIZE);
	return at;
}

static inline vaddr world_object(struct world *w, vaddr type, size_t size)
{
	vaddr at = world_room(w, size);

	world_put_field(w, at, w->lay.object_type, type);
	return at;
}

static inline vaddr world_bytes(struct world *w, const void *bytes, size_t len)
{
	vaddr at = world_room(w, len);

	memcpy(world_at(w, at), bytes, len);
	return at;
}

static inline vaddr world_type(struct world *w, const char *name, vaddr base, uint64_t flags)
{
	vaddr at = world_object(w, w->type, w->lay.heaptype_cached_keys.offset + 16u);

	world_put_field(w, at, w->lay.type_name, world_bytes(w, name, strlen(name) + 1));
	world_put_field(w, at, w->lay.type_base, base);
	world_put_field(w, at, w->lay.type_flags, flags);
	world_put_field(w, at, w->lay.type_basicsize, w->lay.object_sizeof);
	return at;
}

/* A str of `count` characters of 1, 2 or 4 bytes; ascii as the string's own flag. */
static inline vaddr world_str_wide(struct world *w, const void *characters, uint32_t count,
				   uint32_t width, bool ascii)
{
	uint32_t head = ascii ? w->lay.str_sizeof_ascii : w->lay.str_sizeof_compact;
	vaddr at = world_object(w, w->str, head + (count + 1) * width);

	world_put_field(w, at, w->lay.str_length, count);
	world_put_field(w, at, w->lay.str_kind, width);
	world_put_field(w, at, w->lay.str_compact, 1);
	world_put_field(w, at, w->lay.str_ascii, ascii);
	memcpy(world_at(w, at + head), characters, (size_t)count * width);
	return at;
}

static inline vaddr world_str(struct world *w, const char *ascii)
{
	return world_str_wide(w, ascii, (uint32_t)strlen(ascii), 1, true);
}

static inline vaddr world_tuple(struct world *w, const vaddr *v, size_t count)
{
	vaddr at = world_object(w, w->tuple, w->lay.tuple_item.offset + 8 * count);

	world_put_field(w, at, w->lay.var_size, count);
	for (size_t i = 0; i < count; i++)
		world_put(w, at + w->lay.tuple_item.offset + 8 * i, v[i], 8);
	return at;
}

/* Dict keys of 2^log2_size slots; kind 0 {hash, key, value}, 1 and 2 {key, value}. */
static inline vaddr world_keys(struct world *w, unsigned kind, unsigned log2_size,
			       unsigned width_log2, const vaddr *keys, const vaddr *values,
			       size_t count)
{
	size_t stride = kind ? 16 : 24, skip = kind ? 0 : 8;
	size_t entries = w->lay.dictkeys_indices.offset + ((size_t)1 << (log2_size + width_log2));
	vaddr at = world_room(w, entries + count * stride);

	world_put_field(w, at, w->lay.dictkeys_kind, kind);
	world_put_field(w, at, w->lay.dictkeys_log2_size, log2_size);
	world_put_field(w, at, w->lay.dictkeys_log2_index_bytes, log2_size + width_log2);
	world_put_field(w, at, w->lay.dictkeys_nentries, count);
	memset(world_at(w, at + w->lay.dictkeys_indices.offset), 0xff,
	       (size_t)1 << (log2_size + width_log2));
	for (size_t i = 0; i < count; i++) {
		world_put(w, at + entries + i * stride + skip, keys[i], 8);
		if (values)
			world_put(w, at + entries + i * stride + skip + 8, values[i], 8);
	}
	return at;
}

/* values: of a split dict, as ma_values points to them, else 0. */
static inline vaddr world_dict(struct world *w, vaddr keys, vaddr values, size_t used)
{
	vaddr at = world_object(w, w->dict, 64);

	world_put_field(w, at, w->lay.dict_used, used);
	world_put_field(w, at, w->lay.dict_keys, keys);
	world_put_field(w, at, w->lay.dict_values, values);
	return at;
}

/* A process of that version; its builtin types are there. */
static inline struct world *world_create(uint32_t version)
{
	struct world *w = calloc(1, sizeof(*w));

	world_need(w);
	w->lay.version = version;
	world_need(layout_table_fill(&w->lay));
	w->bytes = calloc(1, WORLD_SIZE);
	world_need(w->bytes && arena_init(&w->scratch, (size_t)1 << 30));
	w->type = world_type(w, "type", 0, WORLD_TYPE_SUBCLASS);
	world_put_field(w, w->type, w->lay.object_type, w->type);
	w->object = world_type(w, "object", 0, 0);
	w->none = world_type(w, "NoneType", w->object, 0);
	w->str = world_type(w, "str", w->object, 0);
	w->tuple = world_type(w, "tuple", w->object, 0);
	w->dict = world_type(w, "dict", w->object, 0);
	w->r = (struct reader){.lay = &w->lay, .scratch = &w->scratch};
	w->r.codes = code_cache_create();
	w->r.types = type_cache_create();
	world_need(w->r.codes && w->r.types && model_create(&w->r.model) == ERR_OK);
	return w;
}

/* What has been laid out so far becomes what the reader sees; nothing is remembered from before. */
static inline void world_show(struct world *w)
{
	void *image = image_create();

	mem_destroy(w->mem);
	w->mem = NULL;
	world_need(image && image_map(image, WORLD_BASE, w->bytes, w->used) == ERR_OK &&
		   mem_create(&image_source, image, (size_t)64 << 20, &w->mem) == ERR_OK);
	w->r.mem = w->mem;
	type_cache_clear(w->r.types);
	code_cache_clear(w->r.codes);
	model_clear(w->r.model);
	arena_reset(&w->scratch);
}

static inline void world_destroy(struct world *w)
{
	mem_destroy(w->mem);
	code_cache_destroy(w->r.codes);
	type_cache_destroy(w->r.types);
	model_destroy(w->r.model);
	arena_deinit(&w->scratch);
	free(w->bytes);
	free(w);
}

#endif
