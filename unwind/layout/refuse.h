/* SPDX-License-Identifier: Apache-2.0 */
/* Says in one line why a process is not one that we read: which interpreter it runs, and which are supported. */
#ifndef AIOTRACE_UNWIND_LAYOUT_REFUSE_H
#define AIOTRACE_UNWIND_LAYOUT_REFUSE_H

#include "unwind/layout/runtime.h"

/* Always an error: the text for a search that could not be finished. */
must_check enum err layout_refuse_read(struct target *t, enum err kind, struct error *e);
/* Always an error: no image of the target has CPython's runtime. */
must_check enum err layout_refuse_missing(struct target *t, struct error *e);
/* ERR_OK where the image is one that the tables know and that runs. */
must_check enum err layout_refuse_image(struct target *t, const struct python_image *image,
					struct error *e);

#endif
