/* SPDX-License-Identifier: Apache-2.0 */
/* A 64-bit signature a task, from the leaves upwards without recursion; then sorting by it. */
#include "report/fold.h"

#include "report/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9fb21c651e98df25u;
	h ^= h >> 29;
	h *= 0xd6e8feb86659fd93u;
	return h ^ h >> 32;
}

/* What a task is by itself. */
static uint64_t own_signature(const struct task *t)
{
	uint64_t h = mix(1, (uint64_t)t->cls << 32 | t->chain);

	h = mix(h, (uint64_t)t->loop << 32 | t->awaits.worker_chain);
	h = mix(h, (uint64_t)t->state << 40 | (uint64_t)t->awaits.kind << 32 | t->cancelling);
	return mix(h,
		   (uint64_t)t->must_cancel << 2 | (uint64_t)t->chain_truncated << 1 | t->damaged);
}

/*
 * Rows in an order in which each stands after all that it awaits; rows of rings come first, in any order. Queue of those whose awaited ones are all done.
 */
static void sign_upwards(struct fold *f, const struct selection *s, uint32_t *queue, uint32_t *left)
{
	const struct model *m = f->m;
	uint32_t count = 0;

	for (uint32_t t = 0; t < m->tasks.count; t++) {
		const struct task *task = &m->tasks.v[t];

		f->view[t] = own_signature(task);
		for (uint32_t j = 0; j < task->awaited_by_count; j++)
			left[m->back_edges.v[task->awaited_by_first + j]]++;
	}
	for (uint32_t t = 0; t < m->tasks.count; t++) {
		if (s->ring[t] || !left[t])
			queue[count++] = t;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t row = queue[i];
		const struct task *task = &m->tasks.v[row];

		if (s->ring[row] || task->awaited_by_count > 1)
			f->view[row] = mix(2, row);
		f->view[row] = mix(f->view[row], s->shown[row]);
		for (uint32_t j = 0; j < task->awaited_by_count; j++) {
			uint32_t by = m->back_edges.v[task->awaited_by_first + j];

			if (s->ring[by])
				continue;
			f->view[by] += mix(3, f->view[row]); /* a sum: their order says nothing */
			if (--left[by] == 0)
				queue[count++] = by;
		}
	}
}

enum err fold_init(struct fold *f, const struct selection *s, bool enabled, bool below)
{
	uint32_t n = s->m->tasks.count, *queue, *left;

	memset(f, 0, sizeof(*f));
	f->m = s->m;
	if (!enabled)
		return ERR_OK;
	f->view = malloc((n + 1ul) * sizeof(*f->view));
	queue = malloc((n + 1ul) * sizeof(*queue));
	left = calloc(n + 1ul, sizeof(*left));
	if (!f->view || !queue || !left) {
		free(queue);
		free(left);
		fold_deinit(f);
		return ERR_NOMEM;
	}
	if (below) {
		sign_upwards(f, s, queue, left);
	} else {
		for (uint32_t t = 0; t < n; t++)
			f->view[t] = s->ring[t] ? mix(2, t) : own_signature(&s->m->tasks.v[t]);
	}
	free(queue);
	free(left);
	return ERR_OK;
}

void fold_deinit(struct fold *f)
{
	free(f->view);
	memset(f, 0, sizeof(*f));
}

static int name_order(const struct model *m, uint32_t a, uint32_t b)
{
	int order = text_compare(m->tasks.v[a].name, m->tasks.v[b].name);

	return order ? order : a < b ? -1 : a > b;
}

static int by_view(const void *a, const void *b, void *fold)
{
	const struct fold *f = fold;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (f->view[x] != f->view[y])
		return f->view[x] < f->view[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Running tasks first, then by name. */
static int by_name(const void *a, const void *b, void *fold)
{
	const struct model *m = ((const struct fold *)fold)->m;
	const struct group *x = a, *y = b;
	bool x_runs = m->tasks.v[x->low].state == TASK_RUNNING;
	bool y_runs = m->tasks.v[y->low].state == TASK_RUNNING;

	if (x_runs != y_runs)
		return x_runs ? -1 : 1;
	return name_order(m, x->low, y->low);
}

static int by_address(const void *a, const void *b)
{
	vaddr x = *(const vaddr *)a, y = *(const vaddr *)b;

	return x < y ? -1 : x > y;
}

static bool waits_on_object(enum await_kind k)
{
	return k == AWAITS_LOCK || k == AWAITS_EVENT || k == AWAITS_CONDITION ||
	       k == AWAITS_SEMAPHORE || k == AWAITS_QUEUE || k == AWAITS_BARRIER;
}

static enum err count_objects(const struct model *m, struct group *g)
{
	vaddr *ids;

	if (!waits_on_object(m->tasks.v[g->low].awaits.kind))
		return ERR_OK;
	ids = malloc(g->count * sizeof(*ids));
	if (!ids)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < g->count; i++)
		ids[i] = m->tasks.v[g->rows[i]].awaits.id;
	qsort(ids, g->count, sizeof(*ids), by_address);
	for (uint32_t i = 0; i < g->count; i++)
		g->objects += i == 0 || ids[i] != ids[i - 1];
	free(ids);
	return ERR_OK;
}

static void group_measure(const struct model *m, struct group *g)
{
	const struct await *first = &m->tasks.v[g->rows[0]].awaits;

	g->low = g->high = g->rows[0];
	g->left_low = g->left_high = NAN;
	for (uint32_t i = 0; i < g->count; i++) {
		uint32_t row = g->rows[i];
		const struct await *a = &m->tasks.v[row].awaits;

		if (i && name_order(m, row, g->low) < 0)
			g->low = row;
		if (i && name_order(m, row, g->high) > 0)
			g->high = row;
		g->left_low = fmin(g->left_low, a->left);
		g->left_high = fmax(g->left_high, a->left);
		g->details_differ = g->details_differ || !str_equal(a->detail, first->detail) ||
				    (a->kind == AWAITS_TASK && a->id != first->id);
	}
}

struct group group_alone(const uint32_t *row)
{
	return (struct group){.rows = row,
			      .count = 1,
			      .low = *row,
			      .high = *row,
			      .left_low = NAN,
			      .left_high = NAN};
}

enum err fold_group(const struct fold *f, uint32_t *rows, uint32_t count, struct group **ret,
		    uint32_t *groups_ret)
{
	struct group *groups = calloc(count + 1ul, sizeof(*groups));
	uint32_t n = 0, size;
	enum err err = ERR_OK;

	if (!groups)
		return ERR_NOMEM;
	if (f->view)
		qsort_r(rows, count, sizeof(*rows), by_view, (void *)f);
	for (uint32_t i = 0; i < count; i += size) {
		for (size = 1; f->view && i + size < count; size++) {
			if (f->view[rows[i + size]] != f->view[rows[i]])
				break;
		}
		if (size < FOLD_FROM)
			size = 1;
		groups[n].rows = rows + i;
		groups[n].count = size;
		group_measure(f->m, &groups[n]);
		if (size > 1 && !err)
			err = count_objects(f->m, &groups[n]);
		n++;
	}
	qsort_r(groups, n, sizeof(*groups), by_name, (void *)f);
	if (err) {
		free(groups);
		return err;
	}
	*ret = groups;
	*groups_ret = n;
	return ERR_OK;
}
