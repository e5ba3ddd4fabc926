/* SPDX-License-Identifier: Apache-2.0 */
/* System calls by name and in words, with descriptors and memory of this very process. */
#include "attach/syscalls.h"
#include "tests/unit/check.h"

#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct target self;
static struct arena text;

static bool says(int64_t number, const uint64_t *args, const char *wanted)
{
	struct proc_syscall s = {.number = number};
	struct str got;

	for (int i = 0; args && i < 6; i++)
		s.args[i] = args[i];
	got = syscall_describe(&s, &self, &text);
	if (!str_is(got, wanted))
		fprintf(stderr, "said \"%.*s\", wanted \"%s\"\n", STR_ARG(got), wanted);
	return str_is(got, wanted);
}

static void test_names(void)
{
	struct proc_syscall s = {.number = SYS_read};

	CHECK(str_is(syscall_name(&s, &text), "read"));
	s.number = 99999;
	CHECK(str_is(syscall_name(&s, &text), "syscall 99999"));
	s.number = -1;
	CHECK(!syscall_name(&s, &text).ptr && !syscall_describe(&s, &self, &text).ptr);
	s = (struct proc_syscall){.running = true};
	CHECK(!syscall_name(&s, &text).ptr && !syscall_futex_address(&s));
	s = (struct proc_syscall){.number = SYS_futex, .args = {0x7f00}};
	CHECK(syscall_futex_address(&s) == 0x7f00);
	s.number = SYS_read;
	CHECK(!syscall_futex_address(&s));
}

static void test_arguments(void)
{
	int ends[2];
	char wanted[80];
	struct timespec brief = {.tv_nsec = 5000000}, past = {.tv_sec = 1};
	struct pollfd polled[2];

	CHECK(pipe(ends) == 0);
	polled[0] = (struct pollfd){.fd = ends[0]};
	snprintf(wanted, sizeof(wanted), "read, fd %d, pipe", ends[0]);
	CHECK(says(SYS_read, (uint64_t[6]){(uint64_t)ends[0]}, wanted));
	snprintf(wanted, sizeof(wanted), "ppoll of 2 descriptors, fd %d, pipe, timeout 5 ms",
		 ends[0]);
	CHECK(says(SYS_ppoll, (uint64_t[6]){(uintptr_t)polled, 2, (uintptr_t)&brief}, wanted));
	CHECK(says(SYS_read, (uint64_t[6]){98765}, "read, fd 98765"));
	CHECK(says(SYS_epoll_pwait, (uint64_t[6]){3, 0, 0, UINT32_MAX},
		   "epoll_pwait, fd 3, no timeout"));
	CHECK(says(SYS_epoll_pwait, (uint64_t[6]){3, 0, 0, 1500},
		   "epoll_pwait, fd 3, timeout 1.5 s"));
	CHECK(says(SYS_epoll_pwait, (uint64_t[6]){3, 0, 0, 0}, "epoll_pwait, fd 3, does not wait"));
	CHECK(says(SYS_nanosleep, (uint64_t[6]){(uintptr_t)&brief}, "nanosleep, for 5 ms"));
	CHECK(says(SYS_clock_nanosleep,
		   (uint64_t[6]){CLOCK_MONOTONIC, TIMER_ABSTIME, (uintptr_t)&past},
		   "clock_nanosleep, 0 s left"));
	CHECK(says(SYS_futex, (uint64_t[6]){1, FUTEX_WAIT | FUTEX_PRIVATE_FLAG},
		   "futex, no timeout"));
	CHECK(says(SYS_futex, (uint64_t[6]){1, FUTEX_WAIT, 0, (uintptr_t)&brief},
		   "futex, timeout 5 ms"));
	CHECK(says(SYS_futex, (uint64_t[6]){1, FUTEX_WAKE}, "futex"));
	CHECK(says(SYS_wait4, (uint64_t[6]){UINT32_MAX}, "wait4, any child"));
	CHECK(says(SYS_wait4, (uint64_t[6]){77}, "wait4, process 77"));
	/* Pointers to nowhere are left out. */
	CHECK(says(SYS_nanosleep, (uint64_t[6]){8}, "nanosleep"));
	CHECK(says(SYS_ppoll, (uint64_t[6]){8, 1, 8}, "ppoll"));
	CHECK(says(SYS_pselect6, (uint64_t[6]){UINT64_MAX, 8, 8, 8, 8}, "pselect6"));
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	struct error e = {0};

	CHECK(arena_init(&text, (size_t)1 << 28));
	CHECK(target_open(getpid(), &self, &e) == ERR_OK);
	test_names();
	test_arguments();
	target_close(&self);
	arena_deinit(&text);
	return check_result("syscalls");
}
