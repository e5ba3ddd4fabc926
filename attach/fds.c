/* SPDX-License-Identifier: Apache-2.0 */
/* A descriptor is what its link in /proc/PID/fd says; for sockets, what the namespace's tables say of that inode. */
#include "attach/fds.h"

#include "attach/proc_internal.h"
#include "attach/sockets.h"
#include "base/cleanup.h"
#include "base/clock.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINK_MOST 4096u
/* Age at which the sockets' tables are read again: where a socket is not in them, and in any case. */
#define UNKNOWN_NS 1000000000u
#define OLD_NS	   5000000000u

struct fd_inode {
	uint64_t inode;
	int fd;
};

struct fds {
	pid_t pid;
	struct sockets *sockets;
	uint64_t loaded_ns; /* when the tables were read, 0 not yet */
	struct fd_inode *own; /* sockets that the target has open; read with the tables */
	size_t own_count;
};

struct fds *fds_create(pid_t pid)
{
	struct fds *f = calloc(1, sizeof(*f));

	if (f)
		f->pid = pid;
	return f;
}

void fds_destroy(struct fds *f)
{
	if (!f)
		return;
	sockets_destroy(f->sockets);
	free(f->own);
	free(f);
}

/* Length of the link's text, 0 where there is none. Terminated. */
static size_t read_link(pid_t pid, int fd, char *text, size_t size)
{
	char path[48];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	n = readlink(path, text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static bool socket_inode(const char *link, uint64_t *ret)
{
	char *end;

	if (strncmp(link, "socket:[", 8) != 0)
		return false;
	*ret = strtoull(link + 8, &end, 10);
	return *end == ']';
}

/* Which descriptors of the target are sockets: to name the one at the other end of a pair. */
static void list_own(struct fds *f)
{
	char path[32], link[64];
	auto_closedir DIR *d = NULL;
	struct dirent *entry;
	size_t room = 0;

	free(f->own);
	f->own = NULL;
	f->own_count = 0;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)f->pid);
	d = opendir(path);
	while (d && (entry = readdir(d))) {
		int fd = atoi(entry->d_name);
		uint64_t inode;

		if (entry->d_name[0] == '.' || !read_link(f->pid, fd, link, sizeof(link)) ||
		    !socket_inode(link, &inode))
			continue;
		if (f->own_count == room) {
			struct fd_inode *v = realloc(f->own, (room ? room * 2 : 64) * sizeof(*v));

			if (!v)
				return;
			f->own = v;
			room = room ? room * 2 : 64;
		}
		f->own[f->own_count++] = (struct fd_inode){inode, fd};
	}
}

static int own_fd(const struct fds *f, uint64_t inode)
{
	for (size_t i = 0; i < f->own_count; i++)
		if (f->own[i].inode == inode)
			return f->own[i].fd;
	return -1;
}

/* Tables that are at least so old are read anew. */
static void load_tables(struct fds *f, uint64_t age_ns)
{
	uint64_t now = clock_now_ns();

	if (f->loaded_ns && now - f->loaded_ns < age_ns)
		return;
	f->loaded_ns = now;
	sockets_destroy(f->sockets);
	f->sockets = sockets_load(f->pid);
	list_own(f);
}

static bool find_socket(struct fds *f, uint64_t inode, char *text, size_t size, uint64_t *peer_ret)
{
	return f->sockets && sockets_describe(f->sockets, inode, text, size, peer_ret);
}

static void describe_socket(struct fds *f, uint64_t inode, char *text, size_t size)
{
	uint64_t peer = 0;
	int other;

	load_tables(f, OLD_NS);
	if (!find_socket(f, inode, text, size, &peer)) {
		load_tables(f, UNKNOWN_NS);
		/* Not in the tables: not bound or connected yet, or of another family. */
		if (!find_socket(f, inode, text, size, &peer)) {
			snprintf(text, size, "socket");
			return;
		}
	}
	other = peer ? own_fd(f, peer) : -1;
	if (other >= 0) {
		size_t have = strlen(text);

		snprintf(text + have, size - have, " (peer fd %d)", other);
	}
}

/* "anon_inode:[eventpoll]" */
static void describe_anonymous(const char *name, char *text, size_t size)
{
	size_t len;

	if (*name == '[')
		name++;
	len = strcspn(name, "]");
	if (len == strlen("eventpoll") && strncmp(name, "eventpoll", len) == 0)
		snprintf(text, size, "epoll");
	else
		snprintf(text, size, "%.*s", (int)len, name);
}

struct str fds_describe(struct fds *f, int fd, struct arena *a)
{
	char link[LINK_MOST], text[LINK_MOST + 16];
	uint64_t inode;

	if (fd < 0 || !read_link(f->pid, fd, link, sizeof(link)))
		return (struct str){0};
	if (socket_inode(link, &inode))
		describe_socket(f, inode, text, sizeof(text));
	else if (strncmp(link, "pipe:[", 6) == 0)
		snprintf(text, sizeof(text), "pipe");
	else if (strncmp(link, "anon_inode:", 11) == 0)
		describe_anonymous(link + 11, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "file %s", link);
	return proc_copy_utf8(a, text, strlen(text));
}
