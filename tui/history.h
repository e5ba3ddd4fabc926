/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a row of pictures says over time: how long each task has waited where it waits, which way it came there, how a loop's last minute was, how long a finding has stood.
 * Things are known again by their ids. Times are `snapshot.monotonic` of the pictures. Pure: no clock, no terminal.
 */
#ifndef AIOTRACE_TUI_HISTORY_H
#define AIOTRACE_TUI_HISTORY_H

#include "model/model.h"
#include "report/text.h"
#include "tui/table.h"

#define HISTORY_SECONDS 60u /* of a loop */
#define HISTORY_CHANGES 8u /* of a task */

/* One second of a loop, as sampled. */
struct loop_second {
	uint32_t samples, polling, running, stalled;
	uint32_t gil; /* its thread waited for it */
	uint32_t ready; /* longest ready queue */
	double lag; /* longest lag, seconds */
};

struct loop_track {
	vaddr id; /* first member: tui/table.h */
	double first; /* when it was first seen */
	struct loop_second seconds[HISTORY_SECONDS]; /* by second, as a ring */
	int64_t now; /* the second that is being filled */
	double lag; /* of the last sample */
	/* The callback that it runs: NAN where none is known. */
	double turn_since;
	int64_t turn_index;
	double held_since; /* when that callback was first seen to run */
	/* The GIL of its interpreter. */
	uint64_t switches;
	double switches_at, switches_rate; /* a second; NAN: not known yet */
	struct loop_watched watched; /* in all */
};

/* Where a task was: what it waited on, and at which place. */
struct task_change {
	double when;
	enum task_state state;
	enum await_kind kind;
	uint32_t place; /* in history.places, NONE: not known */
};

struct task_track {
	vaddr id;
	uint64_t name; /* hash: another task may come to the same address */
	uint64_t sign; /* hash of what it does */
	double due; /* in its loop's time, NAN none */
	double first, since; /* first seen, and since when it does what it does */
	bool since_known; /* false: it did so already when it was first seen */
	uint64_t steps; /* changes seen: it moved at least as often */
	uint64_t counted; /* steps when the rate was last taken */
	double counted_at, rate; /* steps a second, NAN: not known yet */
	uint32_t change_count;
	struct task_change
		changes[HISTORY_CHANGES]; /* the newest at (change_count - 1) % HISTORY_CHANGES */
};

struct thread_track {
	vaddr id; /* tid */
	uint64_t cpu_ns;
	double at; /* when cpu_ns was read, NAN never */
	double share; /* of one CPU; NAN: not known yet */
};

/* A finding, standing or gone. */
struct finding_track {
	const char *id;
	vaddr loop, task;
	pid_t thread;
	bool brief; /* all windows of a loop are one finding, with the task and the thread of the last one */
	struct loop_watched watched; /* brief: what the watch has seen in all */
	enum severity severity;
	bool certain, standing;
	double first, last; /* of the present or last time that it stood */
	double longest; /* seconds that it stood at a stretch */
	uint64_t times, samples; /* how often it came, and in how many samples it was seen */
	struct text headline; /* as finding_headline without colours */
	struct text lines; /* as finding_lines without colours, with their newlines */
};

struct place {
	struct str function, file;
	int32_t line;
};

struct history {
	struct table loops, tasks, threads;
	struct finding_track
		*findings; /* standing ones first, worst first; then those that went last */
	uint32_t finding_count, finding_capacity;
	struct place *places;
	uint32_t place_count;
	uint32_t *place_index; /* hash */
	struct arena text;
	bool utf8; /* of the texts that are kept */
	bool out_of_memory; /* something was not remembered */
	bool partial; /* the newest picture is torn or lacks what could not be read: what is not in it may be there all the same */
	uint64_t samples;
	double first, last; /* times of the first and the newest sample */
	double interval; /* seconds between samples, smoothed */
};

must_check enum err history_init(struct history *h, bool utf8);
void history_deinit(struct history *h); /* accepts a zeroed one */
/* Forgets all: another program runs. */
void history_clear(struct history *h);
/* A copy that stands still while the other goes on. */
must_check enum err history_copy(struct history *to, const struct history *from);

/* A new picture, its findings included. */
void history_add(struct history *h, const struct model *m);
/* It was seen, at that time, that nothing has moved since the picture before. */
void history_add_same(struct history *h, const struct model *m, double when);

/* NULL where it was never seen. */
const struct loop_track *history_loop(const struct history *h, vaddr id);
const struct task_track *history_task(const struct history *h, vaddr id);
/* It is not in the newest picture, but may be there all the same: that one is partial. */
bool history_task_missed(const struct history *h, vaddr id);
const struct thread_track *history_thread(const struct history *h, pid_t tid);

/* Seconds for which the loop's callback runs already, as seen; NAN: none, or not known. */
double loop_track_held(const struct loop_track *l, double now);
/* All of its last minute taken together. */
struct loop_second loop_track_sum(const struct loop_track *l);
/* Values of the last minute, oldest first, in `count` steps (each the most of its seconds); NAN where there was no sample. */
void loop_track_ready(const struct loop_track *l, double *values, uint32_t count);
void loop_track_lag(const struct loop_track *l, double *values, uint32_t count);
/* Seconds for which the finding stands, or stood. */
double finding_track_stood(const struct finding_track *f);
/* Its lines without the headline: evidence and what to do. */
struct str finding_track_details(const struct finding_track *f);

/* What a task does, as a number that is the same in another picture. chains: history_chains of its picture. */
uint64_t task_sign(const uint64_t *chains, const struct task *t);
/* A hash a chain, equal for equal frames; malloc'ed, NULL on no memory. */
uint64_t *history_chains(const struct model *m);

#endif
