/* SPDX-License-Identifier: Apache-2.0 */
/* From an address of the target to what is remembered of the object there: open addressing, for the caches of a walk (types, code objects). */
#ifndef AIOTRACE_UNWIND_OBJECT_ADDRESS_TABLE_H
#define AIOTRACE_UNWIND_OBJECT_ADDRESS_TABLE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct address_table {
	struct address_entry {
		vaddr at; /* meaningful where value is not NULL */
		void *value; /* the owner's; NULL: a free slot */
	} * v;
	uint32_t mask, count;
};

/* NULL where nothing is remembered of it. */
void *address_table_find(const struct address_table *t, vaddr at);
/* Room for one more, so that the next address_table_put succeeds. False: no memory, or `most` entries are there. */
must_check bool address_table_reserve(struct address_table *t, uint32_t most);
/* Adds or replaces; after address_table_reserve. value is not NULL. */
void address_table_put(struct address_table *t, vaddr at, void *value);
/* Forgets all, keeps the room. */
void address_table_clear(struct address_table *t);
void address_table_deinit(struct address_table *t);

#endif
