/* SPDX-License-Identifier: Apache-2.0 */
/* Byte source: regions held in our own memory, for unit tests and fuzzing of everything above attach/. */
#ifndef AIOTRACE_ATTACH_IMAGE_H
#define AIOTRACE_ATTACH_IMAGE_H

#include "attach/mem.h"

extern const struct mem_source image_source;

void *image_create(void);
/* Maps a copy of the bytes at `at` (any alignment; the rest of the touched pages reads as zero). */
must_check enum err image_map(void *image, vaddr at, const void *bytes, size_t len);

#endif
