/* SPDX-License-Identifier: Apache-2.0 */
/* Findings and their evidence as rows of the model. */
#include "model/finding.h"

#include "base/utf8.h"
#include "model/rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define SENTENCE_BYTES 1000

__attribute__((format(printf, 2, 0))) static struct str text_of(struct model *m, const char *format,
								va_list args)
{
	char line[SENTENCE_BYTES + 2]; /* one byte more tells whether the last character is whole */
	int n = vsnprintf(line, sizeof(line), format, args);

	if (n < 0)
		return (struct str){0};
	return model_text(m,
			  (struct str){line, (uint32_t)utf8_head(line, (size_t)n, SENTENCE_BYTES)});
}

uint32_t finding_add(struct model *m, const char *id, enum severity severity)
{
	uint32_t row = ROW_ADD(m, &m->findings);

	if (row == NONE)
		return NONE;
	m->findings.v[row] = (struct finding){
		.id = id,
		.severity = severity,
		.certain = true,
		.loop = NONE,
		.task = NONE,
		.thread = NONE,
		.evidence_first = m->evidence.count,
	};
	return row;
}

void finding_summary(struct model *m, uint32_t finding, const char *format, ...)
{
	va_list args;

	if (finding == NONE)
		return;
	va_start(args, format);
	m->findings.v[finding].summary = text_of(m, format, args);
	va_end(args);
}

void finding_advice(struct model *m, uint32_t finding, const char *format, ...)
{
	va_list args;

	if (finding == NONE)
		return;
	va_start(args, format);
	m->findings.v[finding].advice = text_of(m, format, args);
	va_end(args);
}

/* A fresh row, or NULL. */
static struct evidence *add(struct model *m, uint32_t finding, const char *key,
			    enum evidence_kind kind)
{
	uint32_t row = finding == NONE ? NONE : ROW_ADD(m, &m->evidence);

	if (row == NONE)
		return NULL;
	m->findings.v[finding].evidence_count++;
	m->evidence.v[row].key = key;
	m->evidence.v[row].kind = kind;
	return &m->evidence.v[row];
}

void evidence_text(struct model *m, uint32_t finding, const char *key, const char *format, ...)
{
	struct evidence *e = add(m, finding, key, EVIDENCE_TEXT);
	va_list args;

	if (!e)
		return;
	va_start(args, format);
	e->text = text_of(m, format, args);
	va_end(args);
}

void evidence_count(struct model *m, uint32_t finding, const char *key, int64_t n)
{
	struct evidence *e = add(m, finding, key, EVIDENCE_COUNT);

	if (e)
		e->count = n;
}

void evidence_seconds(struct model *m, uint32_t finding, const char *key, double seconds)
{
	struct evidence *e = add(m, finding, key, EVIDENCE_SECONDS);

	if (e)
		e->seconds = seconds;
}

void evidence_flag(struct model *m, uint32_t finding, const char *key, bool flag)
{
	struct evidence *e = add(m, finding, key, EVIDENCE_FLAG);

	if (e)
		e->flag = flag;
}

void evidence_id(struct model *m, uint32_t finding, const char *key, vaddr id)
{
	struct evidence *e = add(m, finding, key, EVIDENCE_ID);

	if (e)
		e->id = id;
}

void evidence_frame(struct model *m, uint32_t finding, const char *key, uint32_t frame)
{
	struct evidence *e = add(m, finding, key, EVIDENCE_FRAME);

	if (e)
		e->row = frame;
}

void evidence_stack(struct model *m, uint32_t finding, const char *key, uint32_t chain)
{
	struct evidence *e = add(m, finding, key, EVIDENCE_STACK);

	if (e)
		e->row = chain;
}

static void add_rows(struct model *m, uint32_t finding, const char *key, enum evidence_kind kind,
		     const uint32_t *rows, uint32_t count)
{
	struct evidence *e = add(m, finding, key, kind);

	if (!e)
		return;
	e->rows = count ? arena_copy(&m->text, rows, count * sizeof(*rows)) : NULL;
	e->row_count = e->rows ? count : 0;
	m->out_of_memory |= count && !e->rows;
}

void evidence_tasks(struct model *m, uint32_t finding, const char *key, const uint32_t *rows,
		    uint32_t count)
{
	add_rows(m, finding, key, EVIDENCE_TASKS, rows, count);
}

void evidence_handles(struct model *m, uint32_t finding, const char *key, const uint32_t *rows,
		      uint32_t count)
{
	add_rows(m, finding, key, EVIDENCE_HANDLES, rows, count);
}

void findings_clear(struct model *m)
{
	m->findings.count = m->evidence.count = 0;
}

static int worst_first(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;
	int order = (int)y->severity - (int)x->severity;

	if (!order)
		order = strcmp(x->id, y->id);
	if (!order)
		order = x->evidence_first < y->evidence_first ? -1 : 1;
	return order;
}

void findings_sort(struct model *m)
{
	if (m->findings.count)
		qsort(m->findings.v, m->findings.count, sizeof(*m->findings.v), worst_first);
}
