/* SPDX-License-Identifier: Apache-2.0 */
/* Filter, group, sort; then the members of what is opened. */
#include "tui/rows.h"

#include "base/utf8.h"
#include "model/names.h"
#include "report/await_text.h"
#include "report/task_text.h"
#include "tui/rows_inner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

static const char *const titles[SORT_COLUMNS] = {
	[SORT_NAME] = "NAME",	[SORT_STATE] = "STATE",	  [SORT_WAITS] = "WAITS ON",
	[SORT_SINCE] = "SINCE", [SORT_STEPS] = "STEPS/s", [SORT_WHERE] = "WHERE",
};

const char *sort_column_title(enum sort_column c)
{
	return titles[c];
}

/* The next character as it is compared. */
static int32_t letter(struct str s, size_t *at)
{
	int32_t c = utf8_decode(s.ptr, s.len, at);

	return c < 0 ? c : (int32_t)towlower((wint_t)c);
}

static bool begins_at(struct str words, size_t at, struct str part)
{
	size_t k = 0;

	while (k < part.len) {
		if (at >= words.len || letter(words, &at) != letter(part, &k))
			return false;
	}
	return true;
}

/* strcasestr folds the case of ASCII alone. */
static bool has_part(struct str words, struct str part)
{
	for (size_t at = 0; at < words.len; letter(words, &at)) {
		if (begins_at(words, at, part))
			return true;
	}
	return false;
}

bool task_has(const struct model *m, const struct paths *p, const struct task *t, const char *part,
	      struct text *words)
{
	static const struct text_style plain = {.utf8 = true};
	uint32_t frame = task_own_frame(m, t->chain);
	const char *kind = await_kind_name(t->awaits.kind);

	if (!part[0])
		return true;
	text_clear(words);
	text_safe(words, &plain, t->name, SIZE_MAX);
	text_add(words, "\n");
	await_text(words, &plain, m, &t->awaits);
	text_printf(words, "\n%s\n%s\n", kind ? kind : "",
		    task_state_name(t->state) ? task_state_name(t->state) : "");
	if (frame != NONE) {
		frame_function(words, &plain, &m->frames.v[frame], SIZE_MAX);
		text_add(words, " ");
		frame_place(words, &plain, p, &m->frames.v[frame]);
	}
	return has_part(text_str(words), str_from(part));
}

struct row *rows_add(struct rows *r, const struct group *g)
{
	if (r->count == r->capacity) {
		uint32_t capacity = r->capacity ? 2 * r->capacity : 64;
		struct row *v = realloc(r->v, capacity * sizeof(*v));

		if (!v)
			return NULL;
		r->v = v;
		r->capacity = capacity;
	}
	r->v[r->count] = (struct row){.g = *g, .since = NAN, .steps = NAN};
	return &r->v[r->count++];
}

static bool keep_slice(struct rows *r, uint32_t *slice)
{
	if (r->slice_count == r->slice_capacity) {
		uint32_t capacity = r->slice_capacity ? 2 * r->slice_capacity : 16;
		uint32_t **v = realloc(r->slices, capacity * sizeof(*v));

		if (!v)
			return false;
		r->slices = v;
		r->slice_capacity = capacity;
	}
	r->slices[r->slice_count++] = slice;
	return true;
}

static void measure(const struct rows *r, struct row *row)
{
	double steps = 0;
	bool known = false;

	row->since = NAN;
	for (uint32_t i = 0; i < row->g.count; i++) {
		const struct task_track *k = history_task(r->h, r->m->tasks.v[row->g.rows[i]].id);

		if (!k)
			continue;
		if (!(row->since <= k->since)) {
			row->since = k->since;
			row->since_known = k->since_known;
		}
		if (!isnan(k->rate)) {
			steps += k->rate;
			known = true;
		}
	}
	row->steps = known ? steps : NAN;
}

static int compare_double(double a, double b)
{
	return a < b ? -1 : a > b;
}

static int compare_place(const struct model *m, const struct task *a, const struct task *b)
{
	uint32_t x = task_own_frame(m, a->chain), y = task_own_frame(m, b->chain);
	const struct frame *f = x == NONE ? NULL : &m->frames.v[x];
	const struct frame *g = y == NONE ? NULL : &m->frames.v[y];
	int order;

	if (!f || !g)
		return 0;
	order = text_compare(f->file, g->file);
	return order ? order : f->line < g->line ? -1 : f->line > g->line;
}

