/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing over a power of two; slots in slabs mapped from the system, so that no page costs a malloc. */
#include "attach/pages.h"

#include "attach/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define TABLE_SMALLEST 1024u
#define SLAB_FIRST     ((size_t)1 << 20)
#define SLAB_LATER     ((size_t)1 << 22)
#define HUGE_PAGE      ((size_t)1 << 21)

enum err pages_init(struct pages *p, size_t held_max)
{
	memset(p, 0, sizeof(*p));
	p->table = calloc(TABLE_SMALLEST, sizeof(*p->table));
	if (!p->table)
		return ERR_NOMEM;
	p->size = TABLE_SMALLEST;
	p->held_max = held_max;
	return ERR_OK;
}

void pages_deinit(struct pages *p)
{
	for (size_t i = 0; i < p->slab_count; i++)
		munmap(p->slabs[i].start, p->slabs[i].slots * MEM_PAGE);
	free(p->slabs);
	free(p->table);
	memset(p, 0, sizeof(*p));
}

void pages_clear(struct pages *p)
{
	memset(p->table, 0, p->size * sizeof(*p->table));
	p->count = 0;
	p->held = 0;
	p->current = 0;
	p->next = 0;
	p->free = NULL;
}

static size_t table_home(const struct pages *p, uint64_t number)
{
	return (size_t)((number * 0x9e3779b97f4a7c15u) >> 20) & (p->size - 1);
}

struct page *pages_find(const struct pages *p, uint64_t number)
{
	size_t i = table_home(p, number);

	for (;; i = (i + 1) & (p->size - 1)) {
		struct page *page = &p->table[i];

		if (page->state == PAGE_FREE)
			return NULL;
		if (page->number == number)
			return page;
	}
}

static struct page *table_place(struct pages *p, uint64_t number)
{
	size_t i = table_home(p, number);

	while (p->table[i].state != PAGE_FREE && p->table[i].number != number)
		i = (i + 1) & (p->size - 1);
	return &p->table[i];
}

/* Fills `fresh` (zeroed) with the entries that pass. */
static void table_move(struct pages *p, struct page *fresh, size_t size, bool held_only)
{
	struct page *old = p->table;
	size_t old_size = p->size;

	p->table = fresh;
	p->size = size;
	p->count = 0;
	for (size_t i = 0; i < old_size; i++) {
		if (old[i].state == PAGE_FREE || (held_only && old[i].state != PAGE_HELD))
			continue;
		*table_place(p, old[i].number) = old[i];
		p->count++;
	}
	free(old);
}

bool pages_reserve(struct pages *p, size_t count)
{
	size_t size = p->size;
	struct page *fresh;

	if (count > SIZE_MAX / 8 || p->count > SIZE_MAX / 8)
		return false;
	while ((p->count + count) * 4 > size * 3)
		size *= 2;
	if (size == p->size)
		return true;
	fresh = calloc(size, sizeof(*fresh));
	if (!fresh)
		return false;
	table_move(p, fresh, size, false);
	return true;
}

struct page *pages_add(struct pages *p, uint64_t number)
{
	struct page *page = table_place(p, number);

	if (page->state == PAGE_FREE) {
		*page = (struct page){.number = number, .state = PAGE_WANTED};
		p->count++;
	}
	return page;
}

void pages_drop_unheld(struct pages *p)
{
	struct page *fresh = calloc(p->size, sizeof(*fresh));

	if (fresh)
		table_move(p, fresh, p->size, true);
}

/*
 * No huge pages: measured on a virtual machine, the kernel's search for 2 MiB of fresh memory took four times as long as 512 faults do.
 */
static unsigned char *slab_map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static bool slab_add(struct pages *p)
{
	size_t size = p->slab_count ? SLAB_LATER : SLAB_FIRST;
	unsigned char *start;

	if (p->slab_count == p->slab_room) {
		size_t room = p->slab_room ? p->slab_room * 2 : 16;
		struct slab *slabs = realloc(p->slabs, room * sizeof(*slabs));

		if (!slabs)
			return false;
		p->slabs = slabs;
		p->slab_room = room;
	}
	start = slab_map(size);
	if (!start)
		return false;
	p->slabs[p->slab_count++] = (struct slab){start, size / MEM_PAGE};
	return true;
}

unsigned char *pages_take_slot(struct pages *p)
{
	unsigned char *slot = p->free;

	if (p->held >= p->held_max)
		return NULL;
	if (slot) {
		memcpy(&p->free, slot, sizeof(p->free));
		p->held++;
		return slot;
	}
	if (p->current < p->slab_count && p->next == p->slabs[p->current].slots) {
		p->current++;
		p->next = 0;
	}
	if (p->current == p->slab_count && !slab_add(p))
		return NULL;
	p->held++;
	return p->slabs[p->current].start + MEM_PAGE * p->next++;
}

void pages_give_slot(struct pages *p, unsigned char *slot)
{
	p->held--;
	/* The last one handed out goes back where it came from, so that the next run stays in one piece. */
	if (p->next && p->current < p->slab_count &&
	    slot == p->slabs[p->current].start + MEM_PAGE * (p->next - 1)) {
		p->next--;
		return;
	}
	memcpy(slot, &p->free, sizeof(p->free));
	p->free = slot;
}

void page_refs_sort(struct page_ref *refs, struct page_ref *spare, size_t count)
{
	struct page_ref *from = refs, *to = spare;
	uint64_t differ = 0;

	for (size_t i = 1; i < count; i++)
		differ |= refs[i].key ^ refs[0].key;
	for (unsigned shift = 0; shift < 64; shift += 8) {
		size_t start[257] = {0};
		struct page_ref *swap;

		if (!((differ >> shift) & 0xff))
			continue;
		for (size_t i = 0; i < count; i++)
			start[((from[i].key >> shift) & 0xff) + 1]++;
		for (unsigned b = 1; b < 256; b++)
			start[b] += start[b - 1];
		for (size_t i = 0; i < count; i++)
			to[start[(from[i].key >> shift) & 0xff]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	if (from != refs)
		memcpy(refs, from, count * sizeof(*refs));
}
