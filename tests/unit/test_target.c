/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What /proc tells, on processes of our own: hostile names and arguments, mappings, symbols of a mapped image, descriptors, and in which words a process that can't be
 * read is refused.
 */
#include "attach/access.h"
#include "attach/elf.h"
#include "attach/live.h"
#include "attach/proc_internal.h"
#include "attach/target.h"
#include "check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

const char known_text[] = "known to the other side";
extern const char known_text[];

/* A child that does what it is told and then waits until it is killed. Returns when it is ready. */
static pid_t child_start(void (*prepare)(void))
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready) != 0)
		exit(2);
	pid = fork();
	if (pid == 0) {
		close(ready[0]);
		if (prepare)
			prepare();
		if (write(ready[1], "", 1) != 1)
			_exit(9);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		exit(2);
	close(ready[0]);
	return pid;
}

static void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_parsers(void)
{
	struct proc_stat_fields f;
	struct proc_syscall c;

	CHECK(proc_parse_stat(
		"7 (a) S) R 1 7 7 0 -1 4194304 1 2 3 4 55 66 0 0 20 0 9 0 777 8 9 10 11 12 13 14\n",
		&f));
	CHECK_EQUAL(f.state, 'R');
	CHECK_EQUAL(f.v[4], 1);
	CHECK_EQUAL(f.v[14], 55);
	CHECK_EQUAL(f.v[20], 9);
	CHECK_EQUAL(f.v[22], 777);
	CHECK(!proc_parse_stat("", &f));
	CHECK(!proc_parse_stat("7 (a", &f));
	CHECK(!proc_parse_stat("7 (a)", &f));
	CHECK(!proc_parse_stat("7 (a) S 1 2", &f));
	CHECK(proc_parse_syscall("running\n", &c) == ERR_OK && c.running);
	CHECK(proc_parse_syscall("-1 0x7ffc 0x7f11\n", &c) == ERR_OK && !c.running);
	CHECK(c.number == -1 && c.sp == 0x7ffc && c.pc == 0x7f11);
	CHECK(proc_parse_syscall("232 0x3 0x2 0x1 0xffffffff 0x0 0x8 0x7ffc 0x7f11\n", &c) ==
	      ERR_OK);
	CHECK(c.number == 232 && c.args[0] == 3 && c.args[3] == 0xffffffff && c.args[5] == 8);
	CHECK(c.sp == 0x7ffc && c.pc == 0x7f11);
	CHECK(proc_parse_syscall("", &c) != ERR_OK);
}

static void take_hostile_name(void)
{
	prctl(PR_SET_NAME, ") R 1\n\x1b[2J\xff");
}

static void test_names(void)
{
	pid_t pid = child_start(take_hostile_name), *children = NULL;
	struct proc_thread *threads = NULL;
	struct proc_stat s;
	size_t count = 0;
	bool found = false;

	CHECK(proc_stat_read(pid, &s, NULL) == ERR_OK);
	CHECK_EQUAL(s.ppid, getpid());
	CHECK_EQUAL(s.threads, 1);
	CHECK(!s.kernel_thread && s.start_time > 0);
	CHECK(proc_threads(pid, &threads, &count, NULL) == ERR_OK);
	CHECK_EQUAL(count, 1);
	CHECK_TEXT(threads[0].name, ") R 1??[2J?");
	CHECK(threads[0].run_count > 0);
	free(threads);
	CHECK(proc_children(getpid(), &children, &count) == ERR_OK);
	for (size_t i = 0; i < count; i++)
		found = found || children[i] == pid;
	CHECK(found);
	free(children);
	CHECK(!proc_in_container(pid));
	CHECK_EQUAL(proc_namespace_tid(pid, pid), pid);
	CHECK(proc_monotonic_offset(pid) < 1e-9 && proc_monotonic_offset(pid) > -1e-9);
	child_end(pid);
	CHECK(proc_stat_read(pid, &s, NULL) == ERR_GONE);
}

