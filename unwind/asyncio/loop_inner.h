/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a loop's inner state, shared by loop_inner.c and executor.c; callers use loops_read_inner of asyncio.h. */
#ifndef AIOTRACE_UNWIND_ASYNCIO_LOOP_INNER_H
#define AIOTRACE_UNWIND_ASYNCIO_LOOP_INNER_H

#include "unwind/asyncio/asyncio.h"

/* The loop's default executor; 0: it has none yet. Fills l->executor, and l->executor_read where it is known. */
must_check enum err executor_read(struct asyncio *a, vaddr executor, struct loop *l);

#endif
