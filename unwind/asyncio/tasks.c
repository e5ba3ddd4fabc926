/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tasks there are: the weak sets of asyncio.tasks, the linked lists of thread states and interpreter (3.14 on), and the tasks that run now, which
 * may be in neither (an eager task's first step). A source that can't be read whole leaves a mark, and the others are still read.
 */
#include "unwind/asyncio/asyncio.h"

#include <stdlib.h>
#include <string.h>

#define CORO_BYTES  256u /* object, embedded frame, the first of its locals */
#define NAME_BYTES  64u
#define CURRENT_MAX 100000u

static bool ends_walk(enum err err)
{
	return err == ERR_DEADLINE || error_is_hard(err);
}

static enum err add_task(struct asyncio *a, vaddr task)
{
	struct model *m = a->r->model;

	if (!task || model_find_task(m, task) != NONE)
		return ERR_OK;
	if (m->tasks.count >= TASKS_MAX) {
		m->tasks_truncated = true;
		return ERR_OK;
	}
	return model_add_task(m, task) == NONE ? ERR_NOMEM : ERR_OK;
}

/* What one source said. Soft errors are its mark. */
static enum err source_ended(struct asyncio *a, enum err err, bool truncated)
{
	if (ends_walk(err))
		return err;
	a->r->model->tasks_truncated |= truncated || err != ERR_OK;
	return ERR_OK;
}

static int compare_addresses(const void *left, const void *right)
{
	vaddr a = *(const vaddr *)left, b = *(const vaddr *)right;

	return a < b ? -1 : a > b;
}

/* Sets have no order of their own: by address, so that pages are gone through once. */
static enum err add_items(struct asyncio *a, struct items *items)
{
	enum err err = ERR_OK;

	if (items->count)
		qsort(items->v, items->count, sizeof(*items->v), compare_addresses);
	for (uint32_t i = 0; i < items->count && err == ERR_OK; i++)
		err = add_task(a, items->v[i]);
	return err;
}

static enum err add_set(struct asyncio *a, vaddr module, const char *name, bool weak)
{
	struct reader *r = a->r;
	struct items items = {0};
	vaddr set = 0;
	enum err err = dict_get(r, module, name, &set);

	if (err == ERR_OK && set)
		err = weak ? object_weakset(r, set, TASKS_MAX, &items)
			   : object_set(r, set, TASKS_MAX, &items);
	err = source_ended(a, err, items.truncated);
	return err == ERR_OK ? add_items(a, &items) : err;
}

/* struct llist_node of Include/internal/pycore_llist.h. */
struct node {
	vaddr next, prev;
};

/* The task that a node is embedded in, when it is one. */
static enum err node_task(struct asyncio *a, vaddr at, vaddr *ret)
{
	const struct type_info *type;
	vaddr task = at - a->r->lay->task_node.offset;
	enum err err = type_of(a->r, task, &type);

	if (err == ERR_OK && type->kind != TYPE_C_TASK)
		err = ERR_SHAPE;
	*ret = task;
	return err;
}

/*
 * Adds the tasks of a circular list, in one direction. *closed_ret: it came back to its head; else it broke off at a node that is none (the list
 * changed under the reader), or runs in a ring that leaves the head out (Brent: a node seen again).
 */
static enum err walk_list(struct asyncio *a, vaddr head, bool backwards, bool *closed_ret)
{
	struct reader *r = a->r;
	struct node node;
	vaddr at = head, mark = 0, task;
	uint32_t steps = 0, power = 1;
	enum err err;

	*closed_ret = false;
	for (uint32_t i = 0; i <= TASKS_MAX; i++) {
		err = mem_read(r->mem, at, &node, sizeof(node));
		if (err != ERR_OK)
			return err;
		at = backwards ? node.prev : node.next;
		*closed_ret = at == head || (i == 0 && !at);
		if (*closed_ret)
			return ERR_OK;
		if (at == mark)
			return ERR_SHAPE;
		if (++steps == power) {
			mark = at;
			power *= 2;
			steps = 0;
		}
		err = node_task(a, at, &task);
		if (err == ERR_OK)
			err = add_task(a, task);
		if (err != ERR_OK)
			return err;
	}
	return ERR_BOUND;
}

/* New tasks are put at the tail (llist_insert_tail): forwards is by age. What lies behind a break is found from the other end. */
static enum err add_list(struct asyncio *a, vaddr head)
{
	bool closed = false, closed_back = false;
	enum err err = walk_list(a, head, false, &closed);

	if (ends_walk(err) || closed)
		return err;
	err = source_ended(a, walk_list(a, head, true, &closed_back), true);
	return err;
}

static enum err add_lists(struct asyncio *a, const struct interp_walk *interp)
{
	const struct layout *lay = a->r->lay;
	enum err err = ERR_OK;

	if (!field_present(lay->task_node))
		return ERR_OK;
	if (field_present(lay->interp_asyncio_tasks_head))
		err = add_list(a, interp->at + lay->interp_asyncio_tasks_head.offset);
	if (!field_present(lay->thread_asyncio_tasks_head))
		return err;
	for (uint32_t i = 0; i < a->thread_count && err == ERR_OK; i++) {
		if (a->threads[i].walk.interp == interp->at)
			err = add_list(a, a->threads[i].walk.at +
						  lay->thread_asyncio_tasks_head.offset);
	}
	return err;
}

/* Tasks that are current: values of {loop: task}, and the thread states' own. */
static enum err add_current(struct asyncio *a, const struct interp_walk *interp, vaddr module)
{
	struct reader *r = a->r;
	struct items loops = {0}, tasks = {0};
	vaddr dict = 0, task;
	enum err err = ERR_OK;

	if (module)
		err = dict_get(r, module, "_current_tasks", &dict);
	if (err == ERR_OK && dict)
		err = dict_items(r, dict, CURRENT_MAX, &loops, &tasks);
	err = source_ended(a, err, tasks.truncated);
	if (err == ERR_OK)
		err = add_items(a, &tasks);
	for (uint32_t i = 0; i < a->thread_count && err == ERR_OK; i++) {
		if (a->threads[i].walk.interp != interp->at ||
		    !field_present(r->lay->thread_running_task))
			continue;
		err = source_ended(
			a, read_ptr(r, a->threads[i].walk.at, r->lay->thread_running_task, &task),
			false);
		if (err == ERR_OK)
			err = add_task(a, task);
	}
	return err;
}

static enum err add_sets(struct asyncio *a, vaddr module)
{
	enum err err;

	if (a->r->lay->all_tasks == TASKS_WEAKSET)
		return add_set(a, module, "_all_tasks", true);
	err = add_set(a, module, "_scheduled_tasks", true);
	return err == ERR_OK ? add_set(a, module, "_eager_tasks", false) : err;
}

static enum err note_first_row(struct asyncio *a, const struct interp_walk *interp)
{
	if (!a->first_task)
		a->first_task =
			arena_alloc(a->r->scratch, a->interp_count * sizeof(*a->first_task));
	if (!a->first_task)
		return ERR_NOMEM;
	for (uint32_t i = (uint32_t)(interp - a->interps); i < a->interp_count; i++)
		a->first_task[i] = a->r->model->tasks.count;
	return ERR_OK;
}

enum err tasks_enumerate(struct asyncio *a, const struct interp_walk *interp)
{
	vaddr module = 0;
	enum err err = note_first_row(a, interp);

	if (err != ERR_OK)
		return err;
	if (interp->modules)
		err = source_ended(a, module_dict(a->r, interp, "asyncio.tasks", &module), false);
	if (err == ERR_OK && a->r->lay->all_tasks == TASKS_LINKED)
		err = add_lists(a, interp);
	if (err == ERR_OK && module)
		err = add_sets(a, module);
	if (err == ERR_OK)
		err = add_current(a, interp, module);
	return err;
}

uint32_t tasks_interpreter(const struct asyncio *a, uint32_t task)
{
	uint32_t i = a->interp_count;

	while (a->first_task && i > 1 && a->first_task[i - 1] > task)
		i--;
	return i ? i - 1 : NONE;
}

static vaddr want_member(struct reader *r, vaddr task, struct field f, size_t len)
{
	vaddr at = 0;

	if (read_ptr(r, task, f, &at) != ERR_OK)
		return 0;
	mem_want(r->mem, at, len);
	return at;
}

void tasks_prefetch(struct asyncio *a)
{
	struct reader *r = a->r;
	const struct layout *lay = r->lay;
	const struct model *m = r->model;
	const struct type_info *type;

	for (uint32_t i = 0; i < m->tasks.count; i++)
		mem_want(r->mem, m->tasks.v[i].id, lay->task_sizeof ? lay->task_sizeof : 1);
	mem_fetch(r->mem);
	for (uint32_t i = 0; i < m->tasks.count; i++) {
		vaddr task = m->tasks.v[i].id;

		if (type_of(r, task, &type) != ERR_OK || type->kind != TYPE_C_TASK)
			continue;
		want_member(r, task, lay->task_name, NAME_BYTES);
		want_member(r, task, lay->task_coro, CORO_BYTES);
		want_member(r, task, lay->task_fut_waiter, 1);
	}
	mem_fetch(r->mem);
}
