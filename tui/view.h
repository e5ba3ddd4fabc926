/* SPDX-License-Identifier: Apache-2.0 */
/* The screens: each fills the lines between the title and the foot. Words that several of them use. */
#ifndef AIOTRACE_TUI_VIEW_H
#define AIOTRACE_TUI_VIEW_H

#include "tui/ui.h"

void view_overview(struct ui *u, const struct scene *s, struct canvas *c);
void view_task(struct ui *u, const struct scene *s, struct canvas *c);
void view_loop(struct ui *u, const struct scene *s, struct canvas *c);
void view_threads(struct ui *u, const struct scene *s, struct canvas *c);
void view_findings(struct ui *u, const struct scene *s, struct canvas *c);
void view_processes(struct ui *u, const struct scene *s, struct canvas *c);
void view_sort(struct ui *u, const struct scene *s, struct canvas *c);
void view_help(struct ui *u, const struct scene *s, struct canvas *c);

/* The rows of the scene's picture, with the selection among them; false on no memory. */
bool view_table_make(struct ui *u, const struct scene *s);
/* The task table in what is left of the canvas; `below` lines are left free. */
void view_table(struct ui *u, const struct scene *s, struct canvas *c, unsigned below);
/* The two lines at the top. */
void view_title(const struct ui *u, const struct scene *s, struct canvas *c);
/* The status line and the keys, at the bottom. */
void view_foot(const struct ui *u, const struct scene *s, struct canvas *c);
/* The finding that says most of a loop (blocked, stalled, dead) and stands now; NULL none. */
const struct finding_track *view_loop_finding(const struct scene *s, vaddr loop);
/* "blocked for 1.2 s" in its colour. */
void view_loop_state(struct text *t, const struct text_style *style, const struct scene *s,
		     const struct loop *l);
/* The lines of a loop: who runs it and what, then figures and the last minute. */
void view_loop_lines(const struct scene *s, struct canvas *c, const struct loop *l, bool graphs);
/* "▁▂█": one column a value, the highest one as high as it gets; a blank where nothing is known. */
void spark(struct text *t, const struct text_style *style, const double *values, uint32_t count,
	   double least_top);
/* A list's selection and first line, brought into what there is. */
void list_fit(struct list *l, uint32_t count, uint32_t page, bool selects);
/* Text that scrolls, in what is left of the canvas but for `below` lines. */
void view_scroll(struct ui *u, struct canvas *c, enum view view, struct str body, unsigned below,
		 bool wrap);

#endif
