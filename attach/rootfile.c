/* SPDX-License-Identifier: Apache-2.0 */
/* openat2(2) below /proc/PID/root; where the kernel lacks it (before 5.6), no file is read at all. */
#include "attach/rootfile.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define NAME_MOST 4096u

static int open_below(int root, const char *name)
{
	struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	long fd = syscall(SYS_openat2, root, name, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

static ssize_t load(int fd, size_t most, char **ret)
{
	struct stat st;
	size_t size, have = 0;
	char *text;

	if (fstat(fd, &st) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_size < 0 || (uint64_t)st.st_size > most)
		return -EFBIG;
	size = (size_t)st.st_size;
	text = malloc(size + 1);
	if (!text)
		return -ENOMEM;
	while (have < size) {
		ssize_t n = read(fd, text + have, size - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		have += (size_t)n;
	}
	text[have] = 0;
	*ret = text;
	return (ssize_t)have;
}

ssize_t rootfile_load(pid_t pid, struct str name, size_t most, char **ret)
{
	char path[NAME_MOST];
	auto_close int root = -1, fd = -1;

	if (!name.len || name.ptr[0] != '/' || name.len >= sizeof(path) ||
	    memchr(name.ptr, 0, name.len))
		return -EINVAL;
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	memcpy(path, name.ptr, name.len);
	path[name.len] = 0;
	fd = open_below(root, path);
	return fd < 0 ? fd : load(fd, most, ret);
}
