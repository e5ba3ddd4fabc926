/* SPDX-License-Identifier: Apache-2.0 */
/* The same pieces as check and pstree have, put together for a log that somebody reads after the process is gone. */
#include "report/stuck.h"

#include "detect/looks.h"
#include "report/await_text.h"
#include "report/findings.h"
#include "report/summary.h"
#include "report/task_text.h"

#define NAME_COLUMNS	 60
#define SENTENCE_COLUMNS 1000

void stuck_headline(struct text *t, const struct text_style *s, const struct stuck *all)
{
	text_add(t, strcmp(all->reason, "stall") == 0 ? "nothing has moved for " : "no end after ");
	text_duration(t, s, all->limit);
}

void stuck_name(struct text *t, const struct text_style *s, const struct stuck_process *p)
{
	text_printf(t, "process %d: ", (int)p->pid);
	summary_command(t, s, &p->picture->target);
}

/* A task that none awaits leads to all that it waits for: its own line is the one that asked. */
static uint32_t place_of_tasks(const struct model *m)
{
	for (int awaited = 0; awaited < 2; awaited++) {
		for (uint32_t i = 0; i < m->tasks.count; i++) {
			const struct task *t = &m->tasks.v[i];
			uint32_t frame = looks_own_frame(m, t->chain);

			if (frame != NONE && (awaited || !t->awaited_by_count))
				return i;
		}
	}
	return NONE;
}

static uint32_t running_task(const struct model *m)
{
	for (uint32_t i = 0; i < m->loops.count; i++) {
		uint32_t task = m->loops.v[i].current_task;

		if (task != NONE && looks_own_frame(m, m->tasks.v[task].chain) != NONE)
			return task;
	}
	return NONE;
}

/* The task that it is about, NONE where a thread has to tell. */
static uint32_t place_task(const struct model *m)
{
	uint32_t task = m->findings.count ? m->findings.v[0].task : NONE;

	if (task != NONE && looks_own_frame(m, m->tasks.v[task].chain) != NONE)
		return task;
	task = running_task(m);
	return task == NONE ? place_of_tasks(m) : task;
}

static uint32_t place_thread(const struct model *m)
{
	for (uint32_t i = 0; i < m->threads.count; i++) {
		if (looks_own_frame(m, m->threads.v[i].chain) != NONE)
			return i;
	}
	return NONE;
}

uint32_t stuck_place(const struct stuck_process *p)
{
	const struct model *m = p->picture;
	uint32_t row = place_task(m);

	if (row != NONE)
		return looks_own_frame(m, m->tasks.v[row].chain);
	row = place_thread(m);
	return row == NONE ? NONE : looks_own_frame(m, m->threads.v[row].chain);
}

/* ", in handle at app.py:12" */
static void add_place(struct text *t, const struct text_style *s, const struct model *m,
		      uint32_t chain)
{
	uint32_t frame = looks_own_frame(m, chain);
	struct paths whole = {0};

	if (frame == NONE)
		return;
	text_add(t, ", in ");
	frame_function(t, s, &m->frames.v[frame], NAME_COLUMNS);
	text_add(t, " at ");
	frame_place(t, s, &whole, &m->frames.v[frame]);
}

void stuck_sentence(struct text *t, const struct text_style *s, const struct stuck_process *p)
{
	const struct model *m = p->picture;
	uint32_t row = place_task(m);

	if (m->findings.count && m->findings.v[0].severity >= SEVERITY_WARNING) {
		text_printf(t, "%s: ", m->findings.v[0].id);
		text_safe(t, s, m->findings.v[0].summary, SENTENCE_COLUMNS);
		return;
	}
	if (row != NONE) {
		text_add(t, "task ");
		text_safe(t, s, looks_task_name(&m->tasks.v[row]), NAME_COLUMNS);
		text_add(t, ": ");
		await_text(t, s, m, &m->tasks.v[row].awaits);
		add_place(t, s, m, m->tasks.v[row].chain);
		return;
	}
	row = place_thread(m);
	if (row == NONE && !m->threads.count)
		return;
	row = row == NONE ? 0 : row;
	summary_thread(t, s, m, row);
	add_place(t, s, m, m->threads.v[row].chain);
}

/* What can be said of a process that is no CPython, or none that can be read. */
static void add_threads(struct text *t, const struct text_style *s, const struct stuck_process *p)
{
	stuck_name(t, s, p);
	text_add(t, "\n");
	text_safe(t, s, str_from(p->problem), SENTENCE_COLUMNS);
	text_add(t, "\n\n");
	for (uint32_t i = 0; i < p->picture->threads.count; i++) {
		summary_thread(t, s, p->picture, i);
		text_add(t, "\n");
	}
}

static void add_findings(struct text *t, const struct text_style *s, const struct stuck_process *p)
{
	const struct model *m = p->picture;
	struct paths paths;

	paths_init(&paths, m);
	for (uint32_t i = 0; i < m->findings.count; i++) {
		finding_lines(t, s, m, &paths, &m->findings.v[i]);
		text_add(t, "\n");
	}
}

enum err stuck_render(FILE *out, const struct stuck_process *p, const struct text_style *s,
		      struct error *e)
{
	const struct report_options whole = {.style = *s, .threads = true};
	struct text t = {0};
	enum err err;

	text_color(&t, s, COLOR_BOLD);
	text_printf(&t, "%s process %d, child of %d %s", s->utf8 ? "────" : "----", (int)p->pid,
		    (int)p->parent, s->utf8 ? "────" : "----");
	text_color(&t, s, COLOR_PLAIN);
	text_add(&t, "\n\n");
	if (p->python)
		add_findings(&t, s, p);
	else
		add_threads(&t, s, p);
	err = text_write(&t, out, e);
	text_deinit(&t);
	if (err != ERR_OK || !p->python)
		return err;
	return tree_render(out, p->picture, &whole, e);
}
