/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces that several objects of contract.md's document are made of. */
#ifndef AIOTRACE_REPORT_JSON_PARTS_H
#define AIOTRACE_REPORT_JSON_PARTS_H

#include "model/model.h"
#include "report/json_writer.h"

/* Bytes that may be no text, or cut somewhere, as text: what is not printable as escapes. */
void json_text(struct json_writer *w, struct str s);
/* A FRAME, null for NONE. */
void json_frame(struct json_writer *w, const struct model *m, uint32_t frame);
/* A list of FRAMEs, outermost first; empty for NONE. */
void json_stack(struct json_writer *w, const struct model *m, uint32_t chain);

#endif