static int compare_waits(const struct task *a, const struct task *b)
{
	if (a->awaits.kind != b->awaits.kind) {
		const char *x = await_kind_name(a->awaits.kind),
			   *y = await_kind_name(b->awaits.kind);

		return strcmp(x ? x : "~", y ? y : "~");
	}
	return text_compare(a->awaits.detail, b->awaits.detail);
}

static int compare_by(const struct build *b, const struct row *x, const struct row *y)
{
	const struct model *m = b->r->m;
	const struct task *s = &m->tasks.v[x->g.low], *t = &m->tasks.v[y->g.low];

	switch (b->o->sort) {
	case SORT_STATE: /* running ones first */
		return (t->state == TASK_RUNNING) - (s->state == TASK_RUNNING)
			       ?: (int)s->state - (int)t->state;
	case SORT_WAITS:
		return compare_waits(s, t);
	case SORT_SINCE: /* longest first */
		return compare_double(x->since, y->since);
	case SORT_STEPS: /* most first */
		return compare_double(y->steps, x->steps);
	case SORT_WHERE:
		return compare_place(m, s, t);
	default:
		return 0;
	}
}

/* Whether the column says nothing of the row. */
static bool is_unknown(const struct build *b, const struct row *row)
{
	const struct model *m = b->r->m;

	switch (b->o->sort) {
	case SORT_SINCE:
		return isnan(row->since);
	case SORT_STEPS:
		return isnan(row->steps);
	case SORT_WHERE:
		return task_own_frame(m, m->tasks.v[row->g.low].chain) == NONE;
	default:
		return false;
	}
}

/* What is not known stands last, whichever way it is sorted. */
static int by_column(const void *a, const void *b, void *context)
{
	const struct build *build = context;
	const struct row *x = a, *y = b;
	const struct model *m = build->r->m;
	int unknown = is_unknown(build, x) - is_unknown(build, y);
	int order = compare_by(build, x, y);

	if (unknown)
		return unknown;
	if (!order)
		order = text_compare(m->tasks.v[x->g.low].name, m->tasks.v[y->g.low].name);
	if (build->o->reverse)
		order = -order;
	return order ?: x->g.low < y->g.low ? -1 : x->g.low > y->g.low;
}

enum err rows_group(struct build *b, uint32_t *rows, uint32_t count, struct row **ret,
		    uint32_t *count_ret)
{
	struct group *groups = NULL;
	struct row *v;
	uint32_t n = 0;
	enum err err;

	if (!keep_slice(b->r, rows)) {
		free(rows);
		return ERR_NOMEM;
	}
	err = fold_group(&b->fold, rows, count, &groups, &n);
	v = err == ERR_OK ? calloc(n + 1ul, sizeof(*v)) : NULL;
	for (uint32_t i = 0; v && i < n; i++) {
		v[i].g = groups[i];
		measure(b->r, &v[i]);
	}
	free(groups);
	if (!v)
		return ERR_NOMEM;
	qsort_r(v, n, sizeof(*v), by_column, b);
	*ret = v;
	*count_ret = n;
	return ERR_OK;
}

uint64_t rows_sign(const struct rows *r, const struct row *row)
{
	struct task alike = r->m->tasks.v[row->g.rows[0]];

	alike.awaits.id = alike.loop == NONE ? 0 : r->m->loops.v[alike.loop].id;
	return task_sign(r->chains, &alike);
}

static bool is_opened(const struct build *b, const struct row *row)
{
	uint64_t sign = rows_sign(b->r, row);

	for (uint32_t k = 0; row->g.count > 1 && k < b->o->opened_count; k++) {
		if (b->o->opened[k] == sign)
			return true;
	}
	return false;
}

static enum err add_members(struct build *b, const struct group *g)
{
	struct build alone = {.r = b->r, .o = b->o, .fold = {.m = b->r->m}};
	uint32_t *copy = malloc(g->count * sizeof(*copy)), n = 0;
	struct row *v = NULL;
	enum err err;

