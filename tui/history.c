/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over each new picture; what has to be kept of it is copied. */
#include "tui/history.h"

#include "report/task_text.h"
#include "tui/history_inner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLACES_MOST  4096u
#define PLACE_SLOTS  (2 * PLACES_MOST) /* a power of two */
#define TEXT_RESERVE ((size_t)64 << 20)
#define DUE_SAME     0.002 /* seconds: a deadline is computed from the time left, which is rounded */
#define RATE_SECONDS 2.0
#define SMOOTH	     0.2
/* Partial pictures in a row in which something may be missing before it is forgotten. */
#define PARTIAL_KEPT 3u

enum err history_init(struct history *h, bool utf8)
{
	*h = (struct history){.utf8 = utf8, .interval = NAN};
	table_init(&h->loops, sizeof(struct loop_track));
	table_init(&h->tasks, sizeof(struct task_track));
	table_init(&h->threads, sizeof(struct thread_track));
	h->places = calloc(PLACES_MOST, sizeof(*h->places));
	h->place_index = calloc(PLACE_SLOTS, sizeof(*h->place_index));
	if (h->places && h->place_index && arena_init(&h->text, TEXT_RESERVE))
		return ERR_OK;
	history_deinit(h);
	return ERR_NOMEM;
}

void history_deinit(struct history *h)
{
	table_deinit(&h->loops);
	table_deinit(&h->tasks);
	table_deinit(&h->threads);
	history_findings_deinit(h);
	free(h->places);
	free(h->place_index);
	arena_deinit(&h->text);
	*h = (struct history){0};
}

void history_clear(struct history *h)
{
	table_deinit(&h->loops);
	table_deinit(&h->tasks);
	table_deinit(&h->threads);
	history_findings_deinit(h);
	memset(h->place_index, 0, PLACE_SLOTS * sizeof(*h->place_index));
	h->place_count = 0;
	h->samples = 0;
	h->partial = false;
	h->interval = NAN;
	arena_reset(&h->text);
}

static bool copy_places(struct history *to, const struct history *from)
{
	for (uint32_t i = 0; i < from->place_count; i++) {
		const struct place *p = &from->places[i];
		char *function = arena_copy(&to->text, p->function.ptr, p->function.len);
		char *file = arena_copy(&to->text, p->file.ptr, p->file.len);

		if (!function || !file)
			return false;
		to->places[i] =
			(struct place){{function, p->function.len}, {file, p->file.len}, p->line};
	}
	to->place_count = from->place_count;
	memcpy(to->place_index, from->place_index, PLACE_SLOTS * sizeof(*to->place_index));
	return true;
}

enum err history_copy(struct history *to, const struct history *from)
{
	if (history_init(to, from->utf8) != ERR_OK)
		return ERR_NOMEM;
	to->samples = from->samples;
	to->first = from->first;
	to->last = from->last;
	to->interval = from->interval;
	to->partial = from->partial;
	if (table_copy(&to->loops, &from->loops) == ERR_OK &&
	    table_copy(&to->tasks, &from->tasks) == ERR_OK &&
	    table_copy(&to->threads, &from->threads) == ERR_OK && copy_places(to, from) &&
	    history_findings_copy(to, from))
		return ERR_OK;
	history_deinit(to);
	return ERR_NOMEM;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9fb21c651e98df25u;
	return h ^ h >> 32;
}

static uint64_t hash_text(uint64_t h, struct str s)
{
	for (uint32_t i = 0; i < s.len; i++)
		h = (h ^ (unsigned char)s.ptr[i]) * 0x100000001b3u;
	return mix(h, s.len);
}

uint64_t *history_chains(const struct model *m)
{
	uint64_t *chains = malloc((m->chains.count + 1ul) * sizeof(*chains));
	uint64_t *frames = malloc((m->frames.count + 1ul) * sizeof(*frames));

	for (uint32_t i = 0; chains && frames && i < m->frames.count; i++) {
		const struct frame *f = &m->frames.v[i];

		frames[i] = mix(hash_text(hash_text(1, f->function), f->file), (uint64_t)f->line);
	}
	/* A node comes after the one outside of it. */
	for (uint32_t i = 0; chains && frames && i < m->chains.count; i++) {
		const struct chain *c = &m->chains.v[i];

		chains[i] = mix(c->outer == NONE ? 7 : chains[c->outer], frames[c->frame]);
	}
	if (!frames) {
		free(chains);
		chains = NULL;
	}
	free(frames);
	return chains;
}

uint64_t task_sign(const uint64_t *chains, const struct task *t)
{
	uint64_t h = mix((uint64_t)t->state << 8 | t->awaits.kind, t->cancelling);

	/* Where a running task is, says each picture anew. */
	if (t->state == TASK_RUNNING)
		return h;
	return mix(mix(h, t->awaits.id), t->chain == NONE ? 3 : chains[t->chain]);
}

static uint32_t intern_place(struct history *h, const struct model *m, uint32_t frame)
{
	const struct frame *f;
	uint32_t at;

	if (frame == NONE)
		return NONE;
	f = &m->frames.v[frame];
	at = (uint32_t)mix(hash_text(hash_text(1, f->function), f->file), (uint64_t)f->line) %
	     PLACE_SLOTS;
	for (; h->place_index[at]; at = (at + 1) % PLACE_SLOTS) {
		const struct place *p = &h->places[h->place_index[at] - 1];

		if (p->line == f->line && str_equal(p->function, f->function) &&
		    str_equal(p->file, f->file))
			return h->place_index[at] - 1;
	}
	if (h->place_count == PLACES_MOST)
		return NONE;
	h->places[h->place_count] = (struct place){
		{arena_copy(&h->text, f->function.ptr, f->function.len), f->function.len},
		{arena_copy(&h->text, f->file.ptr, f->file.len), f->file.len},
		f->line};
	if (!h->places[h->place_count].function.ptr || !h->places[h->place_count].file.ptr)
		return NONE;
	h->place_index[at] = ++h->place_count;
	return h->place_count - 1;
}

