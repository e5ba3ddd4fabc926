/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for streams, sockets, connections and servers: Lib/asyncio/streams.py, selector_events.py, unix_events.py, base_events.py. The descriptor is
 * found in the objects; what it is (addresses, state) says /proc.
 */
#include "unwind/asyncio/waits.h"

#include <inttypes.h>

#define TRANSPORTS_MAX 4u /* TLS over a transport over … */
#define SOCKETS_SAID   4u
#define SOCKETS_MAX    1000u

/* Selector and pipe transports know their descriptor; TLS has a transport beneath. */
static int transport_fd(struct waiting *c, vaddr transport)
{
	for (uint32_t i = 0; transport && i < TRANSPORTS_MAX; i++) {
		int64_t fd = wait_number(c, transport, "_sock_fd");
		vaddr protocol;

		if (fd < 0)
			fd = wait_number(c, transport, "_fileno");
		if (fd >= 0 && fd <= INT32_MAX)
			return (int)fd;
		protocol = wait_attr(c, transport, "_ssl_protocol");
		transport = wait_attr(c, protocol, "_transport");
	}
	return -1;
}

/* `self` is a StreamReader, a StreamWriter, or the protocol between them. */
void wait_stream(struct waiting *c)
{
	struct words s = {0};
	vaddr self = wait_local(c, "self"), transport;

	if (!self)
		return;
	c->out.kind = AWAITS_STREAM;
	c->out.id = self;
	words_add(&s, "%s", c->rule->verb);
	transport = wait_attr(c, self, "_transport");
	if (!transport)
		transport = wait_attr(c, wait_attr(c, self, "_protocol"), "_transport");
	wait_say_fd(c, &s, transport_fd(c, transport));
	wait_detail(c, &s);
}

/* anyio's streams wait for an Event of the protocol; before and after it they give way to others. */
void wait_anyio_stream(struct waiting *c)
{
	const struct frame_walk *inner = &c->chain->v[c->chain->count - 1].position;

	if (str_is(inner->info->qualname, "Event.wait"))
		wait_stream(c);
}

/* From the function's own `fd`, the partial that takes the descriptor out of the selector again, or the socket. */
static int descriptor(struct waiting *c, vaddr sock)
{
	vaddr value = wait_local(c, "fd");
	int64_t fd;

	if (!value)
		value = wait_callback_argument(c, c->leaf, "BaseSelectorEventLoop._sock_read_done");
	if (!value)
		value = wait_callback_argument(c, c->leaf,
					       "BaseSelectorEventLoop._sock_write_done");
	if (value && object_long(c->r, value, &fd) == ERR_OK && fd >= 0 && fd <= INT32_MAX)
		return (int)fd;
	return wait_socket_fd(c, sock);
}

void wait_socket(struct waiting *c)
{
	struct words s = {0};
	vaddr sock = wait_local(c, c->rule->variable);

	if (!sock)
		return;
	c->out.kind = AWAITS_FD;
	c->out.id = sock;
	words_add(&s, "%s", c->rule->verb);
	wait_say_fd(c, &s, descriptor(c, sock));
	wait_detail(c, &s);
}

/* Until a transport is ready: the variable is a transport, a socket or a file; `ssl` a context where there is a hand-shake. */
void wait_transport(struct waiting *c)
{
	struct words s = {0};
	vaddr object = wait_local(c, c->rule->variable), ssl = wait_local(c, "ssl");
	bool tls = false;
	int fd;

	if (!object)
		return;
	c->out.kind = AWAITS_FD;
	c->out.id = object;
	words_add(&s, "%s", c->rule->verb);
	if (ssl && (object_bool(c->r, ssl, &tls) != ERR_OK || tls))
		words_add(&s, ", TLS hand-shake");
	fd = wait_socket_fd(c, object);
	if (fd < 0)
		fd = transport_fd(c, object);
	if (fd < 0)
		fd = transport_fd(c, wait_local(c, "transport"));
	wait_say_fd(c, &s, fd);
	wait_detail(c, &s);
}

static void say_sockets(struct waiting *c, struct words *s, vaddr server)
{
	vaddr list = wait_attr(c, server, "_sockets");
	struct items sockets;

	if (!list || object_list(c->r, list, SOCKETS_MAX, &sockets) != ERR_OK)
		return;
	for (uint32_t i = 0; i < sockets.count && i < SOCKETS_SAID; i++)
		wait_say_fd(c, s, wait_socket_fd(c, sockets.v[i]));
	if (sockets.count > SOCKETS_SAID)
		words_add(s, " and %" PRIu32 " more", sockets.count - SOCKETS_SAID);
}

void wait_server(struct waiting *c)
{
	struct words s = {0};
	vaddr server = wait_local(c, "self");

	if (!server)
		return;
	c->out.kind = AWAITS_FUTURE;
	c->out.id = server;
	words_add(&s, "Server.serve_forever");
	say_sockets(c, &s, server);
	wait_detail(c, &s);
}

/* 3.11 to 3.12 count the connections, later versions hold them in a weak set. */
void wait_server_closed(struct waiting *c)
{
	struct words s = {0};
	vaddr server = wait_local(c, "self"), clients;
	struct items list;
	int64_t count;

	if (!server)
		return;
	c->out.kind = AWAITS_FUTURE;
	c->out.id = server;
	words_add(&s, "Server.wait_closed");
	if (wait_attr(c, server, "_sockets"))
		words_add(&s, ", not closed");
	clients = wait_attr(c, server, "_clients");
	count = wait_number(c, server, "_active_count");
	if (clients && object_weakset(c->r, clients, WAITED_MAX, &list) == ERR_OK)
		count = list.count;
	if (count >= 0)
		words_add(&s, ", %" PRId64 " open connection%s", count, count == 1 ? "" : "s");
	wait_detail(c, &s);
}

void wait_shutdown_executor(struct waiting *c)
{
	struct words s = {0};

	if (!c->leaf)
		return;
	c->out.kind = AWAITS_FUTURE;
	c->out.id = c->leaf;
	words_add(&s, "shutdown_default_executor, waits for its worker threads");
	wait_detail(c, &s);
}
