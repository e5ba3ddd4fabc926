/* SPDX-License-Identifier: Apache-2.0 */
/* Making text from outside harmless and measuring it; the one place where bytes of the target meet a terminal. */
#include "report/text.h"

#include "base/utf8.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#define COMBINING_MAX 4

void text_deinit(struct text *t)
{
	free(t->v);
	memset(t, 0, sizeof(*t));
}

void text_clear(struct text *t)
{
	t->len = 0;
}

/* Room for `more` bytes and a NUL. */
static bool text_room(struct text *t, size_t more)
{
	size_t need = t->len + more + 1, capacity = t->capacity ? t->capacity : 256;
	char *v;

	if (need <= t->capacity)
		return true;
	while (capacity < need)
		capacity *= 2;
	v = realloc(t->v, capacity);
	if (!v) {
		t->failed = true;
		return false;
	}
	t->v = v;
	t->capacity = capacity;
	return true;
}

void text_add_bytes(struct text *t, const char *bytes, size_t len)
{
	if (!len || !text_room(t, len))
		return;
	memcpy(t->v + t->len, bytes, len);
	t->len += len;
	t->v[t->len] = 0;
}

void text_add(struct text *t, const char *words)
{
	text_add_bytes(t, words, strlen(words));
}

void text_printf(struct text *t, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0 || !text_room(t, (size_t)len))
		return;
	va_start(args, format);
	vsnprintf(t->v + t->len, (size_t)len + 1, format, args);
	va_end(args);
	t->len += (size_t)len;
}

void text_spaces(struct text *t, size_t count)
{
	if (!count || !text_room(t, count))
		return;
	memset(t->v + t->len, ' ', count);
	t->len += count;
	t->v[t->len] = 0;
}

struct str text_str(const struct text *t)
{
	return (struct str){t->v ? t->v : "", (uint32_t)t->len};
}

/* Characters that a terminal or a reader's eye would obey rather than show. */
static bool is_harmful(int32_t c)
{
	static const struct {
		int32_t from, to;
	} ranges[] = {
		{0, 0x1f},	  {0x7f, 0x9f},	      {0xad, 0xad},	  {0x34f, 0x34f},
		{0x61c, 0x61c},	  {0x115f, 0x1160},   {0x17b4, 0x17b5},	  {0x180b, 0x180f},
		{0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},	  {0x3164, 0x3164},
		{0xfdd0, 0xfdef}, {0xfeff, 0xfeff},   {0xffa0, 0xffa0},	  {0xfff0, 0xfffb},
		{0xfffe, 0xffff}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		if (c >= ranges[i].from && c <= ranges[i].to)
			return true;
	}
	return false;
}

/* What stands for one character: bytes as they are, or an escape. */
struct cell {
	const char *bytes;
	size_t len, width;
	char escape[12];
};

static void cell_escape(struct cell *cell, int32_t c, unsigned char byte)
{
	int n;

	if (c < 0)
		n = snprintf(cell->escape, sizeof(cell->escape), "\\x%02x", byte);
	else if (c == '\n')
		n = snprintf(cell->escape, sizeof(cell->escape), "\\n");
	else if (c == '\t')
		n = snprintf(cell->escape, sizeof(cell->escape), "\\t");
	else if (c == '\r')
		n = snprintf(cell->escape, sizeof(cell->escape), "\\r");
	else if (c < 0x100)
		n = snprintf(cell->escape, sizeof(cell->escape), "\\x%02x", (unsigned)c);
	else if (c < 0x10000)
		n = snprintf(cell->escape, sizeof(cell->escape), "\\u%04x", (unsigned)c);
	else
		n = snprintf(cell->escape, sizeof(cell->escape), "\\U%08x", (unsigned)c);
	cell->bytes = cell->escape;
	cell->len = cell->width = (size_t)n;
}

static void next_cell(struct cell *cell, const struct text_style *s, struct str from, size_t *at,
		      unsigned *marks)
{
	size_t start = *at;
	int32_t c = utf8_decode(from.ptr, from.len, at);
	int width;

	cell->bytes = from.ptr + start;
	cell->len = *at - start;
	cell->width = 1;
	if (c >= 0x20 && c < 0x7f) {
		*marks = 0;
		return;
	}
	if (c < 0 || !s->utf8 || is_harmful(c)) {
		cell_escape(cell, c, (unsigned char)from.ptr[start]);
		*marks = 0;
		return;
	}
	width = wcwidth((wchar_t)c);
	if (width < 0 || (width == 0 && ++*marks > COMBINING_MAX)) {
		cell_escape(cell, c, 0);
		return;
	}
	if (width)
		*marks = 0;
	cell->width = (size_t)width;
}

