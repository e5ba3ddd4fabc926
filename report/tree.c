/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loop > task > the tasks it awaits. Walked with a stack of levels, no recursion: chains of tasks may be 100,000 deep, and rings must end. A task is
 * shown in full where it is met first, later by name.
 */
#include "report/report.h"

#include "report/fold.h"
#include "report/handle_text.h"
#include "report/summary.h"
#include "report/task_text.h"
#include "report/tree_lines.h"

#include <stdlib.h>
#include <string.h>

#define INDENT_MAX 24 /* levels; what is deeper says how deep it is */
#define FLUSH_AT   (1 << 16) /* bytes */

enum mark {
	MARK_NONE,
	MARK_RING,
	MARK_SHOWN
};

/* Siblings: those shown in full, then those that stand elsewhere. */
struct level {
	uint32_t *rows;
	struct group *groups;
	uint32_t full, count, next;
	struct group elsewhere[2];
	enum mark marks[2];
	size_t prefix_len; /* of tree.prefix, before these siblings */
	const struct group *above; /* the group that awaits them; its rows are on the path */
};

struct tree {
	const struct model *m;
	const struct report_options *o;
	FILE *out;
	struct error *e;
	struct text text, prefix, body;
	struct tree_lines lines;
	struct selection chosen;
	struct fold fold;
	bool *shown, *on_path; /* a row a task */
	uint32_t *seen; /* a row a task: the last collection that it was part of */
	uint32_t collection;
	struct level *levels;
	uint32_t depth, capacity;
};

static const char *piece(const struct tree *k, const char *utf8, const char *ascii)
{
	return k->o->style.utf8 ? utf8 : ascii;
}

static enum err no_memory(struct tree *k)
{
	return error_set(k->e, ERR_NOMEM, 0, "out of memory");
}

static struct level *level_push(struct tree *k)
{
	if (k->depth == k->capacity) {
		uint32_t capacity = k->capacity ? 2 * k->capacity : 16;
		struct level *v = realloc(k->levels, capacity * sizeof(*v));

		if (!v)
			return NULL;
		k->levels = v;
		k->capacity = capacity;
	}
	k->levels[k->depth] = (struct level){.prefix_len = k->prefix.len};
	return &k->levels[k->depth++];
}

static void level_pop(struct tree *k)
{
	struct level *l = &k->levels[--k->depth];

	for (uint32_t i = 0; l->above && i < l->above->count; i++)
		k->on_path[l->above->rows[i]] = false;
	free(l->rows);
	free(l->groups);
	k->prefix.len = l->prefix_len;
}

/* The tasks that a group waits for, each once, in three parts of `rows`: to be shown in full, of a ring with the path, shown elsewhere. */
static void collect(struct tree *k, const struct group *g, uint32_t *rows, uint32_t *counts)
{
	const struct model *m = k->m;

	k->collection++;
	for (enum mark part = MARK_NONE; part <= MARK_SHOWN; part++) {
		uint32_t *to = rows + (part ? counts[0] : 0) + (part == MARK_SHOWN ? counts[1] : 0);

		for (uint32_t i = 0; i < g->count; i++) {
			const struct await *a = &m->tasks.v[g->rows[i]].awaits;

			for (uint32_t j = 0; j < a->tasks_count; j++) {
				uint32_t row = m->edges.v[a->tasks_first + j];
				enum mark is = k->on_path[row] ? MARK_RING
					       : k->shown[row] ? MARK_SHOWN
							       : MARK_NONE;

				if (is != part || !k->chosen.shown[row] ||
				    k->seen[row] == k->collection)
					continue;
				k->seen[row] = k->collection;
				to[counts[part]++] = row;
			}
		}
	}
}

static size_t edges_of(const struct tree *k, const struct group *g)
{
	size_t n = 0;

	for (uint32_t i = 0; i < g->count; i++)
		n += k->m->tasks.v[g->rows[i]].awaits.tasks_count;
	return n;
}

/* One group of all rows, for those that are only named. */
static struct group names_of(const struct tree *k, const uint32_t *rows, uint32_t count)
{
	struct group g = {.rows = rows, .count = count, .low = rows[0], .high = rows[0]};

	for (uint32_t i = 1; i < count; i++) {
		struct str name = k->m->tasks.v[rows[i]].name;

		if (text_compare(name, k->m->tasks.v[g.low].name) < 0)
			g.low = rows[i];
		if (text_compare(name, k->m->tasks.v[g.high].name) > 0)
			g.high = rows[i];
	}
	return g;
}

/* Opens the level below a group. Without anything to show there is none: *ret is false. */
static enum err level_below(struct tree *k, const struct group *g, bool *ret)
{
	uint32_t counts[3] = {0}, *rows;
	struct level *l;
	size_t edges = edges_of(k, g);

