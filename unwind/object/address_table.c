/* SPDX-License-Identifier: Apache-2.0 */
/* At most half full; grows by doubling. */
#include "unwind/object/address_table.h"

#include "unwind/object/internal.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_MASK 255u

static struct address_entry *entry_of(const struct address_table *t, vaddr at)
{
	uint32_t i = (uint32_t)mix64(at) & t->mask;

	while (t->v[i].value && t->v[i].at != at)
		i = (i + 1) & t->mask;
	return &t->v[i];
}

void *address_table_find(const struct address_table *t, vaddr at)
{
	return t->v ? entry_of(t, at)->value : NULL;
}

bool address_table_reserve(struct address_table *t, uint32_t most)
{
	struct address_table wider = {.mask = t->v ? t->mask * 2 + 1 : FIRST_MASK,
				      .count = t->count};

	if (t->v && t->count < t->mask / 2)
		return true;
	if (t->count >= most)
		return false;
	wider.v = calloc((size_t)wider.mask + 1, sizeof(*wider.v));
	if (!wider.v)
		return false;
	for (uint32_t i = 0; t->v && i <= t->mask; i++) {
		if (t->v[i].value)
			*entry_of(&wider, t->v[i].at) = t->v[i];
	}
	free(t->v);
	*t = wider;
	return true;
}

void address_table_put(struct address_table *t, vaddr at, void *value)
{
	struct address_entry *e = entry_of(t, at);

	t->count += !e->value;
	*e = (struct address_entry){at, value};
}

void address_table_clear(struct address_table *t)
{
	if (t->v)
		memset(t->v, 0, ((size_t)t->mask + 1) * sizeof(*t->v));
	t->count = 0;
}

void address_table_deinit(struct address_table *t)
{
	free(t->v);
	*t = (struct address_table){0};
}
