/* SPDX-License-Identifier: Apache-2.0 */
/* Findings that come and go: what stands now, since when, and what has stood a while ago. */
#include "tui/history_inner.h"

#include "report/findings.h"

#include <stdlib.h>
#include <string.h>

#define GONE_KEPT   300.0 /* seconds */
#define TRACKS_MOST 200u
#define BRIEF_KEPT  5.0 /* seconds without a window after which a brief one is gone */

static void track_deinit(struct finding_track *k)
{
	text_deinit(&k->headline);
	text_deinit(&k->lines);
}

void history_findings_deinit(struct history *h)
{
	for (uint32_t i = 0; i < h->finding_count; i++)
		track_deinit(&h->findings[i]);
	free(h->findings);
	h->findings = NULL;
	h->finding_count = h->finding_capacity = 0;
}

static bool room(struct history *h)
{
	uint32_t capacity = h->finding_capacity ? 2 * h->finding_capacity : 16;
	struct finding_track *v;

	if (h->finding_count < h->finding_capacity)
		return true;
	v = realloc(h->findings, capacity * sizeof(*v));
	if (!v)
		return false;
	h->findings = v;
	h->finding_capacity = capacity;
	return true;
}

/* What went longest ago makes room for what comes; false where all of them stood in the last sample or stand in this one. */
static bool drop_oldest(struct history *h)
{
	struct finding_track *oldest = NULL;

	for (uint32_t i = 0; i < h->finding_count; i++) {
		struct finding_track *k = &h->findings[i];

		if (k->last < h->last && (!oldest || k->last < oldest->last))
			oldest = k;
	}
	if (!oldest)
		return false;
	track_deinit(oldest);
	*oldest = h->findings[--h->finding_count];
	return true;
}

static vaddr task_of(const struct model *m, const struct finding *f)
{
	return f->task == NONE ? 0 : m->tasks.v[f->task].id;
}

static pid_t thread_of(const struct model *m, const struct finding *f)
{
	return f->thread == NONE ? 0 : m->threads.v[f->thread].tid;
}

static struct finding_track *track_of(struct history *h, const struct model *m,
				      const struct finding *f)
{
	vaddr loop = f->loop == NONE ? 0 : m->loops.v[f->loop].id;
	vaddr task = task_of(m, f);
	pid_t thread = thread_of(m, f);

	for (uint32_t i = 0; i < h->finding_count; i++) {
		struct finding_track *k = &h->findings[i];

		if (strcmp(k->id, f->id) == 0 && k->loop == loop &&
		    (k->brief || (k->task == task && k->thread == thread)))
			return k;
	}
	if ((h->finding_count >= TRACKS_MOST && !drop_oldest(h)) || !room(h))
		return NULL;
	h->findings[h->finding_count] = (struct finding_track){
		.id = f->id, .loop = loop, .task = task, .thread = thread, .brief = f->brief};
	return &h->findings[h->finding_count++];
}

static void add_finding(struct history *h, const struct model *m, const struct paths *p,
			const struct finding *f, double when)
{
	const struct text_style style = {.utf8 = h->utf8};
	struct finding_track *k = track_of(h, m, f);

	if (!k) {
		h->out_of_memory = true;
		return;
	}
	/* Where it was standing it goes on. */
	if (!k->standing) {
		k->first = when;
		k->times++;
	}
	k->task = task_of(m, f);
	k->thread = thread_of(m, f);
	k->severity = f->severity;
	k->certain = f->certain;
	k->last = when;
	k->samples++;
	k->standing = true;
	if (finding_track_stood(k) > k->longest)
		k->longest = finding_track_stood(k);
	text_clear(&k->headline);
	text_clear(&k->lines);
	finding_headline(&k->headline, &style, f);
	finding_lines(&k->lines, &style, m, p, f);
}

/* Standing before gone; the worst first among those that stand, the last to go first among the others. */
static int by_rank(const void *a, const void *b)
{
	const struct finding_track *x = a, *y = b;

	if (x->standing != y->standing)
		return x->standing ? -1 : 1;
	if (!x->standing && x->last != y->last)
		return x->last > y->last ? -1 : 1;
	if (x->severity != y->severity)
		return x->severity > y->severity ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return strcmp(x->id, y->id);
}

void history_add_findings(struct history *h, const struct model *m, double when)
{
	struct paths paths;
	uint32_t kept = 0;

	if (m->findings.count)
		paths_init(&paths, m);
	for (uint32_t i = 0; i < m->findings.count; i++)
		add_finding(h, m, &paths, &m->findings.v[i], when);
	for (uint32_t i = 0; i < h->finding_count; i++)
		h->findings[i].standing &= when - h->findings[i].last <=
					   (h->findings[i].brief ? BRIEF_KEPT : 0);
	for (uint32_t i = 0; i < h->finding_count; i++) {
		const struct loop_track *loop =
			h->findings[i].brief ? table_find(&h->loops, h->findings[i].loop) : NULL;

		if (loop)
			h->findings[i].watched = loop->watched;
		if (!h->findings[i].standing && when - h->findings[i].last > GONE_KEPT)
			track_deinit(&h->findings[i]);
		else
			h->findings[kept++] = h->findings[i];
	}
	h->finding_count = kept;
	if (kept)
		qsort(h->findings, kept, sizeof(*h->findings), by_rank);
}

double finding_track_stood(const struct finding_track *f)
{
	return f->last - f->first;
}

struct str finding_track_details(const struct finding_track *f)
{
	size_t head = f->headline.len + 1;

	/* The lines begin with the headline. */
	if (f->lines.len <= head)
		return STR_LIT("");
	return (struct str){f->lines.v + head, (uint32_t)(f->lines.len - head)};
}

bool history_findings_copy(struct history *to, const struct history *from)
{
	for (uint32_t i = 0; i < from->finding_count; i++) {
		const struct finding_track *f = &from->findings[i];
		struct finding_track *k;

		if (!room(to))
			return false;
		k = &to->findings[to->finding_count++];
		*k = *f;
		k->headline = k->lines = (struct text){0};
		text_add_bytes(&k->headline, f->headline.v, f->headline.len);
		text_add_bytes(&k->lines, f->lines.v, f->lines.len);
		if (k->headline.failed || k->lines.failed)
			return false;
	}
	return true;
}