	*ret = false;
	if (!edges)
		return ERR_OK;
	rows = malloc(edges * sizeof(*rows));
	if (!rows)
		return no_memory(k);
	for (uint32_t i = 0; i < g->count; i++)
		k->on_path[g->rows[i]] = true;
	collect(k, g, rows, counts);
	l = counts[0] + counts[1] + counts[2] ? level_push(k) : NULL;
	if (!l) {
		for (uint32_t i = 0; i < g->count; i++)
			k->on_path[g->rows[i]] = false;
		free(rows);
		return counts[0] + counts[1] + counts[2] ? no_memory(k) : ERR_OK;
	}
	l->rows = rows;
	l->above = g;
	*ret = true;
	if (fold_group(&k->fold, rows, counts[0], &l->groups, &l->full) != ERR_OK)
		return no_memory(k);
	l->count = l->full;
	for (enum mark part = MARK_RING; part <= MARK_SHOWN; part++) {
		if (!counts[part])
			continue;
		l->marks[l->count - l->full] = part;
		l->elsewhere[l->count++ - l->full] = names_of(
			k, rows + counts[0] + (part == MARK_SHOWN ? counts[1] : 0), counts[part]);
	}
	return ERR_OK;
}

static void line_begin(struct tree *k, const struct level *l, bool last)
{
	text_add_bytes(&k->text, k->prefix.v, l->prefix_len);
	text_add(&k->text, last ? piece(k, "└─ ", "`- ") : piece(k, "├─ ", "|- "));
	if (k->depth > INDENT_MAX)
		text_printf(&k->text, "(level %u) ", k->depth);
}

static void line_elsewhere(struct tree *k, const struct group *g, enum mark mark)
{
	struct text *t = &k->text;
	uint32_t size = k->chosen.ring_size[k->chosen.ring[g->low]];

	if (mark == MARK_RING) {
		text_color(t, &k->o->style, COLOR_BAD);
		text_add(t, piece(k, "⟲ ", "@ "));
		text_color(t, &k->o->style, COLOR_PLAIN);
		tree_line_others(&k->lines, t, g);
		text_color(t, &k->o->style, COLOR_BAD);
		if (size == 1)
			text_add(t, "  a ring: it waits for itself");
		else
			text_printf(t, "  a ring: %u tasks wait for each other", size);
	} else {
		text_add(t, piece(k, "↑ ", "^ "));
		tree_line_others(&k->lines, t, g);
		text_color(t, &k->o->style, COLOR_DIM);
		text_add(t, "  (shown above)");
	}
	text_color(t, &k->o->style, COLOR_PLAIN);
	text_add(t, "\n");
}

static bool all_shown(const struct tree *k, const struct group *g)
{
	for (uint32_t i = 0; i < g->count; i++) {
		if (!k->shown[g->rows[i]])
			return false;
	}
	return true;
}

static void lines_below(struct tree *k, const struct group *g, bool children, uint32_t hidden)
{
	const struct task *task = &k->m->tasks.v[g->low];

	k->body.len = 0;
	text_add_bytes(&k->body, k->prefix.v, k->prefix.len);
	text_add(&k->body, children ? piece(k, "│ ", "| ") : "  ");
	tree_lines_chain(&k->lines, &k->text, task->chain, task->chain_truncated,
			 text_str(&k->body));
	tree_line_worker(&k->lines, &k->text, task->awaits.worker_chain, text_str(&k->body));
	if (!hidden)
		return;
	text_add_bytes(&k->text, k->body.v, k->body.len);
	text_add(&k->text, "(waits for ");
	text_number(&k->text, hidden);
	text_add(&k->text, hidden == 1 ? " more task below)\n" : " more tasks below)\n");
}

