/* SPDX-License-Identifier: Apache-2.0 */
/* What mem.c (one page at a time) and mem_bulk.c (all at once) share. Nobody else includes this. */
#ifndef AIOTRACE_ATTACH_MEM_INTERNAL_H
#define AIOTRACE_ATTACH_MEM_INTERNAL_H

#include "attach/mem.h"
#include "attach/pages.h"

#define MEM_RANGES 1024u
/* Most pages of one call: a deadline is looked at at least every 16 MiB. */
#define MEM_CALL_PAGES 4096u
#define MEM_AHEAD_MAX  64u
#define MEM_RECENT     8u

enum job_result {
	JOB_SKIPPED = 0, /* not tried: deadline or hard error */
	JOB_READ,
	JOB_BAD, /* the page can't be read */
};

/* One page to read. */
struct job {
	uint64_t number;
	unsigned char *dst;
	struct page *page;
	enum job_result result;
};

/* A stretch that was read ahead lately. */
struct ahead {
	uint64_t start, end; /* page numbers, [start, end) */
	unsigned size; /* pages, power of two; 0: none */
};

struct mem {
	const struct mem_source *source;
	void *ctx;
	struct pages pages;
	struct page *last; /* held entry of the latest lookup; NULL after any change of the table */
	uint64_t deadline;
	bool deadline_hit;
	enum err hard;
	uint64_t calls, bytes, misses, misses_before;
	struct ahead recent[MEM_RECENT];
	unsigned recent_next;
	uint64_t ahead_read, ahead_used;
	uint64_t no_ahead, no_ahead_end; /* page numbers, [no_ahead, no_ahead_end) */
	uint64_t *wanted;
	size_t wanted_count, wanted_room;
	unsigned char *scratch;
	struct mem_range ranges[MEM_RANGES];
};

/* Can the source be asked now? ERR_OK, ERR_DEADLINE, or the sticky hard error. */
enum err mem_ready(struct mem *m);
/*
 * One call for the first of the jobs, neighbours joined. *tried_ret of them were asked for, the first *read_ret came; when that is less,
 * the next one can't be read. Error: nothing was read and the source is of no more use.
 */
must_check enum err mem_read_jobs(struct mem *m, const struct job *jobs, size_t count,
				  size_t *tried_ret, size_t *read_ret);
/* All jobs, going on after bad pages; each gets its result. */
void mem_run_jobs(struct mem *m, struct job *jobs, size_t count);
/* Fetches the pages of [first, last] that are not known. */
void mem_load_range(struct mem *m, uint64_t first, uint64_t last);

#endif
