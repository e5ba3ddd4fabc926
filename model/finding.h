/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judgements about a picture, each with what it stands on: rows of the model's tables findings and evidence. Detectors (detect/) write them, report/ and tui/ show them.
 *
 * One finding is built at a time: finding_add, then its summary, evidence and advice, then the next. A row that could not be made for want of memory is NONE, and all
 * that is said of it then is lost (model.out_of_memory tells).
 */
#ifndef AIOTRACE_MODEL_FINDING_H
#define AIOTRACE_MODEL_FINDING_H

#include "model/model.h"

/* id: contract.md's, a literal. Loop, task and thread are NONE and it is certain, until said otherwise. */
uint32_t finding_add(struct model *m, const char *id, enum severity severity);
/* One sentence without a full stop: "Task-3 has held the loop's thread for 0.8 s, in time.sleep". Not made printable. */
void finding_summary(struct model *m, uint32_t finding, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* One sentence: what to do. */
void finding_advice(struct model *m, uint32_t finding, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Evidence: keys are literals in snake_case, each once a finding; times end in _s, bytes in _bytes. */
void evidence_text(struct model *m, uint32_t finding, const char *key, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void evidence_count(struct model *m, uint32_t finding, const char *key, int64_t n);
void evidence_seconds(struct model *m, uint32_t finding, const char *key, double seconds);
void evidence_flag(struct model *m, uint32_t finding, const char *key, bool flag);
void evidence_id(struct model *m, uint32_t finding, const char *key, vaddr id);
/* Rows of frames and chains; NONE is null. */
void evidence_frame(struct model *m, uint32_t finding, const char *key, uint32_t frame);
void evidence_stack(struct model *m, uint32_t finding, const char *key, uint32_t chain);
/* Rows of tasks or handles, copied. */
void evidence_tasks(struct model *m, uint32_t finding, const char *key, const uint32_t *rows,
		    uint32_t count);
void evidence_handles(struct model *m, uint32_t finding, const char *key, const uint32_t *rows,
		      uint32_t count);

/* Drops all findings and their evidence. */
void findings_clear(struct model *m);
/* Worst first, and by id among equals; stable. */
void findings_sort(struct model *m);

#endif
