/* SPDX-License-Identifier: Apache-2.0 */
/* A dense array of items and a hash of their indexes, which is made again when many were dropped. */
#include "tui/table.h"

#include <stdlib.h>
#include <string.h>

void table_init(struct table *t, size_t size)
{
	*t = (struct table){.size = size};
}

void table_deinit(struct table *t)
{
	free(t->items);
	free(t->seen);
	free(t->slots);
	table_init(t, t->size);
}

void *table_at(const struct table *t, uint32_t index)
{
	return t->items + (size_t)index * t->size;
}

static vaddr id_at(const struct table *t, uint32_t index)
{
	vaddr id;

	memcpy(&id, table_at(t, index), sizeof(id));
	return id;
}

/* The slot of the id, or the free one where it belongs; slots are never all taken. */
static uint32_t *slot_of(const struct table *t, vaddr id)
{
	uint64_t h = (id >> 4 ^ id << 32) * 0x9e3779b97f4a7c15u;
	uint32_t at = (uint32_t)(h >> 32) & (t->slot_count - 1);

	while (t->slots[at] && id_at(t, t->slots[at] - 1) != id)
		at = (at + 1) & (t->slot_count - 1);
	return &t->slots[at];
}

void *table_find(const struct table *t, vaddr id)
{
	uint32_t *slot = t->slot_count ? slot_of(t, id) : NULL;

	return slot && *slot ? table_at(t, *slot - 1) : NULL;
}

static void index_again(struct table *t)
{
	memset(t->slots, 0, t->slot_count * sizeof(*t->slots));
	for (uint32_t i = 0; i < t->count; i++)
		*slot_of(t, id_at(t, i)) = i + 1;
}

static bool grow(struct table *t)
{
	uint32_t capacity = t->capacity ? 2 * t->capacity : 16;
	char *items;
	uint64_t *seen;
	uint32_t *slots;

	items = realloc(t->items, (size_t)capacity * t->size);
	if (!items)
		return false;
	t->items = items;
	seen = realloc(t->seen, capacity * sizeof(*seen));
	if (!seen)
		return false;
	t->seen = seen;
	slots = realloc(t->slots, 2ul * capacity * sizeof(*slots));
	if (!slots)
		return false;
	t->slots = slots;
	t->capacity = capacity;
	t->slot_count = 2 * capacity;
	index_again(t);
	return true;
}

void *table_get(struct table *t, vaddr id, bool *new_ret)
{
	void *item = table_find(t, id);

	*new_ret = !item;
	if (!item) {
		if (t->count == t->capacity && !grow(t))
			return NULL;
		item = memset(table_at(t, t->count), 0, t->size);
		memcpy(item, &id, sizeof(id));
		*slot_of(t, id) = ++t->count;
	}
	t->seen[((char *)item - t->items) / (ptrdiff_t)t->size] = t->generation;
	return item;
}

bool table_is_current(const struct table *t, uint32_t index)
{
	return t->seen[index] == t->generation;
}

void table_next(struct table *t, uint32_t keep)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < t->count; i++) {
		if (t->generation - t->seen[i] > keep)
			continue;
		if (kept != i) {
			memcpy(table_at(t, kept), table_at(t, i), t->size);
			t->seen[kept] = t->seen[i];
		}
		kept++;
	}
	if (kept != t->count) {
		t->count = kept;
		index_again(t);
	}
	t->generation++;
}

enum err table_copy(struct table *to, const struct table *from)
{
	table_init(to, from->size);
	while (to->capacity < from->count) {
		if (!grow(to))
			return ERR_NOMEM;
	}
	to->count = from->count;
	to->generation = from->generation;
	if (!from->count)
		return ERR_OK;
	memcpy(to->items, from->items, (size_t)from->count * from->size);
	memcpy(to->seen, from->seen, from->count * sizeof(*to->seen));
	index_again(to);
	return ERR_OK;
}
