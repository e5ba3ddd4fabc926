/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stopping and the proof of stillness, on children of our own with several threads: asleep, spinning, deep in the kernel, under job control, and under a rain of
 * signals. Each child tells by a pipe when it is in its state, and counts in shared memory so that it can be seen to run on.
 */
#include "attach/freeze.h"
#include "attach/proc.h"
#include "attach/still.h"
#include "base/clock.h"
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 6
#define SECOND	((uint64_t)1000000000)

/* Shared by us and the child. */
struct shared {
	_Atomic uint64_t turns, signals, woken;
};

static struct shared *shared;
static int ready[2], gate[2]; /* child says it is ready; the child's threads wait for the gate */

struct child {
	pid_t pid;
	pid_t tids[THREADS + 2];
	size_t count;
};

static void say_ready(void)
{
	if (write(ready[1], "", 1) != 1)
		_exit(9);
}

static void *sleep_at_gate(void *arg)
{
	char byte;

	(void)arg;
	say_ready();
	while (read(gate[0], &byte, 1) == 1)
		shared->woken++;
	return NULL;
}

static void *spin(void *arg)
{
	(void)arg;
	say_ready();
	for (;;)
		shared->turns++;
	return NULL;
}

/* The caller of vfork stands in state D until its child has gone on. */
static void *wait_in_kernel(void *arg)
{
	pid_t child;

	(void)arg;
	child = vfork();
	if (child == 0) {
		char byte;

		say_ready();
		_exit(read(gate[0], &byte, 1) == 1 ? 0 : 1);
	}
	shared->woken++;
	waitpid(child, NULL, 0);
	return sleep_at_gate(NULL);
}

static void count_signal(int number)
{
	(void)number;
	shared->signals++;
}

static _Noreturn void child_main(void *(*odd)(void *))
{
	struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
	pthread_t t;

	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t, NULL, i == 0 ? odd : sleep_at_gate, NULL) != 0)
			_exit(9);
	sleep_at_gate(NULL);
	_exit(0);
}

static void child_start(struct child *c, void *(*odd)(void *))
{
	struct proc_thread *threads = NULL;
	char byte;

	memset(shared, 0, sizeof(*shared));
	if (pipe(ready) != 0 || pipe(gate) != 0)
		exit(2);
	c->pid = fork();
	if (c->pid == 0) {
		close(gate[1]);
		child_main(odd);
	}
	for (int i = 0; i < THREADS + 1; i++)
		if (read(ready[0], &byte, 1) != 1)
			exit(2);
	if (proc_threads(c->pid, &threads, &c->count, NULL) != ERR_OK || c->count > THREADS + 2)
		exit(2);
	for (size_t i = 0; i < c->count; i++)
		c->tids[i] = threads[i].tid;
	free(threads);
	CHECK_EQUAL(c->count, THREADS + 1);
	CHECK_EQUAL(c->tids[0], c->pid);
}

static void child_end(struct child *c)
{
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
	close(gate[0]);
	close(gate[1]);
}

/* How many threads show that state letter. */
static size_t count_state(const struct child *c, char state)
{
	size_t count = 0;

	for (size_t i = 0; i < c->count; i++) {
		struct proc_thread t;

		count += proc_thread_read(c->pid, c->tids[i], &t) == ERR_OK && t.state == state;
	}
	return count;
}

/* Waits until the counter has passed `from`; false after ten seconds. */
static bool moves(_Atomic uint64_t *counter, uint64_t from)
{
	uint64_t end = clock_now_ns() + 10 * SECOND;

	while (*counter <= from) {
		if (clock_now_ns() > end)
			return false;
		sched_yield();
	}
	return true;
}

/* Waits until no thread shows the letter, or all do. */
static bool settles(const struct child *c, char state, size_t want)
{
	uint64_t end = clock_now_ns() + 10 * SECOND;

	while (count_state(c, state) != want) {
		if (clock_now_ns() > end)
			return false;
		sched_yield();
	}
	return true;
}

static enum err freeze_all(const struct child *c, uint64_t allowed_ns, struct freeze **ret,
			   struct error *e)
{
	return freeze_begin(c->pid, c->tids, c->count, clock_now_ns() + allowed_ns, ret, e);
}

static void test_freeze(void)
{
	struct error e = {0};
	struct freeze *f = NULL;
	struct child c;
	uint64_t turns, since;

	child_start(&c, spin);
	CHECK(moves(&shared->turns, 0));
	for (int i = 0; i < 20; i++) {
		if (!CHECK(freeze_all(&c, 10 * SECOND, &f, &e) == ERR_OK))
			break;
		CHECK_EQUAL(count_state(&c, 't'), c.count);
		turns = shared->turns;
		since = clock_now_ns();
		while (clock_now_ns() < since + 1000000)
			;
		CHECK_EQUAL(shared->turns, turns);
		CHECK(freeze_end(f) >= 1000);
		CHECK(moves(&shared->turns, turns));
		CHECK(settles(&c, 't', 0));
	}
	/* The sleepers' read was taken up again. */
	CHECK(write(gate[1], "", 1) == 1);
	CHECK(moves(&shared->woken, 0));
	CHECK_EQUAL(freeze_end(NULL), 0);
	child_end(&c);
}

