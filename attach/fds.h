/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file descriptor of the target is: "tcp 127.0.0.1:5000 -> 10.0.0.2:443 established", "tcp listening on [::]:80", "udp …",
 * "unix /run/x.sock", "unix socketpair (peer fd 7)", "pipe", "file /path", "epoll", "eventfd". From /proc/PID/fd and /proc/PID/net/{tcp,tcp6,udp,udp6,unix}
 * (the target's own network namespace). The tables are read once, on first use, and live as long as the fds.
 */
#ifndef AIOTRACE_ATTACH_FDS_H
#define AIOTRACE_ATTACH_FDS_H

#include "base/arena.h"
#include "base/str.h"

#include <sys/types.h>

struct fds;

struct fds *fds_create(pid_t pid); /* NULL: no memory */
void fds_destroy(struct fds *f); /* accepts NULL */
/* Text in the arena; ptr NULL where the descriptor is not open or can't be read. */
struct str fds_describe(struct fds *f, int fd, struct arena *a);

#endif
