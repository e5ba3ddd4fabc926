/* SPDX-License-Identifier: Apache-2.0 */
/* Lines in one growing text; colours are the escape sequences that report/text.c writes, and no others: text from the target can't hold any. */
#include "tui/canvas.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define WRAP_INDENT 8u

void canvas_deinit(struct canvas *c)
{
	text_deinit(&c->text);
	free(c->v);
	*c = (struct canvas){0};
}

void canvas_begin(struct canvas *c, unsigned width, unsigned height, const struct text_style *style)
{
	text_clear(&c->text);
	c->count = c->heading_count = 0;
	c->width = width;
	c->height = height;
	c->style = *style;
	c->shift = 0;
	c->failed = false;
}

void canvas_end(struct canvas *c)
{
	if (c->count)
		c->v[c->count - 1].len = c->text.len - c->v[c->count - 1].start;
	c->failed |= c->text.failed;
}

struct text *canvas_line(struct canvas *c, enum line_role role, uint32_t row)
{
	canvas_end(c);
	if (c->count == c->capacity) {
		uint32_t capacity = c->capacity ? 2 * c->capacity : 64;
		struct canvas_line *v = realloc(c->v, capacity * sizeof(*v));

		if (!v) {
			c->failed = true;
			return &c->text;
		}
		c->v = v;
		c->capacity = capacity;
	}
	c->v[c->count++] = (struct canvas_line){c->text.len, 0, role, row};
	return &c->text;
}

uint32_t canvas_left(const struct canvas *c)
{
	if (!c->height)
		return UINT32_MAX;
	return c->count < c->height ? c->height - c->count : 0;
}

struct str canvas_words(const struct canvas *c, uint32_t line)
{
	const struct canvas_line *l = &c->v[line];

	return (struct str){c->text.v ? c->text.v + l->start : "", (uint32_t)l->len};
}

/* The codes of text_color. */
static bool color_at(struct str line, size_t *at, enum text_color *ret)
{
	static const struct {
		const char *code;
		enum text_color color;
	} codes[] = {
		{"\033[0m", COLOR_PLAIN},   {"\033[1m", COLOR_BOLD},   {"\033[2m", COLOR_DIM},
		{"\033[1;36m", COLOR_NAME}, {"\033[33m", COLOR_WAIT},  {"\033[32m", COLOR_GOOD},
		{"\033[35m", COLOR_WARN},   {"\033[1;31m", COLOR_BAD},
	};
	struct str rest = {line.ptr + *at, line.len - (uint32_t)*at};

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		if (str_starts_with(rest, codes[i].code)) {
			*at += strlen(codes[i].code);
			*ret = codes[i].color;
			return true;
		}
	}
	return false;
}

bool glyph_next(struct str line, size_t *at, struct glyph *ret)
{
	int width;

	*ret = (struct glyph){0};
	if (*at >= line.len)
		return false;
	if (line.ptr[*at] == '\033' && color_at(line, at, &ret->color)) {
		ret->is_color = true;
		return true;
	}
	ret->code = utf8_decode(line.ptr, line.len, at);
	width = ret->code < 0	   ? 1
		: ret->code < 0x7f ? ret->code >= 0x20
				   : wcwidth((wchar_t)ret->code);
	ret->width = width > 0 ? (unsigned)width : 0;
	return true;
}

/* Bytes of the line that fit into the columns; at least one character, so that there is an end. Breaks after a blank where that does not lose half of it. */
static size_t fitting(struct str line, unsigned columns)
{
	size_t at = 0, end = 0, blank = 0;
	unsigned used = 0;
	struct glyph g;

	while (glyph_next(line, &at, &g)) {
		used += g.width;
		if (used > columns && end)
			return blank > end / 2 ? blank : end;
		end = at;
		if (!g.is_color && g.code == ' ')
			blank = at;
	}
	return line.len;
}

/* The colour that holds at the end of the part. */
static enum text_color color_after(struct str part, enum text_color color)
{
	size_t at = 0;
	struct glyph g;

	while (glyph_next(part, &at, &g)) {
		if (g.is_color)
			color = g.color;
	}
	return color;
}

/* One line of a body, in as many pieces as it takes. */
static uint32_t add_pieces(struct canvas *c, struct str line, uint32_t number, uint32_t first,
			   uint32_t end, enum line_role role, bool wrap)
{
	enum text_color color = COLOR_PLAIN;
	uint32_t pieces = 0;

	do {
		unsigned indent = pieces && c->width > 2 * WRAP_INDENT ? WRAP_INDENT : 0,
			 width = c->width - indent;
		size_t n = wrap && c->width ? fitting(line, width) : line.len;
		struct str part = {line.ptr, (uint32_t)n};

		if (number + pieces >= first && number + pieces < end) {
			struct text *t = canvas_line(c, role, NO_ROW);

			text_spaces(t, indent);
			if (color != COLOR_PLAIN)
				text_color(t, &c->style, color);
			text_add_bytes(t, part.ptr, part.len);
			text_color(t, &c->style, COLOR_PLAIN);
		}
		color = color_after(part, color);
		line = (struct str){line.ptr + n, line.len - (uint32_t)n};
		pieces++;
	} while (line.len);
	return pieces;
}

uint32_t canvas_body(struct canvas *c, struct str body, uint32_t first, uint32_t most,
		     enum line_role role, bool wrap)
{
	uint32_t number = 0, end = most > UINT32_MAX - first ? UINT32_MAX : first + most;
	const char *at = body.ptr, *stop = body.ptr + body.len;

	while (at < stop) {
		const char *newline = memchr(at, '\n', (size_t)(stop - at));
		struct str line = {at, (uint32_t)((newline ? newline : stop) - at)};

		number += add_pieces(c, line, number, first, end, role, wrap);
		at += line.len + 1;
	}
	return number;
}
