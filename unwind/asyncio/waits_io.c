/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for the world outside: streams, sockets, servers, child processes. Lib/asyncio/streams.py, selector_events.py, base_events.py, subprocess.py. */
#include "unwind/asyncio/waits.h"

#include <stdio.h>
#include <string.h>

#define CALLBACKS_MAX 64u
#define COMMAND_MAX   160u

/* The descriptor of a transport: _sock_fd of sockets, _fileno of pipes; -1 where it is closed or of another kind. */
static int64_t transport_fd(struct wait *w, vaddr transport)
{
	static const char *const names[] = {"_sock_fd", "_fileno"};
	int64_t fd;

	for (int i = 0; i < 2; i++) {
		vaddr at;

		if (attr_get(w->r, transport, names[i], &at) == ERR_OK && at &&
		    !object_is_none(w->r, at) && object_long(w->r, at, &fd) == ERR_OK)
			return fd;
	}
	return -1;
}

/* A TLS transport stands on another one: sslproto.py, _SSLProtocolTransport._ssl_protocol._transport. */
static int64_t stream_fd(struct wait *w, vaddr transport)
{
	int64_t fd = transport_fd(w, transport);
	vaddr at;

	if (fd < 0 && attr_get(w->r, transport, "_ssl_protocol", &at) == ERR_OK && at &&
	    attr_get(w->r, at, "_transport", &at) == ERR_OK && at)
		fd = transport_fd(w, at);
	return fd;
}

static enum err describe_stream(struct wait *w, const char *what)
{
	vaddr self, transport;
	enum err err = wait_local(w, "self", &self);

	if (err == ERR_OK)
		err = attr_get(w->r, self, "_transport", &transport);
	if (err != ERR_OK)
		return err;
	w->out->id = self;
	wait_detail_fd(w, what, transport ? stream_fd(w, transport) : -1);
	return ERR_OK;
}

enum err wait_stream(struct wait *w, const struct wait_rule *rule)
{
	(void)rule;
	return describe_stream(w, "stream read,");
}

enum err wait_drain(struct wait *w, const struct wait_rule *rule)
{
	return describe_stream(w, str_ends_with(str_from(rule->function), "drain")
					  ? "stream drain: the peer reads too slowly,"
					  : "stream, until it is closed,");
}

/* _add_reader() and _add_writer() leave partial(_sock_read_done, fd) among the future's callbacks. */
static int64_t fd_of_callbacks(struct wait *w)
{
	struct future_view f;
	struct items callbacks, arguments;
	const struct type_info *t;
	vaddr at;
	int64_t fd;

	if (!w->c->chain->leaf || future_read(w->r, w->c->chain->leaf, &f) != ERR_OK ||
	    future_callbacks(w->r, &f, CALLBACKS_MAX, &callbacks) != ERR_OK)
		return -1;
	for (uint32_t i = 0; i < callbacks.count; i++) {
		if (type_of(w->r, callbacks.v[i], &t) == ERR_OK && t->kind == TYPE_PARTIAL &&
		    read_ptr(w->r, callbacks.v[i], w->r->lay->partial_args, &at) == ERR_OK &&
		    object_tuple(w->r, at, 1, &arguments) == ERR_OK && arguments.count &&
		    object_long(w->r, arguments.v[0], &fd) == ERR_OK)
			return fd;
	}
	return -1;
}

enum err wait_socket(struct wait *w, const struct wait_rule *rule)
{
	const char *name = strrchr(rule->function, '.') + 1;
	char what[48];
	int64_t fd = fd_of_callbacks(w);
	vaddr at;

	if (fd < 0 && (wait_local(w, "fd", &at) != ERR_OK || object_long(w->r, at, &fd) != ERR_OK))
		fd = -1;
	w->out->id = w->c->chain->leaf;
	snprintf(what, sizeof(what), "%s,", name);
	wait_detail_fd(w, what, fd);
	return ERR_OK;
}

enum err wait_server(struct wait *w, const struct wait_rule *rule)
{
	vaddr self;
	int64_t sockets;
	enum err err = wait_local(w, "self", &self);

	if (err == ERR_OK)
		err = wait_attr_length(w, self, "_sockets", &sockets);
	if (err != ERR_OK)
		return err;
	w->out->id = self;
	wait_detail(w, "%s, %lld %s", rule->function, (long long)sockets,
		    sockets == 1 ? "socket" : "sockets");
	return ERR_OK;
}

/* The child's command as the kernel has it. In another pid namespace the number is somebody else's here: it must be the target's child. */
static bool child_command(struct wait *w, int64_t pid, struct str **argv, size_t *argc)
{
	struct proc_stat stat;

	return w->r->target && pid > 0 && pid <= INT32_MAX &&
	       proc_stat_read((pid_t)pid, &stat, NULL) == ERR_OK &&
	       stat.ppid == w->r->target->pid &&
	       proc_command((pid_t)pid, w->r->scratch, argv, argc) == ERR_OK;
}

/* "process 4242: cat -n" */
static void detail_process(struct wait *w, int64_t pid)
{
	struct str *argv = NULL;
	char command[COMMAND_MAX] = "";
	size_t argc = 0, used = 0;

	if (!child_command(w, pid, &argv, &argc))
		argc = 0;
	for (size_t i = 0; i < argc && used + argv[i].len + 2 < sizeof(command); i++)
		used += (size_t)snprintf(command + used, sizeof(command) - used, "%s%.*s",
					 i ? " " : "", STR_ARG(argv[i]));
	wait_detail(w, "process %lld%s%s", (long long)pid, command[0] ? ": " : "", command);
}

static enum err describe_pid(struct wait *w, vaddr holder)
{
	int64_t pid;
	enum err err = attr_long(w->r, holder, "_pid", &pid);

	if (err != ERR_OK)
		return err;
	w->out->id = holder;
	detail_process(w, pid);
	return ERR_OK;
}

enum err wait_process_transport(struct wait *w, const struct wait_rule *rule)
{
	vaddr self;
	enum err err = wait_local(w, "self", &self);

	(void)rule;
	return err == ERR_OK ? describe_pid(w, self) : err;
}

enum err wait_process(struct wait *w, const struct wait_rule *rule)
{
	const struct type_info *t;
	vaddr self, transport;
	uint32_t total, pending;
	enum err err = wait_local(w, "self", &self);

	(void)rule;
	if (err == ERR_OK)
		err = wait_attr(w, self, "_transport", &transport);
	if (err == ERR_OK)
		err = describe_pid(w, transport);
	/* communicate() gathers the readers of its pipes. */
	if (err == ERR_OK && w->c->chain->leaf && type_of(w->r, w->c->chain->leaf, &t) == ERR_OK &&
	    type_is(w->r, t, "asyncio.tasks", "_GatheringFuture"))
		err = wait_gathered(w, w->c->chain->leaf, &total, &pending);
	return err;
}
