/* SPDX-License-Identifier: Apache-2.0 */
/* await-cycle: tasks that wait for each other in a ring, in every look. A ring never resolves by itself, whatever runs; only cancelling breaks it. */
#include "detect/detectors.h"

#include "base/cleanup.h"
#include "detect/looks.h"

#include <stdlib.h>

/* The same task waits for the same object in each look: the ring did not come and go. */
static bool stands(const struct detection *d, const struct task *t)
{
	for (uint32_t i = 0; i + 1 < d->count; i++) {
		const struct task *before = looks_task(d, i, t);

		if (!before || before->awaits.id != t->awaits.id)
			return false;
	}
	return t->state == TASK_PENDING && !t->damaged;
}

static void say(struct detection *d, const uint32_t *members, uint32_t count)
{
	struct model *m = d->now;
	const struct task *first = &m->tasks.v[members[0]];
	uint32_t f = finding_add(m, "await-cycle", SEVERITY_CRITICAL);
	struct str name = looks_task_name(first);

	if (f == NONE)
		return;
	m->findings.v[f].task = members[0];
	m->findings.v[f].loop = first->loop;
	m->findings.v[f].certain = looks_consistent(d);
	if (count == 1)
		finding_summary(m, f, "task %.*s waits for itself", STR_ARG(name));
	else
		finding_summary(m, f, "%u tasks wait for each other in a ring, beginning with %.*s",
				count, STR_ARG(name));
	evidence_tasks(m, f, "ring", members, count);
	evidence_stack(m, f, "stack", first->chain);
	finding_advice(
		m, f,
		"let one task of the ring wait for something else, or cancel it: none of them can ever finish");
}

/* One ring's tasks, each followed by one that it waits for. */
static uint32_t follow(const struct model *m, const uint32_t *ring, uint32_t start,
		       uint32_t *members, bool *seen)
{
	uint32_t count = 0, at = start;

	while (at != NONE && !seen[at]) {
		const struct await *a = &m->tasks.v[at].awaits;
		uint32_t next = NONE;

		seen[at] = true;
		members[count++] = at;
		for (uint32_t i = 0; i < a->tasks_count; i++) {
			uint32_t to = m->edges.v[a->tasks_first + i];

			if (ring[to] == ring[start] && (next == NONE || !seen[to]))
				next = to;
		}
		at = next;
	}
	return count;
}

enum err detect_await_cycle(struct detection *d)
{
	const struct model *m = d->now;
	auto_free uint32_t *ring = NULL;
	auto_free uint32_t *members = calloc(m->tasks.count + 1ul, sizeof(*members));
	auto_free bool *seen = calloc(m->tasks.count + 1ul, sizeof(*seen));
	auto_free bool *told = NULL;
	uint32_t rings = 0;
	enum err err = members && seen ? model_rings(m, &ring, &rings) : ERR_NOMEM;

	if (err != ERR_OK)
		return err;
	told = calloc(rings + 1ul, sizeof(*told));
	if (!told)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < m->tasks.count; i++) {
		uint32_t count;
		bool all = true;

		if (!ring[i] || told[ring[i]])
			continue;
		told[ring[i]] = true;
		count = follow(m, ring, i, members, seen);
		for (uint32_t k = 0; k < count && all; k++)
			all = stands(d, &m->tasks.v[members[k]]);
		if (all)
			say(d, members, count);
	}
	return ERR_OK;
}
