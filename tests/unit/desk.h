/* SPDX-License-Identifier: Apache-2.0 */
/* The dashboard without its terminal, for unit tests: pictures go in, keys are pressed, lines are read. */
#ifndef AIOTRACE_TESTS_DESK_H
#define AIOTRACE_TESTS_DESK_H

#include "base/utf8.h"
#include "tests/unit/picture.h"
#include "tui/ui.h"

struct desk {
	struct ui ui;
	struct canvas c;
	struct history h;
	struct scene s;
	struct model *m; /* the newest picture, its own */
	unsigned width, height;
	char *words; /* of the line that was last asked for */
};

static inline void desk_init(struct desk *d, unsigned width, unsigned height)
{
	const struct text_style style = {.utf8 = true};

	*d = (struct desk){.h = picture_history(), .width = width, .height = height};
	ui_init(&d->ui, &style, 2);
	d->s = (struct scene){
		.h = &d->h,
		.usage = {NAN, NAN, NAN, NAN},
		.blocked_after = 0.1,
		.max_pause_ms = 50,
		.clock = "12:03:04",
		.note = "",
		.ended = "",
	};
}

static inline void desk_deinit(struct desk *d)
{
	ui_deinit(&d->ui);
	canvas_deinit(&d->c);
	history_deinit(&d->h);
	model_destroy(d->m);
	free(d->words);
}

static inline void desk_draw(struct desk *d)
{
	canvas_begin(&d->c, d->width, d->height, &d->ui.style);
	ui_draw(&d->ui, &d->s, &d->c);
	CHECK(!d->c.failed);
}

/* The picture becomes the desk's, and the one before goes once it is drawn no more. */
static inline void desk_take(struct desk *d, struct model *m)
{
	struct model *before = d->m;

	d->m = m;
	d->s.m = picture_done(m);
	history_add(&d->h, m);
	desk_draw(d);
	model_destroy(before);
}

/* As the terminal's owner does: what changes is drawn. A set of enum react. */
static inline unsigned desk_event(struct desk *d, int32_t press, unsigned x, unsigned y)
{
	const struct press_event event = {press, x, y};
	unsigned react = ui_press(&d->ui, &d->s, &event);

	if (react & REACT_DRAW)
		desk_draw(d);
	return react;
}

static inline unsigned desk_press(struct desk *d, int32_t press)
{
	return desk_event(d, press, 0, 0);
}

/* Characters of the prompt, each a key. */
static inline void desk_type(struct desk *d, const char *words)
{
	for (size_t at = 0; words[at];)
		desk_press(d, utf8_decode(words, strlen(words), &at));
}

/* Without blanks at the end; until the next call. */
static inline const char *desk_line(struct desk *d, uint32_t line)
{
	struct str words = line < d->c.count ? canvas_words(&d->c, line) : STR_LIT("(no line)");

	while (words.len && words.ptr[words.len - 1] == ' ')
		words.len--;
	free(d->words);
	d->words = strndup(words.ptr, words.len);
	return d->words;
}

/* The line that has it; NONE. */
static inline uint32_t desk_find(struct desk *d, const char *part)
{
	for (uint32_t i = 0; i < d->c.count; i++) {
		if (strstr(desk_line(d, i), part))
			return i;
	}
	return NONE;
}

/* The line that the keys act on; NONE. */
static inline uint32_t desk_selected(const struct desk *d)
{
	for (uint32_t i = 0; i < d->c.count; i++) {
		if (d->c.v[i].role == LINE_SELECTED)
			return i;
	}
	return NONE;
}

/* Columns that a line takes. */
static inline unsigned desk_columns(const struct desk *d, uint32_t line)
{
	unsigned used = 0;
	size_t at = 0;
	struct glyph g;

	while (glyph_next(canvas_words(&d->c, line), &at, &g))
		used += g.width;
	return used;
}

/* The first column of the rows on the screen, "a|>b" where b is selected. Names must be shorter than the column. */
static inline void check_names(struct desk *d, const char *want, const char *file, int line)
{
	struct text t = {0};

	for (uint32_t i = 0; i < d->c.count; i++) {
		const char *words, *end;

		if (d->c.v[i].row == NO_ROW)
			continue;
		words = desk_line(d, i);
		end = strstr(words + strspn(words, " "), "  ");
		text_add(&t, t.len ? "|" : "");
		text_add(&t, d->c.v[i].role == LINE_SELECTED ? ">" : "");
		text_add_bytes(&t, words, end ? (size_t)(end - words) : strlen(words));
	}
	check_text(t.v ? t.v : "", want, "names", file, line);
	text_deinit(&t);
}

#define CHECK_NAMES(d, want) check_names((d), (want), __FILE__, __LINE__)

#endif
