/* SPDX-License-Identifier: Apache-2.0 */
/* Provider: the _Py_DebugOffsets at the beginning of _PyRuntime, 3.13 on. */
#ifndef AIOTRACE_UNWIND_LAYOUT_DEBUG_OFFSETS_H
#define AIOTRACE_UNWIND_LAYOUT_DEBUG_OFFSETS_H

#include "unwind/layout/layout.h"

/*
 * Puts the target's own offsets over those in *ret (filled from its table). *moved_ret: some structure is unlike the table's, so that fields which the
 * debug offsets don't have may be elsewhere too. ERR_SHAPE where the block is not there, of another version, or absurd; *ret is spoilt then.
 */
must_check enum err debug_offsets_fill(struct mem *mem, struct layout *ret, bool *moved_ret,
				       struct error *e);

#endif
