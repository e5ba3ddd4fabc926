/* SPDX-License-Identifier: Apache-2.0 */
/* The same thing in different looks, and what several detectors ask of a picture. */
#ifndef AIOTRACE_DETECT_LOOKS_H
#define AIOTRACE_DETECT_LOOKS_H

#include "detect/detect.h"

/* Seconds from the first look to the last. */
double looks_span(const struct detection *d);
/* All looks are proven to be of one moment each (not torn). */
bool looks_consistent(const struct detection *d);

/* The row of the newest look's loop or task in look n; NULL where it is not there. */
const struct loop *looks_loop(const struct detection *d, uint32_t look, const struct loop *newest);
const struct task *looks_task(const struct detection *d, uint32_t look, const struct task *newest);
const struct thread *looks_thread(const struct detection *d, uint32_t look,
				  const struct thread *newest);

/* As it was read: an older look may have been judged since, and its state say blocked or stalled. */
bool looks_running(const struct loop *l);
bool looks_polling(const struct loop *l);
/* Another thread than the loop's own that has it as its running loop; NONE as it should be, and where no thread runs it. */
uint32_t looks_intruder(const struct model *m, uint32_t loop);

/* Stacks of two pictures: the same functions at the same lines. */
bool looks_same_chain(const struct model *a, uint32_t chain_a, const struct model *b,
		      uint32_t chain_b);
/* The user's own code: not asyncio's, not the standard library's, no site-packages. */
bool looks_is_own(const struct frame *f);
/* The innermost frame of a chain that is the user's own code; NONE where none is. */
uint32_t looks_own_frame(const struct model *m, uint32_t chain);
/* The innermost frame; NONE for NONE. */
uint32_t looks_innermost(const struct model *m, uint32_t chain);

/* A frame and a stack of another look as rows of the newest one; NONE for NONE. */
uint32_t looks_frame_now(const struct detection *d, const struct model *then, uint32_t frame);
uint32_t looks_stack_now(const struct detection *d, const struct model *then, uint32_t chain);

/* Name of a task for a sentence: "?" where it could not be read. */
struct str looks_task_name(const struct task *t);
/* printf's "%.*s:%d" of a frame: its file's last part, and line. */
struct str looks_place(struct model *m, uint32_t frame);

#endif
