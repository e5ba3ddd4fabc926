/* SPDX-License-Identifier: Apache-2.0 */
/* The page cache seen from one read: lookup, used-line marks, and how far to read ahead on a miss. */
#include "attach/mem.h"

#include "attach/mem_internal.h"
#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define AHEAD_FIRST 4u
/* From so many pages on a read is worth a bulk fetch of its own. */
#define RANGE_PAGES  ((size_t)4)
#define SCRATCH_SIZE ((size_t)MEM_RANGES * MEM_PAGE)
/*
 * User addresses end below 2^56 on all machines we read; the first page is never mapped for CPython. Pointers out of these bounds are
 * the usual rubbish of a torn read, and no system call is spent on them.
 */
#define ADDRESS_END ((vaddr)1 << 56)

enum err mem_create(const struct mem_source *source, void *ctx, size_t budget, struct mem **ret)
{
	struct mem *m = calloc(1, sizeof(*m));

	if (!m)
		return ERR_NOMEM;
	if (pages_init(&m->pages, budget / MEM_PAGE) != ERR_OK) {
		free(m);
		return ERR_NOMEM;
	}
	m->source = source;
	m->ctx = ctx;
	*ret = m;
	return ERR_OK;
}

void mem_destroy(struct mem *m)
{
	if (!m)
		return;
	if (m->source->close)
		m->source->close(m->ctx);
	if (m->scratch)
		munmap(m->scratch, SCRATCH_SIZE);
	pages_deinit(&m->pages);
	free(m->wanted);
	free(m);
}

enum err mem_ready(struct mem *m)
{
	if (m->hard != ERR_OK)
		return m->hard;
	if (m->deadline && (m->deadline_hit || clock_now_ns() >= m->deadline)) {
		m->deadline_hit = true;
		return ERR_DEADLINE;
	}
	return ERR_OK;
}

/*
 * How many pages to read around a miss. A page more in a call costs about a fourth of a call of its own, so reading ahead pays where more than
 * one page in four is used later; near an earlier stretch that was so, the stretch doubles. Four to begin with: a pool of CPython's allocator.
 */
static unsigned ahead_size(struct mem *m, uint64_t number)
{
	bool useful = m->ahead_read < 64 || m->ahead_used * 4 >= m->ahead_read;
	struct ahead *r;

	for (unsigned i = 0; i < MEM_RECENT; i++) {
		r = &m->recent[i];
		if (!r->size || number + r->size < r->start || number >= r->end + r->size)
			continue;
		if (useful && r->size < MEM_AHEAD_MAX)
			r->size *= 2;
		else if (!useful && r->size > 1)
			r->size /= 2;
		r->start = number & ~((uint64_t)r->size - 1);
		r->end = r->start + r->size;
		return r->size;
	}
	r = &m->recent[m->recent_next++ % MEM_RECENT];
	r->size = AHEAD_FIRST;
	r->start = number & ~((uint64_t)AHEAD_FIRST - 1);
	r->end = r->start + AHEAD_FIRST;
	return AHEAD_FIRST;
}

/* Reading ahead ends before it: it can't be read, or may not be touched unasked. */
static bool ends_ahead(struct mem *m, const struct page *page, uint64_t number)
{
	return (page && page->state == PAGE_BAD) ||
	       (number >= m->no_ahead && number < m->no_ahead_end);
}

/* The page itself, what follows it in its stretch, then what lies before: a hole must not hide the page that is wanted. */
static size_t ahead_jobs(struct mem *m, uint64_t number, unsigned size, struct job *jobs)
{
	uint64_t start = number & ~((uint64_t)size - 1), n;
	size_t count = 0;

	jobs[count++].number = number;
	for (n = number + 1; n < start + size; n++) {
		const struct page *page = pages_find(&m->pages, n);

		if (ends_ahead(m, page, n))
			break;
		if (!page || page->state == PAGE_WANTED)
			jobs[count++].number = n;
	}
	for (n = number; n > start; n--) {
		if (ends_ahead(m, pages_find(&m->pages, n - 1), n - 1))
			break;
	}
	for (; n < number; n++) {
		const struct page *page = pages_find(&m->pages, n);

		if (!page || page->state == PAGE_WANTED)
			jobs[count++].number = n;
	}
	for (size_t i = 0; i < count; i++) {
		jobs[i].dst = pages_take_slot(&m->pages);
		if (!jobs[i].dst)
			return i;
	}
	return count;
}

static enum err load_page(struct mem *m, uint64_t number, struct page **ret)
{
	struct job jobs[MEM_AHEAD_MAX] = {0};
	size_t count, tried, got = 0;
	struct page *page;
	enum err err = mem_ready(m);