static void test_freeze_part(void)
{
	struct freeze *f = NULL;
	struct child c;
	pid_t list[2];

	child_start(&c, spin);
	/* A number that is no thread of ours (a thread that has ended) is left out. */
	list[0] = c.tids[1];
	list[1] = 1 << 22;
	CHECK(freeze_begin(c.pid, list, 2, clock_now_ns() + 10 * SECOND, &f, NULL) == ERR_OK);
	CHECK_EQUAL(count_state(&c, 't'), 1);
	freeze_end(f);
	CHECK(settles(&c, 't', 0));
	child_end(&c);
	CHECK(freeze_begin(c.pid, c.tids, c.count, clock_now_ns() + SECOND, &f, NULL) == ERR_GONE);
}

static void test_signals_pass(void)
{
	struct freeze *f = NULL;
	struct child c;

	child_start(&c, spin);
	for (uint64_t i = 0; i < 200; i++) {
		kill(c.pid, SIGUSR1);
		if (!CHECK(freeze_all(&c, 10 * SECOND, &f, NULL) == ERR_OK))
			break;
		freeze_end(f);
		if (!CHECK(moves(&shared->signals, i)))
			break;
	}
	CHECK_EQUAL(shared->signals, 200);
	child_end(&c);
}

static void test_stopped_stays_stopped(void)
{
	struct freeze *f = NULL;
	struct child c;
	uint64_t turns;
	int status;

	child_start(&c, spin);
	kill(c.pid, SIGSTOP);
	CHECK(waitpid(c.pid, &status, WUNTRACED) == c.pid && WIFSTOPPED(status));
	CHECK(settles(&c, 'T', c.count));
	CHECK(freeze_all(&c, 10 * SECOND, &f, NULL) == ERR_OK);
	CHECK_EQUAL(count_state(&c, 't'), c.count);
	freeze_end(f);
	CHECK(settles(&c, 'T', c.count));
	turns = shared->turns;
	kill(c.pid, SIGCONT);
	CHECK(moves(&shared->turns, turns));
	child_end(&c);
}

/* A thread that takes no stop: the deadline holds, the others run on at once, and it does when it comes back. */
static void test_deadline(void)
{
	struct error e = {0};
	struct freeze *f = NULL;
	struct child c;
	uint64_t began;

	child_start(&c, wait_in_kernel);
	CHECK(settles(&c, 'D', 1));
	began = clock_now_ns();
	CHECK_EQUAL(freeze_all(&c, SECOND / 20, &f, &e), ERR_DEADLINE);
	CHECK(clock_now_ns() - began < 5 * SECOND);
	CHECK(e.text[0] != '\0');
	CHECK(settles(&c, 't', 0));
	/* Whoever reads first gets a byte: until the vfork child is among them. */
	for (began = clock_now_ns(); count_state(&c, 'D') && clock_now_ns() - began < 10 * SECOND;)
		CHECK(write(gate[1], "", 1) == 1);
	CHECK(settles(&c, 'S', c.count));
	child_end(&c);
}

static void test_still(void)
{
	struct still s = {0};
	struct child c;
	bool unchanged = false, fresh = true;

	child_start(&c, sleep_at_gate);
	CHECK(settles(&c, 'S', c.count));
	/* A thread may still be on its way into its sleep; soon all are there. */
	for (int i = 0; i < 1000 && !unchanged; i++) {
		still_deinit(&s);
		CHECK(still_take(c.pid, &s, NULL) == ERR_OK);
		CHECK(still_unchanged(c.pid, &s, &unchanged, &fresh, NULL) == ERR_OK);
	}
	CHECK(unchanged);
	CHECK(!fresh);
	CHECK_EQUAL(s.count, c.count);
	/* One is woken, for a moment: that is seen, and whose it was. */
	CHECK(write(gate[1], "", 1) == 1);
	CHECK(moves(&shared->woken, 0));
	CHECK(settles(&c, 'S', c.count));
	CHECK(still_unchanged(c.pid, &s, &unchanged, &fresh, NULL) == ERR_OK);
	CHECK(!unchanged);
	CHECK(!fresh);
	size_t ran = 0;
	for (size_t i = 0; i < s.count; i++)
		ran += s.v[i].ran;
	CHECK_EQUAL(ran, 1);
	still_deinit(&s);
	/* Stopped is still. */
	kill(c.pid, SIGSTOP);
	CHECK(settles(&c, 'T', c.count));
	CHECK(still_take(c.pid, &s, NULL) == ERR_OK);
	CHECK(still_unchanged(c.pid, &s, &unchanged, NULL, NULL) == ERR_OK);
	CHECK(unchanged);
	still_deinit(&s);
	child_end(&c);
	CHECK(still_take(c.pid, &s, NULL) == ERR_GONE);
}

static void test_not_still(void)
{
	struct still s = {0};
	struct child c;
	bool unchanged = true;
	size_t ran = 0;

	child_start(&c, spin);
	CHECK(moves(&shared->turns, 0));
	for (int i = 0; i < 50; i++) {
		CHECK(still_take(c.pid, &s, NULL) == ERR_OK);
		CHECK(still_unchanged(c.pid, &s, &unchanged, NULL, NULL) == ERR_OK);
		CHECK(!unchanged);
		ran = 0;
		for (size_t k = 0; k < s.count; k++)
			ran += s.v[k].ran;
		CHECK(ran >= 1);
		still_deinit(&s);
	}
	child_end(&c);
}

int main(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	test_freeze();
	test_freeze_part();
	test_signals_pass();
	test_stopped_stays_stopped();
	test_deadline();
	test_still();
	test_not_still();
	return check_result("freeze_still");
}
