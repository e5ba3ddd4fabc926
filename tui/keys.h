/* SPDX-License-Identifier: Apache-2.0 */
/* One table of keys: what they do, and their words in the footer and on the help screen. */
#ifndef AIOTRACE_TUI_KEYS_H
#define AIOTRACE_TUI_KEYS_H

#include <stdbool.h>
#include <stdint.h>

/* Keys that are no character; from a place on where no character is. */
enum press {
	PRESS_NONE = 0,
	PRESS_ENTER = '\n',
	PRESS_ESCAPE = 27,
	PRESS_UP = 0x110000,
	PRESS_DOWN,
	PRESS_LEFT,
	PRESS_RIGHT,
	PRESS_PAGE_UP,
	PRESS_PAGE_DOWN,
	PRESS_HOME,
	PRESS_END,
	PRESS_BACKSPACE,
	PRESS_DELETE,
	PRESS_MOUSE, /* a click, at x and y */
	PRESS_MOUSE_TWICE,
	PRESS_WHEEL_UP,
	PRESS_WHEEL_DOWN,
	PRESS_F1, /* to F10 */
	PRESS_F10 = PRESS_F1 + 9
};

struct press_event {
	int32_t press; /* a character or enum press */
	unsigned x, y; /* mouse */
};

enum action {
	ACT_NONE,
	ACT_UP,
	ACT_DOWN,
	ACT_LEFT,
	ACT_RIGHT,
	ACT_PAGE_UP,
	ACT_PAGE_DOWN,
	ACT_HOME,
	ACT_END,
	ACT_ENTER,
	ACT_BACK,
	ACT_OVERVIEW,
	ACT_TASK,
	ACT_LOOP,
	ACT_THREADS,
	ACT_FINDINGS,
	ACT_PROCESSES,
	ACT_HELP,
	ACT_SEARCH,
	ACT_NEXT_FOUND_OR_NATIVE,
	ACT_FILTER,
	ACT_TREE,
	ACT_SORT,
	ACT_REVERSE,
	ACT_FOLD,
	ACT_NEXT_ONE,
	ACT_HOLD,
	ACT_FASTER,
	ACT_SLOWER,
	ACT_SAVE,
	ACT_QUIT
};

struct key_row {
	int32_t presses[4]; /* 0 ends them */
	enum action action;
	const char *keys; /* as the help screen names them */
	const char *foot_key, *foot; /* in the footer; NULL: not there */
	const char *help;
};

/* Ends with a row without an action. */
extern const struct key_row key_rows[];

enum action key_action(int32_t press);
/* The key that the footer names at this place: the row of that number among those that it shows; NULL past the last. */
const struct key_row *key_foot(unsigned number);

#endif
