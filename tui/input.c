/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, letters typed at a prompt, and the mouse, as actions. */
#include "tui/ui.h"

#include "tui/actions.h"

#include <stdio.h>
#include <string.h>

#define WHEEL 3

static char *prompt_text(struct ui *u)
{
	return u->prompt == PROMPT_SEARCH ? u->search : u->filter;
}

/* At most three bytes fewer than there is room for; a character is added whole or not at all. */
static void add_letter(char *to, int32_t c)
{
	size_t n = strlen(to);
	unsigned char b[4];
	size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	if (n + len >= INPUT_MOST)
		return;
	if (len == 1) {
		b[0] = (unsigned char)c;
	} else {
		for (size_t i = len - 1; i > 0; i--, c >>= 6)
			b[i] = (unsigned char)(0x80 | (c & 0x3f));
		b[0] = (unsigned char)((0xf00 >> len & 0xff) | c);
	}
	memcpy(to + n, b, len);
	to[n + len] = 0;
}

static void drop_letter(char *text)
{
	size_t n = strlen(text);

	while (n > 0 && (text[n - 1] & 0xc0) == 0x80)
		n--;
	text[n ? n - 1 : 0] = 0;
}

/* Searching and filtering as the letters come. */
static unsigned press_prompt(struct ui *u, const struct scene *s, int32_t press)
{
	char *text = prompt_text(u);

	switch (press) {
	case PRESS_ENTER:
	case '\r':
		u->prompt = PROMPT_NONE;
		return REACT_DRAW;
	case PRESS_ESCAPE:
		text[0] = 0;
		u->prompt = PROMPT_NONE;
		return REACT_DRAW;
	case PRESS_BACKSPACE:
	case PRESS_DELETE:
		drop_letter(text);
		break;
	case PRESS_F1 + 2: /* F3: the next one */
		ui_search(u, s, true);
		return REACT_DRAW;
	case PRESS_UP:
	case PRESS_DOWN:
	case PRESS_PAGE_UP:
	case PRESS_PAGE_DOWN:
		return ui_act(u, s, key_action(press));
	default:
		if (press < 0x20 || press >= PRESS_UP)
			return 0;
		add_letter(text, press);
	}
	if (u->prompt == PROMPT_SEARCH)
		ui_search(u, s, false);
	return REACT_DRAW;
}

static unsigned press_heading(struct ui *u, unsigned x)
{
	for (unsigned i = 0; i < u->heading_count; i++) {
		const struct heading *h = &u->headings[i];

		if (x < h->from || x >= h->to)
			continue;
		u->rows.reverse = u->rows.sort == h->what && !u->rows.reverse;
		u->rows.sort = (enum sort_column)h->what;
		return REACT_DRAW;
	}
	return 0;
}

/* The footer's words, as view_foot lays them: key, word, blank. */
static unsigned press_foot(struct ui *u, const struct scene *s, unsigned x)
{
	const struct key_row *k;
	size_t at = 0;

	for (unsigned i = 0; (k = key_foot(i)) != NULL; i++) {
		at += strlen(k->foot_key) + strlen(k->foot) + 1;
		if (x < at)
			return ui_act(u, s, k->action);
	}
	return 0;
}

static unsigned click(struct ui *u, const struct scene *s, const struct press_event *e)
{
	uint32_t row = e->y < u->line_count ? u->line_rows[e->y] : NO_ROW;

	if (e->y == u->foot_line)
		return press_foot(u, s, e->x);
	if (row == NO_ROW) {
		/* Headings stand right above the first row. */
		bool above = u->view == VIEW_OVERVIEW && e->y + 1 < u->line_count &&
			     u->line_rows[e->y + 1] == u->lists[VIEW_OVERVIEW].top;

		return above ? press_heading(u, e->x) : 0;
	}
	ui_select(u, row);
	return e->press == PRESS_MOUSE_TWICE ? ui_act(u, s, ACT_ENTER) : REACT_DRAW;
}

unsigned ui_press(struct ui *u, const struct scene *s, const struct press_event *e)
{
	u->message[0] = 0;
	if (e->press == PRESS_WHEEL_UP || e->press == PRESS_WHEEL_DOWN) {
		ui_move(u, e->press == PRESS_WHEEL_UP ? -WHEEL : WHEEL);
		return REACT_DRAW;
	}
	if (u->prompt != PROMPT_NONE)
		return press_prompt(u, s, e->press);
	if (e->press == PRESS_MOUSE || e->press == PRESS_MOUSE_TWICE)
		return click(u, s, e);
	return ui_act(u, s, key_action(e->press)) | REACT_DRAW;
}
