/* SPDX-License-Identifier: Apache-2.0 */
/* A task's headline tells who it is and what it waits on; below it the chain, most recent call last, in columns, asyncio's own frames dimmed. */
#include "report/tree_lines.h"

#include "report/task_text.h"

#include <stdlib.h>
#include <string.h>

#define NAME_COLUMNS	 60
#define FUNCTION_COLUMNS 60 /* longer names are cut */
#define ALIGN_COLUMNS	 36 /* longer names push their own line alone */

void tree_lines_init(struct tree_lines *l, const struct model *m, const struct text_style *style)
{
	memset(l, 0, sizeof(*l));
	l->m = m;
	l->style = style;
	paths_init(&l->paths, m);
}

void tree_lines_deinit(struct tree_lines *l)
{
	text_deinit(&l->words);
	free(l->stack);
}

static void add_times(struct tree_lines *l, struct text *t, uint64_t count)
{
	text_add(t, l->style->utf8 ? "  × " : "  x ");
	text_number(t, count);
}

static void add_names(struct tree_lines *l, struct text *t, const struct group *g)
{
	text_color(t, l->style, COLOR_NAME);
	task_names(t, l->style, l->m, g, g->count > 1 ? 2 * NAME_COLUMNS : NAME_COLUMNS);
	text_color(t, l->style, COLOR_PLAIN);
	if (g->count > 1)
		add_times(l, t, g->count);
}

void tree_line_others(struct tree_lines *l, struct text *t, const struct group *g)
{
	add_names(l, t, g);
}

void tree_line_task(struct tree_lines *l, struct text *t, const struct group *g)
{
	const struct task *task = &l->m->tasks.v[g->low];
	struct text *words = &l->words;

	add_names(l, t, g);
	if (task->cls != NONE && !str_is(l->m->strings.v[task->cls], "Task")) {
		text_color(t, l->style, COLOR_DIM);
		text_add(t, " (");
		text_safe(t, l->style, l->m->strings.v[task->cls], 40);
		text_add(t, ")");
		text_color(t, l->style, COLOR_PLAIN);
	}
	text_clear(words);
	task_marks(words, l->style, l->m, g);
	if (words->len) {
		text_color(t, l->style,
			   task->damaged		 ? COLOR_BAD
			   : task->state == TASK_RUNNING ? COLOR_GOOD
							 : COLOR_WARN);
		text_printf(t, " [%.*s]", STR_ARG(text_str(words)));
		text_color(t, l->style, COLOR_PLAIN);
	}
	if (task->awaits.kind == AWAITS_NOTHING ||
	    (task->awaits.kind == AWAITS_RUNNING && !task->awaits.detail.len))
		return;
	text_add(t, l->style->utf8 ? " → " : " -> ");
	text_color(t, l->style, COLOR_WAIT);
	task_waits(t, l->style, l->m, g, true);
	text_color(t, l->style, COLOR_PLAIN);
}

/* Frame indexes of the chain from outside inwards in l->stack; 0 on no memory. */
static uint32_t unroll(struct tree_lines *l, uint32_t chain)
{
	const struct model *m = l->m;
	uint32_t depth = chain == NONE ? 0 : m->chains.v[chain].depth;

	if (depth > l->stack_room) {
		uint32_t *stack = realloc(l->stack, 2ul * depth * sizeof(*stack));

		if (!stack)
			return 0;
		l->stack = stack;
		l->stack_room = 2 * depth;
	}
	for (uint32_t i = depth; i > 0; i--, chain = m->chains.v[chain].outer)
		l->stack[i - 1] = m->chains.v[chain].frame;
	return depth;
}

static size_t widest(struct tree_lines *l, uint32_t depth)
{
	size_t most = 0;

	for (uint32_t i = 0; i < depth; i++) {
		size_t width = text_width(l->style, l->m->frames.v[l->stack[i]].function,
					  FUNCTION_COLUMNS);

		if (width > most && width <= ALIGN_COLUMNS)
			most = width;
	}
	return most;
}

static struct str base_name(struct str path)
{
	uint32_t start = path.len;

	while (start > 0 && path.ptr[start - 1] != '/')
		start--;
	return (struct str){path.ptr + start, path.len - start};
}

/* "epoll_wait  [libc.so.6]", "time_sleep  Modules/timemodule.c:370 [python3.12]", "libfoo.so.1+0x1234". */
static void add_native(struct tree_lines *l, struct text *t, const struct frame *f, size_t column)
{
	struct str image = base_name(f->image);
	size_t width;

	text_color(t, l->style, COLOR_DIM);
	width = frame_function(t, l->style, f, FUNCTION_COLUMNS);
	if (f->line > 0 || f->function.len <= image.len ||
	    memcmp(f->function.ptr, image.ptr, image.len) != 0 ||
	    f->function.ptr[image.len] != '+') {
		text_spaces(t, width < column ? column - width + 2 : 2);
		if (f->line > 0) {
			frame_place(t, l->style, &l->paths, f);
			text_add(t, " ");
		}
		text_add(t, "[");
		text_safe(t, l->style, image, NAME_COLUMNS);
		text_add(t, "]");
	}
	text_color(t, l->style, COLOR_PLAIN);
}

static void add_frame(struct tree_lines *l, struct text *t, const struct frame *f, size_t column)
{
	size_t width;

	if (f->image.ptr) {
		add_native(l, t, f, column);
		return;
	}
	if (f->library)
		text_color(t, l->style, COLOR_DIM);
	width = frame_function(t, l->style, f, FUNCTION_COLUMNS);
	text_spaces(t, width < column ? column - width + 2 : 2);
	if (!f->library)
		text_color(t, l->style, COLOR_DIM);
	frame_place(t, l->style, &l->paths, f);
	text_color(t, l->style, COLOR_PLAIN);
}

void tree_lines_chain(struct tree_lines *l, struct text *t, uint32_t chain, bool truncated,
		      struct str before)
{
	uint32_t depth = unroll(l, chain), same;
	size_t column = widest(l, depth);

	for (uint32_t i = 0; i < depth; i += same) {
		for (same = 1; i + same < depth && l->stack[i + same] == l->stack[i];)
			same++;
		text_add_bytes(t, before.ptr, before.len);
		add_frame(l, t, &l->m->frames.v[l->stack[i]], column);
		if (same > 1)
			add_times(l, t, same);
		text_add(t, "\n");
	}
	if (!truncated)
		return;
	text_add_bytes(t, before.ptr, before.len);
	text_add(t, "(the chain goes on, but was cut here)\n");
}

void tree_lines_thread(struct tree_lines *l, struct text *t, const struct thread *thread,
		       struct str before)
{
	uint32_t chain = thread->native == NONE ? thread->chain : thread->native;

	if (chain == NONE || thread->native_truncated)
		text_add_bytes(t, before.ptr, before.len);
	if (chain == NONE)
		text_add(t, "no Python frames\n");
	else if (thread->native_truncated)
		text_add(t, "(native frames outside of these could not be followed)\n");
	tree_lines_chain(l, t, chain, false, before);
}

void tree_line_worker(struct tree_lines *l, struct text *t, uint32_t chain, struct str before)
{
	uint32_t frame = task_own_frame(l->m, chain);

	if (frame == NONE)
		return;
	text_add_bytes(t, before.ptr, before.len);
	text_add(t, "the worker: ");
	add_frame(l, t, &l->m->frames.v[frame], 0);
	text_add(t, "\n");
}
