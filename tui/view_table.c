/* SPDX-License-Identifier: Apache-2.0 */
/* The task table: columns as wide as the terminal allows; only the rows that are on the screen are put into words. */
#include "tui/view.h"

#include "model/names.h"
#include "report/task_text.h"

#include <math.h>
#include <string.h>

#define GAP	       1u
#define FUNCTION_LEAST 4u /* columns in which a function says something */

static const struct {
	unsigned least, share; /* columns; and parts of what is left on a wide terminal */
	unsigned drop_below; /* terminal width at which the column is left out */
	bool right;
} columns[SORT_COLUMNS] = {
	[SORT_NAME] = {16, 3, 0, false},  [SORT_STATE] = {8, 1, 60, false},
	[SORT_WAITS] = {22, 4, 0, false}, [SORT_SINCE] = {8, 0, 0, true},
	[SORT_STEPS] = {7, 0, 40, true},  [SORT_WHERE] = {14, 4, 50, false},
};

struct layout {
	unsigned width[SORT_COLUMNS]; /* 0: left out */
};

/* A tree takes room for its branches, and on a narrow terminal the steps give way to it. */
static struct layout layout_for(unsigned width, bool tree)
{
	unsigned branches = tree ? 10 : 0;
	struct layout l = {0};
	unsigned used = 0, shares = 0, spare;

	for (int i = 0; i < SORT_COLUMNS; i++) {
		if (width < columns[i].drop_below || (tree && i == SORT_STEPS && width < 100))
			continue;
		l.width[i] = columns[i].least + (i == SORT_NAME ? branches : 0);
		used += l.width[i] + GAP;
		shares += columns[i].share;
	}
	spare = width > used ? width - used : 0;
	for (int i = 0; i < SORT_COLUMNS; i++) {
		if (l.width[i])
			l.width[i] += spare * columns[i].share / shares;
	}
	return l;
}

static void add_state(struct text *t, const struct text_style *style, const struct scene *s,
		      const struct row *row)
{
	const struct task *task = &s->m->tasks.v[row->g.low];

	if (task->state == TASK_PENDING && !task->cancelling && !task->must_cancel &&
	    !task->damaged)
		text_add(t, "pending");
	else
		task_marks(t, style, s->m, &row->g);
}

static void add_name(struct text *t, const struct text_style *style, const struct scene *s,
		     const struct row *row, unsigned width)
{
	struct text count = {0};
	unsigned left = width;

	if (row->g.count > 1) {
		text_printf(&count, "%s ", row->opened ? "-" : "+");
		text_add(&count, style->utf8 ? "×" : "x");
		text_number(&count, row->g.count);
		text_add(&count, " ");
		text_add_bytes(t, count.v, count.len);
		left -= (unsigned)text_width(style, text_str(&count), width);
		text_deinit(&count);
	}
	task_names(t, style, s->m, &row->g, left);
}

static void add_since(struct text *t, const struct text_style *style, const struct scene *s,
		      const struct row *row)
{
	if (isnan(row->since) || row->since > s->h->last)
		return;
	/* It stood there when it was first seen: since then at least. */
	if (!row->since_known)
		text_add(t, ">");
	text_duration(t, style, s->h->last - row->since);
}

/* Its end, where it is too wide: that says most. */
static void keep_end(struct text *t, const struct text_style *style, unsigned width)
{
	const char *mark = style->utf8 ? "…" : "..";
	unsigned room = width - (style->utf8 ? 1 : 2);
	struct str rest = text_str(t);
	struct text kept = {0};

	if (text_width(style, rest, width + 1ul) <= width)
		return;
	while (rest.len && text_width(style, rest, width) > room) {
		do {
			rest.ptr++;
			rest.len--;
		} while (rest.len && ((unsigned char)*rest.ptr & 0xc0) == 0x80);
	}
	text_add(&kept, mark);
	text_add_bytes(&kept, rest.ptr, rest.len);
	text_clear(t);
	text_add_bytes(t, kept.v, kept.len);
	t->failed |= kept.failed;
	text_deinit(&kept);
}