	if (!copy)
		return ERR_NOMEM;
	memcpy(copy, g->rows, g->count * sizeof(*copy));
	err = rows_group(&alone, copy, g->count, &v, &n);
	for (uint32_t i = 0; i < n && err == ERR_OK; i++) {
		struct row *row = rows_add(b->r, &v[i].g);

		if (!row) {
			err = ERR_NOMEM;
			break;
		}
		*row = v[i];
		row->kind = ROW_MEMBER;
		row->depth = 1;
	}
	free(v);
	return err;
}

static enum err add_list(struct build *b)
{
	const struct model *m = b->r->m;
	uint32_t *rows = malloc((m->tasks.count + 1ul) * sizeof(*rows)), n = 0, count = 0;
	struct row *v = NULL;
	enum err err;

	if (!rows)
		return ERR_NOMEM;
	for (uint32_t t = 0; t < m->tasks.count; t++) {
		if (!b->passes || b->passes[t])
			rows[n++] = t;
	}
	err = rows_group(b, rows, n, &v, &count);
	for (uint32_t i = 0; i < count && err == ERR_OK; i++) {
		struct row *row = rows_add(b->r, &v[i].g);

		if (!row) {
			err = ERR_NOMEM;
			break;
		}
		*row = v[i];
		row->opened = is_opened(b, row);
		if (row->opened)
			err = add_members(b, &v[i].g);
	}
	free(v);
	return err;
}

static enum err filter(struct build *b)
{
	const struct model *m = b->r->m;
	struct text words = {0};

	b->r->shown = m->tasks.count;
	if (!b->o->filter || !b->o->filter[0])
		return ERR_OK;
	b->r->shown = 0;
	b->passes = malloc(m->tasks.count + 1ul);
	if (!b->passes)
		return ERR_NOMEM;
	for (uint32_t t = 0; t < m->tasks.count; t++) {
		b->passes[t] = task_has(m, &b->r->paths, &m->tasks.v[t], b->o->filter, &words);
		b->r->shown += b->passes[t];
	}
	text_deinit(&words);
	return ERR_OK;
}

enum err rows_init(struct rows *r, const struct model *m, const struct history *h,
		   const struct row_options *o)
{
	struct build b = {.r = r, .o = o};
	enum err err;

	*r = (struct rows){.m = m, .h = h};
	paths_init(&r->paths, m);
	err = selection_init(&r->all, m, NULL);
	if (err == ERR_OK)
		r->chains = history_chains(m);
	if (err == ERR_OK && !r->chains)
		err = ERR_NOMEM;
	if (err == ERR_OK)
		err = fold_init(&b.fold, &r->all, o->fold, o->tree);
	if (err == ERR_OK)
		err = filter(&b);
	if (err == ERR_OK)
		err = o->tree ? rows_tree(&b) : add_list(&b);
	fold_deinit(&b.fold);
	free(b.passes);
	if (err != ERR_OK)
		rows_deinit(r);
	return err;
}

void rows_deinit(struct rows *r)
{
	for (uint32_t i = 0; i < r->slice_count; i++)
		free(r->slices[i]);
	free(r->slices);
	free(r->v);
	free(r->chains);
	selection_deinit(&r->all);
	*r = (struct rows){0};
}

uint32_t rows_find(const struct rows *r, vaddr task, bool group)
{
	uint32_t wanted = model_find_task(r->m, task), found = NONE;

	for (uint32_t i = 0; wanted != NONE && i < r->count; i++) {
		const struct row *row = &r->v[i];

		if (row->kind == ROW_ELSEWHERE)
			continue;
		for (uint32_t k = 0; k < row->g.count; k++) {
			if (row->g.rows[k] == wanted)
				found = i;
		}
		/* The member of an opened group stands for itself. */
		if (found == i && (group || !row->opened))
			return i;
	}
	return found;
}

uint32_t rows_search(const struct rows *r, const char *part, uint32_t from)
{
	struct text words = {0};
	uint32_t found = NONE;

	for (uint32_t i = 0; i < r->count && found == NONE && part[0]; i++) {
		uint32_t at = (uint32_t)((from + (uint64_t)i) % r->count);
		const struct group *g = &r->v[at].g;

		for (uint32_t k = 0; k < g->count && found == NONE; k++) {
			if (task_has(r->m, &r->paths, &r->m->tasks.v[g->rows[k]], part, &words))
				found = at;
		}
	}
	text_deinit(&words);
	return found;
}
