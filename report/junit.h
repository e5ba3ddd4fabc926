/* SPDX-License-Identifier: Apache-2.0 */
/* What `run` found as JUnit's XML, which CI servers show among the tests: a failed test case for each process. */
#ifndef AIOTRACE_REPORT_JUNIT_H
#define AIOTRACE_REPORT_JUNIT_H

#include "report/stuck.h"

/*
 * Text as XML 1.0 may hold it: markup escaped, what no document may contain (most control characters, surrogates,
 * U+FFFE and U+FFFF, bytes that are no UTF-8) as U+FFFD.
 */
void xml_escape(struct text *t, struct str from);
/* ERR_SYSTEM, ERR_NOMEM. */
must_check enum err junit_write(FILE *out, const struct stuck *all, struct error *e);

#endif
