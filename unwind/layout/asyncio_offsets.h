/* SPDX-License-Identifier: Apache-2.0 */
/* Provider: the AsyncioDebug section of the module _asyncio, 3.14 on. */
#ifndef AIOTRACE_UNWIND_LAYOUT_ASYNCIO_OFFSETS_H
#define AIOTRACE_UNWIND_LAYOUT_ASYNCIO_OFFSETS_H

#include "unwind/layout/layout.h"

/*
 * Looks for the section in the images that may hold _asyncio and puts its offsets over those in *ret; sets asyncio_found. ERR_OK also where the version has
 * none, or where _asyncio is not loaded. ERR_SHAPE: it contradicts what *ret says of a task.
 */
must_check enum err asyncio_offsets_fill(struct target *t, struct layout *ret, struct error *e);
/* The same from a block at `at`: all or nothing. */
must_check enum err asyncio_offsets_read(struct mem *mem, vaddr at, struct layout *ret,
					 struct error *e);

#endif
