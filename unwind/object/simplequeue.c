/* SPDX-License-Identifier: Apache-2.0 */
/* queue.SimpleQueue (Modules/_queuemodule.c): a list whose taken items are None up to 3.12, a ring buffer from 3.13 on. */
#include "unwind/object/internal.h"

static enum err from_list(struct reader *r, vaddr at, uint32_t max, struct items *ret)
{
	struct items all;
	vaddr list;
	uint32_t kept = 0;
	enum err err = read_ptr(r, at, r->lay->simplequeue_list, &list);

	if (err == ERR_OK)
		err = object_list(r, list, max, &all);
	if (err != ERR_OK)
		return err;
	for (uint32_t i = 0; i < all.count; i++) {
		if (!object_is_none(r, all.v[i]))
			all.v[kept++] = all.v[i];
	}
	all.count = kept;
	*ret = all;
	return ERR_OK;
}

static enum err from_ring(struct reader *r, vaddr at, uint32_t max, struct items *ret)
{
	const struct layout *lay = r->lay;
	uint64_t first, capacity, count, head;
	vaddr items, *v = NULL;
	enum err err;

	if ((err = read_uint(r, at, lay->simplequeue_first, &first)) != ERR_OK ||
	    (err = read_uint(r, at, lay->simplequeue_capacity, &capacity)) != ERR_OK ||
	    (err = read_uint(r, at, lay->simplequeue_count, &count)) != ERR_OK ||
	    (err = read_ptr(r, at, lay->simplequeue_items, &items)) != ERR_OK)
		return err;
	if (count > capacity || capacity > INT32_MAX || (capacity && first >= capacity))
		return ERR_SHAPE;
	if (count > max) {
		count = max;
		ret->truncated = true;
	}
	err = scratch_alloc(r, count, sizeof(*v), &v);
	if (err != ERR_OK || !count)
		return err;
	head = count < capacity - first ? count : capacity - first;
	err = mem_read(r->mem, items + first * POINTER_SIZE, v, head * POINTER_SIZE);
	if (err == ERR_OK && head < count)
		err = mem_read(r->mem, items, v + head, (count - head) * POINTER_SIZE);
	ret->v = v;
	ret->count = err == ERR_OK ? (uint32_t)count : 0;
	return err;
}

enum err object_simplequeue(struct reader *r, vaddr at, uint32_t max, struct items *ret)
{
	const struct type_info *t;
	enum err err = type_of(r, at, &t);

	*ret = (struct items){0};
	if (err != ERR_OK)
		return err;
	if (!type_is(r, t, "_queue", "SimpleQueue"))
		return ERR_SHAPE;
	if (field_present(r->lay->simplequeue_list))
		return from_list(r, at, max, ret);
	return from_ring(r, at, max, ret);
}
