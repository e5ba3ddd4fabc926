/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dicts (Objects/dictobject.c, Include/internal/pycore_dict.h): a keys object with an index table, which we don't need since hashes of str are salted, and
 * entries in order of insertion; values are in the entries, or apart where instances share the keys (split).
 */
#include "unwind/object/internal.h"

/* dk_kind */
enum {
	KEYS_GENERAL = 0,
	KEYS_UNICODE = 1,
	KEYS_SPLIT = 2
};

#define KEYS_LOG2_MAX 40u

enum err dict_keys_read(struct reader *r, vaddr keys, struct dict_keys *ret)
{
	const struct layout *lay = r->lay;
	uint64_t log2_size, log2_index, kind;
	uint8_t head[64];
	enum err err;

	if (!object_plausible(keys) || lay->dictkeys_indices.offset > sizeof(head))
		return ERR_SHAPE;
	err = mem_read(r->mem, keys, head, lay->dictkeys_indices.offset);
	if (err != ERR_OK)
		return err;
	if (!field_decode(head, lay->dictkeys_log2_size, &log2_size) ||
	    !field_decode(head, lay->dictkeys_log2_index_bytes, &log2_index) ||
	    !field_decode(head, lay->dictkeys_kind, &kind) ||
	    !field_decode(head, lay->dictkeys_nentries, &ret->count))
		return ERR_SHAPE;
	if (kind > KEYS_SPLIT || log2_size > KEYS_LOG2_MAX || log2_index > KEYS_LOG2_MAX + 3 ||
	    log2_index < log2_size || ret->count > (uint64_t)1 << log2_size)
		return ERR_SHAPE;
	ret->at = keys;
	ret->stride = kind == KEYS_GENERAL ? 24 : 16; /* {hash, key, value} or {key, value} */
	ret->key = kind == KEYS_GENERAL ? 8 : 0;
	ret->split = kind == KEYS_SPLIT;
	ret->entries = keys + lay->dictkeys_indices.offset + ((vaddr)1 << log2_index);
	return ERR_OK;
}

enum err dict_keys_find(struct reader *r, const struct dict_keys *k, const char *name, int64_t *ret)
{
	uint64_t chunk[DICT_CHUNK * 3];
	uint32_t words = k->stride / 8, key = k->key / 8;

	*ret = -1;
	if (k->count > DICT_ENTRIES_MAX)
		return ERR_BOUND;
	for (uint64_t i = 0; i < k->count;) {
		uint64_t part = k->count - i < DICT_CHUNK ? k->count - i : DICT_CHUNK;
		enum err err = mem_read(r->mem, k->entries + i * k->stride, chunk,
					(size_t)part * k->stride);

		if (err != ERR_OK)
			return err;
		for (uint64_t n = 0; n < part; n++) {
			if (object_str_is(r, chunk[n * words + key], name)) {
				*ret = (int64_t)(i + n);
				return ERR_OK;
			}
		}
		i += part;
	}
	return ERR_OK;
}

enum err shared_keys_find(struct reader *r, vaddr keys, const char *name, int64_t *ret)
{
	struct memo_table *table = type_cache_memo(r->types);
	uint64_t hash = name_hash(name);
	struct memo *m = memo_find(table, keys, hash, MEMO_KEY);
	struct dict_keys k;
	uint64_t now;
	enum err err;

	*ret = -1;
	if (m && m->value >= 0 && read_u64(r, m->entry, &now) == ERR_OK && now == m->key) {
		*ret = m->value;
		return ERR_OK;
	}
	/* Shared keys only grow: where it was not among so many it still isn't. */
	if (m && m->value < 0 && read_uint(r, keys, r->lay->dictkeys_nentries, &now) == ERR_OK &&
	    now == m->entries)
		return ERR_OK;
	err = dict_keys_read(r, keys, &k);
	if (err == ERR_OK)
		err = dict_keys_find(r, &k, name, ret);
	if (err != ERR_OK)
		return err;
	m = memo_add(table, keys, hash, MEMO_KEY);
	if (!m)
		return ERR_OK;
	m->value = (int32_t)*ret;
	m->entries = k.count;
	m->entry = *ret < 0 ? 0 : k.entries + (uint64_t)*ret * k.stride + k.key;
	if (m->entry && read_u64(r, m->entry, &m->key) != ERR_OK)
		m->entry = 0; /* then the next look-up finds nothing to trust and searches anew */
	return ERR_OK;
}

