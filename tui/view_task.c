/* SPDX-License-Identifier: Apache-2.0 */
/* One task: what it waits on, its chain with the lines of its source, who waits for it, and which way it came. */
#include "tui/view.h"

#include "model/names.h"
#include "report/await_text.h"
#include "report/task_text.h"

#include <math.h>
#include <string.h>

#define DEPTH_MOST  2000u /* frames that are shown, the innermost ones */
#define OTHERS_MOST 200u

struct writer {
	struct text t;
	const struct text_style *s;
	const struct scene *scene;
	const struct model *m;
	struct paths paths;
};

static void head(struct writer *w, const char *words)
{
	text_color(&w->t, w->s, COLOR_BOLD);
	text_add(&w->t, words);
	text_color(&w->t, w->s, COLOR_PLAIN);
}

static void put_name(struct writer *w, uint32_t row)
{
	const struct group g = group_alone(&row);

	text_color(&w->t, w->s, COLOR_NAME);
	task_names(&w->t, w->s, w->m, &g, 200);
	text_color(&w->t, w->s, COLOR_PLAIN);
}

static void put_task(struct writer *w, uint32_t row)
{
	const struct task *task = &w->m->tasks.v[row];
	const struct group g = group_alone(&row);
	const struct task_track *k = history_task(w->scene->h, task->id);

	head(w, "task ");
	put_name(w, row);
	text_printf(&w->t, "  0x%llx  ", (unsigned long long)task->id);
	text_safe(&w->t, w->s, task->cls == NONE ? STR_LIT("?") : w->m->strings.v[task->cls], 60);
	text_add(&w->t, ", ");
	if (task->state == TASK_PENDING)
		text_add(&w->t, "pending");
	if (task->state == TASK_PENDING && (task->cancelling || task->must_cancel || task->damaged))
		text_add(&w->t, ", ");
	task_marks(&w->t, w->s, w->m, &g);
	text_add(&w->t, "\n");
	head(w, "waits on ");
	text_color(&w->t, w->s, COLOR_WAIT);
	if (await_kind_name(task->awaits.kind))
		text_printf(&w->t, "%s: ", await_kind_name(task->awaits.kind));
	await_text(&w->t, w->s, w->m, &task->awaits);
	text_color(&w->t, w->s, COLOR_PLAIN);
	if (k) {
		text_add(&w->t, k->since_known ? "  for " : "  for more than ");
		text_duration(&w->t, w->s, w->scene->h->last - k->since);
	}
	text_add(&w->t, "\n");
}

static void put_source(struct writer *w, const struct frame *f)
{
	struct str line;

	if (f->line <= 0 || !w->scene->source ||
	    !w->scene->source(w->scene->source_ctx, f->file, f->line, &line))
		return;
	while (line.len && (line.ptr[0] == ' ' || line.ptr[0] == '\t')) {
		line.ptr++;
		line.len--;
	}
	text_add(&w->t, "        ");
	text_color(&w->t, w->s, COLOR_DIM);
	text_safe(&w->t, w->s, line, 300);
	text_color(&w->t, w->s, COLOR_PLAIN);
	text_add(&w->t, "\n");
}

static void put_chain(struct writer *w, uint32_t chain, bool truncated)
{
	uint32_t frames[DEPTH_MOST], count = 0;
	uint32_t depth = chain == NONE ? 0 : w->m->chains.v[chain].depth;

	for (; chain != NONE && count < DEPTH_MOST; chain = w->m->chains.v[chain].outer)
		frames[count++] = w->m->chains.v[chain].frame;
	head(w, "await chain");
	text_add(&w->t, depth ? "\n" : ": none\n");
	if (depth > count)
		text_printf(&w->t, "    (%u frames outside of these)\n", depth - count);
	for (uint32_t i = count; i > 0; i--) {
		const struct frame *f = &w->m->frames.v[frames[i - 1]];

		text_add(&w->t, "    ");
		if (f->library)
			text_color(&w->t, w->s, COLOR_DIM);
		frame_function(&w->t, w->s, f, 100);
		text_add(&w->t, "  ");
		frame_place(&w->t, w->s, &w->paths, f);
		text_color(&w->t, w->s, COLOR_PLAIN);
		text_add(&w->t, "\n");
		put_source(w, f);
	}
	if (truncated)
		text_add(&w->t, "    (the chain goes on, but was cut here)\n");
}

