/* SPDX-License-Identifier: Apache-2.0 */
/* Proves a layout before it is believed: first by itself, then on what is in the target. */
#ifndef AIOTRACE_UNWIND_LAYOUT_CHECK_H
#define AIOTRACE_UNWIND_LAYOUT_CHECK_H

#include "unwind/layout/layout.h"

/*
 * Every field that its version has is there, aligned to its width, inside its structure, and no field is there that its version does not have. ERR_SHAPE, with
 * the field's name in e->text.
 */
must_check enum err layout_check_fields(const struct layout *lay, struct error *e);
/*
 * Interpreters and threads are lists that end and point back; sys.modules is a dict, its type is a type, its first key a str. ERR_SHAPE where not;
 * *started_ret = false where it is too early to say (no interpreter has sys.modules yet). Hard errors of the memory as they come.
 */
must_check enum err layout_check_live(struct mem *mem, const struct layout *lay, bool *started_ret,
				      struct error *e);

#endif
