/* SPDX-License-Identifier: Apache-2.0 */
/* process_vm_readv knows no partial page of an unmapped range: what came before the bad page is what it returns. */
#include "attach/live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#define RANGES_MAX 1024u

struct live {
	pid_t pid;
	bool by_file; /* process_vm_readv is refused, /proc/PID/mem is not */
	int fd; /* -1 until then */
	struct iovec local[RANGES_MAX], remote[RANGES_MAX];
};

void *live_create(pid_t pid)
{
	struct live *l = malloc(sizeof(*l));

	if (!l)
		return NULL;
	l->pid = pid;
	l->by_file = false;
	l->fd = -1;
	return l;
}

static void live_close(void *ctx)
{
	struct live *l = ctx;

	if (l->fd >= 0)
		close(l->fd);
	free(l);
}

/* Neighbours over there become one range: the kernel pins pages once a range. */
static int64_t read_vm(struct live *l, const struct mem_range *ranges, size_t count)
{
	size_t remote = 0;
	uintptr_t next = 0;
	ssize_t n;

	for (size_t i = 0; i < count; i++) {
		l->local[i] = (struct iovec){ranges[i].dst, ranges[i].len};
		if (remote && ranges[i].at == next) {
			l->remote[remote - 1].iov_len += ranges[i].len;
		} else {
			l->remote[remote].iov_base = (void *)(uintptr_t)ranges[i].at;
			l->remote[remote++].iov_len = ranges[i].len;
		}
		next = (uintptr_t)(ranges[i].at + ranges[i].len);
	}
	n = process_vm_readv(l->pid, l->local, count, l->remote, remote, 0);
	return n < 0 ? -errno : n;
}

static int64_t read_file(struct live *l, const struct mem_range *ranges, size_t count)
{
	int64_t total = 0;

	for (size_t i = 0; i < count; i++) {
		size_t have = 0;

		while (have < ranges[i].len) {
			ssize_t n = pread(l->fd, (char *)ranges[i].dst + have, ranges[i].len - have,
					  (off_t)(ranges[i].at + have));

			if (n < 0 && errno == EINTR)
				continue;
			if (n > 0) {
				have += (size_t)n;
				total += n;
				continue;
			}
			if (total)
				return total;
			/* The file says end-of-file when the address space that it was opened on is gone. */
			if (n == 0)
				return -ESRCH;
			return errno == EIO ? -EFAULT : -errno;
		}
	}
	return total;
}

static bool open_file(struct live *l)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)l->pid);
	l->fd = open(path, O_RDONLY | O_CLOEXEC);
	return l->fd >= 0;
}

static int64_t live_read(void *ctx, const struct mem_range *ranges, size_t count)
{
	struct live *l = ctx;
	int64_t n;

	if (count > RANGES_MAX)
		count = RANGES_MAX;
	if (l->by_file)
		return read_file(l, ranges, count);
	n = read_vm(l, ranges, count);
	/* EPERM may be a seccomp filter's word, and not the kernel's judgement of our rights: the file tells. */
	if ((n == -ENOSYS || n == -EPERM) && open_file(l)) {
		l->by_file = true;
		return read_file(l, ranges, count);
	}
	return n == -ENOSYS ? -EPERM : n;
}

const struct mem_source live_source = {
	.name = "live",
	.read = live_read,
	.close = live_close,
};
