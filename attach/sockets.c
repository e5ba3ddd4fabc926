/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the tables stay as the kernel wrote them and are taken apart only when somebody asks for that socket. */
#include "attach/sockets.h"

#include "attach/procfile.h"
#include "attach/unix_peers.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_MOST ((size_t)256 << 20)
/* net/unix: __SO_ACCEPTCON of include/uapi/linux/net.h; a socket that listens */
#define FLAG_LISTENS 0x10000ul

enum table {
	TABLE_TCP,
	TABLE_TCP6,
	TABLE_UDP,
	TABLE_UDP6,
	TABLE_UNIX,
	TABLE_COUNT
};

static const char *const table_files[TABLE_COUNT] = {
	[TABLE_TCP] = "tcp",   [TABLE_TCP6] = "tcp6", [TABLE_UDP] = "udp",
	[TABLE_UDP6] = "udp6", [TABLE_UNIX] = "unix",
};

/* include/net/tcp_states.h */
static const char *const tcp_states[] = {
	[1] = "established", [2] = "syn-sent",	 [3] = "syn-received", [4] = "fin-wait-1",
	[5] = "fin-wait-2",  [6] = "time-wait",	 [7] = "closed",       [8] = "close-wait",
	[9] = "last-ack",    [10] = "listening", [11] = "closing",     [12] = "syn-received",
};

struct socket_row {
	uint64_t inode;
	const char *line;
	enum table table;
};

struct sockets {
	char *text[TABLE_COUNT];
	struct socket_row *v;
	size_t count, room;
	struct unix_peers *peers; /* NULL where not known */
};

struct endpoint {
	uint32_t address[4]; /* network order */
	unsigned port;
	bool v6, any; /* any: address and port are zero */
};

struct unix_line {
	unsigned long flags, state;
	uint64_t inode;
	const char *path; /* "" where unnamed */
};

/* "0100007F:1F90", 8 or 32 digits: 32-bit words in the machine's own order. Returns what follows, or NULL. */
static const char *take_endpoint(const char *at, struct endpoint *ret)
{
	size_t digits = strspn(at, "0123456789ABCDEFabcdef");
	char *end;

	if ((digits != 8 && digits != 32) || at[digits] != ':')
		return NULL;
	*ret = (struct endpoint){.v6 = digits == 32, .any = true};
	for (size_t i = 0; i < digits / 8; i++) {
		char word[9] = {0};

		memcpy(word, at + 8 * i, 8);
		ret->address[i] = (uint32_t)strtoul(word, NULL, 16);
		ret->any = ret->any && ret->address[i] == 0;
	}
	ret->port = (unsigned)strtoul(at + digits + 1, &end, 16);
	ret->any = ret->any && ret->port == 0;
	return end;
}

/* "sl: local remote st tx:rx tr:tm retrnsmt uid timeout inode": one more field after another. */
static const char *skip_fields(const char *at, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		at += strspn(at, " ");
		at += strcspn(at, " \n");
	}
	return at + strspn(at, " ");
}

static bool parse_inet(const char *line, struct endpoint *local, struct endpoint *remote,
		       unsigned *state_ret, uint64_t *inode_ret)
{
	const char *at = skip_fields(line, 1);
	char *end;

	at = take_endpoint(at, local);
	if (!at)
		return false;
	at = take_endpoint(at + strspn(at, " "), remote);
	if (!at)
		return false;
	*state_ret = (unsigned)strtoul(at, &end, 16);
	at = skip_fields(end, 5);
	*inode_ret = strtoull(at, &end, 10);
	return end != at;
}

/* "ffff8880: 00000002 00000000 00010000 0001 01 12345 /path" */
static bool parse_unix(const char *line, struct unix_line *ret)
{
	const char *at = skip_fields(line, 3);
	char *end;

	ret->flags = strtoul(at, &end, 16);
	at = skip_fields(end, 1);
	ret->state = strtoul(at, &end, 16);
	if (end == at)
		return false;
	at = end;
	ret->inode = strtoull(at, &end, 10);
	ret->path = end + strspn(end, " ");
	return end != at;
}

static bool add_row(struct sockets *s, enum table table, uint64_t inode, const char *line)
{
	if (s->count == s->room) {
		size_t room = s->room ? s->room * 2 : 64;
		struct socket_row *v = realloc(s->v, room * sizeof(*v));

		if (!v)
			return false;
		s->v = v;
		s->room = room;
	}
	s->v[s->count++] = (struct socket_row){inode, line, table};
	return true;
}

