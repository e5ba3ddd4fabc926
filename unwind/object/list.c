/* SPDX-License-Identifier: Apache-2.0 */
/* Lists and tuples, lengths, and the plain runs of pointers that containers are made of. */
#include "unwind/object/internal.h"

#define LENGTH_MAX ((int64_t)1 << 48) /* no address space holds more pointers */

enum err scratch_alloc(struct reader *r, uint64_t count, size_t size, void *ret)
{
	uint64_t bytes;
	void *p;

	if (__builtin_mul_overflow(count, (uint64_t)size, &bytes) || bytes > (uint64_t)1 << 40)
		return ERR_BOUND;
	p = arena_alloc(r->scratch, bytes ? (size_t)bytes : 1);
	*(void **)ret = p;
	return p ? ERR_OK : ERR_BOUND;
}

enum err pointers_read(struct reader *r, vaddr at, uint64_t count, vaddr **ret)
{
	vaddr last;
	enum err err;

	*ret = NULL;
	if (!count)
		return ERR_OK;
	if (!object_plausible(at))
		return ERR_SHAPE;
	/* A length that is rubbish mostly ends nowhere: find out before room is made for it. */
	err = read_u64(r, at + (count - 1) * POINTER_SIZE, &last);
	if (err == ERR_OK)
		err = scratch_alloc(r, count, POINTER_SIZE, ret);
	if (err == ERR_OK)
		err = mem_read(r->mem, at, *ret, (size_t)count * POINTER_SIZE);
	return err;
}

static enum err size_read(struct reader *r, vaddr at, struct field f, int64_t *ret)
{
	enum err err = read_int(r, at, f, ret);

	if (err != ERR_OK)
		return err;
	if (*ret < 0)
		return ERR_SHAPE;
	return *ret > LENGTH_MAX ? ERR_BOUND : ERR_OK;
}

static void items_count(struct items *items, int64_t size, uint32_t max)
{
	items->truncated = size > max;
	items->count = size > max ? max : (uint32_t)size;
}

enum err object_list(struct reader *r, vaddr at, uint32_t max, struct items *ret)
{
	int64_t size = 0;
	vaddr item;
	enum err err = object_expect(r, at, TYPE_LIST, NULL);

	*ret = (struct items){0};
	if (err == ERR_OK)
		err = size_read(r, at, r->lay->var_size, &size);
	if (err == ERR_OK)
		err = read_ptr(r, at, r->lay->list_item, &item);
	if (err != ERR_OK || !size)
		return err;
	items_count(ret, size, max);
	err = pointers_read(r, item, ret->count, &ret->v);
	if (err != ERR_OK)
		*ret = (struct items){0};
	return err;
}

enum err object_tuple(struct reader *r, vaddr at, uint32_t max, struct items *ret)
{
	int64_t size = 0;
	enum err err = object_expect(r, at, TYPE_TUPLE, NULL);

	*ret = (struct items){0};
	if (err == ERR_OK)
		err = size_read(r, at, r->lay->var_size, &size);
	if (err != ERR_OK || !size)
		return err;
	items_count(ret, size, max);
	err = pointers_read(r, at + r->lay->tuple_item.offset, ret->count, &ret->v);
	if (err != ERR_OK)
		*ret = (struct items){0};
	return err;
}

enum err object_length(struct reader *r, vaddr at, int64_t *ret)
{
	const struct type_info *t;
	enum err err = type_of(r, at, &t);

	if (err != ERR_OK)
		return err;
	switch (t->kind) {
	case TYPE_LIST:
	case TYPE_TUPLE:
	case TYPE_BYTES:
		return size_read(r, at, r->lay->var_size, ret);
	case TYPE_DEQUE:
		return size_read(r, at, r->lay->deque_size, ret);
	case TYPE_SET:
		return size_read(r, at, r->lay->set_used, ret);
	case TYPE_DICT:
		return size_read(r, at, r->lay->dict_used, ret);
	default:
		return ERR_SHAPE;
	}
}
