/* SPDX-License-Identifier: Apache-2.0 */
/* Threads with their Python stacks. */
#include "tui/view.h"

#include "report/summary.h"
#include "report/tree_lines.h"

#include <math.h>

static void put_thread(struct text *t, const struct scene *s, struct tree_lines *lines,
		       uint32_t row)
{
	const struct thread *thread = &s->m->threads.v[row];
	const struct thread_track *k = history_thread(s->h, thread->tid);

	summary_thread(t, lines->style, s->m, row);
	if (k && !isnan(k->share))
		text_printf(t, ", %.0f %% of a CPU", 100 * k->share);
	text_add(t, "\n");
	tree_lines_thread(lines, t, thread, STR_LIT("    "));
}

/* What `n` does, or has done. */
static void put_native(struct text *t, const struct text_style *style, const struct scene *s)
{
	bool native = false;

	for (uint32_t i = 0; i < s->m->threads.count; i++)
		native |= s->m->threads.v[i].native != NONE;
	text_color(t, style, COLOR_DIM);
	if (native)
		text_printf(
			t,
			"with native stacks, for which all threads were stopped for %.1f ms (n: once more)\n",
			(double)s->m->snapshot.paused_us / 1e3);
	else
		text_printf(
			t,
			"n: native stacks too; stops all threads (1 ms as a rule, at most %u at a time)\n",
			s->max_pause_ms);
	text_color(t, style, COLOR_PLAIN);
}

void view_threads(struct ui *u, const struct scene *s, struct canvas *c)
{
	struct tree_lines lines;
	struct text body = {0};

	tree_lines_init(&lines, s->m, &c->style);
	put_native(&body, &c->style, s);
	for (uint32_t i = 0; i < s->m->threads.count; i++) {
		text_add(&body, "\n");
		put_thread(&body, s, &lines, i);
	}
	c->failed |= body.failed;
	view_scroll(u, c, VIEW_THREADS, text_str(&body), 2, false);
	tree_lines_deinit(&lines);
	text_deinit(&body);
}
