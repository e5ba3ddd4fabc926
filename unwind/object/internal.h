/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of objects share among themselves: the memo of a walk, and the scan over a dict's table. Nobody outside object/ and python/ includes this. */
#ifndef AIOTRACE_UNWIND_OBJECT_INTERNAL_H
#define AIOTRACE_UNWIND_OBJECT_INTERNAL_H

#include "unwind/object/object.h"

#define POINTER_SIZE	 8u
#define DICT_ENTRIES_MAX 1000000u
#define DICT_CHUNK	 128u /* entries read at once */

static inline uint64_t mix64(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	return x ^ (x >> 33);
}

/* FNV-1a: our own names only, never text of the target. */
static inline uint64_t name_hash(const char *name)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3ULL;
	return h;
}

static inline bool object_plausible(vaddr at)
{
	return at && !(at & (POINTER_SIZE - 1));
}

/* `len` bytes of the target: in the page cache where they lie in one page, else copied to `buffer`. NULL: *err says why. */
static inline const uint8_t *view(struct reader *r, vaddr at, size_t len, void *buffer,
				  enum err *err)
{
	const void *p = mem_peek(r->mem, at, len);

	if (p)
		return p;
	*err = mem_read(r->mem, at, buffer, len);
	return *err == ERR_OK ? buffer : NULL;
}

/* ERR_SHAPE when the object is not of that kind. *type_ret may be NULL. */
must_check enum err object_expect(struct reader *r, vaddr at, enum type_kind kind,
				  const struct type_info **type_ret);
/* tp_mro, the type itself first; empty for a type that is not ready. In scratch. */
must_check enum err type_mro_read(struct reader *r, vaddr type, struct items *ret);
/* `count` things of `size` bytes in scratch, *(void **)ret; ERR_BOUND when it is used up. */
must_check enum err scratch_alloc(struct reader *r, uint64_t count, size_t size, void *ret);
/* Copies `count` pointers at `at` into fresh scratch. */
must_check enum err pointers_read(struct reader *r, vaddr at, uint64_t count, vaddr **ret);
/* True when a NUL-terminated C string of the target is this one. */
bool c_string_is(struct reader *r, vaddr at, const char *text);
/* At most max bytes of a C string in the target, copied to `to` as UTF-8 (bytes that are none become U+FFFD). */
must_check enum err c_string_read(struct reader *r, vaddr at, uint32_t max, struct arena *to,
				  struct str *ret);

/* --- what a walk has found out about (type or keys object, name): memo.c. Bounded; forgetting is always right. */
enum memo_tag {
	MEMO_SLOT = 1,
	MEMO_TYPE_IS,
	MEMO_KEY
};
struct memo {
	vaddr at; /* the type, or the keys object */
	uint64_t name; /* name_hash */
	enum memo_tag tag;
	int32_t value; /* slot offset, truth, index of the entry; -1: there is none */
	/* MEMO_KEY: the entry and the key string in it when it was found; where there is none: how many entries had been looked through. */
	vaddr entry, key;
	uint64_t entries;
};
struct memo_table {
	struct memo *v;
	uint32_t mask, count;
};
/* NULL when not known. */
struct memo *memo_find(struct memo_table *t, vaddr at, uint64_t name, enum memo_tag tag);
/* The entry for the key, fresh or old, to be filled; NULL when the table is full. */
struct memo *memo_add(struct memo_table *t, vaddr at, uint64_t name, enum memo_tag tag);
void memo_clear(struct memo_table *t);
void memo_deinit(struct memo_table *t);
struct memo_table *type_cache_memo(struct type_cache *c);

/* --- a dict's keys object (Objects/dictobject.c, Include/internal/pycore_dict.h) */
struct dict_keys {
	vaddr at;
	vaddr entries; /* first entry */
	uint64_t count; /* dk_nentries */
	uint32_t stride; /* bytes of an entry */
	uint32_t key; /* offset of the key in it; the value follows */
	bool split; /* values are elsewhere */
};
must_check enum err dict_keys_read(struct reader *r, vaddr keys, struct dict_keys *ret);
/* Index of a str key: -1 where absent. */
must_check enum err dict_keys_find(struct reader *r, const struct dict_keys *k, const char *name,
				   int64_t *ret);
/* The same for keys objects that many instances share: remembered by address and name, and checked with one read. */
must_check enum err shared_keys_find(struct reader *r, vaddr keys, const char *name, int64_t *ret);

struct dict_scan {
	struct reader *r;
	struct dict_keys keys;
	vaddr values; /* first value where split, else 0 */
	uint64_t next, chunk_start, chunk_count;
	uint64_t chunk[DICT_CHUNK * 3];
	uint64_t chunk_values[DICT_CHUNK];
};
must_check enum err dict_scan_start(struct reader *r, vaddr dict, struct dict_scan *s);
/* The next pair that is there; false in *more_ret at the end. */
must_check enum err dict_scan_next(struct dict_scan *s, vaddr *key_ret, vaddr *value_ret,
				   bool *more_ret);

#endif
