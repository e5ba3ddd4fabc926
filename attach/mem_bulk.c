/* SPDX-License-Identifier: Apache-2.0 */
/* Many pages in few calls: fetching what is wanted, copying the footprint again, comparing it with what is there now. */
#include "attach/mem_internal.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SCRATCH_PAGES ((size_t)MEM_RANGES)
/* Most pages that were bad and are tried again by a refresh; each costs a call. */
#define BAD_TRIES 64u
/* Copies in a row that a page may be part of without being used: more than one picture takes. */
#define IDLE_MOST 16u

/* Fills m->ranges from the first jobs; returns how many jobs that covers. */
static size_t join_jobs(struct mem *m, const struct job *jobs, size_t count, size_t *ranges_ret)
{
	size_t i, ranges = 0;

	for (i = 0; i < count && i < MEM_CALL_PAGES; i++) {
		struct mem_range *r = &m->ranges[ranges];
		vaddr at = jobs[i].number * MEM_PAGE;

		if (i && r[-1].at + r[-1].len == at &&
		    (unsigned char *)r[-1].dst + r[-1].len == jobs[i].dst) {
			r[-1].len += MEM_PAGE;
			continue;
		}
		if (ranges == MEM_RANGES)
			break;
		*r = (struct mem_range){at, jobs[i].dst, MEM_PAGE};
		ranges++;
	}
	*ranges_ret = ranges;
	return i;
}

enum err mem_read_jobs(struct mem *m, const struct job *jobs, size_t count, size_t *tried_ret,
		       size_t *read_ret)
{
	size_t ranges, tried = join_jobs(m, jobs, count, &ranges), got;
	int64_t result = m->source->read(m->ctx, m->ranges, ranges);

	m->calls++;
	if (result == -ESRCH || result == -EPERM || result == -EACCES) {
		m->hard = result == -ESRCH ? ERR_GONE : ERR_ACCESS;
		return m->hard;
	}
	got = result > 0 ? (size_t)result / MEM_PAGE : 0;
	m->bytes += got * MEM_PAGE;
	*tried_ret = tried;
	*read_ret = got < tried ? got : tried;
	return ERR_OK;
}

void mem_run_jobs(struct mem *m, struct job *jobs, size_t count)
{
	size_t at = 0;

	while (at < count) {
		size_t tried, got;

		if (mem_ready(m) != ERR_OK ||
		    mem_read_jobs(m, jobs + at, count - at, &tried, &got) != ERR_OK)
			return;
		for (size_t i = 0; i < got; i++)
			jobs[at + i].result = JOB_READ;
		at += got;
		if (got < tried)
			jobs[at++].result = JOB_BAD;
	}
}

/* Reads pages that have an entry but no copy, in order of their numbers. */
static void load_jobs(struct mem *m, struct job *jobs, size_t count)
{
	size_t ready;

	m->last = NULL;
	for (ready = 0; ready < count; ready++) {
		jobs[ready].dst = pages_take_slot(&m->pages);
		if (!jobs[ready].dst)
			break;
		jobs[ready].result = JOB_SKIPPED;
	}
	mem_run_jobs(m, jobs, ready);
	for (size_t i = ready; i > 0; i--) {
		struct job *job = &jobs[i - 1];

		m->misses += job->result != JOB_SKIPPED;
		if (job->result == JOB_READ) {
			job->page->data = job->dst;
			job->page->state = PAGE_HELD;
			continue;
		}
		if (job->result == JOB_BAD)
			job->page->state = PAGE_BAD;
		pages_give_slot(&m->pages, job->dst);
	}
}

void mem_load_range(struct mem *m, uint64_t first, uint64_t last)
{
	auto_free struct job *jobs = malloc(SCRATCH_PAGES * sizeof(*jobs));

	if (!jobs)
		return;
	while (first <= last && mem_ready(m) == ERR_OK && m->pages.held < m->pages.held_max) {
		size_t count = 0;

		m->last = NULL;
		if (!pages_reserve(&m->pages, SCRATCH_PAGES))
			return;
		for (; first <= last && count < SCRATCH_PAGES; first++) {
			struct page *page = pages_add(&m->pages, first);

			if (page->state == PAGE_WANTED)
				jobs[count++] = (struct job){.number = first, .page = page};
		}
		load_jobs(m, jobs, count);
	}
}

void mem_fetch(struct mem *m)
{
	size_t count = m->wanted_count, jobs_count = 0;
	auto_free struct page_ref *refs = calloc(2 * count + 1, sizeof(*refs));
	auto_free struct job *jobs = calloc(count + 1, sizeof(*jobs));

	m->wanted_count = 0;
	if (!count || !refs || !jobs)
		return;
	for (size_t i = 0; i < count; i++)
		refs[i].key = m->wanted[i];
	page_refs_sort(refs, refs + count, count);
	for (size_t i = 0; i < count; i++) {
		struct page *page = pages_find(&m->pages, refs[i].key);

		if (page && page->state == PAGE_WANTED)
			jobs[jobs_count++] = (struct job){.number = page->number, .page = page};
	}
	load_jobs(m, jobs, jobs_count);
}

/* Held pages (with a used line, if so asked), sorted; the second half of the array is spare room. NULL: no memory. */
static struct page_ref *collect(const struct mem *m, bool used_only, size_t *count_ret)
{
	const struct pages *p = &m->pages;
	struct page_ref *refs = malloc((2 * p->held + 1) * sizeof(*refs));
	size_t count = 0;

