/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bump allocator over one address reservation: allocations live until arena_reset or arena_deinit, none is freed alone.
 * Memory is zeroed. When the reservation is used up, arena_alloc returns NULL and arena_exhausted stays true.
 */
#ifndef AIOTRACE_BASE_ARENA_H
#define AIOTRACE_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena {
	char *base;
	size_t size; /* reserved, bytes */
	size_t used; /* handed out, bytes */
	bool exhausted;
};

/* Reserves at most `size` bytes of addresses (no memory until used); halves the wish until the system grants it. */
bool arena_init(struct arena *a, size_t size);
void arena_deinit(struct arena *a);

/* Zeroed, aligned to 8; NULL when the reservation is used up. */
void *arena_alloc(struct arena *a, size_t size);
/* Copy of `size` bytes. */
void *arena_copy(struct arena *a, const void *bytes, size_t size);

/* Forgets all; the pages go back to the system. */
void arena_reset(struct arena *a);

#endif
