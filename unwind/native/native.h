/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native stacks of threads, merged with their Python stacks: a C frame that is a call of CPython's evaluation loop is replaced by the Python frames that
 * the call runs. In three parts: before the stop, in it (copies alone), and when all run on again.
 */
#ifndef AIOTRACE_UNWIND_NATIVE_NATIVE_H
#define AIOTRACE_UNWIND_NATIVE_NATIVE_H

#include "attach/stacks.h"
#include "unwind/reader.h"

/*
 * Fills thread.native of every thread whose stack was copied, from the picture that was taken in the same stop (r->model, r->evals). A thread that can't be
 * unwound has none. ERR_NOMEM.
 */
must_check enum err native_fill(struct reader *r, const struct stacks *stacks);

/* merge.c: one thread. */
struct images;
struct native_frame;
/*
 * Row of the chain, NONE on no memory, of `frames` (innermost first) with the thread's Python chain in it. Where a call of the evaluation loop has no C frame
 * among them (the stack was cut, or the call is none of this stack's), its Python frames stand in their order between those that have one.
 */
uint32_t native_merge(struct reader *r, struct images *images, uint32_t thread,
		      const struct native_frame *frames, uint32_t count);

#endif
