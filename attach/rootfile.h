/* SPDX-License-Identifier: Apache-2.0 */
/* Files by the names that the target knows them by, as it sees them: below its own root, never outside of it. */
#ifndef AIOTRACE_ATTACH_ROOTFILE_H
#define AIOTRACE_ATTACH_ROOTFILE_H

#include "base/str.h"

#include <sys/types.h>

/*
 * The file of that absolute name: malloc'ed and NUL-terminated (caller frees). Returns the bytes, or -errno: EFBIG for more than `most` bytes, EINVAL for what is no
 * regular file or no absolute name. Symbolic links lead where they lead the target; those of /proc lead nowhere.
 */
ssize_t rootfile_load(pid_t pid, struct str name, size_t most, char **ret);

#endif
