/* SPDX-License-Identifier: Apache-2.0 */
/* An empty made-up process of CPython 3.14 for unit tests of the walkers, written to at any address; world.h lays out objects one after the other. */
#ifndef AIOTRACE_TESTS_PROCESS_H
#define AIOTRACE_TESTS_PROCESS_H

#include "attach/image.h"
#include "unwind/asyncio/asyncio.h"
#include "unwind/layout/rows.h"
#include "unwind/layout/table.h"

#include <stdio.h>
#include <stdlib.h>

#define NOWHERE		   ((vaddr)0x7000000000) /* nothing is written there */
#define FLAG_TYPE_SUBCLASS ((uint64_t)1 << 31) /* Include/object.h: what makes an object a type */

struct process {
	struct layout lay;
	void *image;
	struct mem *mem;
	struct model *model;
	struct arena scratch;
	struct reader r;
	struct interp_walk interp;
	struct thread_ref threads[2];
	struct asyncio a;
};

static inline void need(bool good)
{
	if (good)
		return;
	fprintf(stderr, "no memory, or no table of CPython 3.14\n");
	exit(1);
}

static inline void put_bytes(struct process *p, vaddr at, const void *bytes, size_t len)
{
	need(image_map(p->image, at, bytes, len) == ERR_OK);
}

static inline void put(struct process *p, vaddr at, uint64_t value)
{
	put_bytes(p, at, &value, sizeof(value));
}

static inline struct process *process_create(void)
{
	struct process *p = calloc(1, sizeof(*p));

	need(p != NULL);
	p->lay.version = 0x030e00f0;
	layout_clear_rows(&p->lay);
	need(layout_table_fill(&p->lay));
	p->image = image_create();
	need(p->image && mem_create(&image_source, p->image, (size_t)256 << 20, &p->mem) == ERR_OK);
	need(arena_init(&p->scratch, (size_t)1 << 30) && model_create(&p->model) == ERR_OK);
	p->r = (struct reader){
		.mem = p->mem, .lay = &p->lay, .model = p->model, .scratch = &p->scratch};
	p->r.codes = code_cache_create();
	p->r.types = type_cache_create();
	need(p->r.codes && p->r.types);
	p->a.r = &p->r;
	return p;
}

static inline void process_destroy(struct process *p)
{
	code_cache_destroy(p->r.codes);
	type_cache_destroy(p->r.types);
	model_destroy(p->model);
	arena_deinit(&p->scratch);
	mem_destroy(p->mem);
	free(p);
}

#endif
