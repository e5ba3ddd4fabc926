/* SPDX-License-Identifier: Apache-2.0 */
/* The mappings of a process, sorted by address, as /proc/PID/maps told them at one moment. */
#ifndef AIOTRACE_ATTACH_MAPS_H
#define AIOTRACE_ATTACH_MAPS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct map {
	vaddr start, end; /* [start, end) */
	uint64_t offset; /* in the file */
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	bool read, write, exec;
	const char *
		path; /* owned by the maps; "" for anonymous; " (deleted)" is cut off and `deleted` set */
	bool deleted;
};

struct maps {
	struct map *v;
	size_t count;
	char *text; /* backing store of the paths */
};

/* ERR_GONE, ERR_ACCESS, ERR_NOMEM. An empty table is an answer (zombies, kernel threads). */
must_check enum err maps_load(pid_t pid, struct maps *ret, struct error *e);
void maps_deinit(struct maps *m);
/* NULL where nothing is mapped. */
const struct map *maps_find(const struct maps *m, vaddr at);

#endif
