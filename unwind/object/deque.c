/* SPDX-License-Identifier: Apache-2.0 */
/* collections.deque: a chain of blocks of 64 pointers, the first and the last only partly used (Modules/_collectionsmodule.c). */
#include "unwind/object/internal.h"

#include <string.h>

#define BLOCK_LENGTH_MAX 4096u

struct deque_head {
	int64_t size, left;
	vaddr block;
	uint32_t block_length;
};

static enum err deque_head_read(struct reader *r, vaddr at, struct deque_head *ret)
{
	const struct layout *lay = r->lay;
	uint32_t link = lay->dequeblock_rightlink.offset, data = lay->dequeblock_data.offset;
	enum err err;

	if ((err = object_length(r, at, &ret->size)) != ERR_OK ||
	    (err = read_ptr(r, at, lay->deque_leftblock, &ret->block)) != ERR_OK ||
	    (err = read_int(r, at, lay->deque_leftindex, &ret->left)) != ERR_OK)
		return err;
	if (link <= data)
		return ERR_SHAPE;
	ret->block_length = (link - data) / POINTER_SIZE;
	if (ret->block_length > BLOCK_LENGTH_MAX || ret->left < 0 || ret->left >= ret->block_length)
		return ERR_SHAPE;
	return ERR_OK;
}

/* Doubles the room for items as blocks come: a size that is rubbish costs no memory. */
static enum err items_grow(struct reader *r, struct items *items, uint32_t *room, uint32_t more)
{
	uint64_t wish = *room ? (uint64_t)*room * 2 : 128;
	vaddr *v;
	enum err err;

	if (items->count + (uint64_t)more <= *room)
		return ERR_OK;
	while (wish < items->count + (uint64_t)more)
		wish *= 2;
	if (wish > UINT32_MAX)
		return ERR_BOUND;
	err = scratch_alloc(r, wish, sizeof(*v), &v);
	if (err != ERR_OK)
		return err;
	if (items->count)
		memcpy(v, items->v, items->count * sizeof(*v));
	items->v = v;
	*room = (uint32_t)wish;
	return ERR_OK;
}

static enum err deque_walk(struct reader *r, const struct deque_head *d, uint32_t count,
			   struct items *ret)
{
	vaddr block = d->block, mark = 0;
	uint32_t index = (uint32_t)d->left, room = 0;
	uint64_t blocks = 0, next_mark = 1;

	while (ret->count < count) {
		uint32_t part = d->block_length - index;
		enum err err;

		if (!object_plausible(block))
			return ERR_SHAPE;
		if (block == mark) /* a ring */
			return ERR_BOUND;
		if (++blocks == next_mark) {
			mark = block;
			next_mark *= 2;
		}
		if (part > count - ret->count)
			part = count - ret->count;
		err = items_grow(r, ret, &room, part);
		if (err == ERR_OK)
			err = mem_read(r->mem,
				       block + r->lay->dequeblock_data.offset +
					       (vaddr)index * POINTER_SIZE,
				       ret->v + ret->count, part * sizeof(*ret->v));
		if (err != ERR_OK)
			return err;
		ret->count += part;
		index = 0;
		if (ret->count < count) {
			err = read_ptr(r, block, r->lay->dequeblock_rightlink, &block);
			if (err != ERR_OK)
				return err;
		}
	}
	return ERR_OK;
}

enum err object_deque(struct reader *r, vaddr at, uint32_t max, struct items *ret)
{
	struct deque_head d;
	enum err err = object_expect(r, at, TYPE_DEQUE, NULL);

	*ret = (struct items){0};
	if (err == ERR_OK)
		err = deque_head_read(r, at, &d);
	if (err != ERR_OK || !d.size)
		return err;
	err = deque_walk(r, &d, d.size > max ? max : (uint32_t)d.size, ret);
	if (err != ERR_OK)
		*ret = (struct items){0};
	else
		ret->truncated = d.size > max;
	return err;
}
