/* SPDX-License-Identifier: Apache-2.0 */
/* Worker threads of Lib/concurrent/futures/thread.py: which call one runs. For a loop's own executor and for tasks that wait for a call. */
#ifndef AIOTRACE_UNWIND_ASYNCIO_POOL_H
#define AIOTRACE_UNWIND_ASYNCIO_POOL_H

#include "unwind/asyncio/asyncio.h"

#define POOL_OUTER_FRAMES 64u /* of a thread's stack, from the outermost: where workers begin */

/* Is it this function of the pool's file? */
bool pool_is(const struct code_info *info, const char *function);
/* What a _WorkItem will call; 0 where it can't be read. */
vaddr pool_callable(struct reader *r, vaddr item);
/* Its name in words, through partials and to_thread()'s context; ptr NULL where it can't be read. Lives as long as the model. */
struct str pool_callable_name(struct reader *r, vaddr callable);
/* What runs inside a worker's frame number `run` (of _WorkItem.run), without the pool's own frames: a stack of the model, NONE for none. */
uint32_t pool_call_stack(struct reader *r, const struct thread_ref *t, uint32_t run);

#endif
