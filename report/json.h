/* SPDX-License-Identifier: Apache-2.0 */
/* The model as contract.md's JSON, schema "aiotrace/1": streamed, so that 100,000 tasks need no second copy. */
#ifndef AIOTRACE_REPORT_JSON_H
#define AIOTRACE_REPORT_JSON_H

#include "base/error.h"
#include "model/model.h"

#include <stdio.h>

/* One document and a newline. ERR_SYSTEM where it can't be written. */
must_check enum err json_document(FILE *out, const struct model *m, struct error *e);
/* Writes keys of its own into the document, behind all others. */
struct json_writer;
typedef void (*json_more)(struct json_writer *w, const void *context);
/* The same with more keys. */
must_check enum err json_document_with(FILE *out, const struct model *m, json_more more,
				       const void *context, struct error *e);
/* {"schema", "processes": [...]}. */
must_check enum err json_processes(FILE *out, struct model *const *models, size_t count,
				   struct error *e);

#endif
