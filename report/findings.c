/* SPDX-License-Identifier: Apache-2.0 */
/* Each kind of evidence as a person reads it: tasks by name, frames by place, the innermost frames of a stack. */
#include "report/findings.h"

#include "model/names.h"
#include "report/handle_text.h"
#include "report/select.h"
#include "report/summary.h"
#include "report/task_text.h"

#define KEY_COLUMNS	 16 /* at least */
#define NAME_COLUMNS	 60
#define SENTENCE_COLUMNS 1000
#define LISTED		 8 /* tasks and handles that are named */
#define STACK_FRAMES	 10 /* the innermost ones that are shown */

struct lines {
	struct text *t;
	const struct text_style *s;
	const struct model *m;
	const struct paths *p;
	int key_columns;
};

/* The unit is told by the value. */
static size_t key_shown(const char *key)
{
	size_t len = 0;

	while (key[len] && strcmp(key + len, "_s") != 0 && strcmp(key + len, "_bytes") != 0)
		len++;
	return len;
}

static int key_columns(const struct model *m, const struct finding *f)
{
	size_t most = KEY_COLUMNS - 1;

	for (uint32_t i = 0; i < f->evidence_count; i++) {
		size_t len = key_shown(m->evidence.v[f->evidence_first + i].key);

		most = len > most ? len : most;
	}
	return (int)most + 1;
}

void finding_headline(struct text *t, const struct text_style *s, const struct finding *f)
{
	text_color(t, s,
		   f->severity == SEVERITY_CRITICAL  ? COLOR_BAD
		   : f->severity == SEVERITY_WARNING ? COLOR_WARN
						     : COLOR_DIM);
	text_printf(t, "%s  %s", severity_name(f->severity), f->id);
	text_color(t, s, COLOR_PLAIN);
	text_add(t, ": ");
	text_safe(t, s, f->summary, SENTENCE_COLUMNS);
	if (!f->certain)
		text_add(t, " (not certain: the process ran while it was read)");
}

/* "  blocked for     " */
static void add_key(struct lines *l, const char *key)
{
	size_t len = key_shown(key);

	text_color(l->t, l->s, COLOR_DIM);
	for (size_t i = 0; i < len; i++)
		text_printf(l->t, "%c", key[i] == '_' ? ' ' : key[i]);
	text_spaces(l->t, (size_t)l->key_columns - len);
	text_color(l->t, l->s, COLOR_PLAIN);
}

static void add_frame(struct lines *l, uint32_t row)
{
	const struct frame *f = row == NONE ? NULL : &l->m->frames.v[row];

	if (!f) {
		text_add(l->t, "?");
		return;
	}
	frame_function(l->t, l->s, f, NAME_COLUMNS);
	text_add(l->t, "  ");
	text_color(l->t, l->s, COLOR_DIM);
	frame_place(l->t, l->s, l->p, f);
	text_color(l->t, l->s, COLOR_PLAIN);
}

static void add_stack(struct lines *l, uint32_t chain)
{
	const struct model *m = l->m;
	uint32_t frames[STACK_FRAMES];
	uint32_t depth = chain == NONE ? 0 : m->chains.v[chain].depth;
	uint32_t shown = depth < STACK_FRAMES ? depth : STACK_FRAMES;

	for (uint32_t i = shown; i > 0; i--, chain = m->chains.v[chain].outer)
		frames[i - 1] = m->chains.v[chain].frame;
	if (!depth)
		text_add(l->t, "(no Python frame)");
	if (depth > shown)
		text_printf(l->t, "(%u more)\n    %*s", depth - shown, l->key_columns, "");
	for (uint32_t i = 0; i < shown; i++) {
		if (i)
			text_printf(l->t, "\n    %*s", l->key_columns, "");
		add_frame(l, frames[i]);
	}
}

