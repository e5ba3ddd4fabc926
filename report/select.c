/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over the awaits with a queue of its own: upwards and downwards from what a pattern matches, downwards from the roots. */
#include "report/select.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Names are no C strings: a NUL would end the match early, so it is matched as a U+FFFD. */
static bool name_matches(const char *pattern, struct str name)
{
	bool match;
	char *text;

	if (!name.ptr)
		return false;
	text = malloc((size_t)name.len + 1);
	if (!text)
		return false;
	for (uint32_t i = 0; i < name.len; i++)
		text[i] = name.ptr[i] ? name.ptr[i] : '\x01';
	text[name.len] = 0;
	match = fnmatch(pattern, text, FNM_NOESCAPE) == 0;
	free(text);
	return match;
}

/* Adds to seen[] all that can be reached from what is in it, along the edges or back. */
static enum err spread(const struct model *m, bool *seen, bool back)
{
	uint32_t *queue = malloc((m->tasks.count + 1ul) * sizeof(*queue)), count = 0;

	if (!queue)
		return ERR_NOMEM;
	for (uint32_t t = 0; t < m->tasks.count; t++) {
		if (seen[t])
			queue[count++] = t;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct task *t = &m->tasks.v[queue[i]];
		uint32_t n = back ? t->awaited_by_count : t->awaits.tasks_count;
		const uint32_t *to = back ? m->back_edges.v + t->awaited_by_first
					  : m->edges.v + t->awaits.tasks_first;

		for (uint32_t j = 0; j < n; j++) {
			if (!seen[to[j]]) {
				seen[to[j]] = true;
				queue[count++] = to[j];
			}
		}
	}
	free(queue);
	return ERR_OK;
}

static enum err select_pattern(struct selection *s, const char *pattern)
{
	uint32_t n = s->m->tasks.count;
	bool *above = calloc(n + 1ul, sizeof(*above));
	enum err err;

	if (!above)
		return ERR_NOMEM;
	for (uint32_t t = 0; t < n; t++)
		s->shown[t] = above[t] = name_matches(pattern, s->m->tasks.v[t].name);
	err = spread(s->m, s->shown, false);
	if (!err)
		err = spread(s->m, above, true);
	for (uint32_t t = 0; t < n; t++)
		s->shown[t] = s->shown[t] || above[t];
	free(above);
	return err;
}

/* Rings that some task outside of them waits for: outer[number]. */
static void find_outer(const struct selection *s, bool *outer)
{
	const struct model *m = s->m;

	for (uint32_t t = 0; t < m->tasks.count; t++) {
		const struct task *task = &m->tasks.v[t];

		for (uint32_t j = 0; s->ring[t] && j < task->awaited_by_count; j++) {
			if (s->ring[m->back_edges.v[task->awaited_by_first + j]] != s->ring[t])
				outer[s->ring[t]] = true;
		}
	}
}

static enum err find_roots(struct selection *s, uint32_t rings)
{
	bool *led_to = calloc(rings + 1ul, sizeof(*led_to));

	s->roots = malloc((s->m->tasks.count + 1ul) * sizeof(*s->roots));
	s->ring_size = calloc(rings + 1ul, sizeof(*s->ring_size));
	if (!led_to || !s->roots || !s->ring_size) {
		free(led_to);
		return ERR_NOMEM;
	}
	find_outer(s, led_to);
	for (uint32_t t = 0; t < s->m->tasks.count; t++) {
		uint32_t ring = s->ring[t];
		bool root = ring ? !led_to[ring] : !s->m->tasks.v[t].awaited_by_count;

		s->ring_size[ring]++;
		if (!s->shown[t])
			continue;
		s->shown_count++;
		if (root)
			s->roots[s->root_count++] = t;
		led_to[ring] = ring || led_to[ring];
	}
	free(led_to);
	return ERR_OK;
}

enum err selection_init(struct selection *s, const struct model *m, const char *pattern)
{
	uint32_t rings = 0;
	enum err err;

	memset(s, 0, sizeof(*s));
	s->m = m;
	s->shown = malloc((m->tasks.count + 1ul) * sizeof(*s->shown));
	if (!s->shown)
		return ERR_NOMEM;
	memset(s->shown, true, m->tasks.count);
	err = model_rings(m, &s->ring, &rings);
	if (!err && pattern)
		err = select_pattern(s, pattern);
	if (!err)
		err = find_roots(s, rings);
	if (err)
		selection_deinit(s);
	return err;
}

void selection_deinit(struct selection *s)
{
	free(s->shown);
	free(s->ring);
	free(s->ring_size);
	free(s->roots);
	memset(s, 0, sizeof(*s));
}

enum err selection_limit(struct selection *s, uint32_t levels)
{
	const struct model *m = s->m;
	uint32_t n = m->tasks.count, *queue = malloc((n + 1ul) * sizeof(*queue));
	bool *near = calloc(n + 1ul, sizeof(*near));
	uint32_t count = 0, level_end, level = 1;

	if (!queue || !near) {
		free(queue);
		free(near);
		return ERR_NOMEM;
	}
	for (uint32_t i = 0; i < s->root_count; i++) {
		near[s->roots[i]] = true;
		queue[count++] = s->roots[i];
	}
	level_end = count;
	for (uint32_t i = 0; i < count; i++) {
		const struct await *a = &m->tasks.v[queue[i]].awaits;

		if (i == level_end) {
			level++;
			level_end = count;
		}
		for (uint32_t j = 0; level < levels && j < a->tasks_count; j++) {
			uint32_t to = m->edges.v[a->tasks_first + j];

			if (s->shown[to] && !near[to]) {
				near[to] = true;
				queue[count++] = to;
			}
		}
	}
	s->shown_count = count;
	free(queue);
	free(s->shown);
	s->shown = near;
	return ERR_OK;
}
