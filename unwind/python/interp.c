/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's list of interpreters, each one's list of thread states and its sys.modules (Include/internal/pycore_runtime.h, pycore_interp.h). */
#include "unwind/object/internal.h"
#include "unwind/python/python.h"

#include <string.h>

/* Room for one more entry in scratch, doubled as the list goes on: nothing says beforehand how long it is. */
static enum err list_grow(struct reader *r, void **v, uint32_t count, uint32_t *room, size_t size)
{
	uint32_t wish = *room ? *room * 2 : 16;
	void *wider;
	enum err err;

	if (count < *room)
		return ERR_OK;
	if (wish < *room)
		return ERR_BOUND;
	err = scratch_alloc(r, wish, size, &wider);
	if (err != ERR_OK)
		return err;
	if (count)
		memcpy(wider, *v, count * size);
	*v = wider;
	*room = wish;
	return ERR_OK;
}

static enum err interp_fill(struct reader *r, vaddr at, struct interp_walk *ret)
{
	enum err err;

	*ret = (struct interp_walk){.at = at};
	err = read_int(r, at, r->lay->interp_id, &ret->id);
	if (err == ERR_OK)
		err = read_ptr(r, at, r->lay->interp_sys_modules, &ret->modules);
	return err;
}

enum err interps_read(struct reader *r, uint32_t max, struct interp_walk **ret, uint32_t *count_ret,
		      bool *truncated_ret)
{
	void *v = NULL;
	uint32_t count = 0, room = 0;
	vaddr at;
	enum err err = read_ptr(r, r->lay->runtime, r->lay->runtime_interpreters_head, &at);

	*ret = NULL;
	*count_ret = 0;
	*truncated_ret = false;
	if (err != ERR_OK)
		return err;
	while (at) {
		struct interp_walk *w = v;
		bool known = false;

		for (uint32_t i = 0; i < count; i++)
			known |= w[i].at == at;
		if (count >= max || known || !object_plausible(at)) {
			*truncated_ret = true;
			break;
		}
		err = list_grow(r, &v, count, &room, sizeof(*w));
		if (err == ERR_OK) {
			w = v;
			err = interp_fill(r, at, &w[count]);
		}
		if (err == ERR_OK) {
			count++;
			err = read_ptr(r, at, r->lay->interp_next, &at);
		}
		if (err != ERR_OK) {
			*truncated_ret = true;
			break;
		}
	}
	*ret = v;
	*count_ret = count;
	return count ? (error_is_hard(err) ? err : ERR_OK) : err;
}

static enum err thread_fill(struct reader *r, vaddr at, vaddr interp, struct thread_walk *ret)
{
	const struct layout *lay = r->lay;
	uint64_t tid;
	enum err err;

	*ret = (struct thread_walk){.at = at, .interp = interp};
	if ((err = read_uint(r, at, lay->thread_native_thread_id, &tid)) != ERR_OK ||
	    (err = read_uint(r, at, lay->thread_thread_id, &ret->thread_id)) != ERR_OK)
		return err;
	ret->tid = tid <= INT32_MAX ? (pid_t)tid : 0;
	return ERR_OK;
}

enum err threads_read(struct reader *r, const struct interp_walk *interp, uint32_t max,
		      struct thread_walk **ret, uint32_t *count_ret, bool *truncated_ret)
{
	void *v = NULL;
	uint32_t count = 0, room = 0, mark_at = 1;
	vaddr at, mark = 0;
	enum err err = read_ptr(r, interp->at, r->lay->interp_threads_head, &at);

	*ret = NULL;
	*count_ret = 0;
	*truncated_ret = false;
	if (err != ERR_OK)
		return err;
	while (at) {
		struct thread_walk *w;
		vaddr owner;

		/* A ring comes back to a mark; a thread state of another interpreter is a list that moved under us. */
		if (count >= max || at == mark || !object_plausible(at)) {
			*truncated_ret = true;
			break;
		}
		err = read_ptr(r, at, r->lay->thread_interp, &owner);
		if (err == ERR_OK && owner != interp->at)
			err = ERR_TORN;
		if (err == ERR_OK)
			err = list_grow(r, &v, count, &room, sizeof(*w));
		if (err == ERR_OK) {
			w = v;
			err = thread_fill(r, at, interp->at, &w[count]);
		}
		if (err != ERR_OK) {
			*truncated_ret = true;
			break;
		}
		if (++count == mark_at) {
			mark = at;
			mark_at *= 2;
		}
		err = read_ptr(r, at, r->lay->thread_next, &at);
		if (err != ERR_OK) {
			*truncated_ret = true;
			break;
		}
	}
	*ret = v;
	*count_ret = count;
	return count ? (error_is_hard(err) ? err : ERR_OK) : err;
}

enum err module_dict(struct reader *r, const struct interp_walk *interp, const char *name,
		     vaddr *ret)
{
	vaddr module;
	enum err err;

	*ret = 0;
	if (!interp->modules)
		return ERR_OK;
	err = dict_get(r, interp->modules, name, &module);
	if (err != ERR_OK || !module)
		return err;
	err = object_expect(r, module, TYPE_MODULE, NULL);
	if (err == ERR_SHAPE) /* None, or something of the program's own in its place */
		return ERR_OK;
	return err == ERR_OK ? read_ptr(r, module, r->lay->module_dict, ret) : err;
}
