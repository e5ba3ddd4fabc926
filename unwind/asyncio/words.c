/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of words. */
#include "unwind/asyncio/words.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>

void words_add(struct words *s, const char *format, ...)
{
	size_t room = sizeof(s->text) - s->len;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(s->text + s->len, room, format, args);
	va_end(args);
	if (n > 0)
		s->len += (size_t)n < room ? (uint32_t)n : (uint32_t)room - 1;
}

void words_str(struct words *s, struct str text, uint32_t max)
{
	static const char more[] = "…";
	uint32_t room = (uint32_t)sizeof(s->text) - s->len - (uint32_t)sizeof(more);
	uint32_t n;

	if (!text.ptr || s->len + sizeof(more) >= sizeof(s->text))
		return;
	n = (uint32_t)utf8_head(text.ptr, text.len, max < room ? max : room);
	memcpy(s->text + s->len, text.ptr, n);
	s->len += n;
	if (n < text.len) {
		memcpy(s->text + s->len, more, sizeof(more) - 1);
		s->len += (uint32_t)sizeof(more) - 1;
	}
}
