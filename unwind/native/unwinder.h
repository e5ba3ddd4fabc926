/* SPDX-License-Identifier: Apache-2.0 */
/* libunwind over copies: registers and stack as they were in the stop, unwind information from the images' memory. */
#ifndef AIOTRACE_UNWIND_NATIVE_UNWINDER_H
#define AIOTRACE_UNWIND_NATIVE_UNWINDER_H

#include "attach/stacks.h"
#include "unwind/native/images.h"

struct native_frame {
	vaddr pc;
	vaddr sp; /* the frame's memory is [sp, the next outer one's sp) */
	vaddr start; /* of the stretch of code that pc is in, by its unwind information; 0: it has none */
	bool call; /* pc is where a call will return to; else what the thread is at, or was when a signal came */
	struct image *image;
};

/*
 * Frames, innermost first, at most max. *complete_ret: the outermost is where the thread began; else the stack could not be followed further. Only frames
 * that unwind information led to, or frame pointers to a place behind a call instruction. ERR_NOMEM.
 */
must_check enum err unwinder_walk(struct images *images, const struct stack_copy *stack,
				  struct native_frame *v, uint32_t max, uint32_t *count_ret,
				  bool *complete_ret);

#endif
