/* SPDX-License-Identifier: Apache-2.0 */
/* Threads with their stacks; native ones where they were asked for and could be had. */
#include "tui/view.h"

#include "report/summary.h"
#include "report/tree_lines.h"

#include <math.h>

static void put_thread(struct text *t, const struct scene *s, struct tree_lines *lines,
		       const struct ui *u, uint32_t row)
{
	const struct thread *thread = &s->m->threads.v[row];
	const struct thread_track *k = history_thread(s->h, thread->tid);
	bool native = u->native && thread->native != NONE;

	summary_thread(t, lines->style, s->m, row);
	if (k && !isnan(k->share))
		text_printf(t, ", %.0f %% of a CPU", 100 * k->share);
	text_add(t, "\n");
	if (thread->chain == NONE && !native)
		text_add(t, "    no Python frames\n");
	tree_lines_chain(lines, t, native ? thread->native : thread->chain,
			 native && thread->native_truncated, STR_LIT("    "));
}

void view_threads(struct ui *u, const struct scene *s, struct canvas *c)
{
	struct tree_lines lines;
	struct text body = {0};

	tree_lines_init(&lines, s->m, &c->style);
	if (u->native)
		text_printf(&body, "native stacks (n: Python's alone)%s%s\n",
			    s->m->snapshot.native_note[0] ? ": " : "", s->m->snapshot.native_note);
	for (uint32_t i = 0; i < s->m->threads.count; i++) {
		if (i)
			text_add(&body, "\n");
		put_thread(&body, s, &lines, u, i);
	}
	c->failed |= body.failed;
	view_scroll(u, c, VIEW_THREADS, text_str(&body), 2, false);
	tree_lines_deinit(&lines);
	text_deinit(&body);
}
