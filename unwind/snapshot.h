/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A picture of a live process, with the proof that it belongs to one moment or the word that it may not: the only entry of unwind/ for commands.
 * Methods and their order: still, validated, paused, torn (model/model.h, struct snapshot_info says which and what it cost).
 */
#ifndef AIOTRACE_UNWIND_SNAPSHOT_H
#define AIOTRACE_UNWIND_SNAPSHOT_H

#include "attach/target.h"
#include "model/model.h"
#include "unwind/layout/layout.h"

enum pause_policy {
	PAUSE_AUTO, /* stop running threads only where nothing else proves the picture */
	PAUSE_NEVER, /* never stop anything */
	PAUSE_ALWAYS, /* stop at once, without trying the cheaper proofs */
};

struct snapshot_options {
	enum pause_policy pause;
	uint32_t max_pause_ms; /* longest stop; 0 is as PAUSE_NEVER */
	bool threads; /* Python stacks of all threads too */
	bool native; /* native stacks too, merged with the Python ones: all threads are stopped for it */
	bool loops; /* ready queues, timers, descriptors and executors of loops too */
	/*
	 * One of many pictures of the same process, taken with the same struct target: begins with a copy in one go of what the last one read, and settles for less
	 * where nothing proves it.
	 */
	bool again;
	void (*log)(void *ctx, const char *line); /* steps and what they took; may be NULL */
	void *log_ctx;
};

/* Clears and fills *m; a target that has not imported asyncio is an empty picture, no error. ERR_GONE, ERR_ACCESS, ERR_NOMEM. */
must_check enum err snapshot_take(struct target *t, const struct layout *lay,
				  const struct snapshot_options *options, struct model *m,
				  struct error *e);

#endif
