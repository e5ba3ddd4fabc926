/* SPDX-License-Identifier: Apache-2.0 */
/* The awaits as a tree of rows, with a stack of levels and no recursion; a task is shown in full where it is met first. */
#include "tui/rows_inner.h"

#include <stdlib.h>
#include <string.h>

struct level {
	struct row *v; /* siblings */
	uint32_t count, next;
};

struct walk {
	struct build *b;
	struct level *levels;
	uint32_t depth, capacity;
	bool *shown; /* a task row */
	uint32_t *seen; /* a task row: the last collection that it was part of */
	uint32_t collection;
};

static enum err push(struct walk *w, uint32_t *rows, uint32_t count)
{
	struct level level = {0};
	enum err err = rows_group(w->b, rows, count, &level.v, &level.count);

	if (err != ERR_OK)
		return err;
	if (w->depth == w->capacity) {
		uint32_t capacity = w->capacity ? 2 * w->capacity : 16;
		struct level *levels = realloc(w->levels, capacity * sizeof(*levels));

		if (!levels) {
			free(level.v);
			return ERR_NOMEM;
		}
		w->levels = levels;
		w->capacity = capacity;
	}
	w->levels[w->depth++] = level;
	return ERR_OK;
}

static size_t edges_of(const struct model *m, const struct group *g)
{
	size_t n = 0;

	for (uint32_t i = 0; i < g->count; i++)
		n += m->tasks.v[g->rows[i]].awaits.tasks_count;
	return n;
}

/* What a group waits for, each task once, is the next level. */
static enum err push_below(struct walk *w, const struct group *g)
{
	const struct model *m = w->b->r->m;
	size_t edges = edges_of(m, g);
	uint32_t *rows, n = 0;

	if (!edges)
		return ERR_OK;
	rows = malloc(edges * sizeof(*rows));
	if (!rows)
		return ERR_NOMEM;
	w->collection++;
	for (uint32_t i = 0; i < g->count; i++) {
		const struct await *a = &m->tasks.v[g->rows[i]].awaits;

		for (uint32_t k = 0; k < a->tasks_count; k++) {
			uint32_t to = m->edges.v[a->tasks_first + k];

			if (w->seen[to] == w->collection)
				continue;
			w->seen[to] = w->collection;
			rows[n++] = to;
		}
	}
	return push(w, rows, n);
}

static bool all_shown(const struct walk *w, const struct group *g)
{
	for (uint32_t i = 0; i < g->count; i++) {
		if (!w->shown[g->rows[i]])
			return false;
	}
	return true;
}

static enum err show(struct walk *w)
{
	struct level *l = &w->levels[w->depth - 1];
	const struct row *from = &l->v[l->next++];
	struct row *row = rows_add(w->b->r, &from->g);

	if (!row)
		return ERR_NOMEM;
	*row = *from;
	row->depth = w->depth - 1;
	if (all_shown(w, &row->g)) {
		row->kind = ROW_ELSEWHERE;
		return ERR_OK;
	}
	for (uint32_t i = 0; i < row->g.count; i++)
		w->shown[row->g.rows[i]] = true;
	return push_below(w, &from->g);
}

static enum err show_all(struct walk *w)
{
	while (w->depth) {
		struct level *l = &w->levels[w->depth - 1];
		enum err err;

		if (l->next == l->count) {
			free(l->v);
			w->depth--;
			continue;
		}
		err = show(w);
		if (err != ERR_OK)
			return err;
	}
	return ERR_OK;
}

static bool passes(const struct build *b, const struct group *g)
{
	for (uint32_t i = 0; i < g->count; i++) {
		if (b->passes[g->rows[i]])
			return true;
	}
	return false;
}

/* Rows that the filter lets through, and those above them. From the end backwards: a row is wanted when a wanted one stands deeper below it. */
static void keep_wanted(struct build *b)
{
	struct rows *r = b->r;
	uint32_t deepest = 0, to = r->count;

	for (uint32_t i = r->count; i > 0; i--) {
		const struct row row = r->v[i - 1];
		bool above = deepest > row.depth;

		if (above || passes(b, &row.g)) {
			r->v[--to] = row;
			deepest = row.depth;
		}
	}
	if (to)
		memmove(r->v, r->v + to, (r->count - to) * sizeof(*r->v));
	r->count -= to;
}

/* From the end backwards: on which levels something follows below, among what is left of the rows. */
static void join_siblings(struct rows *r)
{
	uint64_t follows = 0;

	for (uint32_t i = r->count; i > 0; i--) {
		struct row *row = &r->v[i - 1];
		uint64_t own = row->depth < 64 ? 1ull << row->depth : 0;

		if (own)
			follows &= own | (own - 1);
		row->lines = follows;
		follows |= own;
	}
}

enum err rows_tree(struct build *b)
{
	const struct selection *all = &b->r->all;
	size_t n = b->r->m->tasks.count + 1ul;
	struct walk w = {.b = b};
	uint32_t *roots = malloc((all->root_count + 1ul) * sizeof(*roots));
	enum err err = ERR_NOMEM;

	w.shown = calloc(n, sizeof(*w.shown));
	w.seen = calloc(n, sizeof(*w.seen));
	if (roots)
		memcpy(roots, all->roots, all->root_count * sizeof(*roots));
	if (w.shown && w.seen && roots) {
		err = push(&w, roots, all->root_count);
		roots = NULL;
	}
	if (err == ERR_OK)
		err = show_all(&w);
	if (err == ERR_OK && b->passes)
		keep_wanted(b);
	join_siblings(b->r);
	while (w.depth)
		free(w.levels[--w.depth].v);
	free(roots);
	free(w.levels);
	free(w.shown);
	free(w.seen);
	return err;
}