/* The line is never cut: where the column is narrow the path's beginning and the function give way. */
static void add_where(struct text *t, const struct text_style *style, const struct scene *s,
		      const struct ui *u, const struct row *row, unsigned width)
{
	const struct model *m = s->m;
	uint32_t frame = task_own_frame(m, m->tasks.v[row->g.low].chain);

	if (frame == NONE)
		return;
	frame_place(t, style, &u->table.paths, &m->frames.v[frame]);
	keep_end(t, style, width);
	if (text_width(style, text_str(t), width) + FUNCTION_LEAST >= width)
		return;
	text_add(t, " ");
	frame_function(t, style, &m->frames.v[frame], 80);
}

static void add_waits(struct text *t, const struct text_style *style, const struct scene *s,
		      const struct row *row)
{
	const struct await *a = &s->m->tasks.v[row->g.low].awaits;
	const char *kind = await_kind_name(a->kind);
	size_t before = t->len;

	if (row->kind == ROW_ELSEWHERE) {
		text_add(t, "(shown above)");
		return;
	}
	task_waits(t, style, s->m, &row->g, true);
	if (t->len == before && kind)
		text_add(t, kind);
}

static void add_cell(struct text *t, const struct text_style *style, const struct ui *u,
		     const struct scene *s, const struct row *row, enum sort_column column,
		     unsigned width)
{
	switch (column) {
	case SORT_NAME:
		add_name(t, style, s, row, width);
		break;
	case SORT_STATE:
		add_state(t, style, s, row);
		break;
	case SORT_WAITS:
		add_waits(t, style, s, row);
		break;
	case SORT_SINCE:
		add_since(t, style, s, row);
		break;
	case SORT_STEPS:
		if (!isnan(row->steps))
			text_printf(t, "%.1f", row->steps);
		break;
	default:
		add_where(t, style, s, u, row, width);
	}
}

/* Branches of the tree, or the indent of a member. */
static unsigned add_branches(struct text *t, const struct text_style *style, const struct row *row,
			     bool tree, unsigned width)
{
	unsigned used = 0;

	if (row->kind == ROW_MEMBER) {
		text_add(t, "  ");
		return 2;
	}
	for (uint32_t i = 0; tree && i <= row->depth && i < 64 && used + 3 < width; i++) {
		bool on = row->lines >> i & 1;

		if (i == row->depth)
			text_add(t, on ? (style->utf8 ? "├─" : "|-") : (style->utf8 ? "└─" : "`-"));
		else
			text_add(t, on ? (style->utf8 ? "│ " : "| ") : "  ");
		used += 2;
	}
	return used;
}

static enum text_color color_of(enum sort_column c, const struct scene *s, const struct row *row)
{
	const struct task *task = &s->m->tasks.v[row->g.low];

	if (c == SORT_NAME)
		return COLOR_NAME;
	if (c == SORT_WAITS)
		return COLOR_WAIT;
	if (c == SORT_STATE && (task->cancelling || task->must_cancel || task->damaged))
		return COLOR_BAD;
	if (c == SORT_STATE && task->state == TASK_RUNNING)
		return COLOR_GOOD;
	return COLOR_PLAIN;
}

