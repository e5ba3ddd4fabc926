/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of a target through a page cache that lives as long as one look at it.
 *
 * A byte source (live process, image for tests; a core file later) is wrapped by `struct mem`, which caches 4 KiB pages, reads ahead
 * inside mapped ranges, remembers which 64-byte lines were really used, and can fetch the whole footprint again in bulk: to compare
 * (validated snapshots) or to replace (second pass of a pause).
 */
#ifndef AIOTRACE_ATTACH_MEM_H
#define AIOTRACE_ATTACH_MEM_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEM_PAGE 4096u
#define MEM_LINE 64u

/* One wish: `len` bytes at `at` go to `dst`. */
struct mem_range {
	vaddr at;
	void *dst;
	size_t len;
};

struct mem_source {
	const char *name;
	/*
	 * Reads the ranges in order. Returns the bytes read before the first address that can't be read (a partial range may count),
	 * or -errno when nothing was read: -EFAULT bad address, -ESRCH process gone, -EPERM refused. Never more than 1,024 ranges.
	 */
	int64_t (*read)(void *ctx, const struct mem_range *ranges, size_t count);
	void (*close)(void *ctx);
};

struct mem;

struct mem_stats {
	uint64_t calls; /* system calls made for reading */
	uint64_t bytes; /* bytes fetched from the source */
	uint64_t misses; /* page lookups that had to go to the source */
	uint64_t pages; /* pages held now */
};

/* `ctx` is closed with the mem. budget: most bytes of cached pages; past it reads fail with ERR_BOUND. */
must_check enum err mem_create(const struct mem_source *source, void *ctx, size_t budget,
			       struct mem **ret);
void mem_destroy(struct mem *m); /* accepts NULL */

/* Any length, may cross pages. ERR_FAULT, ERR_BOUND, ERR_DEADLINE; ERR_GONE and ERR_ACCESS are sticky (mem_hard_error). */
must_check enum err mem_read(struct mem *m, vaddr at, void *dst, size_t len);
/* Zero copy inside one page, else NULL (also when it can't be read). Valid until mem_forget or mem_refresh. Marks the lines used. */
const void *mem_peek(struct mem *m, vaddr at, size_t len);
/* The pages of [start, end) are fetched only when they are themselves read or wanted, never ahead of a neighbour. One range; empty: none. */
void mem_set_no_ahead(struct mem *m, vaddr start, vaddr end);
/* Notes the pages of [at, at+len) for the next mem_fetch; unreadable ones are remembered as such. */
void mem_want(struct mem *m, vaddr at, size_t len);
/* Fetches all wanted pages, 1,024 ranges a call, neighbours joined. Soft failures are per page and not reported here. */
void mem_fetch(struct mem *m);

/* Drops everything. */
void mem_forget(struct mem *m);
/*
 * Copies every page of the footprint (all pages now held) again, sorted, in bulk; used-line marks are cleared; the miss count restarts.
 * Pages that can't be read any more are dropped, and those of which nothing was used for sixteen such copies in a row.
 */
void mem_refresh(struct mem *m);
/* Page lookups that went to the source since the last mem_refresh (or mem_forget): 0 means that the copy was complete. */
uint64_t mem_misses(const struct mem *m);
/* Reads the footprint again and compares the 64-byte lines that were used; *changed_ret = lines that differ or are gone. */
void mem_recheck(struct mem *m, uint64_t *changed_ret);

/* After this CLOCK_MONOTONIC moment (ns; 0: none) every read that needs the source fails with ERR_DEADLINE. */
void mem_set_deadline(struct mem *m, uint64_t monotonic_ns);
bool mem_deadline_hit(const struct mem *m);
/* ERR_OK, or the first ERR_GONE / ERR_ACCESS that the source answered. */
enum err mem_hard_error(const struct mem *m);
struct mem_stats mem_stats(const struct mem *m);

#endif
