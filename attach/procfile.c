/* SPDX-License-Identifier: Apache-2.0 */
/* /proc hands out files in pieces and without a size; here they are put together. */
#include "attach/procfile.h"

#include "attach/access.h"
#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes, 0 at the end, or -errno. */
static ssize_t read_some(int fd, char *to, size_t room)
{
	ssize_t n;

	do {
		n = read(fd, to, room);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

ssize_t procfile_read(int dir, const char *path, char *buffer, size_t size)
{
	auto_close int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	size_t have = 0;

	buffer[0] = '\0';
	if (fd < 0)
		return -errno;
	while (have < size - 1) {
		ssize_t n = read_some(fd, buffer + have, size - 1 - have);

		if (n < 0)
			return n;
		if (n == 0)
			break;
		have += (size_t)n;
	}
	buffer[have] = '\0';
	return (ssize_t)have;
}

ssize_t procfile_load(const char *path, size_t most, char **ret)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	auto_free char *text = NULL;
	size_t have = 0, room = 0;

	if (fd < 0)
		return -errno;
	while (have < most) {
		ssize_t n;

		if (room - have < 8192) {
			char *more = realloc(text, room ? room * 2 : 32768);

			if (!more)
				return -ENOMEM;
			text = more;
			room = room ? room * 2 : 32768;
		}
		n = read_some(fd, text + have, room - have - 1);
		if (n < 0)
			return n;
		if (n == 0)
			break;
		have += (size_t)n;
	}
	if (!text)
		return -EINVAL;
	if (have > most)
		have = most;
	text[have] = '\0';
	*ret = text;
	text = NULL;
	return (ssize_t)have;
}

const char *procfile_field(const char *text, const char *key)
{
	size_t len = strlen(key);

	while (text) {
		if (strncmp(text, key, len) == 0 && text[len] == ':') {
			text += len + 1;
			return text + strspn(text, " \t");
		}
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return NULL;
}

bool procfile_number(const char *text, const char *key, int base, uint64_t *ret)
{
	const char *at = procfile_field(text, key);
	char *end;

	if (!at)
		return false;
	*ret = strtoull(at, &end, base);
	return end != at;
}

enum err procfile_error(pid_t pid, int sys, struct error *e)
{
	/* Explaining reads /proc too: only where somebody listens, or it would explain its own failure without end. */
	if (sys == EACCES || sys == EPERM)
		return e ? access_refused(pid, e) : ERR_ACCESS;
	if (sys == ENOENT || sys == ESRCH)
		return error_set(e, ERR_GONE, sys, "no process %d", (int)pid);
	if (sys == ENOMEM)
		return error_set(e, ERR_NOMEM, sys, "no memory");
	return error_set(e, ERR_SYSTEM, sys, "reading /proc of process %d: %s", (int)pid,
			 strerror(sys));
}
