/* SPDX-License-Identifier: Apache-2.0 */
/* Names, states, waits and places, cut for the eye; whatever comes from the target passes text_safe. */
#include "report/task_text.h"

#include "model/names.h"
#include "report/await_text.h"

#include <math.h>

#define PLACE_COLUMNS 100

static const char *ellipsis(const struct text_style *s)
{
	return s->utf8 ? " … " : " .. ";
}

static void name_of(struct text *t, const struct text_style *s, const struct task *task,
		    size_t columns)
{
	if (!task->name.ptr)
		text_printf(t, "(name unreadable) 0x%llx", (unsigned long long)task->id);
	else if (!task->name.len)
		text_add(t, "\"\"");
	else
		text_safe(t, s, task->name, columns);
}

/* Columns below which two names and what stands between them are cut too much. */
#define TWO_NAMES 18u

void task_names(struct text *t, const struct text_style *s, const struct model *m,
		const struct group *g, size_t columns)
{
	const struct task *low = &m->tasks.v[g->low], *high = &m->tasks.v[g->high];
	size_t between, both;

	if (g->count == 1 || str_equal(low->name, high->name)) {
		name_of(t, s, low, columns);
		return;
	}
	between = text_width(s, str_from(ellipsis(s)), columns);
	both = text_width(s, low->name, columns) + between + text_width(s, high->name, columns);
	/* One name in whole says more than parts of two. */
	if (both > columns && columns < TWO_NAMES) {
		name_of(t, s, low, columns > between + 2 ? columns - between : 2);
		text_add(t, s->utf8 ? " …" : " ..");
		return;
	}
	if (both > columns)
		columns = (columns - between) / 2;
	name_of(t, s, low, columns);
	text_add(t, ellipsis(s));
	name_of(t, s, high, columns);
}

static void mark(struct text *t, size_t start, const char *words)
{
	if (t->len > start)
		text_add(t, ", ");
	text_add(t, words);
}

void task_marks(struct text *t, const struct text_style *s, const struct model *m,
		const struct group *g)
{
	const struct task *task = &m->tasks.v[g->low];
	size_t start = t->len;

	(void)s;
	if (task->state == TASK_UNKNOWN)
		mark(t, start, "state unreadable");
	else if (task->state != TASK_PENDING)
		mark(t, start, task_state_name(task->state));
	if (task->cancelling == 1)
		mark(t, start, "cancel requested");
	else if (task->cancelling > 1) {
		mark(t, start, "cancel requested ");
		text_number(t, task->cancelling);
		text_add(t, " times");
	}
	if (task->must_cancel)
		mark(t, start, "cancelled at its next step");
	if (task->damaged)
		mark(t, start, "partly unreadable");
}

void task_left(struct text *t, const struct text_style *s, const struct group *g)
{
	if (isnan(g->left_low))
		return;
	text_duration(t, s, fmax(g->left_low, 0));
	if (g->left_high - g->left_low < 0.1)
		return;
	text_add(t, ellipsis(s));
	text_duration(t, s, fmax(g->left_high, 0));
}

void task_waits(struct text *t, const struct text_style *s, const struct model *m,
		const struct group *g, bool with_time)
{
	struct await a = m->tasks.v[g->low].awaits;

	if (a.kind == AWAITS_NOTHING)
		return;
	if (!with_time)
		a.left = NAN;
	await_text_range(t, s, m, &a, with_time ? g->left_low : NAN,
			 with_time ? g->left_high : NAN);
	if (g->objects > 1) {
		text_add(t, " (");
		text_number(t, g->objects);
		text_add(t, " different ones)");
	} else if (g->details_differ) {
		text_add(t, " (and others like it)");
	}
}

uint32_t task_own_frame(const struct model *m, uint32_t chain)
{
	uint32_t innermost = chain == NONE ? NONE : m->chains.v[chain].frame;

	for (; chain != NONE; chain = m->chains.v[chain].outer) {
		if (!m->frames.v[m->chains.v[chain].frame].library)
			return m->chains.v[chain].frame;
	}
	return innermost;
}

size_t frame_function(struct text *t, const struct text_style *s, const struct frame *f,
		      size_t columns)
{
	if (!f->function.ptr) {
		text_add(t, "?");
		return 1;
	}
	return text_safe(t, s, f->function, columns);
}

void frame_place(struct text *t, const struct text_style *s, const struct paths *p,
		 const struct frame *f)
{
	bool cut;
	struct str file = paths_short(p, f->file, &cut);

	if (cut)
		text_add(t, s->utf8 ? "…/" : "../");
	if (file.len)
		text_safe(t, s, file, PLACE_COLUMNS);
	else
		text_add(t, "?");
	if (f->line > 0)
		text_printf(t, ":%d", f->line);
}