/* Another program with odd arguments: it says on a pipe when it runs, and then waits for input that does not come. */
static pid_t shell_start(int *input_ret)
{
	static char *const arguments[] = {"sh\xff\n", "-c",	  "echo; read line",
					  "",	      "\xc3\xa9", NULL};
	int input[2], output[2];
	char byte;
	pid_t pid;

	if (pipe(input) != 0 || pipe(output) != 0)
		exit(2);
	pid = fork();
	if (pid == 0) {
		dup2(input[0], 0);
		dup2(output[1], 1);
		execv("/bin/sh", arguments);
		_exit(9);
	}
	if (read(output[0], &byte, 1) != 1)
		exit(2);
	close(input[0]);
	close(output[0]);
	close(output[1]);
	*input_ret = input[1];
	return pid;
}

static void test_command(void)
{
	struct str *argv = NULL;
	struct arena a;
	size_t argc = 0;
	int input;
	pid_t pid = shell_start(&input);

	CHECK(arena_init(&a, (size_t)1 << 26));
	CHECK(proc_command(pid, &a, &argv, &argc) == ERR_OK);
	if (CHECK(argc == 5)) {
		CHECK(str_is(argv[0], "sh\xef\xbf\xbd\n"));
		CHECK(str_is(argv[1], "-c"));
		CHECK(argv[3].ptr && argv[3].len == 0);
		CHECK(str_is(argv[4], "\xc3\xa9"));
	}
	child_end(pid);
	close(input);
	arena_deinit(&a);
}

static int exec_gate[2];

