/* SPDX-License-Identifier: Apache-2.0 */
/* Reading files of /proc whole, and taking numbers out of them: their text is partly the target's own, so nothing of it is trusted. */
#ifndef AIOTRACE_ATTACH_PROCFILE_H
#define AIOTRACE_ATTACH_PROCFILE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Small files: at most size - 1 bytes and a NUL into `buffer`. Returns the bytes, or -errno. dir is an open folder, or AT_FDCWD with a whole path.
 */
ssize_t procfile_read(int dir, const char *path, char *buffer, size_t size);
/* Files of any length up to `most` bytes: malloc'ed, NUL-terminated (caller frees). Returns the bytes, or -errno. */
ssize_t procfile_load(const char *path, size_t most, char **ret);
/* Value after "Key:" at a line's start, in the given base; false where there is none. */
bool procfile_number(const char *text, const char *key, int base, uint64_t *ret);
/* Rest of the line after "Key:" and white space; NULL where there is none. Not terminated there: ends at the newline. */
const char *procfile_field(const char *text, const char *key);
/* ERR_GONE or ERR_ACCESS with a text that names the process, from the errno of one of its files. */
enum err procfile_error(pid_t pid, int sys, struct error *e);

#endif