	if (!refs)
		return NULL;
	for (size_t i = 0; i < p->size && count < p->held; i++) {
		struct page *page = &p->table[i];

		if (page->state == PAGE_HELD && (page->used || !used_only))
			refs[count++] = (struct page_ref){page->number, page};
	}
	page_refs_sort(refs, refs + count, count);
	*count_ret = count;
	return refs;
}

/*
 * The pages get the slots that they hold among them anew, lowest to lowest: what is adjacent there is adjacent here, and goes as one range.
 */
static void assign_slots(struct page_ref *refs, size_t count, struct job *jobs)
{
	for (size_t i = 0; i < count; i++) {
		jobs[i] = (struct job){.number = refs[i].key, .page = refs[i].page};
		refs[i].key = (uint64_t)(uintptr_t)refs[i].page->data;
	}
	page_refs_sort(refs, refs + count, count);
	for (size_t i = 0; i < count; i++) {
		jobs[i].dst = (unsigned char *)(uintptr_t)refs[i].key;
		jobs[i].page->data = jobs[i].dst;
	}
}

/* Pages that were bad: a few are tried again. The others, and what was only wanted, are forgotten by the caller. */
static void retry_bad(struct mem *m)
{
	struct job jobs[BAD_TRIES];
	uint64_t misses = m->misses;
	size_t count = 0;

	for (size_t i = 0; i < m->pages.size && count < BAD_TRIES; i++) {
		struct page *page = &m->pages.table[i];

		if (page->state == PAGE_BAD)
			jobs[count++] = (struct job){.number = page->number, .page = page};
	}
	load_jobs(m, jobs, count);
	m->misses = misses;
}

/* Where many pictures are taken, what only the first ones used, or had read ahead, is not copied for ever. */
static void drop_idle(struct pages *p)
{
	size_t dropped = 0;

	for (size_t i = 0; i < p->size; i++) {
		struct page *page = &p->table[i];

		if (page->state != PAGE_HELD)
			continue;
		page->idle = page->used ? 0 : page->idle + 1;
		if (page->idle < IDLE_MOST)
			continue;
		pages_give_slot(p, page->data);
		page->data = NULL;
		page->state = PAGE_WANTED;
		dropped++;
	}
	if (dropped)
		pages_drop_unheld(p);
}

void mem_refresh(struct mem *m)
{
	size_t count = 0, lost = 0;
	auto_free struct page_ref *refs = NULL;
	auto_free struct job *jobs = NULL;

	drop_idle(&m->pages);
	refs = collect(m, false, &count);
	jobs = malloc((count + 1) * sizeof(*jobs));
	m->last = NULL;
	m->wanted_count = 0;
	if (!refs || !jobs) {
		mem_forget(m);
		return;
	}
	if (m->pages.count > m->pages.held + BAD_TRIES) {
		/* Only a walk through rubbish leaves so many bad pages. */
		pages_drop_unheld(&m->pages);
		for (size_t i = 0; i < count; i++)
			refs[i].page = pages_find(&m->pages, refs[i].key);
	}
	assign_slots(refs, count, jobs);
	mem_run_jobs(m, jobs, count);
	for (size_t i = count; i > 0; i--) {
		struct page *page = jobs[i - 1].page;

		page->used = 0;
		page->ahead = false;
		if (jobs[i - 1].result == JOB_READ)
			continue;
		page->state = jobs[i - 1].result == JOB_BAD ? PAGE_BAD : PAGE_WANTED;
		pages_give_slot(&m->pages, page->data);
		page->data = NULL;
		lost += page->state == PAGE_WANTED;
	}
	retry_bad(m);
	if (lost)
		pages_drop_unheld(&m->pages);
	m->misses_before = m->misses;
}

static uint64_t count_bits(uint64_t v)
{
	return (uint64_t)__builtin_popcountll(v);
}

static uint64_t lines_changed(const struct job *job)
{
	const struct page *page = job->page;
	uint64_t changed = 0;

	if (job->result != JOB_READ)
		return count_bits(page->used);
	if (memcmp(page->data, job->dst, MEM_PAGE) == 0)
		return 0;
	for (unsigned line = 0; line < MEM_PAGE / MEM_LINE; line++) {
		size_t offset = (size_t)line * MEM_LINE;

		if ((page->used >> line) & 1)
			changed += memcmp(page->data + offset, job->dst + offset, MEM_LINE) != 0;
	}
	return changed;
}

void mem_recheck(struct mem *m, uint64_t *changed_ret)
{
	size_t count = 0;
	auto_free struct page_ref *refs = collect(m, true, &count);
	auto_free struct job *jobs = malloc(SCRATCH_PAGES * sizeof(*jobs));
	uint64_t changed = 0;

	if (!m->scratch) {
		void *p = mmap(NULL, SCRATCH_PAGES * MEM_PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		m->scratch = p == MAP_FAILED ? NULL : p;
	}
	if (!refs || !jobs || !m->scratch) {
		*changed_ret = UINT64_MAX; /* no proof without memory to compare in */
		return;
	}
	for (size_t at = 0; at < count; at += SCRATCH_PAGES) {
		size_t part = count - at < SCRATCH_PAGES ? count - at : SCRATCH_PAGES;

		for (size_t i = 0; i < part; i++)
			jobs[i] = (struct job){.number = refs[at + i].key,
					       .page = refs[at + i].page,
					       .dst = m->scratch + i * MEM_PAGE};
		mem_run_jobs(m, jobs, part);
		for (size_t i = 0; i < part; i++)
			changed += lines_changed(&jobs[i]);
	}
	*changed_ret = changed;
}
