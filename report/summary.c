/* SPDX-License-Identifier: Apache-2.0 */
/* Counts and sentences; no task is named here but a loop's current one. */
#include "report/summary.h"

#include "model/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND_COLUMNS 100
#define NAME_COLUMNS	60
#define CALL_COLUMNS	160

static void add_count(struct text *t, uint64_t n, const char *one, const char *many)
{
	text_number(t, n);
	text_printf(t, " %s", n == 1 ? one : many);
}

void summary_command(struct text *t, const struct text_style *s, const struct target_info *i)
{
	size_t left = COMMAND_COLUMNS;

	for (size_t k = 0; k < i->command_count && left > 1; k++) {
		if (k) {
			text_add(t, " ");
			left--;
		}
		left -= text_safe(t, s, i->command[k], left);
	}
	if (!i->command_count)
		text_add(t, "(command unreadable)");
}

struct tally {
	enum await_kind kind;
	uint32_t count;
};

static int by_count(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

static void add_tally(struct text *t, const struct model *m, const struct selection *chosen)
{
	struct tally tally[AWAITS_NOTHING + 1];
	const char *between = ": ";

	for (int k = 0; k <= AWAITS_NOTHING; k++)
		tally[k] = (struct tally){(enum await_kind)k, 0};
	for (uint32_t i = 0; i < m->tasks.count; i++) {
		if (chosen->shown[i])
			tally[m->tasks.v[i].awaits.kind].count++;
	}
	qsort(tally, AWAITS_NOTHING + 1, sizeof(*tally), by_count);
	for (int k = 0; k <= AWAITS_NOTHING && tally[k].count; k++) {
		const char *word = await_kind_name(tally[k].kind);

		text_add(t, between);
		text_number(t, tally[k].count);
		text_printf(t, " %s", word ? word : "finished");
		between = ", ";
	}
}

void summary_process(struct text *t, const struct text_style *s, const struct model *m,
		     const struct selection *chosen)
{
	const struct target_info *i = &m->target;

	text_color(t, s, COLOR_BOLD);
	text_printf(t, "process %d", i->pid);
	text_color(t, s, COLOR_PLAIN);
	text_add(t, ": ");
	summary_command(t, s, i);
	text_printf(t, " (CPython %s%s%s%s)\n", i->python, i->debug_build ? ", debug build" : "",
		    i->free_threaded ? ", free-threaded" : "",
		    i->container ? ", in a container" : "");
	add_count(t, m->tasks.count, "task", "tasks");
	text_add(t, " in ");
	add_count(t, m->loops.count, "loop", "loops");
	text_add(t, ", ");
	add_count(t, m->threads.count, "thread", "threads");
	if (chosen->shown_count != m->tasks.count) {
		text_add(t, "; shown here ");
		text_number(t, chosen->shown_count);
	}
	add_tally(t, m, chosen);
	text_add(t, "\n");
	if (m->tasks_truncated || m->loops_truncated || m->threads_truncated)
		text_printf(t, "not all of them: the list of %s was cut short\n",
			    m->tasks_truncated	 ? "tasks"
			    : m->loops_truncated ? "loops"
						 : "threads");
}

static void add_thread(struct text *t, const struct text_style *s, const struct thread *thread)
{
	text_printf(t, "thread %d", thread->tid);
	if (!thread->name.len)
		return;
	text_add(t, " \"");
	text_safe(t, s, thread->name, 40);
	text_add(t, "\"");
}

void summary_loop(struct text *t, const struct text_style *s, const struct model *m, uint32_t row)
{
	const struct loop *l;

	if (row == NONE) {
		text_color(t, s, COLOR_BOLD);
		text_add(t, "no loop that could be read");
		text_color(t, s, COLOR_PLAIN);
		return;
	}
	l = &m->loops.v[row];
	text_color(t, s, COLOR_BOLD);
	text_add(t, "loop ");
	text_safe(t, s, l->cls == NONE ? STR_LIT("?") : m->strings.v[l->cls], 60);
	text_color(t, s, COLOR_PLAIN);
	text_add(t, ", ");
	if (l->thread == NONE)
		text_add(t, "run by no thread");
	else
		add_thread(t, s, &m->threads.v[l->thread]);
	text_add(t, ", ");
	text_color(t, s, l->state == LOOP_POLLING ? COLOR_GOOD : COLOR_WARN);
	text_add(t, loop_state_name(l->state) ? loop_state_name(l->state) : "state unreadable");
	text_color(t, s, COLOR_PLAIN);
	text_add(t, ", ");
	add_count(t, l->task_count, "task", "tasks");
	if (l->current_task != NONE) {
		text_add(t, ", runs ");
		text_safe(t, s, m->tasks.v[l->current_task].name, NAME_COLUMNS);
	}
	if (l->debug)
		text_add(t, ", debug mode");
	if (m->interpreters.count > 1 && l->interpreter != NONE)
		text_printf(t, ", interpreter %llu",
			    (unsigned long long)m->interpreters.v[l->interpreter].id);
}

void summary_thread(struct text *t, const struct text_style *s, const struct model *m, uint32_t row)
{
	const struct thread *thread = &m->threads.v[row];

	text_color(t, s, COLOR_BOLD);
	add_thread(t, s, thread);
	text_color(t, s, COLOR_PLAIN);
	text_printf(t, ", %s", thread_state_name(thread->state));
	if (thread->syscall_text.ptr) {
		text_add(t, " in ");
		text_safe(t, s, thread->syscall_text, CALL_COLUMNS);
	}
	if (thread->gil == GIL_HOLDING || thread->gil == GIL_WAITING) {
		text_color(t, s, thread->gil == GIL_WAITING ? COLOR_WARN : COLOR_BOLD);
		text_add(t, thread->gil == GIL_WAITING ? ", waits for the GIL" : ", holds the GIL");
		text_color(t, s, COLOR_PLAIN);
	}
	if (thread->loop != NONE)
		text_add(t, ", runs a loop");
}

void summary_snapshot(struct text *t, const struct text_style *s, const struct model *m)
{
	const struct snapshot_info *i = &m->snapshot;

	text_color(t, s, i->consistent ? COLOR_DIM : COLOR_BAD);
	text_printf(t, "snapshot: %s", snapshot_method_name(i->method));
	switch (i->method) {
	case SNAPSHOT_STILL:
		text_add(t, " (no thread ran meanwhile), nothing stopped");
		break;
	case SNAPSHOT_VALIDATED:
		text_add(t, " (read twice, unchanged), nothing stopped");
		break;
	case SNAPSHOT_PAUSED:
		text_add(t, ", running threads stopped for ");
		text_duration(t, s, (double)i->paused_us / 1e6);
		break;
	case SNAPSHOT_TORN:
		text_add(t, " (it ran on while it was read: parts may not belong together)");
		if (!i->paused_us)
			break;
		text_add(t, ", stopped for ");
		text_duration(t, s, (double)i->paused_us / 1e6);
		break;
	}
	text_add(t, ", took ");
	text_duration(t, s, (double)i->duration_us / 1e6);
	if (i->note[0]) {
		text_add(t, "; ");
		text_safe(t, s, str_from(i->note), 200);
	}
	if (i->native_note[0]) {
		text_add(t, "; no native stacks: ");
		text_safe(t, s, str_from(i->native_note), 200);
	}
	text_color(t, s, COLOR_PLAIN);
}

enum err text_write(struct text *t, FILE *out, struct error *e)
{
	if (t->failed)
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	if (t->len && fwrite(t->v, 1, t->len, out) != t->len)
		return error_set(e, ERR_SYSTEM, errno, "can't write to standard output: %s",
				 strerror(errno));
	text_clear(t);
	return ERR_OK;
}
