/* SPDX-License-Identifier: Apache-2.0 */
/* Py_AsyncioModuleDebugOffsets of Modules/_asynciomodule.c: 13 numbers; no symbol leads to it, the section header does. */
#include "unwind/layout/asyncio_offsets.h"

#include "attach/elf.h"
#include "unwind/layout/rows.h"
#include "unwind/layout/runtime.h"

#include <string.h>

#define SECTION ".AsyncioDebug"

struct asyncio_offsets {
	uint64_t task_size, task_name, task_awaited_by, task_is_task, task_awaited_by_is_set,
		task_coro, task_node;
	uint64_t interp_size, interp_tasks_head;
	uint64_t thread_size, thread_running_loop, thread_running_task, thread_tasks_head;
};

#define SIZE_MOST (16u << 20)

static bool fits(uint64_t value, struct field f, uint64_t bound)
{
	return field_present(f) && value < FIELD_ABSENT && value + f.size <= bound &&
	       (!f.size || value % f.size == 0);
}

/* A task that is unlike *lay's: the fields that the section leaves out would be guesses. */
static bool same_task(const struct asyncio_offsets *o, const struct layout *lay)
{
	return o->task_size == lay->task_sizeof && o->task_name == lay->task_name.offset &&
	       o->task_awaited_by == lay->task_awaited_by.offset &&
	       o->task_is_task == lay->task_is_task.offset &&
	       o->task_awaited_by_is_set == lay->task_awaited_by_is_set.offset &&
	       o->task_coro == lay->task_coro.offset && o->task_node == lay->task_node.offset;
}

enum err asyncio_offsets_read(struct mem *mem, vaddr at, struct layout *ret, struct error *e)
{
	struct asyncio_offsets o;

	if (mem_read(mem, at, &o, sizeof(o)))
		return error_set(e, ERR_SHAPE, 0, "the asyncio debug offsets can't be read");
	if (!same_task(&o, ret))
		return error_set(e, ERR_SHAPE, 0, "tasks have another shape");
	if (o.interp_size > SIZE_MOST || o.thread_size > SIZE_MOST ||
	    !fits(o.interp_tasks_head, ret->interp_asyncio_tasks_head, o.interp_size) ||
	    !fits(o.thread_running_loop, ret->thread_running_loop, o.thread_size) ||
	    !fits(o.thread_running_task, ret->thread_running_task, o.thread_size) ||
	    !fits(o.thread_tasks_head, ret->thread_asyncio_tasks_head, o.thread_size) ||
	    o.interp_tasks_head % 8 || o.thread_tasks_head % 8 ||
	    o.thread_running_loop < ret->thread_sizeof)
		return error_set(e, ERR_SHAPE, 0, "the asyncio debug offsets are absurd");
	ret->interp_asyncio_tasks_head.offset = (uint16_t)o.interp_tasks_head;
	ret->thread_running_loop.offset = (uint16_t)o.thread_running_loop;
	ret->thread_running_task.offset = (uint16_t)o.thread_running_task;
	ret->thread_asyncio_tasks_head.offset = (uint16_t)o.thread_tasks_head;
	ret->asyncio_found = true;
	return ERR_OK;
}

enum err asyncio_offsets_fill(struct target *t, struct layout *ret, struct error *e)
{
	ret->asyncio_found = false;
	if (!field_present(ret->task_node))
		return ERR_OK;
	for (size_t i = 0; i < t->maps.count; i++) {
		const struct map *m = &t->maps.v[i];
		struct elf_image *elf;
		uint64_t size = 0;
		vaddr at;
		enum err r;

		if (m->offset || (m->start != ret->python_image && !python_path_likely(m->path)) ||
		    elf_open(t->pid, t->mem, &t->maps, m, &elf))
			continue;
		r = elf_section(elf, SECTION, &at, &size);
		elf_close(elf);
		if (!r && size >= sizeof(struct asyncio_offsets))
			return asyncio_offsets_read(t->mem, at, ret, e);
	}
	return ERR_OK;
}
