/* SPDX-License-Identifier: Apache-2.0 */
/* The memo of a walk: an open-addressed table from (address, name, what was asked) to the answer. */
#include "unwind/object/internal.h"

#include <stdlib.h>
#include <string.h>

#define MEMO_FIRST 256u
#define MEMO_MAX   (1u << 18)

static uint32_t memo_slot(const struct memo_table *t, vaddr at, uint64_t name, enum memo_tag tag)
{
	uint32_t i = (uint32_t)mix64(at ^ mix64(name + (uint64_t)tag)) & t->mask;

	while (t->v[i].tag && (t->v[i].at != at || t->v[i].name != name || t->v[i].tag != tag))
		i = (i + 1) & t->mask;
	return i;
}

struct memo *memo_find(struct memo_table *t, vaddr at, uint64_t name, enum memo_tag tag)
{
	uint32_t i;

	if (!t->v)
		return NULL;
	i = memo_slot(t, at, name, tag);
	return t->v[i].tag ? &t->v[i] : NULL;
}

static bool memo_grow(struct memo_table *t)
{
	struct memo_table wider = {.mask = t->v ? t->mask * 2 + 1 : MEMO_FIRST - 1};

	if (wider.mask >= MEMO_MAX)
		return false;
	wider.v = calloc((size_t)wider.mask + 1, sizeof(*wider.v));
	if (!wider.v)
		return false;
	for (uint32_t i = 0; t->v && i <= t->mask; i++) {
		const struct memo *m = &t->v[i];

		if (m->tag)
			wider.v[memo_slot(&wider, m->at, m->name, m->tag)] = *m;
	}
	wider.count = t->count;
	free(t->v);
	*t = wider;
	return true;
}

struct memo *memo_add(struct memo_table *t, vaddr at, uint64_t name, enum memo_tag tag)
{
	struct memo *m = memo_find(t, at, name, tag);

	if (m)
		return m;
	if ((!t->v || t->count >= t->mask / 2) && !memo_grow(t))
		return NULL;
	m = &t->v[memo_slot(t, at, name, tag)];
	*m = (struct memo){.at = at, .name = name, .tag = tag};
	t->count++;
	return m;
}

void memo_clear(struct memo_table *t)
{
	if (t->v)
		memset(t->v, 0, ((size_t)t->mask + 1) * sizeof(*t->v));
	t->count = 0;
}

void memo_deinit(struct memo_table *t)
{
	free(t->v);
	*t = (struct memo_table){0};
}
