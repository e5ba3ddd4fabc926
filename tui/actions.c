/* SPDX-License-Identifier: Apache-2.0 */
/* What each key does to the state, and what it asks of the caller. */
#include "tui/ui.h"

#include "tui/actions.h"
#include "tui/view.h"

#include <stdio.h>
#include <string.h>

#define SHIFT_STEP 8u
#define SHIFT_MOST 400u

static const double rates[] = {0.2, 0.5, 1, 2, 4, 5, 10};

#define RATES (sizeof(rates) / sizeof(*rates))

static bool selects(enum view v)
{
	return v == VIEW_OVERVIEW || v == VIEW_PROCESSES || v == VIEW_SORT;
}

static void select_row(struct ui *u, uint32_t row)
{
	struct list *l = &u->lists[u->view];

	l->selected = row;
	if (u->view != VIEW_OVERVIEW || row >= u->table.count)
		return;
	u->task = u->table.m->tasks.v[u->table.v[row].g.low].id;
	u->on_group = u->table.v[row].g.count > 1;
}

static void move(struct ui *u, int64_t by)
{
	struct list *l = &u->lists[u->view];
	int64_t last = selects(u->view) ? (int64_t)l->count - 1 : (int64_t)l->count - l->page;
	int64_t at = (int64_t)(selects(u->view) ? l->selected : l->top) + by;

	at = at > last ? last : at;
	at = at < 0 ? 0 : at;
	if (selects(u->view))
		select_row(u, (uint32_t)at);
	else
		l->top = (uint32_t)at;
}

static void show(struct ui *u, enum view view)
{
	if (u->view == view)
		return;
	if (u->view == VIEW_OVERVIEW || u->view == VIEW_TASK || u->view == VIEW_LOOP ||
	    u->view == VIEW_THREADS || u->view == VIEW_FINDINGS)
		u->back = u->view;
	u->view = view;
	u->shift = 0;
	if (view != VIEW_OVERVIEW)
		u->lists[view].top = 0;
}

static void open_group(struct ui *u, const struct row *row)
{
	struct row_options *o = &u->rows;
	uint64_t sign = rows_sign(&u->table, row);
	uint32_t kept = 0;

	u->on_group = true;
	if (row->opened) {
		for (uint32_t i = 0; i < o->opened_count; i++) {
			if (o->opened[i] != sign)
				o->opened[kept++] = o->opened[i];
		}
		o->opened_count = kept;
		return;
	}
	if (o->opened_count == OPENED_MOST)
		memmove(o->opened, o->opened + 1, --o->opened_count * sizeof(*o->opened));
	o->opened[o->opened_count++] = sign;
}

static unsigned enter_overview(struct ui *u)
{
	struct list *l = &u->lists[VIEW_OVERVIEW];
	const struct row *row = l->selected < u->table.count ? &u->table.v[l->selected] : NULL;

	if (!row)
		return REACT_DRAW;
	if (row->g.count > 1 && !u->rows.tree)
		open_group(u, row);
	else
		show(u, VIEW_TASK);
	return REACT_DRAW;
}

static unsigned enter(struct ui *u, const struct scene *s)
{
	switch (u->view) {
	case VIEW_OVERVIEW:
		return enter_overview(u);
	case VIEW_SORT:
		u->rows.sort = (enum sort_column)u->lists[VIEW_SORT].selected;
		u->rows.reverse = false;
		show(u, VIEW_OVERVIEW);
		return REACT_DRAW;
	case VIEW_PROCESSES:
		if (u->lists[VIEW_PROCESSES].selected >= s->process_count)
			return REACT_DRAW;
		u->process = s->processes[u->lists[VIEW_PROCESSES].selected].pid;
		u->task = u->loop = 0;
		show(u, VIEW_OVERVIEW);
		return REACT_DRAW | REACT_PROCESS;
	case VIEW_HELP:
		show(u, u->back);
		return REACT_DRAW;
	default:
		return 0;
	}
}

static void back(struct ui *u)
{
	if (u->view == VIEW_OVERVIEW)
		u->filter[0] = 0;
	else if (u->view == VIEW_HELP || u->view == VIEW_SORT || u->view == VIEW_PROCESSES)
		show(u, u->back);
	else
		show(u, VIEW_OVERVIEW);
}

/* Of the picture that is there now, where the table is not shown. */
static void search(struct ui *u, const struct scene *s, bool next)
{
	struct list *l = &u->lists[VIEW_OVERVIEW];
	uint32_t found;

	if (!u->search[0]) {
		ui_say(u, "nothing to search for yet: F3 or / begins");
		return;
	}
	show(u, VIEW_OVERVIEW);
	if (!u->drawn && s->m && !view_table_make(u, s))
		return;
	found = rows_search(&u->table, u->search,
			    u->table.count ? (l->selected + next) % u->table.count : 0);
	if (found == NONE)
		ui_say(u, "nothing has \"%s\"", u->search);
	else
		select_row(u, found);
}

