/* SPDX-License-Identifier: Apache-2.0 */
/* The key "findings" of contract.md's document. */
#ifndef AIOTRACE_REPORT_JSON_FINDINGS_H
#define AIOTRACE_REPORT_JSON_FINDINGS_H

#include "model/model.h"
#include "report/json_writer.h"

/* Into the object that is open. */
void json_findings(struct json_writer *w, const struct model *m);

#endif
