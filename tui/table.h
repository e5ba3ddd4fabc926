/* SPDX-License-Identifier: Apache-2.0 */
/* Things by id, of which those that were not seen for a while are dropped. The id is each item's first member (vaddr). */
#ifndef AIOTRACE_TUI_TABLE_H
#define AIOTRACE_TUI_TABLE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table {
	size_t size; /* of an item */
	char *items;
	uint64_t *seen; /* an item's last generation */
	uint32_t count, capacity;
	uint32_t *slots; /* open addressing: index + 1, 0 free */
	uint32_t slot_count; /* a power of two */
	uint64_t generation;
};

void table_init(struct table *t, size_t size);
void table_deinit(struct table *t);
/* NULL where there is none. */
void *table_find(const struct table *t, vaddr id);
/* The item, zeroed but for its id when it is new; NULL on no memory. Pointers live until the next call. */
void *table_get(struct table *t, vaddr id, bool *new_ret);
void *table_at(const struct table *t, uint32_t index);
/* It was got in the present generation. */
bool table_is_current(const struct table *t, uint32_t index);
/* A new generation begins; items that neither the last one nor the `keep` before it got are dropped first. */
void table_next(struct table *t, uint32_t keep);
must_check enum err table_copy(struct table *to, const struct table *from);

#endif