/* To the next step of the scale; a rate beyond its ends, which the command line may ask for, does not turn round. */
static void change_rate(struct ui *u, bool faster)
{
	double to = u->rate;

	for (size_t i = 0; i < RATES; i++) {
		double rate = rates[faster ? RATES - 1 - i : i];

		if (faster ? rate > u->rate : rate < u->rate)
			to = rate;
	}
	u->rate = to;
	ui_say(u, "%g pictures a second", u->rate);
}

static void next_loop(struct ui *u, const struct scene *s)
{
	uint32_t row = s->m ? model_find_loop(s->m, u->loop) : NONE;

	if (!s->m || !s->m->loops.count)
		return;
	row = row == NONE ? 0 : (row + 1) % s->m->loops.count;
	u->loop = s->m->loops.v[row].id;
	u->lists[VIEW_LOOP].top = 0;
}

static void begin_prompt(struct ui *u, enum prompt prompt)
{
	show(u, VIEW_OVERVIEW);
	u->prompt = prompt;
	if (prompt == PROMPT_SEARCH)
		u->search[0] = 0;
}

static unsigned act_on_table(struct ui *u, enum action a)
{
	switch (a) {
	case ACT_SEARCH:
		begin_prompt(u, PROMPT_SEARCH);
		break;
	case ACT_FILTER:
		begin_prompt(u, PROMPT_FILTER);
		break;
	case ACT_TREE:
		u->rows.tree = !u->rows.tree;
		break;
	case ACT_REVERSE:
		u->rows.reverse = !u->rows.reverse;
		break;
	case ACT_FOLD:
		u->rows.fold = !u->rows.fold;
		ui_say(u, u->rows.fold ? "alike ones as one row" : "one by one");
		break;
	case ACT_SORT:
		show(u, VIEW_SORT);
		u->lists[VIEW_SORT].selected = u->rows.sort;
		break;
	default:
		return 0;
	}
	return REACT_DRAW;
}

static unsigned act_on_place(struct ui *u, enum action a)
{
	struct list *l = &u->lists[u->view];
	int64_t page = l->page > 1 ? (int64_t)l->page - 1 : 1;

	switch (a) {
	case ACT_UP:
		move(u, -1);
		break;
	case ACT_DOWN:
		move(u, 1);
		break;
	case ACT_PAGE_UP:
		move(u, -page);
		break;
	case ACT_PAGE_DOWN:
		move(u, page);
		break;
	case ACT_HOME:
		move(u, -(int64_t)UINT32_MAX);
		break;
	case ACT_END:
		move(u, UINT32_MAX);
		break;
	case ACT_LEFT:
		u->shift = u->shift > SHIFT_STEP ? u->shift - SHIFT_STEP : 0;
		break;
	case ACT_RIGHT:
		u->shift = u->shift + SHIFT_STEP < SHIFT_MOST ? u->shift + SHIFT_STEP : SHIFT_MOST;
		break;
	default:
		return act_on_table(u, a);
	}
	return REACT_DRAW;
}

unsigned ui_act(struct ui *u, const struct scene *s, enum action a)
{
	switch (a) {
	case ACT_NONE:
		return 0;
	case ACT_QUIT:
		return REACT_QUIT;
	case ACT_SAVE:
		return REACT_SAVE | REACT_DRAW;
	case ACT_HOLD:
		u->held = !u->held;
		return REACT_HOLD | REACT_DRAW;
	case ACT_ENTER:
		return enter(u, s);
	case ACT_BACK:
		back(u);
		return REACT_DRAW;
	case ACT_OVERVIEW:
	case ACT_TASK:
	case ACT_LOOP:
	case ACT_THREADS:
	case ACT_FINDINGS:
	case ACT_PROCESSES:
		show(u, (enum view)(VIEW_OVERVIEW + (a - ACT_OVERVIEW)));
		return REACT_DRAW;
	case ACT_HELP:
		show(u, u->view == VIEW_HELP ? u->back : VIEW_HELP);
		return REACT_DRAW;
	case ACT_NEXT_FOUND_OR_NATIVE:
		if (u->view == VIEW_THREADS)
			return REACT_NATIVE | REACT_DRAW;
		search(u, s, true);
		return REACT_DRAW;
	case ACT_NEXT_ONE:
		next_loop(u, s);
		return REACT_DRAW;
	case ACT_FASTER:
	case ACT_SLOWER:
		change_rate(u, a == ACT_FASTER);
		return REACT_DRAW;
	default:
		return act_on_place(u, a);
	}
}

void ui_select(struct ui *u, uint32_t row)
{
	if (selects(u->view) && row < u->lists[u->view].count)
		select_row(u, row);
}

void ui_search(struct ui *u, const struct scene *s, bool next)
{
	search(u, s, next);
}

void ui_move(struct ui *u, int64_t by)
{
	move(u, by);
}
