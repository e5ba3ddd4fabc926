/* SPDX-License-Identifier: Apache-2.0 */
/* One dump request, many answers: pairs of inodes. */
#include "attach/unix_peers.h"

#include "base/cleanup.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define ANSWER_SIZE 32768u /* most that the kernel puts into one message of a dump */

struct pair {
	uint32_t inode, peer;
};

struct unix_peers {
	struct pair *v;
	size_t count, room;
};

static bool same_network(pid_t pid)
{
	char path[40];
	struct stat own, other;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	return stat("/proc/self/ns/net", &own) == 0 && stat(path, &other) == 0 &&
	       own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

static bool add_pair(struct unix_peers *p, uint32_t inode, uint32_t peer)
{
	if (p->count == p->room) {
		size_t room = p->room ? p->room * 2 : 128;
		struct pair *v = realloc(p->v, room * sizeof(*v));

		if (!v)
			return false;
		p->v = v;
		p->room = room;
	}
	p->v[p->count++] = (struct pair){inode, peer};
	return true;
}

static bool ask(int fd)
{
	struct {
		struct nlmsghdr header;
		struct unix_diag_req body;
	} request = {
		.header = {.nlmsg_len = sizeof(request),
			   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.body = {.sdiag_family = AF_UNIX,
			 .udiag_states = ~0u,
			 .udiag_show = UDIAG_SHOW_PEER},
	};
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};

	return sendto(fd, &request, sizeof(request), 0, (struct sockaddr *)&kernel,
		      sizeof(kernel)) == (ssize_t)sizeof(request);
}

/* The one attribute that was asked for. */
static uint32_t take_peer(const unsigned char *at, size_t len)
{
	while (len >= sizeof(struct rtattr)) {
		struct rtattr a;
		uint32_t peer;
		size_t step;

		memcpy(&a, at, sizeof(a));
		step = RTA_ALIGN(a.rta_len);
		if (a.rta_len < sizeof(a) || a.rta_len > len)
			return 0;
		if (a.rta_type == UNIX_DIAG_PEER && a.rta_len >= sizeof(a) + sizeof(peer)) {
			memcpy(&peer, at + RTA_LENGTH(0), sizeof(peer));
			return peer;
		}
		if (step > len)
			return 0;
		at += step;
		len -= step;
	}
	return 0;
}

/* True while more answers are to come. */
static bool take_answers(struct unix_peers *p, const unsigned char *at, size_t len)
{
	while (len >= NLMSG_HDRLEN) {
		struct nlmsghdr h;
		struct unix_diag_msg body;
		size_t step, known = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(body));
		uint32_t peer;

		memcpy(&h, at, sizeof(h));
		step = NLMSG_ALIGN(h.nlmsg_len);
		if (h.nlmsg_len < NLMSG_HDRLEN || h.nlmsg_len > len ||
		    h.nlmsg_type != SOCK_DIAG_BY_FAMILY)
			return false;
		if (h.nlmsg_len >= known) {
			memcpy(&body, at + NLMSG_HDRLEN, sizeof(body));
			peer = take_peer(at + known, h.nlmsg_len - known);
			if (peer && !add_pair(p, body.udiag_ino, peer))
				return false;
		}
		if (step >= len)
			break;
		at += step;
		len -= step;
	}
	return true;
}

static int compare_inode(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

struct unix_peers *unix_peers_load(pid_t pid)
{
	auto_close int fd = -1;
	unsigned char answer[ANSWER_SIZE];
	struct timeval patience = {.tv_usec = 200000};
	struct unix_peers *p;
	ssize_t n;

	if (!same_network(pid))
		return NULL;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0 ||
	    !ask(fd))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	do {
		n = recv(fd, answer, sizeof(answer), 0);
	} while ((n < 0 && errno == EINTR) || (n > 0 && take_answers(p, answer, (size_t)n)));
	if (p->count)
		qsort(p->v, p->count, sizeof(*p->v), compare_inode);
	return p;
}

void unix_peers_destroy(struct unix_peers *p)
{
	if (!p)
		return;
	free(p->v);
	free(p);
}

uint64_t unix_peers_find(const struct unix_peers *p, uint64_t inode)
{
	struct pair key = {.inode = (uint32_t)inode};
	const struct pair *found = NULL;

	if (p && p->count && inode <= UINT32_MAX)
		found = bsearch(&key, p->v, p->count, sizeof(*p->v), compare_inode);
	return found ? found->peer : 0;
}
