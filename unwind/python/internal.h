/* SPDX-License-Identifier: Apache-2.0 */
/* What frame.c and generator.c share: a generator's frame is read together with the generator. Nobody else includes this. */
#ifndef AIOTRACE_UNWIND_PYTHON_INTERNAL_H
#define AIOTRACE_UNWIND_PYTHON_INTERNAL_H

#include "unwind/python/python.h"

/* Most bytes of a frame before its variables that any layout has. */
#define FRAME_HEAD_MAX 128u
#define STACK_MAX      (1u << 20) /* slots of one frame */

/* frame_read of a frame whose first frame_localsplus.offset bytes are here. */
must_check enum err frame_decode(struct reader *r, vaddr at, const uint8_t *head,
				 struct frame_walk *ret);

/*
 * Where the value stack of a frame ends (exclusive), by the bytes of its head; never below its variables. ERR_SHAPE.
 */
must_check enum err frame_stack_top(struct reader *r, const uint8_t *head, vaddr frame,
				    const struct code_info *info, vaddr *ret);

#endif
