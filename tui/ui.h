/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dashboard without its terminal: what the user chose, what the keys do to it, and what there is to see. Whoever owns the terminal hands in keys and the newest
 * picture, draws the canvas, and does what the answer to a key asks for, once.
 */
#ifndef AIOTRACE_TUI_UI_H
#define AIOTRACE_TUI_UI_H

#include "tui/canvas.h"
#include "tui/history.h"
#include "tui/keys.h"
#include "tui/rows.h"

enum view {
	VIEW_OVERVIEW,
	VIEW_TASK,
	VIEW_LOOP,
	VIEW_THREADS,
	VIEW_FINDINGS,
	VIEW_PROCESSES,
	VIEW_SORT,
	VIEW_HELP,
	VIEWS
};

/* What a key asks its caller to do. */
enum react {
	REACT_DRAW = 1 << 0,
	REACT_QUIT = 1 << 1,
	REACT_SAVE = 1 << 2, /* the picture as JSON to a file; then ui_say */
	REACT_HOLD = 1 << 3, /* ui.held has changed: keep the picture, or take the newest */
	REACT_PROCESS = 1 << 4, /* ui.process is to be looked at from now on */
	REACT_NATIVE = 1 << 5, /* one picture with native stacks, to be held */
};

/* What the process uses; NAN where it is not known. */
struct usage {
	double cpu; /* share of one CPU */
	double resident_bytes;
	double threads;
	double age; /* seconds */
};

struct process_row {
	pid_t pid;
	const char *command; /* as it is: not made printable */
};

/* All that can be shown. */
struct scene {
	const struct model *m; /* the newest picture; NULL: there is none yet */
	const struct history *h;
	struct usage usage;
	double wanted_rate; /* samples a second that were asked for */
	double blocked_after; /* seconds */
	unsigned max_pause_ms; /* the longest stop that is allowed */
	const char *clock; /* time of day of the picture, "12:03:04" */
	const char *note; /* how sampling goes, where there is something to say; "" */
	const char *ended; /* "process 17 ended (exit code 3) at 12:03:04"; "" while it runs */
	const struct process_row *processes; /* to choose from */
	uint32_t process_count;
	/* A line of a source file, without its newline; false where it is not there (or not yet). */
	bool (*source)(void *ctx, struct str file, int32_t line, struct str *ret);
	void *source_ctx;
};

enum prompt {
	PROMPT_NONE,
	PROMPT_SEARCH,
	PROMPT_FILTER
};

#define INPUT_MOST 128u

struct list {
	uint32_t selected, top; /* rows or lines */
	uint32_t count; /* as last drawn */
	uint32_t page; /* lines that it had on the screen */
};

struct ui {
	struct text_style style;
	enum view view, back; /* back: where help and sort return to */
	struct list lists[VIEWS];
	struct row_options rows;
	vaddr task; /* the selected one; 0 none */
	bool on_group; /* the selected row is the group of the task, open or not */
	vaddr loop; /* of the loop's screen; 0: the first */
	char filter[INPUT_MOST], search[INPUT_MOST];
	enum prompt prompt;
	bool held;
	unsigned shift;
	double rate; /* pictures a second */
	pid_t process;
	char message[256]; /* for the status line; "" none */
	struct rows table; /* as last drawn; on other screens than the overview there is none */
	const struct model *drawn; /* what the table is of, NULL none */
	struct heading headings[HEADINGS_MOST];
	unsigned heading_count;
	uint32_t *line_rows; /* the row of each line as last drawn */
	uint32_t line_count;
	unsigned foot_line, width;
};

void ui_init(struct ui *u, const struct text_style *style, double rate);
void ui_deinit(struct ui *u);
/* Draws on a canvas that canvas_begin has emptied. */
void ui_draw(struct ui *u, const struct scene *s, struct canvas *c);
/* A set of enum react. */
unsigned ui_press(struct ui *u, const struct scene *s, const struct press_event *event);
/* Words for the status line, until the next key; copied, and made printable when they are drawn. */
void ui_say(struct ui *u, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Before the picture that was last drawn goes away. */
void ui_forget(struct ui *u);

#endif
