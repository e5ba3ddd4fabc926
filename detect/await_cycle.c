/* SPDX-License-Identifier: Apache-2.0 */
/*
 * await-cycle: tasks that wait for each other in a ring, in every look, so that none of them can ever finish, whatever else runs. Proven by taking away what could
 * end by itself: a wait for the first of several needs all of them stuck, a wait for all of them one; a wait with a time limit (its own, or of one who waits for it)
 * is not stuck. What is left in a ring stays there until somebody cancels, or until one that a group waits for beside the ring fails and the group gives up.
 */
#include "detect/detectors.h"

#include "base/cleanup.h"
#include "detect/looks.h"
#include "detect/standing.h"

#include <stdlib.h>

struct rings {
	uint32_t *ring; /* by task row: number of its ring, 0 none */
	bool *stuck; /* by task row */
	uint32_t *members; /* of the ring that is followed */
	uint32_t *place; /* by task row: its place among the members, from 1 */
};

static void rings_deinit(struct rings *r)
{
	free(r->ring);
	free(r->stuck);
	free(r->members);
	free(r->place);
}

static bool may_end(const struct model *m, const struct rings *r, const struct task *t)
{
	const struct await *a = &t->awaits;
	uint32_t stuck = 0;

	for (uint32_t i = 0; i < a->tasks_count; i++)
		stuck += r->stuck[m->edges.v[a->tasks_first + i]];
	if (!a->any_of)
		return !stuck;
	return !stuck || stuck < a->tasks_count || a->futures_count || a->tasks_truncated;
}

/* Takes away what may end, until nothing more may. */
static enum err find_stuck(const struct detection *d, struct rings *r)
{
	const struct model *m = d->now;
	auto_free bool *limited = NULL;
	bool changed = true;
	enum err err = standing_limits(m, &limited);

	for (uint32_t i = 0; err == ERR_OK && i < m->tasks.count; i++)
		r->stuck[i] = r->ring[i] && !limited[i] && standing_task(d, &m->tasks.v[i]);
	while (err == ERR_OK && changed) {
		changed = false;
		for (uint32_t i = 0; i < m->tasks.count; i++) {
			if (!r->stuck[i] || !may_end(m, r, &m->tasks.v[i]))
				continue;
			r->stuck[i] = false;
			changed = true;
		}
	}
	return err;
}

/* A stuck task that this one waits for. */
static uint32_t next_of(const struct model *m, const struct rings *r, uint32_t row)
{
	const struct await *a = &m->tasks.v[row].awaits;

	for (uint32_t i = 0; i < a->tasks_count; i++) {
		uint32_t to = m->edges.v[a->tasks_first + i];

		if (r->stuck[to])
			return to;
	}
	return NONE;
}

/* From a stuck task along stuck tasks until one comes again: from there on it is a ring. *first_ret: its first member. */
static uint32_t follow(const struct model *m, struct rings *r, uint32_t start, uint32_t *first_ret)
{
	uint32_t count = 0, at = start;

	while (at != NONE && !r->place[at]) {
		r->members[count++] = at;
		r->place[at] = count;
		at = next_of(m, r, at);
	}
	*first_ret = at == NONE ? count : r->place[at] - 1;
	for (uint32_t i = 0; i < count; i++)
		r->place[r->members[i]] = 0;
	return count - *first_ret;
}

static void say(struct detection *d, const uint32_t *members, uint32_t count)
{
	struct model *m = d->now;
	const struct task *first = &m->tasks.v[members[0]];
	uint32_t f = finding_add(m, "await-cycle", SEVERITY_CRITICAL);
	struct str name = looks_task_name(first);
	struct str place = looks_place(m, standing_frame(m, first));

	if (f == NONE)
		return;
	m->findings.v[f].task = members[0];
	m->findings.v[f].loop = first->loop;
	m->findings.v[f].certain = looks_consistent(d);
	if (count == 1)
		finding_summary(m, f, "task %.*s waits for itself at %.*s", STR_ARG(name),
				STR_ARG(place));
	else
		finding_summary(
			m, f, "%u tasks wait for each other in a ring, beginning with %.*s at %.*s",
			count, STR_ARG(name), STR_ARG(place));
	evidence_tasks(m, f, "ring", members, count);
	evidence_text(m, f, "waits", "%.*s", STR_ARG(standing_words(m, members, count)));
	evidence_stack(m, f, "stack", first->chain);
	finding_advice(
		m, f,
		"let one task of the ring wait for something else, or cancel it: none of them can ever finish");
}

/* One finding a ring: the first of its stuck tasks leads to it. */
static enum err tell(struct detection *d, struct rings *r, uint32_t count)
{
	const struct model *m = d->now;
	auto_free bool *told = calloc(count + 1ul, sizeof(*told));

	if (!told)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < m->tasks.count; i++) {
		uint32_t first, length;

		if (!r->stuck[i] || told[r->ring[i]])
			continue;
		length = follow(m, r, i, &first);
		if (!length || told[r->ring[r->members[first]]])
			continue;
		told[r->ring[r->members[first]]] = true;
		say(d, r->members + first, length);
	}
	return ERR_OK;
}

enum err detect_await_cycle(struct detection *d)
{
	size_t n = d->now->tasks.count + 1ul;
	struct rings r = {.stuck = calloc(n, sizeof(*r.stuck)),
			  .members = calloc(n, sizeof(*r.members)),
			  .place = calloc(n, sizeof(*r.place))};
	uint32_t count = 0;
	enum err err = ERR_NOMEM;

	if (r.stuck && r.members && r.place)
		err = model_rings(d->now, &r.ring, &count);
	if (err == ERR_OK)
		err = find_stuck(d, &r);
	if (err == ERR_OK)
		err = tell(d, &r, count);
	rings_deinit(&r);
	return err;
}
