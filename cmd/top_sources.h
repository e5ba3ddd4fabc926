/* SPDX-License-Identifier: Apache-2.0 */
/* Source files of the target, read by one thread (which may have to wait for a file system) for another one that must not wait. */
#ifndef AIOTRACE_CMD_TOP_SOURCES_H
#define AIOTRACE_CMD_TOP_SOURCES_H

#include "base/str.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SOURCES_MOST 512u /* files; more are not read */

struct source_file {
	char *name;
	bool read; /* looked for */
	char *text; /* UTF-8; NULL: it could not be had */
	uint32_t *lines; /* where each line begins */
	uint32_t line_count, length;
};

struct sources {
	pthread_mutex_t lock;
	pthread_cond_t came; /* a file has been read */
	struct source_file v[SOURCES_MOST];
	uint32_t count;
	size_t bytes; /* of all texts */
};

void sources_init(struct sources *s);
void sources_deinit(struct sources *s);
/* For the one that shows: false where it is not there, or not yet; then it is wanted from now on. *ret lives until sources_clear. */
bool sources_line(struct sources *s, struct str file, int32_t line, struct str *ret);
/* For the one that shows: what was read is another program's. */
void sources_clear(struct sources *s);
/* For the one that shows: until all that is wanted has been looked for, at most so long. */
void sources_wait(struct sources *s, unsigned ms);
/* For the one that reads: one file that is wanted. True: there was one. */
bool sources_read_one(struct sources *s, pid_t pid);

#endif