/* Both the writer and the measure: `t` may be NULL. */
static size_t text_lay(struct text *t, const struct text_style *s, struct str from, size_t columns)
{
	size_t dots = s->utf8 ? 1 : 2, used = 0, at = 0;
	size_t cut_len = t ? t->len : 0,
	       cut_used = 0; /* the last place where the ellipsis still fits */
	unsigned marks = 0;
	struct cell cell;

	if (!from.ptr)
		return 0;
	while (at < from.len) {
		next_cell(&cell, s, from, &at, &marks);
		if (used + cell.width > columns) {
			if (t && t->len >= cut_len && columns >= dots) {
				t->len = cut_len;
				text_add(t, s->utf8 ? "…" : "..");
			}
			return columns >= dots ? cut_used + dots : cut_used;
		}
		if (t)
			text_add_bytes(t, cell.bytes, cell.len);
		used += cell.width;
		if (used + dots <= columns) {
			cut_len = t ? t->len : 0;
			cut_used = used;
		}
	}
	return used;
}

size_t text_safe(struct text *t, const struct text_style *s, struct str from, size_t columns)
{
	return text_lay(t, s, from, columns);
}

size_t text_width(const struct text_style *s, struct str from, size_t columns)
{
	return text_lay(NULL, s, from, columns);
}

void text_color(struct text *t, const struct text_style *s, enum text_color c)
{
	static const char *const codes[] = {
		[COLOR_PLAIN] = "\033[0m",   [COLOR_BOLD] = "\033[1m",	 [COLOR_DIM] = "\033[2m",
		[COLOR_NAME] = "\033[1;36m", [COLOR_WAIT] = "\033[33m",	 [COLOR_GOOD] = "\033[32m",
		[COLOR_WARN] = "\033[35m",   [COLOR_BAD] = "\033[1;31m",
	};

	if (s->color)
		text_add(t, codes[c]);
}

void text_number(struct text *t, uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			text_add(t, ",");
		text_add_bytes(t, digits + i, 1);
	}
}

void text_duration(struct text *t, const struct text_style *s, double seconds)
{
	uint64_t whole;

	if (isnan(seconds) || seconds < 0) {
		text_add(t, "?");
		return;
	}
	if (seconds > 1e12)
		seconds = 1e12; /* asyncio's "for ever" is such a number */
	whole = (uint64_t)(seconds + 0.5);
	if (seconds < 0.0009995)
		text_printf(t, "%.0f %s", seconds * 1e6, s->utf8 ? "µs" : "us");
	else if (seconds < 0.09995)
		text_printf(t, "%.1f ms", seconds * 1e3);
	else if (seconds < 0.9995)
		text_printf(t, "%.0f ms", seconds * 1e3);
	else if (seconds < 99.95)
		text_printf(t, "%.1f s", seconds);
	else if (whole < 3600)
		text_printf(t, "%u m %02u s", (unsigned)(whole / 60), (unsigned)(whole % 60));
	else if (whole < 2 * 86400)
		text_printf(t, "%u h %02u m", (unsigned)(whole / 3600),
			    (unsigned)(whole % 3600 / 60));
	else
		text_printf(t, "%llu d %u h", (unsigned long long)(whole / 86400),
			    (unsigned)(whole % 86400 / 3600));
}

static bool digit_at(struct str s, uint32_t i)
{
	return i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9';
}

/* Compares the numbers that begin at *i and *j, and moves past them. */
static int compare_numbers(struct str a, uint32_t *i, struct str b, uint32_t *j)
{
	uint32_t x, y, lx = 0, ly = 0;
	int order;

	while (*i + 1 < a.len && a.ptr[*i] == '0' && digit_at(a, *i + 1))
		++*i;
	while (*j + 1 < b.len && b.ptr[*j] == '0' && digit_at(b, *j + 1))
		++*j;
	x = *i;
	y = *j;
	while (digit_at(a, x + lx))
		lx++;
	while (digit_at(b, y + ly))
		ly++;
	*i = x + lx;
	*j = y + ly;
	if (lx != ly)
		return lx < ly ? -1 : 1;
	order = memcmp(a.ptr + x, b.ptr + y, lx);
	return order;
}

int text_compare(struct str a, struct str b)
{
	uint32_t i = 0, j = 0;

	while (i < a.len && j < b.len) {
		if (digit_at(a, i) && digit_at(b, j)) {
			int order = compare_numbers(a, &i, b, &j);

			if (order)
				return order;
			continue;
		}
		if (a.ptr[i] != b.ptr[j])
			return (unsigned char)a.ptr[i] < (unsigned char)b.ptr[j] ? -1 : 1;
		i++;
		j++;
	}
	return i < a.len ? 1 : j < b.len ? -1 : 0;
}
