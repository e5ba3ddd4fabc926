/* SPDX-License-Identifier: Apache-2.0 */
/* One loop from inside: its line, then what report/ says of its queues. */
#include "tui/view.h"

#include "report/handle_text.h"

void view_loop(struct ui *u, const struct scene *s, struct canvas *c)
{
	const struct model *m = s->m;
	uint32_t row = model_find_loop(m, u->loop);
	struct text body = {0};
	struct paths paths;

	if (row == NONE)
		row = 0;
	if (!m->loops.count) {
		text_add(canvas_line(c, LINE_PLAIN, NO_ROW), "no asyncio loop in this process yet");
		return;
	}
	u->loop = m->loops.v[row].id;
	if (m->loops.count > 1)
		text_printf(canvas_line(c, LINE_PLAIN, NO_ROW), "loop %u of %u (Tab: the next one)",
			    row + 1, m->loops.count);
	view_loop_lines(s, c, &m->loops.v[row], true);
	paths_init(&paths, m);
	loop_state_lines(&body, &c->style, m, &paths, row, u->rows.fold);
	c->failed |= body.failed;
	view_scroll(u, c, VIEW_LOOP, text_str(&body), 2, false);
	text_deinit(&body);
}