static void note_change(struct history *h, const struct model *m, const struct task *t,
			struct task_track *k, double now)
{
	k->changes[k->change_count++ % HISTORY_CHANGES] = (struct task_change){
		now, t->state, t->awaits.kind, intern_place(h, m, task_own_frame(m, t->chain))};
}

static bool same_due(double a, double b)
{
	return isnan(a) ? isnan(b) : fabs(a - b) < DUE_SAME;
}

/* When its wait ends by itself, in the loop's time. Of what is overdue a picture says that nothing is left, not when it was due: that has not changed then. */
static double due_of(const struct model *m, const struct task *t, const struct task_track *k)
{
	double now;

	if (t->loop == NONE)
		return NAN;
	now = m->loops.v[t->loop].time;
	return t->awaits.left <= 0 && k->due <= now ? k->due : now + t->awaits.left;
}

static void task_begin(struct history *h, struct task_track *k, uint64_t name, double now)
{
	*k = (struct task_track){.id = k->id,
				 .name = name,
				 .first = now,
				 .since = now,
				 .since_known = h->samples > (h->partial ? PARTIAL_KEPT : 0),
				 .counted_at = now,
				 .rate = NAN};
}

static void add_task(struct history *h, const struct model *m, const uint64_t *chains,
		     const struct task *t)
{
	double now = m->snapshot.monotonic, due;
	uint64_t sign = task_sign(chains, t), name = hash_text(1, t->name);
	bool new;
	struct task_track *k = table_get(&h->tasks, t->id, &new);

	if (!k) {
		h->out_of_memory = true;
		return;
	}
	due = due_of(m, t, k);
	if (new || k->name != name) {
		task_begin(h, k, name, now);
		note_change(h, m, t, k, now);
	} else if (k->sign != sign || !same_due(k->due, due)) {
		if (k->sign != sign)
			note_change(h, m, t, k, now);
		k->steps++;
		k->since = now;
		k->since_known = true;
	}
	k->sign = sign;
	k->due = due;
}

static void take_rates(struct history *h, double now)
{
	for (uint32_t i = 0; i < h->tasks.count; i++) {
		struct task_track *k = table_at(&h->tasks, i);

		if (now - k->counted_at < RATE_SECONDS)
			continue;
		k->rate = (double)(k->steps - k->counted) / (now - k->counted_at);
		k->counted = k->steps;
		k->counted_at = now;
	}
}

static void add_thread(struct history *h, const struct thread *t, double now)
{
	bool new;
	struct thread_track *k = table_get(&h->threads, (vaddr)t->tid, &new);

	if (!k) {
		h->out_of_memory = true;
		return;
	}
	if (new) {
		*k = (struct thread_track){.id = k->id, .at = NAN, .share = NAN};
	}
	if (t->times_read && !(now - k->at < 0.5)) {
		k->share = isnan(k->at) || t->cpu_ns < k->cpu_ns
				   ? NAN
				   : (double)(t->cpu_ns - k->cpu_ns) / 1e9 / (now - k->at);
		k->cpu_ns = t->cpu_ns;
		k->at = now;
	}
}

static void sample_time(struct history *h, double now)
{
	double gap = now - h->last;

	if (!h->samples)
		h->first = now;
	else if (gap > 0)
		h->interval = isnan(h->interval) ? gap : h->interval + SMOOTH * (gap - h->interval);
	h->last = now;
	h->samples++;
}

void history_add(struct history *h, const struct model *m)
{
	double now = m->snapshot.monotonic;
	uint64_t *chains = history_chains(m);
	uint32_t keep = h->partial ? PARTIAL_KEPT : 0;

	table_next(&h->loops, keep);
	table_next(&h->tasks, keep);
	table_next(&h->threads, keep);
	for (uint32_t i = 0; i < m->loops.count; i++) {
		history_add_loop(h, m, &m->loops.v[i], now);
		history_add_watched(h, &m->loops.v[i]);
	}
	for (uint32_t i = 0; chains && i < m->tasks.count; i++)
		add_task(h, m, chains, &m->tasks.v[i]);
	for (uint32_t i = 0; i < m->threads.count; i++)
		add_thread(h, &m->threads.v[i], now);
	h->out_of_memory |= !chains;
	free(chains);
	history_add_findings(h, m, now);
	take_rates(h, now);
	sample_time(h, now);
	h->partial = !m->snapshot.consistent || m->tasks_truncated || m->loops_truncated ||
		     m->threads_truncated;
}

void history_add_same(struct history *h, const struct model *m, double when)
{
	for (uint32_t i = 0; i < m->loops.count; i++)
		history_add_loop(h, m, &m->loops.v[i], when);
	history_add_findings(h, m, when);
	take_rates(h, when);
	sample_time(h, when);
}

const struct loop_track *history_loop(const struct history *h, vaddr id)
{
	return table_find(&h->loops, id);
}

const struct task_track *history_task(const struct history *h, vaddr id)
{
	return table_find(&h->tasks, id);
}

bool history_task_missed(const struct history *h, vaddr id)
{
	return h->partial && history_task(h, id);
}

const struct thread_track *history_thread(const struct history *h, pid_t tid)
{
	return table_find(&h->threads, (vaddr)tid);
}
