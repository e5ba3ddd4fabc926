/* SPDX-License-Identifier: Apache-2.0 */
/* See standing.h. */
#include "detect/standing.h"

#include "base/cleanup.h"
#include "detect/looks.h"
#include "model/names.h"

#include <math.h>
#include <stdlib.h>

#define SAID	   8u /* tasks that are put into words */
#define NAME_BYTES 60
#define WAIT_BYTES 160

static bool is_done(const struct task *t)
{
	return t->state != TASK_PENDING && t->state != TASK_RUNNING;
}

bool standing_task(const struct detection *d, const struct task *t)
{
	if (is_done(t) || t->damaged || t->awaits.done)
		return false;
	for (uint32_t i = 0; i + 1 < d->count; i++) {
		const struct task *before = looks_task(d, i, t);

		if (!before || before->state != t->state || before->awaits.done ||
		    before->awaits.kind != t->awaits.kind || before->awaits.id != t->awaits.id ||
		    !looks_same_chain(d->looks[i], before->chain, d->now, t->chain))
			return false;
	}
	return true;
}

enum err standing_limits(const struct model *m, bool **ret)
{
	auto_free uint32_t *open = calloc(m->tasks.count + 1ul, sizeof(*open));
	auto_free bool *limited = calloc(m->tasks.count + 1ul, sizeof(*limited));
	uint32_t count = 0;

	if (!open || !limited)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < m->tasks.count; i++) {
		limited[i] = isfinite(m->tasks.v[i].awaits.left);
		if (limited[i])
			open[count++] = i;
	}
	while (count) {
		const struct await *a = &m->tasks.v[open[--count]].awaits;

		for (uint32_t i = 0; i < a->tasks_count; i++) {
			uint32_t to = m->edges.v[a->tasks_first + i];

			if (!limited[to])
				open[count++] = to;
			limited[to] = true;
		}
	}
	*ret = limited;
	limited = NULL;
	return ERR_OK;
}

static int clip(struct str s, uint32_t most)
{
	return (int)(s.len < most ? s.len : most);
}

struct str standing_wait(struct model *m, const struct task *t)
{
	const struct await *a = &t->awaits;
	struct str name;

	if (a->kind == AWAITS_TASK && a->tasks_count) {
		name = looks_task_name(&m->tasks.v[m->edges.v[a->tasks_first]]);
		return model_printf(m, "task %.*s", clip(name, NAME_BYTES), name.ptr);
	}
	if (a->detail.len)
		return (struct str){a->detail.ptr, (uint32_t)clip(a->detail, WAIT_BYTES)};
	return str_from(a->kind == AWAITS_FUTURE ? "a future" : await_kind_name(a->kind));
}

uint32_t standing_frame(const struct model *m, const struct task *t)
{
	uint32_t own = looks_own_frame(m, t->chain);

	return own == NONE ? looks_innermost(m, t->chain) : own;
}

struct str standing_words(struct model *m, const uint32_t *rows, uint32_t count)
{
	struct str all = {0};

	for (uint32_t i = 0; i < count && i < SAID; i++) {
		const struct task *t = &m->tasks.v[rows[i]];
		struct str name = looks_task_name(t), wait = standing_wait(m, t);
		struct str place = looks_place(m, standing_frame(m, t));

		all = model_printf(m, "%.*s%s%.*s waits for %.*s at %.*s", STR_ARG(all),
				   i ? "; " : "", clip(name, NAME_BYTES), name.ptr, STR_ARG(wait),
				   STR_ARG(place));
	}
	if (count > SAID)
		all = model_printf(m, "%.*s; and %u more", STR_ARG(all), count - SAID);
	return all;
}
