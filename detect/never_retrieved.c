/* SPDX-License-Identifier: Apache-2.0 */
/* never-retrieved: finished tasks and futures hold exceptions that nobody has looked at, in all looks. One finding for each type of exception. */
#include "detect/detectors.h"

#include "base/cleanup.h"
#include "detect/looks.h"

#include <stdlib.h>

static bool in_look(const struct model *m, vaddr id)
{
	for (uint32_t i = 0; i < m->unretrieved.count; i++) {
		if (m->unretrieved.v[i].id == id)
			return true;
	}
	return false;
}

static bool stands(const struct detection *d, const struct unretrieved *u)
{
	for (uint32_t i = 0; i + 1 < d->count; i++) {
		if (!in_look(d->looks[i], u->id))
			return false;
	}
	return true;
}

static void say(struct detection *d, uint32_t first, const uint32_t *tasks, uint32_t task_count,
		uint32_t count)
{
	struct model *m = d->now;
	const struct unretrieved *u = &m->unretrieved.v[first];
	struct str type = u->type.ptr ? u->type : STR_LIT("an exception");
	struct str who = u->name.ptr ? model_printf(m, "task %.*s", STR_ARG(u->name))
				     : STR_LIT("a future");
	uint32_t f = finding_add(m, "never-retrieved", SEVERITY_INFO);

	if (f == NONE)
		return;
	m->findings.v[f].task = u->task;
	m->findings.v[f].loop = u->loop;
	m->findings.v[f].certain = looks_consistent(d);
	if (count == 1)
		finding_summary(m, f, "%.*s ended with %.*s%s%.*s, and nobody has looked at it",
				STR_ARG(who), STR_ARG(type), u->message.len ? ": " : "",
				STR_ARG(u->message));
	else
		finding_summary(
			m, f,
			"%u ended with %.*s, and nobody has looked at it: first of them %.*s%s%.*s",
			count, STR_ARG(type), STR_ARG(who), u->message.len ? ", " : "",
			STR_ARG(u->message));
	evidence_text(m, f, "exception", "%.*s", STR_ARG(type));
	if (u->message.ptr)
		evidence_text(m, f, "message", "%.*s", STR_ARG(u->message));
	evidence_count(m, f, "count", count);
	evidence_id(m, f, "future", u->id);
	if (task_count)
		evidence_tasks(m, f, "tasks", tasks, task_count);
	finding_advice(
		m, f,
		"await what was started, or add a done callback that looks at its exception: else it is told only when the garbage collector finds it");
}

enum err detect_never_retrieved(struct detection *d)
{
	const struct model *m = d->now;
	uint32_t n = m->unretrieved.count;
	auto_free bool *told = calloc(n + 1ul, sizeof(*told));
	auto_free uint32_t *tasks = calloc(n + 1ul, sizeof(*tasks));

	if (!told || !tasks)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < n; i++)
		told[i] = !stands(d, &m->unretrieved.v[i]);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t count = 0, task_count = 0;

		for (uint32_t k = i; k < n && !told[i]; k++) {
			const struct unretrieved *u = &m->unretrieved.v[k];

			if (told[k] || !str_equal(u->type, m->unretrieved.v[i].type))
				continue;
			if (k != i)
				told[k] = true;
			count++;
			if (u->task != NONE)
				tasks[task_count++] = u->task;
		}
		if (count)
			say(d, i, tasks, task_count, count);
	}
	return ERR_OK;
}
