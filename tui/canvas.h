/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One picture of the dashboard as lines of words in report's own colours (report/text.h), top to bottom. A terminal shows it, --batch prints it, tests read it.
 */
#ifndef AIOTRACE_TUI_CANVAS_H
#define AIOTRACE_TUI_CANVAS_H

#include "report/text.h"

#define HEADINGS_MOST 8u
#define NO_ROW	      UINT32_MAX

enum line_role {
	LINE_PLAIN,
	LINE_TITLE, /* the program's line at the top, and titles of parts */
	LINE_HEADINGS, /* columns' titles */
	LINE_SELECTED, /* what the keys act on */
	LINE_GONE, /* greyed out: it was, and is no more */
	LINE_ALARM, /* must not be overlooked */
	LINE_FOOT /* what the keys do */
};

struct canvas_line {
	size_t start, len; /* in canvas.text */
	enum line_role role;
	uint32_t row; /* of the list that the keys move in, NO_ROW */
};

/* Where a column's title stands, for the mouse. */
struct heading {
	unsigned from, to; /* columns, `to` is past it */
	unsigned what;
};

struct canvas {
	struct text text;
	struct canvas_line *v;
	uint32_t count, capacity;
	unsigned width, height; /* columns and lines to fill; height 0: as many as it takes */
	struct text_style style;
	unsigned shift; /* columns that the text is moved to the left by, for lines too long */
	struct heading headings[HEADINGS_MOST];
	unsigned heading_count;
	bool failed; /* no memory: lines are missing */
};

void canvas_deinit(struct canvas *c);
/* Empties it for a new picture. */
void canvas_begin(struct canvas *c, unsigned width, unsigned height,
		  const struct text_style *style);
/* Begins a line: what is added to the text until the next line begins, or canvas_end, belongs to it. No newlines. */
struct text *canvas_line(struct canvas *c, enum line_role role, uint32_t row);
void canvas_end(struct canvas *c);
/* Lines of `body` (each with its newline) from number `first` on, at most `most`; broken at the width where wrap says so. Returns how many lines the body has in all. */
uint32_t canvas_body(struct canvas *c, struct str body, uint32_t first, uint32_t most,
		     enum line_role role, bool wrap);
/* Lines left of the height; UINT32_MAX for no limit. */
uint32_t canvas_left(const struct canvas *c);
struct str canvas_words(const struct canvas *c, uint32_t line);

/* One step through a line: a colour that begins, or a character with the columns that it takes. */
struct glyph {
	bool is_color;
	enum text_color color;
	int32_t code; /* -1: a byte that is no UTF-8 */
	unsigned width;
};
/* False at the end. */
bool glyph_next(struct str line, size_t *at, struct glyph *ret);

#endif
