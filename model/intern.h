/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash tables from a 32-bit hash to rows of the model's tables, by open addressing: the model's own, not for other layers. The keys stay in the rows; the
 * caller compares them.
 */
#ifndef AIOTRACE_MODEL_INTERN_H
#define AIOTRACE_MODEL_INTERN_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct hash_slot {
	uint32_t hash;
	uint32_t row1; /* row + 1; 0: empty */
};

struct hash {
	struct hash_slot *slots;
	uint32_t mask; /* number of slots - 1; 0: none yet */
	uint32_t count;
};

struct hash_index {
	struct hash tasks, loops, threads, strings, frames, chains;
};

uint32_t hash_u64(uint64_t key);
uint32_t hash_pair(uint32_t a, uint32_t b);
/* Continues from `seed`. */
uint32_t hash_bytes(uint32_t seed, const void *bytes, uint32_t len);

void hash_deinit(struct hash *h);
/* Forgets all rows, keeps the memory. */
void hash_clear(struct hash *h);
/* False: no memory. The key must not be in it already. */
bool hash_add(struct hash *h, uint32_t hash, uint32_t row);

/*
 * The next row with this hash, NONE (UINT32_MAX) when there is no more. *at is the position: begin with hash_start.
 *	for (at = hash_start(h, hash); (row = hash_next(h, hash, &at)) != NONE;)
 */
static inline uint32_t hash_start(const struct hash *h, uint32_t hash)
{
	return hash & h->mask;
}

static inline uint32_t hash_next(const struct hash *h, uint32_t hash, uint32_t *at)
{
	if (!h->slots)
		return UINT32_MAX;
	for (;;) {
		const struct hash_slot *s = &h->slots[*at];

		if (!s->row1)
			return UINT32_MAX;
		*at = (*at + 1) & h->mask;
		if (s->hash == hash)
			return s->row1 - 1;
	}
}

#endif
