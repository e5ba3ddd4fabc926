/* SPDX-License-Identifier: Apache-2.0 */
/* Evidence by its kind: tasks and handles as lists of ids, stacks as lists of frames. */
#include "report/json_findings.h"

#include "model/names.h"
#include "report/json_parts.h"

static void put_sentence(struct json_writer *w, const char *key, struct str s)
{
	json_key(w, key);
	json_text(w, s);
}

static void put_rows(struct json_writer *w, const struct model *m, const struct evidence *e)
{
	json_list(w);
	for (uint32_t i = 0; i < e->row_count; i++)
		json_id(w, e->kind == EVIDENCE_TASKS ? m->tasks.v[e->rows[i]].id
						     : m->handles.v[e->rows[i]].id);
	json_list_end(w);
}

static void put_evidence(struct json_writer *w, const struct model *m, const struct evidence *e)
{
	if (e->kind == EVIDENCE_TEXT) {
		put_sentence(w, e->key, e->text);
		return;
	}
	json_key(w, e->key);
	switch (e->kind) {
	case EVIDENCE_COUNT:
		json_int(w, e->count);
		break;
	case EVIDENCE_SECONDS:
		json_double(w, e->seconds);
		break;
	case EVIDENCE_FLAG:
		json_bool(w, e->flag);
		break;
	case EVIDENCE_ID:
		json_id(w, e->id);
		break;
	case EVIDENCE_FRAME:
		json_frame(w, m, e->row);
		break;
	case EVIDENCE_STACK:
		json_stack(w, m, e->row);
		break;
	default:
		put_rows(w, m, e);
	}
}

static void put_finding(struct json_writer *w, const struct model *m, const struct finding *f)
{
	json_map(w);
	json_key_word(w, "id", f->id);
	json_key_word(w, "severity", severity_name(f->severity));
	if (!f->certain)
		json_key_bool(w, "certain", false);
	json_key_id(w, "loop", f->loop == NONE ? 0 : m->loops.v[f->loop].id);
	json_key_id(w, "task", f->task == NONE ? 0 : m->tasks.v[f->task].id);
	json_key_count(w, "thread", f->thread == NONE ? -1 : m->threads.v[f->thread].tid);
	put_sentence(w, "summary", f->summary);
	json_key(w, "evidence");
	json_map(w);
	for (uint32_t i = 0; i < f->evidence_count; i++)
		put_evidence(w, m, &m->evidence.v[f->evidence_first + i]);
	json_map_end(w);
	put_sentence(w, "advice", f->advice);
	json_map_end(w);
}

void json_findings(struct json_writer *w, const struct model *m)
{
	json_key(w, "findings");
	json_list(w);
	for (uint32_t i = 0; i < m->findings.count; i++)
		put_finding(w, m, &m->findings.v[i]);
	json_list_end(w);
}
