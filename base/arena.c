/* SPDX-License-Identifier: Apache-2.0 */
/* Reservation by mmap without commitment; the kernel gives zeroed pages as they are touched. */
#include "base/arena.h"

#include <string.h>
#include <sys/mman.h>

#define ARENA_SMALLEST ((size_t)1 << 24)

bool arena_init(struct arena *a, size_t size)
{
	memset(a, 0, sizeof(*a));
	for (; size >= ARENA_SMALLEST; size /= 2) {
		void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (p == MAP_FAILED)
			continue;
		a->base = p;
		a->size = size;
		return true;
	}
	return false;
}

void arena_deinit(struct arena *a)
{
	if (a->base)
		munmap(a->base, a->size);
	memset(a, 0, sizeof(*a));
}

void *arena_alloc(struct arena *a, size_t size)
{
	size_t need = (size + 7) & ~(size_t)7;
	void *p;

	if (need < size || need > a->size - a->used) {
		a->exhausted = true;
		return NULL;
	}
	p = a->base + a->used;
	a->used += need;
	return p;
}

void *arena_copy(struct arena *a, const void *bytes, size_t size)
{
	void *p = arena_alloc(a, size);

	if (p && size)
		memcpy(p, bytes, size);
	return p;
}

void arena_reset(struct arena *a)
{
	if (a->used)
		madvise(a->base, a->used, MADV_DONTNEED);
	a->used = 0;
	a->exhausted = false;
}