/* False: no memory. */
static bool load_table(struct sockets *s, pid_t pid, enum table table)
{
	char path[48], *line, *end;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, table_files[table]);
	if (procfile_load(path, TABLE_MOST, &s->text[table]) < 0)
		return true;
	/* The first line is the heading. */
	line = strchr(s->text[table], '\n');
	for (line = line ? line + 1 : NULL; line && (end = strchr(line, '\n')); line = end + 1) {
		struct endpoint local, remote;
		struct unix_line u;
		unsigned state;
		uint64_t inode = 0;

		*end = '\0';
		if (table == TABLE_UNIX && parse_unix(line, &u))
			inode = u.inode;
		else if (table != TABLE_UNIX && !parse_inet(line, &local, &remote, &state, &inode))
			inode = 0;
		if (inode && !add_row(s, table, inode, line))
			return false;
	}
	return true;
}

static int compare_inode(const void *a, const void *b)
{
	const struct socket_row *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

struct sockets *sockets_load(pid_t pid)
{
	struct sockets *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	for (enum table t = 0; t < TABLE_COUNT; t++) {
		if (!load_table(s, pid, t)) {
			sockets_destroy(s);
			return NULL;
		}
	}
	if (s->count)
		qsort(s->v, s->count, sizeof(*s->v), compare_inode);
	s->peers = unix_peers_load(pid);
	return s;
}

void sockets_destroy(struct sockets *s)
{
	if (!s)
		return;
	for (enum table t = 0; t < TABLE_COUNT; t++)
		free(s->text[t]);
	unix_peers_destroy(s->peers);
	free(s->v);
	free(s);
}

static const struct socket_row *find(const struct sockets *s, uint64_t inode)
{
	struct socket_row key = {.inode = inode};

	return s->count ? bsearch(&key, s->v, s->count, sizeof(*s->v), compare_inode) : NULL;
}

static void format_endpoint(const struct endpoint *e, char *text, size_t size)
{
	char address[INET6_ADDRSTRLEN] = "?";

	inet_ntop(e->v6 ? AF_INET6 : AF_INET, e->address, address, sizeof(address));
	snprintf(text, size, e->v6 ? "[%s]:%u" : "%s:%u", address, e->port);
}

static bool describe_inet(const struct socket_row *row, char *text, size_t size)
{
	bool tcp = row->table == TABLE_TCP || row->table == TABLE_TCP6;
	const char *name = tcp ? "tcp" : "udp", *word = "";
	struct endpoint local, remote;
	char from[64], to[64];
	uint64_t inode;
	unsigned state;

	if (!parse_inet(row->line, &local, &remote, &state, &inode))
		return false;
	format_endpoint(&local, from, sizeof(from));
	format_endpoint(&remote, to, sizeof(to));
	if (tcp && state < sizeof(tcp_states) / sizeof(*tcp_states) && tcp_states[state])
		word = tcp_states[state];
	if (tcp && state == 10)
		snprintf(text, size, "tcp listening on %s", from);
	else if (remote.any)
		snprintf(text, size, "%s %s%s%s", name, from, *word ? " " : "", word);
	else
		snprintf(text, size, "%s %s -> %s%s%s", name, from, to, *word ? " " : "", word);
	return true;
}

static bool describe_unix(const struct sockets *s, const struct socket_row *row, char *text,
			  size_t size, uint64_t *peer_ret)
{
	struct unix_line own, other = {.path = ""};
	uint64_t peer = unix_peers_find(s->peers, row->inode);
	const struct socket_row *other_row = peer ? find(s, peer) : NULL;

	if (!parse_unix(row->line, &own))
		return false;
	if (other_row && (other_row->table != TABLE_UNIX || !parse_unix(other_row->line, &other)))
		other.path = "";
	if (own.flags & FLAG_LISTENS)
		snprintf(text, size, "unix listening on %s", own.path);
	else if (*own.path)
		snprintf(text, size, "unix %s", own.path);
	else if (*other.path)
		snprintf(text, size, "unix -> %s", other.path);
	else if (peer)
		snprintf(text, size, "unix socketpair");
	else
		snprintf(text, size, "unix socket");
	if (!*own.path && !*other.path)
		*peer_ret = peer;
	return true;
}

bool sockets_describe(const struct sockets *s, uint64_t inode, char *text, size_t size,
		      uint64_t *peer_ret)
{
	const struct socket_row *row = find(s, inode);

	*peer_ret = 0;
	if (!row)
		return false;
	if (row->table == TABLE_UNIX)
		return describe_unix(s, row, text, size, peer_ret);
	return describe_inet(row, text, size);
}
