/* SPDX-License-Identifier: Apache-2.0 */
/* What `run` found below a command that it had to end: each process in words, and which of them belong into an index. */
#ifndef AIOTRACE_REPORT_STUCK_H
#define AIOTRACE_REPORT_STUCK_H

#include "report/report.h"

/* One process. */
struct stuck_process {
	pid_t pid, parent;
	struct model *
		picture; /* of a process that can't be read, its command and threads alone; never NULL */
	bool python; /* the picture is of CPython, and can stand as a document */
	bool judged; /* by several looks; without asyncio there is nothing to judge */
	char problem[400]; /* one line: why it is no picture of CPython; "" none */
};

struct stuck {
	const char *reason; /* "timeout", "stall" */
	double limit; /* seconds: the option that ended it */
	double ran; /* seconds since the command started */
	char *const *command; /* ends with NULL */
	struct stuck_process *v; /* parents first */
	size_t count;
};

/* "no end after 60.0 s" or "nothing has moved for 5.0 s", without a newline. */
void stuck_headline(struct text *t, const struct text_style *s, const struct stuck *all);
/* "process 17: python -m pytest", within a line; no newline. */
void stuck_name(struct text *t, const struct text_style *s, const struct stuck_process *p);
/* The worst finding in a sentence, else what the place's task waits on, else where its thread stands; "" where there is nothing to be said. */
void stuck_sentence(struct text *t, const struct text_style *s, const struct stuck_process *p);
/*
 * The line of the program's own that a person should look at: of the worst finding, of the task that runs, of a task that none awaits, of a thread, the innermost that is
 * no library's. NONE where all is library.
 */
uint32_t stuck_place(const struct stuck_process *p);
/* Findings, tree and threads. ERR_SYSTEM, ERR_NOMEM. */
must_check enum err stuck_render(FILE *out, const struct stuck_process *p,
				 const struct text_style *s, struct error *e);

/*
 * {"schema", "aiotrace", "run": {"command", "reason", "limit", "ran", "processes": [{"pid", "parent", "command", "python", "findings", "document", "problem"}]}}.
 */
must_check enum err stuck_index_json(FILE *out, const struct stuck *all, struct error *e);
/* Name of a process's own document in the report's folder; buf is the caller's. */
const char *stuck_file_name(const struct stuck_process *p, char *buf, size_t size);
/*
 * A line that GitHub's runner shows beside the source: "::error title=…,file=…,line=…::…", one for each process with a place, else one without. `workspace` is the
 * folder that files are shown relative to, NULL none.
 */
must_check enum err stuck_annotations(FILE *out, const struct stuck *all, const char *workspace,
				      struct error *e);

#endif
