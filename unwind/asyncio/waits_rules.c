/* SPDX-License-Identifier: Apache-2.0 */
/* The table of functions of Lib/asyncio that tasks are suspended in, 3.11 to 3.15. A function that a version does not have costs nothing. */
#include "unwind/asyncio/waits.h"

static const struct wait_rule rules[] = {
	/* innermost wins */
	{"tasks.py", "sleep", AWAITS_SLEEP, wait_sleep, false},
	{"tasks.py", "__sleep0", AWAITS_YIELD, wait_turn, false},
	{"tasks.py", "_wait", AWAITS_WAIT, wait_set, false},
	{"tasks.py", "_cancel_and_wait", AWAITS_TASK, wait_cancelled, false},
	{"tasks.py", "wait_for", AWAITS_TASK, wait_wait_for, false},
	{"locks.py", "Lock.acquire", AWAITS_LOCK, wait_lock, false},
	{"locks.py", "Event.wait", AWAITS_EVENT, wait_event, false},
	{"locks.py", "Semaphore.acquire", AWAITS_SEMAPHORE, wait_semaphore, false},
	{"streams.py", "StreamReader._wait_for_data", AWAITS_STREAM, wait_stream, false},
	{"selector_events.py", "BaseSelectorEventLoop.sock_recv", AWAITS_FD, wait_socket, false},
	{"selector_events.py", "BaseSelectorEventLoop.sock_recv_into", AWAITS_FD, wait_socket,
	 false},
	{"selector_events.py", "BaseSelectorEventLoop.sock_recvfrom", AWAITS_FD, wait_socket,
	 false},
	{"selector_events.py", "BaseSelectorEventLoop.sock_recvfrom_into", AWAITS_FD, wait_socket,
	 false},
	{"selector_events.py", "BaseSelectorEventLoop.sock_sendall", AWAITS_FD, wait_socket, false},
	{"selector_events.py", "BaseSelectorEventLoop.sock_sendto", AWAITS_FD, wait_socket, false},
	{"selector_events.py", "BaseSelectorEventLoop.sock_connect", AWAITS_FD, wait_socket, false},
	{"selector_events.py", "BaseSelectorEventLoop.sock_accept", AWAITS_FD, wait_socket, false},
	/* these stand around one of the above and say more */
	{"locks.py", "Condition.wait", AWAITS_CONDITION, wait_condition, true},
	{"locks.py", "Condition.wait_for", AWAITS_CONDITION, wait_condition, true},
	{"locks.py", "Barrier.wait", AWAITS_BARRIER, wait_barrier, true},
	{"queues.py", "Queue.get", AWAITS_QUEUE, wait_queue_get, true},
	{"queues.py", "Queue.put", AWAITS_QUEUE, wait_queue_put, true},
	{"queues.py", "Queue.join", AWAITS_QUEUE, wait_queue_join, true},
	{"taskgroups.py", "TaskGroup.__aexit__", AWAITS_WAIT, wait_group, true},
	{"tasks.py", "as_completed.<locals>._wait_for_one", AWAITS_WAIT, wait_completed, true},
	{"tasks.py", "_AsCompletedIterator._wait_for_one", AWAITS_WAIT, wait_completed_iterator,
	 true},
	{"streams.py", "StreamWriter.drain", AWAITS_STREAM, wait_drain, true},
	{"streams.py", "StreamWriter.wait_closed", AWAITS_STREAM, wait_drain, true},
	{"base_events.py", "Server.serve_forever", AWAITS_FUTURE, wait_server, true},
	{"base_events.py", "Server.wait_closed", AWAITS_FUTURE, wait_server, true},
	{"base_subprocess.py", "BaseSubprocessTransport._wait", AWAITS_PROCESS,
	 wait_process_transport, true},
	{"subprocess.py", "Process.wait", AWAITS_PROCESS, wait_process, true},
	{"subprocess.py", "Process.communicate", AWAITS_PROCESS, wait_process, true},
};

const struct wait_rule *wait_rule_of(struct code_info *info)
{
	if (info->rule_known)
		return info->rule;
	info->rule_known = true;
	info->rule = NULL;
	for (size_t i = 0; info->asyncio && i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (str_is(info->qualname, rules[i].function) &&
		    str_ends_with(info->file, rules[i].file)) {
			info->rule = &rules[i];
			break;
		}
	}
	return info->rule;
}
