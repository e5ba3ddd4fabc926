/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judgement: from pictures of one process, taken one after the other, to findings. Pure functions: no reads, no clock; the same pictures give the same findings.
 *
 * A new detector: a file with its function, a prototype and a row in table.c, a row in contract.md's table, a section in man/aiotrace-findings.7.
 */
#ifndef AIOTRACE_DETECT_DETECT_H
#define AIOTRACE_DETECT_DETECT_H

#include "model/finding.h"
#include "model/model.h"
#include "model/watch.h"

struct thresholds {
	double blocked_after; /* seconds that a callback may hold its loop */
};

/* What there is to judge. */
struct detection {
	const struct model *const
		*looks; /* oldest first, of the same process and program; at least one */
	uint32_t count;
	struct model *
		now; /* the newest look, looks[count - 1]: findings and evidence go there, and their rows are its rows */
	const struct watch *watch; /* what was seen between the looks; NULL: nobody watched */
	struct thresholds limits;
};

struct detector {
	const char *id; /* contract.md's */
	const char *about; /* half a line for people */
	enum severity worst;
	enum err (*run)(struct detection *d); /* ERR_NOMEM */
};

/* table.c; ends with a row without an id. */
extern const struct detector detectors[];
#define DETECTORS_MAX 32u

/* NULL where there is none of that id. */
const struct detector *detector_find(struct str id);
/* Runs the detectors of the set (bit n: row n of the table), sorts what they find: worst first. Findings of an earlier run are dropped. ERR_NOMEM. */
must_check enum err detect_run(struct detection *d, uint32_t set);

#endif