static void test_exec(void)
{
	struct target t = {0};
	struct error e = {0};
	int closed[2];
	char byte = 0;
	pid_t pid;

	if (pipe(exec_gate) != 0 || pipe2(closed, O_CLOEXEC) != 0)
		exit(2);
	pid = fork();
	if (pid == 0) {
		close(closed[0]);
		if (read(exec_gate[0], &byte, 1) == 1)
			execl("/bin/sleep", "sleep", "1000", NULL);
		_exit(9);
	}
	close(closed[1]);
	CHECK(target_open(pid, &t, &e) == ERR_OK);
	CHECK(target_check(&t, &e) == ERR_OK);
	CHECK(write(exec_gate[1], "", 1) == 1);
	/* The pipe that exec closes tells when it is done. */
	CHECK(read(closed[0], &byte, 1) == 0);
	CHECK(target_check(&t, &e) == ERR_GONE);
	CHECK(strstr(e.text, "executed another program") != NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK(target_check(&t, &e) == ERR_GONE);
	target_close(&t);
	close(closed[0]);
	close(exec_gate[0]);
	close(exec_gate[1]);
}

static void test_image(void)
{
	vaddr at = (vaddr)(uintptr_t)known_text, got = 0, dynamic = 0;
	char text[sizeof(known_text)];
	unsigned char id[64];
	const struct map *m, *first = NULL;
	struct elf_image *image = NULL;
	struct target t = {0};
	struct error e = {0};
	uint64_t size = 0;
	pid_t pid = child_start(NULL);

	if (!CHECK(target_open(pid, &t, &e) == ERR_OK))
		exit(1);
	CHECK(!maps_find(&t.maps, 0));
	CHECK(!maps_find(&t.maps, UINT64_MAX));
	m = maps_find(&t.maps, at);
	if (!CHECK(m != NULL))
		exit(1);
	CHECK(m->read && m->start <= at && at < m->end && m->inode && !m->deleted);
	CHECK(mem_read(t.mem, at, text, sizeof(text)) == ERR_OK && strcmp(text, known_text) == 0);
	for (size_t i = 0; i < t.maps.count; i++)
		if (t.maps.v[i].inode == m->inode && t.maps.v[i].offset == 0)
			first = first ? first : &t.maps.v[i];
	if (!CHECK(first && elf_open(pid, t.mem, &t.maps, first, &image) == ERR_OK))
		exit(1);
	CHECK(elf_symbol(image, "known_text", &got, &size) == ERR_OK);
	CHECK(got == at && size == sizeof(known_text));
	CHECK(elf_section(image, ".rodata", &got, &size) == ERR_OK);
	CHECK(got <= at && at < got + size);
	CHECK(elf_symbol(image, "no_such_symbol", &got, NULL) == ERR_SHAPE);
	CHECK(elf_section(image, ".no_such", &got, NULL) == ERR_SHAPE);
	CHECK(elf_file(image) >= 0);
	CHECK(elf_build_id(image, id, sizeof(id)) == 20 ||
	      elf_build_id(image, id, sizeof(id)) == 0);
	elf_close(image);
	/* The C library: found in memory alone. */
	m = maps_find(&t.maps, (vaddr)(uintptr_t)getpid);
	for (size_t i = 0; m && i < t.maps.count; i++) {
		if (t.maps.v[i].inode != m->inode || t.maps.v[i].offset != 0)
			continue;
		if (CHECK(elf_open(pid, t.mem, &t.maps, &t.maps.v[i], &image) == ERR_OK)) {
			CHECK(elf_dynamic_symbol(image, "getpid", &dynamic, NULL) == ERR_OK);
			CHECK(dynamic == (vaddr)(uintptr_t)getpid);
			elf_close(image);
		}
		break;
	}
	CHECK(elf_open(pid, t.mem, &t.maps, &t.maps.v[t.maps.count - 3], &image) != ERR_OK);
	target_close(&t);
	child_end(pid);
}

static bool describes(struct fds *f, int fd, struct arena *a, const char *start, const char *end)
{
	struct str s = fds_describe(f, fd, a);

	if (str_starts_with(s, start) && str_ends_with(s, end))
		return true;
	fprintf(stderr, "fd %d is: %.*s\n", fd, STR_ARG(s));
	return false;
}

static void test_descriptors(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	socklen_t size = sizeof(in);
	int pair[2], ends[2], listening, client, server, udp, six, other;
	char text[64];
	struct fds *f;
	struct arena a;

	listening = socket(AF_INET, SOCK_STREAM, 0);
	client = socket(AF_INET, SOCK_STREAM, 0);
	udp = socket(AF_INET, SOCK_DGRAM, 0);
	six = socket(AF_INET6, SOCK_STREAM, 0);
	CHECK(bind(listening, (struct sockaddr *)&in, sizeof(in)) == 0 &&
	      listen(listening, 5) == 0);
	CHECK(getsockname(listening, (struct sockaddr *)&in, &size) == 0);
	CHECK(connect(client, (struct sockaddr *)&in, sizeof(in)) == 0);
	CHECK(connect(udp, (struct sockaddr *)&in, sizeof(in)) == 0);
	server = accept(listening, NULL, NULL);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && pipe(ends) == 0);
	CHECK(arena_init(&a, (size_t)1 << 26));
	other = open("/dev/null", O_RDONLY);
	f = fds_create(getpid());
	snprintf(text, sizeof(text), "127.0.0.1:%d", ntohs(in.sin_port));
	CHECK(describes(f, listening, &a, "tcp listening on ", text));
	snprintf(text, sizeof(text), " -> 127.0.0.1:%d established", ntohs(in.sin_port));
	CHECK(describes(f, client, &a, "tcp 127.0.0.1:", text));
	CHECK(describes(f, server, &a, "tcp 127.0.0.1:", " established"));
	snprintf(text, sizeof(text), " -> 127.0.0.1:%d established", ntohs(in.sin_port));
	CHECK(describes(f, udp, &a, "udp 127.0.0.1:", ""));
	snprintf(text, sizeof(text), "unix socketpair (peer fd %d)", pair[1]);
	CHECK(describes(f, pair[0], &a, text, text));
	CHECK(describes(f, ends[0], &a, "pipe", "pipe"));
	CHECK(describes(f, other, &a, "file /dev/null", ""));
	CHECK(describes(f, epoll_create1(0), &a, "epoll", "epoll"));
	CHECK(describes(f, eventfd(0, 0), &a, "eventfd", "eventfd"));
	CHECK(!fds_describe(f, 1000, &a).ptr);
	CHECK(!fds_describe(f, -1, &a).ptr);
	fds_destroy(f);
	/* Where there is no IPv6 on the machine, there is nothing to describe. */
	f = fds_create(getpid());
	if (bind(six, (struct sockaddr *)&in6, sizeof(in6)) == 0 && listen(six, 5) == 0)
		CHECK(describes(f, six, &a, "tcp listening on [::1]:", ""));
	fds_destroy(f);
	arena_deinit(&a);
}

