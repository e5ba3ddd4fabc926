/* SPDX-License-Identifier: Apache-2.0 */
/* What every walker needs: where from (mem), how laid out (layout), where to (model), and what was learnt on the way (caches). */
#ifndef AIOTRACE_UNWIND_READER_H
#define AIOTRACE_UNWIND_READER_H

#include "attach/target.h"
#include "model/model.h"
#include "unwind/layout/layout.h"

struct code_cache;
struct eval_calls;
struct thread_facts;
struct type_cache;

struct reader {
	struct mem *mem;
	const struct layout *lay;
	struct target
		*target; /* NULL in unit tests; only for /proc facts (descriptors, command lines) */
	const struct thread_facts *facts; /* unwind/facts.h; NULL: asked for when wanted */
	struct eval_calls *evals; /* below; NULL: nobody wants to know */
	struct model *model;
	struct arena *scratch; /* lives as long as one walk */
	struct code_cache *codes; /* unwind/python/code.h; emptied with each walk */
	struct type_cache *types; /* unwind/object/type.h; likewise */
	bool mid_step; /* this walk met a thread on its way into a frame or out of a generator, whose stack could not be followed (further) */
};

/*
 * Which Python frames of a thread which call of the evaluation loop runs: the bridge between the Python and the native stack. In scratch; the older calls of
 * a thread come first.
 */
struct eval_call {
	uint32_t thread; /* row */
	uint32_t frames; /* that many of the thread's chain, the outermost first */
	vaddr inside; /* an address in the C frame of that call, 0 not known */
};
struct eval_calls {
	struct eval_call *v;
	uint32_t count, room;
};

/* Raw access. All soft errors: ERR_FAULT, ERR_BOUND, ERR_DEADLINE. */
must_check enum err read_u8(struct reader *r, vaddr at, uint8_t *ret);
must_check enum err read_u32(struct reader *r, vaddr at, uint32_t *ret);
must_check enum err read_u64(struct reader *r, vaddr at, uint64_t *ret);
/* A member that is a pointer; stack-reference tags are not stripped here. Absent field: ERR_SHAPE. */
must_check enum err read_ptr(struct reader *r, vaddr object, struct field f, vaddr *ret);
/* An integer member of any width or a bit field; sign-extended for read_int, zero-extended for read_uint. */
must_check enum err read_int(struct reader *r, vaddr object, struct field f, int64_t *ret);
must_check enum err read_uint(struct reader *r, vaddr object, struct field f, uint64_t *ret);

/* A member of a structure that is already here: `object` points to its first byte, f is present. False: no integer member. */
bool field_decode(const void *object, struct field f, uint64_t *ret);
/* The decoded value as signed. */
int64_t field_extend(struct field f, uint64_t value);

#endif
