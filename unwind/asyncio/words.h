/* SPDX-License-Identifier: Apache-2.0 */
/* A line of words being put together; what does not fit is left out, at a character's boundary. */
#ifndef AIOTRACE_UNWIND_ASYNCIO_WORDS_H
#define AIOTRACE_UNWIND_ASYNCIO_WORDS_H

#include "base/str.h"

struct words {
	uint32_t len;
	char text[1000];
};

/* Our own text and numbers; text of the target goes through words_str. */
void words_add(struct words *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* At most max bytes of UTF-8, then "…". */
void words_str(struct words *s, struct str text, uint32_t max);

#endif