static void add_row(const struct ui *u, const struct scene *s, struct canvas *c,
		    const struct layout *layout, uint32_t number, struct text *cell)
{
	const struct row *row = &u->table.v[number];
	bool selected = number == u->lists[VIEW_OVERVIEW].selected && c->height;
	struct text *t = canvas_line(c, selected ? LINE_SELECTED : LINE_PLAIN, number);

	for (enum sort_column i = 0; i < SORT_COLUMNS; i++) {
		unsigned width = layout->width[i], used = 0;

		if (!width)
			continue;
		if (i == SORT_NAME)
			used = add_branches(t, &c->style, row, u->rows.tree, width);
		text_clear(cell);
		if (i <= SORT_NAME || row->kind != ROW_ELSEWHERE || i == SORT_WAITS)
			add_cell(cell, &c->style, u, s, row, i, width - used);
		if (columns[i].right)
			text_spaces(t, width - text_width(&c->style, text_str(cell), width));
		text_color(t, &c->style, color_of(i, s, row));
		used += (unsigned)text_safe(t, &c->style, text_str(cell), width - used);
		text_color(t, &c->style, COLOR_PLAIN);
		if (!columns[i].right)
			text_spaces(t, width - used);
		text_spaces(t, GAP);
	}
}

static void add_headings(struct ui *u, struct canvas *c, const struct layout *layout)
{
	struct text *t = canvas_line(c, LINE_HEADINGS, NO_ROW);
	unsigned at = 0;

	for (enum sort_column i = 0; i < SORT_COLUMNS; i++) {
		const char *title = sort_column_title(i);
		bool sorted = u->rows.sort == i;
		unsigned width = layout->width[i], len = (unsigned)strlen(title) + (sorted ? 1 : 0);

		if (!width)
			continue;
		c->headings[c->heading_count++] = (struct heading){at, at + width, i};
		if (columns[i].right && width > len)
			text_spaces(t, width - len);
		text_add(t, title);
		if (sorted)
			text_add(t, u->rows.reverse ? (c->style.utf8 ? "△" : "^")
						    : (c->style.utf8 ? "▽" : "v"));
		if (!columns[i].right && width > len)
			text_spaces(t, width - len);
		text_spaces(t, GAP);
		at += width + GAP;
	}
}

/* The selection stays with its task, wherever that goes, and comes back to one that a picture lacks. */
static void follow_selection(struct ui *u)
{
	struct list *l = &u->lists[VIEW_OVERVIEW];
	uint32_t row = u->task ? rows_find(&u->table, u->task, u->on_group) : NONE;

	if (row != NONE)
		l->selected = row;
	if (l->selected >= u->table.count)
		l->selected = u->table.count ? u->table.count - 1 : 0;
	if (row == NONE && u->table.count && !history_task_missed(u->table.h, u->task)) {
		const struct group *g = &u->table.v[l->selected].g;

		u->task = u->table.m->tasks.v[g->low].id;
		u->on_group = g->count > 1;
	}
}

bool view_table_make(struct ui *u, const struct scene *s)
{
	ui_forget(u);
	u->rows.filter = u->filter;
	if (rows_init(&u->table, s->m, s->h, &u->rows) != ERR_OK)
		return false;
	u->drawn = s->m;
	follow_selection(u);
	return true;
}

void view_table(struct ui *u, const struct scene *s, struct canvas *c, unsigned below)
{
	struct list *l = &u->lists[VIEW_OVERVIEW];
	struct layout layout = layout_for(c->width ? c->width : 160, u->rows.tree);
	struct text cell = {0};
	uint32_t left, end;

	if (!view_table_make(u, s)) {
		c->failed = true;
		return;
	}
	add_headings(u, c, &layout);
	left = canvas_left(c);
	left = left == UINT32_MAX ? u->table.count : left > below ? left - below : 0;
	list_fit(l, u->table.count, left, true);
	end = l->top + left < u->table.count ? l->top + left : u->table.count;
	for (uint32_t i = l->top; i < end; i++)
		add_row(u, s, c, &layout, i, &cell);
	if (!u->table.count) {
		struct text *t = canvas_line(c, LINE_PLAIN, NO_ROW);

		text_add(t, s->m->tasks.count	? "no task has these letters (Esc drops the filter)"
			    : s->m->loops.count ? "no tasks"
						: "no asyncio loop in this process yet");
	}
	text_deinit(&cell);
}
