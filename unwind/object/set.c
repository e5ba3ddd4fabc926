/* SPDX-License-Identifier: Apache-2.0 */
/* Sets: an open table of {key, hash} (Include/cpython/setobject.h). Weak sets: a Python object around a set of weak references (Lib/_weakrefset.py). */
#include "unwind/object/internal.h"

#define SET_SLOTS_MAX ((uint64_t)1 << 25)
#define SET_CHUNK     256u /* entries read at once: a page */

struct set_entry {
	uint64_t key;
	int64_t hash; /* -1: the key is the marker of a deleted entry */
};

struct set_head {
	uint64_t used, slots;
	vaddr table;
};

static enum err set_head_read(struct reader *r, vaddr at, struct set_head *ret)
{
	const struct layout *lay = r->lay;
	uint64_t mask;
	enum err err = object_expect(r, at, TYPE_SET, NULL);

	if (err != ERR_OK)
		return err;
	if ((err = read_uint(r, at, lay->set_used, &ret->used)) != ERR_OK ||
	    (err = read_uint(r, at, lay->set_mask, &mask)) != ERR_OK ||
	    (err = read_ptr(r, at, lay->set_table, &ret->table)) != ERR_OK)
		return err;
	ret->slots = mask + 1;
	if (!ret->slots || (ret->slots & mask) || ret->used > ret->slots)
		return ERR_SHAPE;
	if (ret->slots > SET_SLOTS_MAX)
		return ERR_BOUND;
	return object_plausible(ret->table) ? ERR_OK : ERR_SHAPE;
}

enum err object_set(struct reader *r, vaddr at, uint32_t max, struct items *ret)
{
	struct set_entry chunk[SET_CHUNK];
	struct set_head h;
	uint64_t room;
	enum err err = set_head_read(r, at, &h);

	*ret = (struct items){0};
	if (err != ERR_OK || !h.used)
		return err;
	room = h.used > max ? max : h.used;
	err = scratch_alloc(r, room, sizeof(*ret->v), &ret->v);
	for (uint64_t i = 0; err == ERR_OK && i < h.slots && ret->count < room;) {
		uint64_t part = h.slots - i < SET_CHUNK ? h.slots - i : SET_CHUNK;

		err = mem_read(r->mem, h.table + i * sizeof(chunk[0]), chunk,
			       (size_t)part * sizeof(chunk[0]));
		if (err != ERR_OK)
			break;
		for (uint64_t k = 0; k < part && ret->count < room; k++) {
			if (chunk[k].key && chunk[k].hash != -1)
				ret->v[ret->count++] = chunk[k].key;
		}
		i += part;
	}
	if (err != ERR_OK)
		*ret = (struct items){0};
	else
		ret->truncated = h.used > max;
	return err;
}

enum err object_weakset(struct reader *r, vaddr at, uint32_t max, struct items *ret)
{
	const struct layout *lay = r->lay;
	vaddr data;
	uint32_t live = 0;
	enum err err = attr_get(r, at, "data", &data);

	*ret = (struct items){0};
	if (err == ERR_OK)
		err = data ? object_set(r, data, max, ret) : ERR_SHAPE;
	if (err != ERR_OK)
		return err;
	for (uint32_t i = 0; i < ret->count; i++)
		mem_want(r->mem, ret->v[i], lay->weakref_object.offset + POINTER_SIZE);
	mem_fetch(r->mem);
	for (uint32_t i = 0; i < ret->count; i++) {
		vaddr object;

		err = object_expect(r, ret->v[i], TYPE_WEAKREF, NULL);
		if (err == ERR_OK)
			err = read_ptr(r, ret->v[i], lay->weakref_object, &object);
		if (error_is_hard(err))
			return err;
		if (err != ERR_OK) { /* one that can't be read is one that is missing */
			ret->truncated = true;
			continue;
		}
		if (object && !object_is_none(r, object))
			ret->v[live++] = object;
	}
	ret->count = live;
	return ERR_OK;
}
