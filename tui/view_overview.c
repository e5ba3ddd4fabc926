/* SPDX-License-Identifier: Apache-2.0 */
/* The first screen: loops, findings worst first, tasks. On a small terminal each part gives way to the tasks. */
#include "tui/view.h"

#include <string.h>

#define LOOPS_WITH_GRAPHS 2u
#define LOOPS_MOST	  6u
#define FINDINGS_SHOWN	  4u
#define TASK_LINES_LEAST  8u

static void add_loops(const struct scene *s, struct canvas *c)
{
	const struct model *m = s->m;
	uint32_t most = c->height && c->height < 40 ? LOOPS_MOST / 2 : LOOPS_MOST;

	for (uint32_t i = 0; i < m->loops.count && i < most; i++)
		view_loop_lines(s, c, &m->loops.v[i], m->loops.count <= LOOPS_WITH_GRAPHS);
	if (m->loops.count > most)
		text_printf(canvas_line(c, LINE_PLAIN, NO_ROW), "and %u more loops (3 shows each)",
			    m->loops.count - most);
}

static void finding_words(struct text *t, const struct scene *s, const struct canvas *c,
			  const struct finding_track *f)
{
	struct str words = text_str(&f->headline);

	if (f->standing) {
		text_color(t, &c->style,
			   f->severity == SEVERITY_CRITICAL  ? COLOR_BAD
			   : f->severity == SEVERITY_WARNING ? COLOR_WARN
							     : COLOR_PLAIN);
		text_add(t, "for ");
		text_duration(t, &c->style, finding_track_stood(f));
	} else {
		text_add(t, "gone ");
		text_duration(t, &c->style, s->h->last - f->last);
		text_add(t, finding_track_stood(f) > 0 ? " ago, stood " : " ago, seen once");
		if (finding_track_stood(f) > 0)
			text_duration(t, &c->style, finding_track_stood(f));
	}
	if (f->brief && f->watched.windows) {
		text_add(t, ", ");
		text_number(t, f->watched.windows);
		text_add(t, f->watched.windows == 1 ? " window" : " windows");
	} else if (f->times > 1) {
		text_printf(t, ", %llu times", (unsigned long long)f->times);
	}
	text_add(t, "  ");
	text_add_bytes(t, words.ptr, words.len);
	text_color(t, &c->style, COLOR_PLAIN);
}

/* What stands may take a second line where the screen is narrow: its end says where and in what. */
static void add_finding(const struct scene *s, struct canvas *c, const struct finding_track *f,
			uint32_t lines)
{
	struct text words = {0};

	finding_words(&words, s, c, f);
	c->failed |= words.failed;
	canvas_body(c, text_str(&words), 0, f->standing ? lines : 1,
		    f->standing ? LINE_PLAIN : LINE_GONE, f->standing && c->width);
	text_deinit(&words);
}

static void add_findings(const struct scene *s, struct canvas *c)
{
	const struct history *h = s->h;
	uint32_t left = canvas_left(c), most = FINDINGS_SHOWN;

	if (!h->finding_count) {
		struct text *t = canvas_line(c, LINE_PLAIN, NO_ROW);

		text_color(t, &c->style, COLOR_GOOD);
		text_add(t, "no findings");
		text_color(t, &c->style, COLOR_PLAIN);
		return;
	}
	if (left != UINT32_MAX && left < most + TASK_LINES_LEAST)
		most = left > TASK_LINES_LEAST + 1 ? left - TASK_LINES_LEAST : 1;
	for (uint32_t i = 0; i < h->finding_count && i < most; i++)
		add_finding(s, c, &h->findings[i], most >= FINDINGS_SHOWN && i < 2 ? 3 : 1);
	if (h->finding_count > most)
		text_printf(canvas_line(c, LINE_PLAIN, NO_ROW), "and %u more (5 shows all)",
			    h->finding_count - most);
}

static void add_tasks_title(const struct ui *u, const struct scene *s, struct canvas *c)
{
	struct text *t;

	if (!u->filter[0])
		return;
	t = canvas_line(c, LINE_PLAIN, NO_ROW);
	text_add(t, "those of ");
	text_number(t, s->m->tasks.count);
	text_add(t, " tasks with \"");
	text_safe(t, &c->style, str_from(u->filter), 60);
	text_add(t, "\" alone (Esc: all)");
}

void view_overview(struct ui *u, const struct scene *s, struct canvas *c)
{
	add_loops(s, c);
	add_findings(s, c);
	add_tasks_title(u, s, c);
	view_table(u, s, c, 2);
}
