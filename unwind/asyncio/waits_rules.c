/* SPDX-License-Identifier: Apache-2.0 */
/* asyncio's and anyio's functions that wait, and who can read their frames. A new way to wait is one row. */
#include "unwind/asyncio/waits.h"

#define RULE(file_, function_, describe_, ...)                                           \
	{                                                                                \
		.file = file_, .function = function_, .describe = describe_, __VA_ARGS__ \
	}

#define ANYIO "anyio/_backends/_asyncio.py"

/* In a contiguous run of their frames the outermost row that knows its wait counts: Barrier.wait before Condition.wait_for before Condition.wait. */
static const struct wait_rule rules[] = {
	/* The frame of a future's own __await__, where futures are written in Python. */
	{.file = "futures.py", .function = "Future.__await__"},

	RULE("tasks.py", "sleep", wait_sleep, .innermost = true),
	RULE("tasks.py", "wait_for", wait_for_311),
	RULE("tasks.py", "_cancel_and_wait", wait_cancel_and_wait, .innermost = true),
	RULE("tasks.py", "_wait", wait_set, .innermost = true),
	RULE("tasks.py", "as_completed.<locals>._wait_for_one", wait_as_completed),
	RULE("tasks.py", "_AsCompletedIterator._wait_for_one", wait_as_completed_iterator),
	RULE("taskgroups.py", "TaskGroup.__aexit__", wait_task_group),
	RULE("taskgroups.py", "TaskGroup._aexit", wait_task_group),
	RULE("staggered.py", "staggered_race", wait_staggered, .innermost = true),

	RULE("locks.py", "Lock.acquire", wait_lock, .shared = true),
	RULE("locks.py", "Event.wait", wait_event, .shared = true),
	RULE("locks.py", "Condition.wait", wait_condition),
	RULE("locks.py", "Condition.wait_for", wait_condition),
	RULE("locks.py", "Semaphore.acquire", wait_semaphore, .variable = "_bound_value",
	     .shared = true),
	RULE("locks.py", "Barrier.wait", wait_barrier, .shared = true),
	RULE("queues.py", "Queue.get", wait_queue_get, .shared = true),
	RULE("queues.py", "Queue.put", wait_queue_put, .shared = true),
	RULE("queues.py", "Queue.join", wait_queue_join, .shared = true),

	RULE("streams.py", "StreamReader.read", wait_stream, .verb = "StreamReader.read"),
	RULE("streams.py", "StreamReader.readline", wait_stream, .verb = "StreamReader.readline"),
	RULE("streams.py", "StreamReader.__anext__", wait_stream, .verb = "StreamReader.readline"),
	RULE("streams.py", "StreamReader.readuntil", wait_stream, .verb = "StreamReader.readuntil"),
	RULE("streams.py", "StreamReader.readexactly", wait_stream,
	     .verb = "StreamReader.readexactly"),
	RULE("streams.py", "StreamReader._wait_for_data", wait_stream, .verb = "StreamReader"),
	RULE("streams.py", "StreamWriter.drain", wait_stream, .verb = "StreamWriter.drain"),
	RULE("streams.py", "StreamWriter.wait_closed", wait_stream,
	     .verb = "StreamWriter.wait_closed"),
	RULE("streams.py", "FlowControlMixin._drain_helper", wait_stream, .verb = "drain"),

	RULE("selector_events.py", "BaseSelectorEventLoop.sock_recv", wait_socket,
	     .verb = "sock_recv", .variable = "sock", .innermost = true),
	RULE("selector_events.py", "BaseSelectorEventLoop.sock_recv_into", wait_socket,
	     .verb = "sock_recv_into", .variable = "sock", .innermost = true),
	RULE("selector_events.py", "BaseSelectorEventLoop.sock_recvfrom", wait_socket,
	     .verb = "sock_recvfrom", .variable = "sock", .innermost = true),
	RULE("selector_events.py", "BaseSelectorEventLoop.sock_recvfrom_into", wait_socket,
	     .verb = "sock_recvfrom_into", .variable = "sock", .innermost = true),
	RULE("selector_events.py", "BaseSelectorEventLoop.sock_sendall", wait_socket,
	     .verb = "sock_sendall", .variable = "sock", .innermost = true),
	RULE("selector_events.py", "BaseSelectorEventLoop.sock_sendto", wait_socket,
	     .verb = "sock_sendto", .variable = "sock", .innermost = true),
	RULE("selector_events.py", "BaseSelectorEventLoop.sock_connect", wait_socket,
	     .verb = "sock_connect", .variable = "sock", .innermost = true),
	RULE("selector_events.py", "BaseSelectorEventLoop.sock_accept", wait_socket,
	     .verb = "sock_accept", .variable = "sock", .innermost = true),
	RULE("unix_events.py", "_UnixSelectorEventLoop._sock_sendfile_native", wait_socket,
	     .verb = "sock_sendfile", .variable = "sock", .innermost = true),
	RULE("selector_events.py", "BaseSelectorEventLoop._sendfile_native", wait_transport,
	     .verb = "sendfile", .variable = "transp", .innermost = true),
	RULE("selector_events.py", "BaseSelectorEventLoop._accept_connection2", wait_transport,
	     .verb = "accepted connection, set-up", .variable = "conn", .innermost = true),
	RULE("base_events.py", "BaseEventLoop._create_connection_transport", wait_transport,
	     .verb = "connection set-up", .variable = "sock", .innermost = true),
	RULE("base_events.py", "BaseEventLoop.start_tls", wait_transport,
	     .verb = "start_tls, TLS hand-shake", .variable = "transport", .innermost = true),
	RULE("base_events.py", "BaseEventLoop.create_datagram_endpoint", wait_transport,
	     .verb = "datagram endpoint set-up", .variable = "sock", .innermost = true),
	RULE("base_events.py", "BaseEventLoop.connect_read_pipe", wait_transport,
	     .verb = "connect_read_pipe", .variable = "transport", .innermost = true),
	RULE("base_events.py", "BaseEventLoop.connect_write_pipe", wait_transport,
	     .verb = "connect_write_pipe", .variable = "transport", .innermost = true),
	RULE("base_events.py", "_SendfileFallbackProtocol.drain", wait_transport,
	     .verb = "sendfile", .variable = "self", .innermost = true),
	RULE("base_events.py", "Server.serve_forever", wait_server, .innermost = true),
	RULE("base_events.py", "Server.wait_closed", wait_server_closed, .innermost = true),
	RULE("base_events.py", "BaseEventLoop.shutdown_default_executor", wait_shutdown_executor,
	     .innermost = true),

	RULE("subprocess.py", "Process.wait", wait_process, .verb = "process"),
	RULE("subprocess.py", "Process.communicate", wait_process, .verb = "process, communicate"),
	RULE("base_subprocess.py", "BaseSubprocessTransport._wait", wait_process_transport,
	     .verb = "process", .variable = "self"),
	RULE("unix_events.py", "_UnixSelectorEventLoop._make_subprocess_transport",
	     wait_process_transport, .verb = "process, start-up", .variable = "transp"),

	RULE(ANYIO, "Lock.acquire", wait_lock, .verb = "anyio ", .innermost = true, .shared = true),
	RULE(ANYIO, "Semaphore.acquire", wait_semaphore, .verb = "anyio ", .variable = "_max_value",
	     .innermost = true, .shared = true),
	RULE(ANYIO, "CapacityLimiter.acquire_on_behalf_of", wait_anyio_limiter, .verb = "anyio "),
	RULE("anyio/_core/_synchronization.py", "Condition.wait", wait_anyio_condition,
	     .verb = "anyio "),
	RULE("anyio/streams/memory.py", "MemoryObjectReceiveStream.receive", wait_anyio_receive,
	     .verb = "anyio "),
	RULE("anyio/streams/memory.py", "MemoryObjectSendStream.send", wait_anyio_send,
	     .verb = "anyio "),
	RULE(ANYIO, "TaskGroup.__aexit__", wait_task_group, .verb = "anyio ", .innermost = true),
	RULE(ANYIO, "AsyncIOBackend.run_sync_in_worker_thread", wait_anyio_thread,
	     .innermost = true),
	RULE(ANYIO, "AsyncIOBackend.wait_readable", wait_anyio_fd, .verb = "wait_readable",
	     .variable = "obj", .innermost = true),
	RULE(ANYIO, "AsyncIOBackend.wait_writable", wait_anyio_fd, .verb = "wait_writable",
	     .variable = "obj", .innermost = true),
	RULE(ANYIO, "UNIXSocketStream.receive", wait_anyio_fd, .verb = "UNIXSocketStream.receive",
	     .variable = "self", .innermost = true),
	RULE(ANYIO, "UNIXSocketStream.send", wait_anyio_fd, .verb = "UNIXSocketStream.send",
	     .variable = "self", .innermost = true),
	RULE(ANYIO, "SocketStream.receive", wait_anyio_stream, .verb = "SocketStream.receive"),
	RULE(ANYIO, "SocketStream.send", wait_anyio_stream, .verb = "SocketStream.send"),
	RULE(ANYIO, "UDPSocket.receive", wait_anyio_stream, .verb = "UDPSocket.receive"),
};

/* Below the package's folder. */
static bool in_file(const struct code_info *info, const char *file)
{
	size_t n = strlen(file), len = info->file.len;

	return str_ends_with(info->file, file) && (len == n || info->file.ptr[len - n - 1] == '/');
}

const struct wait_rule *wait_rule_find(const struct code_info *info)
{
	if ((!info->asyncio && !info->anyio) || !info->file.ptr)
		return NULL;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (str_is(info->qualname, rules[i].function) && in_file(info, rules[i].file))
			return &rules[i];
	}
	return NULL;
}

bool wait_rule_is_future(const struct wait_rule *rule)
{
	return rule && !rule->describe;
}