	if (err != ERR_OK)
		return err;
	m->misses++;
	m->last = NULL;
	if (!pages_reserve(&m->pages, MEM_AHEAD_MAX))
		return ERR_NOMEM;
	count = ahead_jobs(m, number, ahead_size(m, number), jobs);
	if (!count)
		return ERR_BOUND;
	err = mem_read_jobs(m, jobs, count, &tried, &got);
	for (size_t i = count; i > got; i--)
		pages_give_slot(&m->pages, jobs[i - 1].dst);
	if (err != ERR_OK)
		return err;
	for (size_t i = 0; i < got; i++) {
		page = pages_add(&m->pages, jobs[i].number);
		page->data = jobs[i].dst;
		page->state = PAGE_HELD;
		page->ahead = i > 0;
		m->ahead_read += i > 0;
	}
	if (!got) {
		pages_add(&m->pages, number)->state = PAGE_BAD;
		return ERR_FAULT;
	}
	*ret = pages_find(&m->pages, number);
	return ERR_OK;
}

static enum err lookup(struct mem *m, uint64_t number, struct page **ret)
{
	struct page *page = m->last;
	enum err err;

	if (!page || page->number != number) {
		page = pages_find(&m->pages, number);
		if (page && page->state == PAGE_BAD)
			return ERR_FAULT;
		if (!page || page->state != PAGE_HELD) {
			err = load_page(m, number, &page);
			if (err != ERR_OK)
				return err;
		}
		m->last = page;
		if (page->ahead) {
			page->ahead = false;
			m->ahead_used++;
		}
	}
	*ret = page;
	return ERR_OK;
}

/* offset + len <= MEM_PAGE, len > 0 */
static void mark_used(struct page *page, size_t offset, size_t len)
{
	size_t first = offset / MEM_LINE, last = (offset + len - 1) / MEM_LINE;

	page->used |= (~(uint64_t)0 << first) & (~(uint64_t)0 >> (63 - last));
}

static bool in_bounds(vaddr at, size_t len)
{
	return at >= MEM_PAGE && at < ADDRESS_END && len <= ADDRESS_END - at;
}

enum err mem_read(struct mem *m, vaddr at, void *dst, size_t len)
{
	unsigned char *to = dst;

	if (!len)
		return ERR_OK;
	if (!in_bounds(at, len))
		return ERR_FAULT;
	if (len > (RANGE_PAGES - 1) * MEM_PAGE)
		mem_load_range(m, at / MEM_PAGE, (at + len - 1) / MEM_PAGE);
	while (len) {
		size_t offset = at % MEM_PAGE, part = MEM_PAGE - offset;
		struct page *page;
		enum err err = lookup(m, at / MEM_PAGE, &page);

		if (err != ERR_OK)
			return err;
		if (part > len)
			part = len;
		memcpy(to, page->data + offset, part);
		mark_used(page, offset, part);
		to += part;
		at += part;
		len -= part;
	}
	return ERR_OK;
}

const void *mem_peek(struct mem *m, vaddr at, size_t len)
{
	size_t offset = at % MEM_PAGE;
	struct page *page;

	if (!len)
		len = 1;
	if (!in_bounds(at, len) || len > MEM_PAGE - offset ||
	    lookup(m, at / MEM_PAGE, &page) != ERR_OK)
		return NULL;
	mark_used(page, offset, len);
	return page->data + offset;
}

void mem_set_no_ahead(struct mem *m, vaddr start, vaddr end)
{
	m->no_ahead = start / MEM_PAGE;
	m->no_ahead_end = (end + MEM_PAGE - 1) / MEM_PAGE;
}

void mem_want(struct mem *m, vaddr at, size_t len)
{
	uint64_t last;

	if (!len || !in_bounds(at, len))
		return;
	last = (at + len - 1) / MEM_PAGE;
	for (uint64_t n = at / MEM_PAGE; n <= last; n++) {
		if (m->wanted_count >= m->pages.held_max || (m->last && m->last->number == n))
			continue;
		if (pages_find(&m->pages, n))
			continue;
		if (m->wanted_count == m->wanted_room) {
			size_t room = m->wanted_room ? m->wanted_room * 2 : 1024;
			uint64_t *wanted = realloc(m->wanted, room * sizeof(*wanted));

			if (!wanted)
				return;
			m->wanted = wanted;
			m->wanted_room = room;
		}
		m->last = NULL;
		if (!pages_reserve(&m->pages, 1))
			return;
		(void)pages_add(&m->pages, n);
		m->wanted[m->wanted_count++] = n;
	}
}

void mem_forget(struct mem *m)
{
	pages_clear(&m->pages);
	m->last = NULL;
	m->wanted_count = 0;
	memset(m->recent, 0, sizeof(m->recent));
	m->ahead_read = 0;
	m->ahead_used = 0;
	m->misses_before = m->misses;
}

uint64_t mem_misses(const struct mem *m)
{
	return m->misses - m->misses_before;
}

void mem_set_deadline(struct mem *m, uint64_t monotonic_ns)
{
	m->deadline = monotonic_ns;
	m->deadline_hit = false;
}

bool mem_deadline_hit(const struct mem *m)
{
	return m->deadline_hit;
}

enum err mem_hard_error(const struct mem *m)
{
	return m->hard;
}

struct mem_stats mem_stats(const struct mem *m)
{
	return (struct mem_stats){
		.calls = m->calls,
		.bytes = m->bytes,
		.misses = m->misses,
		.pages = m->pages.held,
	};
}
