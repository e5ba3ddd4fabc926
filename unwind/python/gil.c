/* SPDX-License-Identifier: Apache-2.0 */
/* The lock that an interpreter's threads run under (Python/ceval_gil.c): the runtime's in 3.11, else the interpreter's own or one that it shares. */
#include "unwind/object/internal.h"
#include "unwind/python/python.h"

static enum err gil_address(struct reader *r, vaddr interp, vaddr *ret)
{
	if (r->lay->gil_in_runtime) {
		*ret = r->lay->runtime + r->lay->runtime_gil.offset;
		return ERR_OK;
	}
	return read_ptr(r, interp, r->lay->interp_gil, ret);
}

enum err gil_read(struct reader *r, const struct interp_walk *interp, struct gil_walk *ret)
{
	const struct layout *lay = r->lay;
	uint64_t switches;
	int64_t locked;
	vaddr holder;
	enum err err;

	*ret = (struct gil_walk){.size = lay->gil_sizeof};
	err = gil_address(r, interp->at, &ret->at);
	if (err == ERR_OK && !object_plausible(ret->at))
		err = ERR_SHAPE;
	if (err != ERR_OK || (err = read_int(r, ret->at, lay->gil_locked, &locked)) != ERR_OK ||
	    (err = read_ptr(r, ret->at, lay->gil_last_holder, &holder)) != ERR_OK ||
	    (err = read_uint(r, ret->at, lay->gil_switch_number, &switches)) != ERR_OK)
		return err;
	/* -1: made, not yet initialised. */
	if (locked < -1 || locked > 1)
		return ERR_SHAPE;
	ret->switches = switches;
	/* A thread that lets go stays named as the last holder. */
	ret->holder = locked == 1 ? holder : 0;
	return ERR_OK;
}