/* Keys of a dict and, where it is split, the place of its first value. */
static enum err dict_head(struct reader *r, vaddr dict, vaddr *keys_ret, vaddr *values_ret)
{
	const struct layout *lay = r->lay;
	vaddr values;
	enum err err = object_expect(r, dict, TYPE_DICT, NULL);

	if (err != ERR_OK)
		return err;
	if ((err = read_ptr(r, dict, lay->dict_keys, keys_ret)) != ERR_OK ||
	    (err = read_ptr(r, dict, lay->dict_values, &values)) != ERR_OK)
		return err;
	*values_ret = values ? values + lay->dictvalues_values.offset : 0;
	return ERR_OK;
}

enum err dict_get(struct reader *r, vaddr dict, const char *key, vaddr *ret)
{
	struct dict_keys k;
	vaddr keys, values;
	int64_t index;
	enum err err = dict_head(r, dict, &keys, &values);

	*ret = 0;
	if (err != ERR_OK)
		return err;
	if (values) {
		err = shared_keys_find(r, keys, key, &index);
		if (err != ERR_OK || index < 0)
			return err;
		return read_u64(r, values + (uint64_t)index * POINTER_SIZE, ret);
	}
	err = dict_keys_read(r, keys, &k);
	if (err == ERR_OK)
		err = dict_keys_find(r, &k, key, &index);
	if (err != ERR_OK || index < 0)
		return err;
	return read_u64(r, k.entries + (uint64_t)index * k.stride + k.key + POINTER_SIZE, ret);
}

enum err dict_scan_start(struct reader *r, vaddr dict, struct dict_scan *s)
{
	vaddr keys;
	enum err err = dict_head(r, dict, &keys, &s->values);

	s->r = r;
	s->next = s->chunk_start = s->chunk_count = 0;
	if (err == ERR_OK)
		err = dict_keys_read(r, keys, &s->keys);
	if (err == ERR_OK && s->keys.split && !s->values && s->keys.count)
		return ERR_SHAPE;
	return err;
}

static enum err dict_scan_load(struct dict_scan *s)
{
	uint64_t left = s->keys.count - s->next;
	enum err err;

	s->chunk_start = s->next;
	s->chunk_count = left < DICT_CHUNK ? left : DICT_CHUNK;
	err = mem_read(s->r->mem, s->keys.entries + s->next * s->keys.stride, s->chunk,
		       (size_t)s->chunk_count * s->keys.stride);
	if (err == ERR_OK && s->values)
		err = mem_read(s->r->mem, s->values + s->next * POINTER_SIZE, s->chunk_values,
			       (size_t)s->chunk_count * POINTER_SIZE);
	return err;
}

enum err dict_scan_next(struct dict_scan *s, vaddr *key_ret, vaddr *value_ret, bool *more_ret)
{
	uint32_t words = s->keys.stride / 8, key = s->keys.key / 8;

	*more_ret = false;
	while (s->next < s->keys.count) {
		uint64_t n;

		if (s->next == s->chunk_start + s->chunk_count) {
			enum err err = dict_scan_load(s);

			if (err != ERR_OK)
				return err;
		}
		n = s->next++ - s->chunk_start;
		*key_ret = s->chunk[n * words + key];
		*value_ret = s->values ? s->chunk_values[n] : s->chunk[n * words + key + 1];
		if (*key_ret && *value_ret) {
			*more_ret = true;
			return ERR_OK;
		}
	}
	return ERR_OK;
}

enum err dict_items(struct reader *r, vaddr dict, uint32_t max, struct items *keys_ret,
		    struct items *values_ret)
{
	struct dict_scan s;
	uint64_t used, room;
	vaddr key, value;
	bool more = false;
	enum err err = dict_scan_start(r, dict, &s);

	*keys_ret = *values_ret = (struct items){0};
	if (err == ERR_OK)
		err = read_uint(r, dict, r->lay->dict_used, &used);
	if (err != ERR_OK)
		return err;
	room = used < s.keys.count ? used : s.keys.count;
	room = room < max ? room : max;
	err = scratch_alloc(r, room, sizeof(vaddr), &keys_ret->v);
	if (err == ERR_OK)
		err = scratch_alloc(r, room, sizeof(vaddr), &values_ret->v);
	while (err == ERR_OK && keys_ret->count < room) {
		err = dict_scan_next(&s, &key, &value, &more);
		if (err != ERR_OK || !more)
			break;
		keys_ret->v[keys_ret->count++] = key;
		values_ret->v[values_ret->count++] = value;
	}
	if (err != ERR_OK) {
		*keys_ret = *values_ret = (struct items){0};
		return err;
	}
	keys_ret->truncated = values_ret->truncated = used > max;
	return ERR_OK;
}