static void *wait_for_ever(void *arg)
{
	*(pid_t *)arg = gettid();
	for (;;)
		pause();
	return NULL;
}

static void expect_refusal(pid_t pid, enum err kind, const char *words)
{
	struct target t = {0};
	struct error e = {0};

	CHECK_EQUAL(target_open(pid, &t, &e), kind);
	if (!CHECK(strstr(e.text, words) != NULL))
		fprintf(stderr, "it says: %s\n", e.text);
}

static void test_refusals(void)
{
	static volatile pid_t tid;
	siginfo_t info;
	pthread_t t;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
	expect_refusal(pid, ERR_GONE, "has ended (zombie)");
	waitpid(pid, NULL, 0);
	expect_refusal(pid, ERR_GONE, "no process");
	expect_refusal(0, ERR_GONE, "no process 0");
	expect_refusal(-1, ERR_GONE, "no process -1");
	expect_refusal(1 << 22, ERR_GONE, "no process");
	if (pthread_create(&t, NULL, wait_for_ever, (void *)(uintptr_t)&tid) != 0)
		exit(2);
	while (!tid)
		sched_yield();
	expect_refusal(tid, ERR_GONE, "it is a thread of process");
}

static void become_nobody(void)
{
	if (setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0)
		_exit(9);
}

/* As another user, on a process of ours; the result comes back as the exit status. */
static void test_other_user(void)
{
	struct access_report r;
	struct error e = {0};
	pid_t target, pid;
	int status = 0;

	if (geteuid() != 0)
		return; /* nobody but root can become somebody else */
	target = child_start(NULL);
	pid = fork();
	if (pid == 0) {
		check_failures = 0;
		become_nobody();
		expect_refusal(target, ERR_ACCESS, "runs as uid 0 and aiotrace as uid 65534");
		expect_refusal(target, ERR_ACCESS, "sudo aiotrace");
		CHECK(access_examine(target, &r, &e) == ERR_OK);
		CHECK(!r.can_read && !r.can_attach && r.reason[0] && r.remedy[0]);
		_exit(check_failures ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	CHECK_EQUAL(status, 0);
	CHECK(access_examine(target, &r, &e) == ERR_OK);
	CHECK(r.can_read && r.can_attach && !r.reason[0] && !r.remedy[0]);
	child_end(target);
	CHECK(access_examine(target, &r, &e) == ERR_GONE);
}

/* A container whose filter refuses process_vm_readv: /proc/PID/mem serves. */
static void forbid_process_vm_readv(unsigned answer)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | answer),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(*code), .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(9);
}

static void test_filter(unsigned answer)
{
	pid_t target = child_start(NULL), pid = fork();
	int status = 0;

	if (pid == 0) {
		struct target t = {0};
		char text[sizeof(known_text)];

		check_failures = 0;
		forbid_process_vm_readv(answer);
		if (CHECK(target_open(target, &t, NULL) == ERR_OK)) {
			CHECK(mem_read(t.mem, (vaddr)(uintptr_t)known_text, text, sizeof(text)) ==
			      ERR_OK);
			CHECK(strcmp(text, known_text) == 0);
			CHECK_EQUAL(mem_read(t.mem, MEM_PAGE, text, 1), ERR_FAULT);
			kill(target, SIGKILL);
			CHECK(waitpid(target, NULL, 0) < 0); /* not our child */
			while (kill(target, 0) == 0 && target_check(&t, NULL) == ERR_OK)
				sched_yield();
			mem_forget(t.mem);
			CHECK_EQUAL(mem_read(t.mem, (vaddr)(uintptr_t)known_text, text, 1),
				    ERR_GONE);
			target_close(&t);
		}
		_exit(check_failures ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	CHECK_EQUAL(status, 0);
	child_end(target);
}

int main(void)
{
	test_parsers();
	test_names();
	test_command();
	test_exec();
	test_image();
	test_descriptors();
	test_other_user();
	test_filter(ENOSYS);
	test_filter(EPERM);
	test_refusals();
	return check_result("target");
}