static void put_others(struct writer *w, const char *title, const uint32_t *rows, uint32_t count)
{
	if (!count)
		return;
	head(w, title);
	text_add(&w->t, " ");
	text_number(&w->t, count);
	text_add(&w->t, count == 1 ? " task\n" : " tasks\n");
	for (uint32_t i = 0; i < count && i < OTHERS_MOST; i++) {
		const struct await *a = &w->m->tasks.v[rows[i]].awaits;

		text_add(&w->t, "    ");
		put_name(w, rows[i]);
		text_add(&w->t, w->s->utf8 ? " → " : " -> ");
		await_text(&w->t, w->s, w->m, a);
		text_add(&w->t, "\n");
	}
	if (count > OTHERS_MOST)
		text_printf(&w->t, "    and %u more\n", count - OTHERS_MOST);
}

static void put_change(struct writer *w, const struct task_change *c)
{
	const struct history *h = w->scene->h;
	const char *word = c->state == TASK_PENDING ? await_kind_name(c->kind)
						    : task_state_name(c->state);

	text_add(&w->t, "    ");
	text_duration(&w->t, w->s, fmax(h->last - c->when, 0));
	text_printf(&w->t, " ago  %s", word ? word : "?");
	if (c->place != NONE) {
		const struct place *p = &h->places[c->place];
		const struct frame f = {.function = p->function, .file = p->file, .line = p->line};

		text_add(&w->t, " in ");
		frame_function(&w->t, w->s, &f, 80);
		text_add(&w->t, "  ");
		frame_place(&w->t, w->s, &w->paths, &f);
	}
	text_add(&w->t, "\n");
}

static void put_history(struct writer *w, vaddr id)
{
	const struct task_track *k = history_task(w->scene->h, id);
	uint32_t first;

	if (!k)
		return;
	first = k->change_count > HISTORY_CHANGES ? k->change_count - HISTORY_CHANGES : 0;
	head(w, "as watched");
	text_add(&w->t, ": seen for ");
	text_duration(&w->t, w->s, w->scene->h->last - k->first);
	text_add(&w->t, ", at least ");
	text_number(&w->t, k->steps);
	text_add(&w->t, k->steps == 1 ? " step" : " steps");
	if (!isnan(k->rate))
		text_printf(&w->t, ", %.1f a second", k->rate);
	text_add(&w->t, "\n");
	for (uint32_t i = k->change_count; i > first; i--)
		put_change(w, &k->changes[(i - 1) % HISTORY_CHANGES]);
}

void view_task(struct ui *u, const struct scene *s, struct canvas *c)
{
	struct writer w = {.s = &c->style, .scene = s, .m = s->m};
	uint32_t row = model_find_task(s->m, u->task);
	const struct task *task;

	if (row == NONE) {
		text_add(canvas_line(c, LINE_PLAIN, NO_ROW),
			 !u->task ? "No task is selected. Esc: back."
			 : history_task_missed(s->h, u->task)
				 ? "This task could not be read this time. Esc: back."
				 : "This task has ended. Esc: back.");
		return;
	}
	task = &s->m->tasks.v[row];
	paths_init(&w.paths, s->m);
	put_task(&w, row);
	put_chain(&w, task->chain, task->chain_truncated);
	if (task->awaits.worker_chain != NONE) {
		head(&w, "its worker thread: ");
		put_chain(&w, task->awaits.worker_chain, false);
	}
	put_others(&w, "awaits", s->m->edges.v + task->awaits.tasks_first,
		   task->awaits.tasks_count);
	put_others(&w, "awaited by", s->m->back_edges.v + task->awaited_by_first,
		   task->awaited_by_count);
	put_history(&w, task->id);
	c->failed |= w.t.failed;
	view_scroll(u, c, VIEW_TASK, text_str(&w.t), 2, true);
	text_deinit(&w.t);
}
