/* SPDX-License-Identifier: Apache-2.0 */
/* Rings of awaits: strongly connected components of the "awaits" edges (Tarjan), with a stack of its own, since chains may be 100,000 deep. */
#include "model/model.h"

#include <stdlib.h>

struct walk {
	const struct model *m;
	uint32_t *number; /* order of the first visit, from 1; 0: not yet */
	uint32_t *low; /* smallest number that can be reached; UINT32_MAX: component is closed */
	uint32_t *edge; /* next edge to follow, of rows on the path */
	uint32_t *path; /* rows being visited */
	uint32_t *open; /* rows whose component is not closed yet */
	uint32_t path_len, open_len, next;
	uint32_t *ring;
	uint32_t rings;
};

static bool awaits_itself(const struct model *m, uint32_t row)
{
	const struct await *a = &m->tasks.v[row].awaits;

	for (uint32_t i = 0; i < a->tasks_count; i++) {
		if (m->edges.v[a->tasks_first + i] == row)
			return true;
	}
	return false;
}

static void enter(struct walk *w, uint32_t row)
{
	w->number[row] = w->low[row] = ++w->next;
	w->edge[row] = 0;
	w->path[w->path_len++] = row;
	w->open[w->open_len++] = row;
}

/* All edges of the row at the end of the path are followed. */
static void leave(struct walk *w, uint32_t row)
{
	uint32_t member, ring = 0;

	w->path_len--;
	if (w->path_len) {
		uint32_t from = w->path[w->path_len - 1];

		if (w->low[row] < w->low[from])
			w->low[from] = w->low[row];
	}
	if (w->low[row] != w->number[row])
		return;
	if (w->open[w->open_len - 1] != row || awaits_itself(w->m, row))
		ring = ++w->rings;
	do {
		member = w->open[--w->open_len];
		w->low[member] = UINT32_MAX;
		w->ring[member] = ring;
	} while (member != row);
}

static void visit_from(struct walk *w, uint32_t root)
{
	enter(w, root);
	while (w->path_len) {
		uint32_t row = w->path[w->path_len - 1];
		const struct await *a = &w->m->tasks.v[row].awaits;

		if (w->edge[row] < a->tasks_count) {
			uint32_t to = w->m->edges.v[a->tasks_first + w->edge[row]++];

			if (!w->number[to])
				enter(w, to);
			else if (w->low[to] != UINT32_MAX && w->number[to] < w->low[row])
				w->low[row] = w->number[to];
		} else {
			leave(w, row);
		}
	}
}

/* Numbers in the order of each ring's first row, so that a picture reads from the top. */
static void renumber(struct walk *w)
{
	uint32_t *order = w->number, next = 0; /* no longer needed as visit numbers */
	uint32_t count = w->m->tasks.count;

	for (uint32_t i = 0; i < count; i++)
		order[i] = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (!w->ring[i])
			continue;
		if (!order[w->ring[i] - 1])
			order[w->ring[i] - 1] = ++next;
		w->ring[i] = order[w->ring[i] - 1];
	}
}

enum err model_rings(const struct model *m, uint32_t **ret, uint32_t *rings_ret)
{
	size_t n = m->tasks.count;
	uint32_t *block = calloc(n + 1, 5 * sizeof(uint32_t));
	struct walk w = {.m = m, .ring = calloc(n + 1, sizeof(uint32_t))};

	if (!block || !w.ring) {
		free(block);
		free(w.ring);
		return ERR_NOMEM;
	}
	w.number = block;
	w.low = block + n;
	w.edge = block + 2 * n;
	w.path = block + 3 * n;
	w.open = block + 4 * n;
	for (uint32_t i = 0; i < n; i++) {
		if (!w.number[i])
			visit_from(&w, i);
	}
	renumber(&w);
	free(block);
	*ret = w.ring;
	*rings_ret = w.rings;
	return ERR_OK;
}
