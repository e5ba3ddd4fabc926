/* SPDX-License-Identifier: Apache-2.0 */
/* The sockets of a network namespace, as /proc/PID/net/{tcp,tcp6,udp,udp6,unix} list them, found by inode and put into words. */
#ifndef AIOTRACE_ATTACH_SOCKETS_H
#define AIOTRACE_ATTACH_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sockets;

/* Reads the tables of the target's namespace. NULL: no memory. Tables that can't be read are empty. */
struct sockets *sockets_load(pid_t pid);
void sockets_destroy(struct sockets *s); /* accepts NULL */

/*
 * One line about the socket into `text` (NUL-terminated; a path in it is the target's bytes as they are). False where the tables don't have it. *peer_ret: inode of
 * the other end of a pair of unnamed unix sockets, 0 where there is none or it is not known.
 */
bool sockets_describe(const struct sockets *s, uint64_t inode, char *text, size_t size,
		      uint64_t *peer_ret);

#endif
