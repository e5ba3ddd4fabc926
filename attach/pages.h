/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the copy of each page lies: a hash by page number, and the slots that hold the bytes. No reading here; mem.c and mem_bulk.c
 * are the only callers.
 */
#ifndef AIOTRACE_ATTACH_PAGES_H
#define AIOTRACE_ATTACH_PAGES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum page_state {
	PAGE_FREE = 0, /* no entry */
	PAGE_HELD, /* data is a copy */
	PAGE_BAD, /* could not be read */
	PAGE_WANTED, /* noted for the next fetch */
};

struct page {
	uint64_t number; /* address / MEM_PAGE */
	unsigned char *data; /* a slot, where held */
	uint64_t used; /* bit i: the line at 64 * i was handed out */
	uint32_t state;
	bool ahead; /* read unasked, and not yet used */
	uint8_t idle; /* copies in a row of which nothing was used */
};

/* A page (or a slot) with the number it is sorted by. */
struct page_ref {
	uint64_t key;
	struct page *page;
};

struct slab {
	unsigned char *start;
	size_t slots;
};

struct pages {
	struct page *table;
	size_t size; /* power of two */
	size_t count;
	size_t held, held_max;
	struct slab *slabs;
	size_t slab_count, slab_room;
	size_t current, next; /* slab and slot that are handed out next */
	unsigned char *free; /* slots given back, linked through their first bytes */
};

must_check enum err pages_init(struct pages *p, size_t held_max);
void pages_deinit(struct pages *p);
/* Forgets all entries; the slots stay for reuse. */
void pages_clear(struct pages *p);

/* NULL where there is no entry. Pointers to entries live until the next pages_reserve. */
struct page *pages_find(const struct pages *p, uint64_t number);
/* Makes room for `count` new entries, so that adding them moves nothing. False: no memory. */
must_check bool pages_reserve(struct pages *p, size_t count);
/* Entry that is there, or a new one (PAGE_WANTED); needs an earlier pages_reserve. */
struct page *pages_add(struct pages *p, uint64_t number);
/* Drops the entries that are not held. */
void pages_drop_unheld(struct pages *p);

/* Room for one page; NULL past held_max, or no memory. Neighbouring calls give neighbouring slots where they can. */
unsigned char *pages_take_slot(struct pages *p);
void pages_give_slot(struct pages *p, unsigned char *slot);

/* Sorts by key; `spare` has room for as many. The result is in refs. */
void page_refs_sort(struct page_ref *refs, struct page_ref *spare, size_t count);

#endif
