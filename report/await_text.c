/* SPDX-License-Identifier: Apache-2.0 */
/* The detail that was read, else the kind's own word; then the time left. */
#include "report/await_text.h"

#include "model/names.h"

#include <math.h>

#define NAME_COLUMNS   60
#define DETAIL_COLUMNS 400

static void add_kind(struct text *t, const struct text_style *s, const struct model *m,
		     const struct await *a)
{
	const struct task *other;

	switch (a->kind) {
	case AWAITS_TASK:
		text_add(t, "task");
		if (!a->tasks_count)
			return;
		other = &m->tasks.v[m->edges.v[a->tasks_first]];
		text_add(t, " ");
		text_safe(t, s, other->name, NAME_COLUMNS);
		return;
	case AWAITS_YIELD:
		text_add(t, "bare yield: it runs on in the loop's next turn");
		return;
	case AWAITS_NOT_STARTED:
		text_add(t, "not started yet");
		return;
	case AWAITS_NOTHING:
		return;
	default:
		text_add(t, await_kind_name(a->kind));
	}
}

void await_text_range(struct text *t, const struct text_style *s, const struct model *m,
		      const struct await *a, double least_left, double most_left)
{
	if (!a->detail.len || (a->kind == AWAITS_TASK && a->tasks_count == 1)) {
		add_kind(t, s, m, a);
		if (a->detail.len)
			text_add(t, ", ");
	}
	text_safe(t, s, a->detail, DETAIL_COLUMNS);
	if (isnan(least_left))
		return;
	text_add(t, ", ");
	text_duration(t, s, fmax(least_left, 0));
	if (most_left - least_left >= 0.1) {
		text_add(t, s->utf8 ? " … " : " .. ");
		text_duration(t, s, most_left);
	}
	text_add(t, " left");
}

void await_text(struct text *t, const struct text_style *s, const struct model *m,
		const struct await *a)
{
	await_text_range(t, s, m, a, a->left, a->left);
}