static uint32_t awaited(const struct tree *k, const struct group *g)
{
	size_t n = edges_of(k, g);

	return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

/* One group with its chain; leaves the level below it, if there is one, on the stack. */
static enum err show_group(struct tree *k, const struct group *g, bool last)
{
	struct level *l = &k->levels[k->depth - 1];
	bool deepest = k->o->max_depth && k->depth >= k->o->max_depth, children = false;
	enum err err = ERR_OK;

	line_begin(k, l, last);
	if (all_shown(k, g)) {
		line_elsewhere(k, g, MARK_SHOWN);
		return ERR_OK;
	}
	for (uint32_t i = 0; i < g->count; i++)
		k->shown[g->rows[i]] = true;
	tree_line_task(&k->lines, &k->text, g);
	text_add(&k->text, "\n");
	k->prefix.len = l->prefix_len;
	if (k->depth <= INDENT_MAX)
		text_add(&k->prefix, last ? "   " : piece(k, "│  ", "|  "));
	if (!deepest)
		err = level_below(k, g, &children);
	if (err == ERR_OK)
		lines_below(k, g, children, deepest ? awaited(k, g) : 0);
	return err;
}

static enum err flush(struct tree *k, size_t least)
{
	if (k->text.len < least && !k->text.failed)
		return ERR_OK;
	return text_write(&k->text, k->out, k->e);
}

/* All that hangs below the level on the stack. */
static enum err show_levels(struct tree *k)
{
	enum err err = ERR_OK;

	while (k->depth && err == ERR_OK) {
		struct level *l = &k->levels[k->depth - 1];
		uint32_t i = l->next;

		if (i == l->count) {
			level_pop(k);
			continue;
		}
		l->next++;
		k->prefix.len = l->prefix_len;
		if (i < l->full) {
			err = show_group(k, &l->groups[i], i + 1 == l->count);
		} else {
			line_begin(k, l, i + 1 == l->count);
			line_elsewhere(k, &l->elsewhere[i - l->full], l->marks[i - l->full]);
		}
		if (err == ERR_OK)
			err = flush(k, FLUSH_AT);
	}
	return err;
}

static int by_loop(const void *a, const void *b, void *model)
{
	const struct model *m = model;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (m->tasks.v[x].loop != m->tasks.v[y].loop)
		return m->tasks.v[x].loop < m->tasks.v[y].loop ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* The roots of one loop (or of NONE) as the first level; *next is where they begin in the list of all, and moves on. */
static enum err show_loop(struct tree *k, uint32_t loop, uint32_t *next)
{
	const uint32_t *roots = k->chosen.roots + *next;
	uint32_t count = 0;
	struct level *l;

	while (*next < k->chosen.root_count && k->m->tasks.v[k->chosen.roots[*next]].loop == loop) {
		++*next;
		count++;
	}
	if (!count && (loop == NONE || k->o->task_pattern))
		return ERR_OK;
	text_add(&k->text, "\n");
	summary_loop(&k->text, &k->o->style, k->m, loop);
	text_add(&k->text, "\n");
	if (k->o->loop)
		loop_state_lines(&k->text, &k->o->style, k->m, &k->lines.paths, loop,
				 !k->o->no_fold);
	if (!count)
		return ERR_OK;
	k->prefix.len = 0;
	l = level_push(k);
	if (!l)
		return no_memory(k);
	l->rows = malloc(count * sizeof(*l->rows));
	if (!l->rows)
		return no_memory(k);
	memcpy(l->rows, roots, count * sizeof(*l->rows));
	if (fold_group(&k->fold, l->rows, count, &l->groups, &l->full) != ERR_OK)
		return no_memory(k);
	l->count = l->full;
	return show_levels(k);
}

static enum err show_loops(struct tree *k)
{
	enum err err = ERR_OK;
	uint32_t next = 0;

	qsort_r(k->chosen.roots, k->chosen.root_count, sizeof(uint32_t), by_loop, (void *)k->m);
	for (uint32_t i = 0; i < k->m->loops.count && err == ERR_OK; i++)
		err = show_loop(k, i, &next);
	return err == ERR_OK ? show_loop(k, NONE, &next) : err;
}

static void show_threads(struct tree *k)
{
	for (uint32_t i = 0; i < k->m->threads.count; i++) {
		text_add(&k->text, "\n");
		summary_thread(&k->text, &k->o->style, k->m, i);
		text_add(&k->text, "\n");
		tree_lines_thread(&k->lines, &k->text, &k->m->threads.v[i], STR_LIT("    "));
	}
}

static enum err tree_init(struct tree *k)
{
	size_t n = k->m->tasks.count + 1ul;

	tree_lines_init(&k->lines, k->m, &k->o->style);
	k->shown = calloc(n, sizeof(*k->shown));
	k->on_path = calloc(n, sizeof(*k->on_path));
	k->seen = calloc(n, sizeof(*k->seen));
	if (!k->shown || !k->on_path || !k->seen ||
	    selection_init(&k->chosen, k->m, k->o->task_pattern) != ERR_OK ||
	    fold_init(&k->fold, &k->chosen, !k->o->no_fold, true) != ERR_OK)
		return no_memory(k);
	return ERR_OK;
}

static void tree_deinit(struct tree *k)
{
	while (k->depth)
		level_pop(k);
	free(k->levels);
	free(k->shown);
	free(k->on_path);
	free(k->seen);
	fold_deinit(&k->fold);
	selection_deinit(&k->chosen);
	tree_lines_deinit(&k->lines);
	text_deinit(&k->text);
	text_deinit(&k->prefix);
	text_deinit(&k->body);
}

enum err tree_render(FILE *out, const struct model *m, const struct report_options *o,
		     struct error *e)
{
	struct tree k = {.m = m, .o = o, .out = out, .e = e};
	enum err err = tree_init(&k);

	if (err == ERR_OK) {
		summary_process(&k.text, &o->style, m, &k.chosen);
		err = show_loops(&k);
	}
	if (err == ERR_OK) {
		if (o->task_pattern && !k.chosen.shown_count)
			text_add(&k.text, "\nno task has such a name\n");
		if (o->threads)
			show_threads(&k);
		text_add(&k.text, "\n");
		summary_snapshot(&k.text, &o->style, m);
		text_add(&k.text, "\n");
		err = flush(&k, 0);
	}
	tree_deinit(&k);
	return err;
}
