/* SPDX-License-Identifier: Apache-2.0 */
/* What can be read of a process, as plain facts; cmd/doctor.c gathers them. */
#ifndef AIOTRACE_REPORT_DOCTOR_H
#define AIOTRACE_REPORT_DOCTOR_H

#include "report/report.h"

/* One fact. Rows of a section stand together, in order. */
struct doctor_fact {
	const char *section; /* "python", "process", "permission" */
	const char *name;
	struct str value; /* from the target: anything */
	bool bad; /* this is what stands in the way */
};

struct doctor_report {
	pid_t pid;
	struct str command;
	struct doctor_fact *facts;
	size_t count;
	bool readable; /* pstree will work */
	const char *problem; /* one line, "" none */
	const char *remedy; /* the one command that mends it, "" none */
};

must_check enum err doctor_render(FILE *out, const struct doctor_report *d,
				  const struct text_style *s, struct error *e);
/*
 * {"schema": "aiotrace/1", "doctor": {"pid", "command", "readable", "problem", "remedy", SECTION: {NAME: VALUE}}}; with `many`, for --children,
 * {"schema": "aiotrace/1", "processes": [such documents]}.
 */
must_check enum err doctor_json(FILE *out, const struct doctor_report *const *reports, size_t count,
				bool many, struct error *e);

#endif
