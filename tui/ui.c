/* SPDX-License-Identifier: Apache-2.0 */
/* From state and scene to one picture; what the keys do is in actions.c. */
#include "tui/ui.h"

#include "tui/view.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void (*const views[VIEWS])(struct ui *, const struct scene *, struct canvas *) = {
	[VIEW_OVERVIEW] = view_overview, [VIEW_TASK] = view_task,
	[VIEW_LOOP] = view_loop,	 [VIEW_THREADS] = view_threads,
	[VIEW_FINDINGS] = view_findings, [VIEW_PROCESSES] = view_processes,
	[VIEW_SORT] = view_sort,	 [VIEW_HELP] = view_help,
};

void ui_init(struct ui *u, const struct text_style *style, double rate)
{
	*u = (struct ui){.style = *style, .rate = rate, .rows = {.fold = true, .sort = SORT_NAME}};
}

void ui_forget(struct ui *u)
{
	rows_deinit(&u->table);
	u->drawn = NULL;
}

void ui_deinit(struct ui *u)
{
	ui_forget(u);
	free(u->line_rows);
}

void ui_say(struct ui *u, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(u->message, sizeof(u->message), format, args);
	va_end(args);
}

/* What stands where, for the mouse. */
static void remember_lines(struct ui *u, const struct canvas *c)
{
	uint32_t *rows = realloc(u->line_rows, (c->count + 1ul) * sizeof(*rows));

	u->line_count = rows ? c->count : 0;
	if (rows)
		u->line_rows = rows;
	for (uint32_t i = 0; i < u->line_count; i++)
		u->line_rows[i] = c->v[i].row;
	memcpy(u->headings, c->headings, sizeof(u->headings));
	u->heading_count = c->heading_count;
	u->foot_line = c->count ? c->count - 1 : 0;
	u->width = c->width;
}

void ui_draw(struct ui *u, const struct scene *s, struct canvas *c)
{
	bool needs_picture = u->view != VIEW_HELP && u->view != VIEW_PROCESSES &&
			     u->view != VIEW_SORT;

	/* Other screens are drawn of newer pictures: that of the table may go. */
	if (u->view != VIEW_OVERVIEW)
		ui_forget(u);
	view_title(u, s, c);
	if (s->m || !needs_picture)
		views[u->view](u, s, c);
	if (c->height)
		view_foot(u, s, c);
	canvas_end(c);
	c->shift = u->view == VIEW_OVERVIEW ? 0 : u->shift;
	remember_lines(u, c);
}
