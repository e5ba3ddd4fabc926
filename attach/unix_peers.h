/* SPDX-License-Identifier: Apache-2.0 */
/* Which unix socket is connected to which: NETLINK_SOCK_DIAG, for targets in our own network namespace (/proc/net/unix does not say). */
#ifndef AIOTRACE_ATTACH_UNIX_PEERS_H
#define AIOTRACE_ATTACH_UNIX_PEERS_H

#include <stdint.h>
#include <sys/types.h>

struct unix_peers;

/* NULL where the kernel does not tell, or the target is in another network namespace. */
struct unix_peers *unix_peers_load(pid_t pid);
void unix_peers_destroy(struct unix_peers *p); /* accepts NULL */
/* Inode of the other end; 0 where there is none, or p is NULL. */
uint64_t unix_peers_find(const struct unix_peers *p, uint64_t inode);

#endif
