/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing, at most half full: chains, frames and ids are looked up once per row read. */
#include "model/intern.h"

#include <stdlib.h>
#include <string.h>

#define HASH_SMALLEST 64u

uint32_t hash_u64(uint64_t key)
{
	key ^= key >> 32;
	key *= 0x9fb21c651e98df25u;
	key ^= key >> 35;
	key *= 0x9fb21c651e98df25u;
	return (uint32_t)(key >> 32);
}

uint32_t hash_pair(uint32_t a, uint32_t b)
{
	return hash_u64((uint64_t)a << 32 | b);
}

uint32_t hash_bytes(uint32_t seed, const void *bytes, uint32_t len)
{
	const unsigned char *p = bytes;
	uint64_t h = seed ^ ((uint64_t)len << 32);

	for (; len >= 8; len -= 8, p += 8) {
		uint64_t w;

		memcpy(&w, p, 8);
		h = (h ^ w) * 0x9fb21c651e98df25u;
		h ^= h >> 29;
	}
	for (; len; len--, p++)
		h = (h ^ *p) * 0x100000001b3u;
	return hash_u64(h);
}

void hash_deinit(struct hash *h)
{
	free(h->slots);
	memset(h, 0, sizeof(*h));
}

void hash_clear(struct hash *h)
{
	if (h->slots)
		memset(h->slots, 0, sizeof(*h->slots) * ((size_t)h->mask + 1));
	h->count = 0;
}

static void hash_put(struct hash_slot *slots, uint32_t mask, struct hash_slot s)
{
	uint32_t at = s.hash & mask;

	while (slots[at].row1)
		at = (at + 1) & mask;
	slots[at] = s;
}

static bool hash_grow(struct hash *h)
{
	size_t size = h->slots ? ((size_t)h->mask + 1) * 2 : HASH_SMALLEST;
	struct hash_slot *slots;

	if (size > (size_t)1 << 31)
		return false;
	slots = calloc(size, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; h->slots && i <= h->mask; i++) {
		if (h->slots[i].row1)
			hash_put(slots, (uint32_t)(size - 1), h->slots[i]);
	}
	free(h->slots);
	h->slots = slots;
	h->mask = (uint32_t)(size - 1);
	return true;
}

bool hash_add(struct hash *h, uint32_t hash, uint32_t row)
{
	if ((!h->slots || h->count > h->mask / 2) && !hash_grow(h))
		return false;
	hash_put(h->slots, h->mask, (struct hash_slot){hash, row + 1});
	h->count++;
	return true;
}
