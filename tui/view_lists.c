/* SPDX-License-Identifier: Apache-2.0 */
/* Short lists to choose from or to read: processes, columns to sort by, keys. */
#include "tui/view.h"

static struct text *list_line(struct ui *u, struct canvas *c, enum view view, uint32_t row)
{
	bool selected = u->lists[view].selected == row && c->height;

	return canvas_line(c, selected ? LINE_SELECTED : LINE_PLAIN, row);
}

static uint32_t list_begin(struct ui *u, struct canvas *c, enum view view, uint32_t count)
{
	uint32_t left = canvas_left(c), page = left == UINT32_MAX ? count : left > 2 ? left - 2 : 0;

	list_fit(&u->lists[view], count, page, true);
	return u->lists[view].top + page < count ? u->lists[view].top + page : count;
}

void view_processes(struct ui *u, const struct scene *s, struct canvas *c)
{
	uint32_t end;

	if (!s->process_count) {
		text_add(
			canvas_line(c, LINE_PLAIN, NO_ROW),
			"no processes to choose from: aiotrace top --children PID lists those below PID");
		return;
	}
	text_add(canvas_line(c, LINE_HEADINGS, NO_ROW), "  PID      COMMAND   (Enter: look at it)");
	end = list_begin(u, c, VIEW_PROCESSES, s->process_count);
	for (uint32_t i = u->lists[VIEW_PROCESSES].top; i < end; i++) {
		struct text *t = list_line(u, c, VIEW_PROCESSES, i);

		text_printf(t, "%c %-8d ", s->processes[i].pid == u->process ? '*' : ' ',
			    (int)s->processes[i].pid);
		text_safe(t, &c->style, str_from(s->processes[i].command), 300);
	}
}

void view_sort(struct ui *u, const struct scene *s, struct canvas *c)
{
	uint32_t end;

	(void)s;
	text_add(canvas_line(c, LINE_HEADINGS, NO_ROW), "sort by (Enter: take it, Esc: back)");
	end = list_begin(u, c, VIEW_SORT, SORT_COLUMNS);
	for (uint32_t i = u->lists[VIEW_SORT].top; i < end; i++)
		text_printf(list_line(u, c, VIEW_SORT, i), "%c %s", u->rows.sort == i ? '*' : ' ',
			    sort_column_title((enum sort_column)i));
}

void view_help(struct ui *u, const struct scene *s, struct canvas *c)
{
	struct text body = {0};

	(void)s;
	for (const struct key_row *k = key_rows; k->action; k++)
		text_printf(&body, "%-10s %s\n", k->keys, k->help);
	text_add(
		&body,
		"mouse      select a row, twice opens it; a column's title sorts; the wheel scrolls; the foot's words are keys\n"
		"\n"
		"Times and steps are as sampled: a task that came where it is before it was first seen is marked with >,\n"
		"and it moved at least as often as the steps say. Lag: how late is what is due next.\n");
	view_scroll(u, c, VIEW_HELP, text_str(&body), 2, true);
	text_deinit(&body);
}