static void add_rows(struct lines *l, const struct evidence *e)
{
	for (uint32_t i = 0; i < e->row_count && i < LISTED; i++) {
		if (i)
			text_add(l->t, ", ");
		if (e->kind == EVIDENCE_TASKS) {
			struct str name = l->m->tasks.v[e->rows[i]].name;

			text_safe(l->t, l->s, name.ptr ? name : STR_LIT("?"), NAME_COLUMNS);
		} else {
			const struct handle *h = &l->m->handles.v[e->rows[i]];
			struct text words = {0};

			handle_words(&words, l->m, h);
			/* Handle.cancel() of Lib/asyncio/events.py drops the callback. */
			text_safe(l->t, l->s,
				  words.len	 ? text_str(&words)
				  : h->cancelled ? STR_LIT("cleared by cancel()")
						 : STR_LIT("?"),
				  NAME_COLUMNS);
			text_deinit(&words);
		}
	}
	if (e->row_count > LISTED)
		text_printf(l->t, " and %u more", e->row_count - LISTED);
	if (!e->row_count)
		text_add(l->t, "none");
}

static void add_bytes(struct text *t, int64_t n)
{
	if (n >= 10 << 20)
		text_printf(t, "%.0f MiB", (double)n / (1 << 20));
	else if (n >= 10 << 10)
		text_printf(t, "%.0f KiB", (double)n / (1 << 10));
	else
		text_printf(t, "%lld bytes", (long long)n);
}

static void add_value(struct lines *l, const struct evidence *e)
{
	size_t n = strlen(e->key);

	switch (e->kind) {
	case EVIDENCE_TEXT:
		text_safe(l->t, l->s, e->text, SENTENCE_COLUMNS);
		break;
	case EVIDENCE_COUNT:
		if (n > 6 && strcmp(e->key + n - 6, "_bytes") == 0)
			add_bytes(l->t, e->count);
		else if (e->count < 0 || (n > 4 && strcmp(e->key + n - 4, "_tid") == 0))
			text_printf(l->t, "%lld", (long long)e->count);
		else
			text_number(l->t, (uint64_t)e->count);
		break;
	case EVIDENCE_SECONDS:
		if (e->seconds < 0)
			text_add(l->t, "-");
		text_duration(l->t, l->s, e->seconds < 0 ? -e->seconds : e->seconds);
		break;
	case EVIDENCE_FLAG:
		text_add(l->t, e->flag ? "yes" : "no");
		break;
	case EVIDENCE_ID:
		text_printf(l->t, "0x%llx", (unsigned long long)e->id);
		break;
	case EVIDENCE_FRAME:
		add_frame(l, e->row);
		break;
	case EVIDENCE_STACK:
		add_stack(l, e->row);
		break;
	case EVIDENCE_TASKS:
	case EVIDENCE_HANDLES:
		add_rows(l, e);
		break;
	}
}

void finding_lines(struct text *t, const struct text_style *s, const struct model *m,
		   const struct paths *p, const struct finding *f)
{
	struct lines l = {t, s, m, p, key_columns(m, f)};

	finding_headline(t, s, f);
	text_add(t, "\n");
	for (uint32_t i = 0; i < f->evidence_count; i++) {
		const struct evidence *e = &m->evidence.v[f->evidence_first + i];

		text_add(t, "    ");
		add_key(&l, e->key);
		add_value(&l, e);
		text_add(t, "\n");
	}
	text_add(t, "    ");
	add_key(&l, "what to do");
	text_safe(t, s, f->advice, SENTENCE_COLUMNS);
	text_add(t, "\n");
}

static void add_scope(struct text *t, const struct text_style *s, const struct model *m)
{
	if (!m->findings.count) {
		text_color(t, s, COLOR_GOOD);
		text_add(t, "nothing found");
		text_color(t, s, COLOR_PLAIN);
		text_add(t, "; ");
	}
	text_printf(t, "%u looks in ", m->snapshot.looks);
	text_duration(t, s, m->snapshot.watched);
	text_add(t, "; last ");
	summary_snapshot(t, s, m);
	text_add(t, "\n");
}

enum err findings_render(FILE *out, const struct model *m, const struct text_style *s,
			 struct error *e)
{
	struct text t = {0};
	struct paths paths;
	struct selection all;
	enum err err = selection_init(&all, m, NULL);

	if (err != ERR_OK)
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	paths_init(&paths, m);
	summary_process(&t, s, m, &all);
	selection_deinit(&all);
	for (uint32_t i = 0; i < m->findings.count; i++) {
		text_add(&t, "\n");
		finding_lines(&t, s, m, &paths, &m->findings.v[i]);
	}
	text_add(&t, "\n");
	add_scope(&t, s, m);
	err = text_write(&t, out, e);
	text_deinit(&t);
	return err;
}
