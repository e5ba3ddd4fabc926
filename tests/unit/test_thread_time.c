/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread did between looks, by the scheduler's counts: with those that it has not made yet. */
#include "detect/thread_time.h"
#include "tests/unit/picture.h"

#define LOOKS 3u
#define MS    1000000u

#define NEAR(a, b) (fabs((a) - (b)) < 1e-6)

/* What one look saw of the thread. */
struct sight {
	enum thread_state state;
	uint64_t cpu_ms, wait_ms, runs;
};

/* Looks a tenth of a second apart, the first of which stopped all threads for 20 ms. */
static struct thread_time read_time(const struct sight *seen, bool times_read)
{
	const struct model *looks[LOOKS];
	struct model *m = NULL;
	struct thread_time time = {0};

	for (uint32_t i = 0; i < LOOKS; i++) {
		struct thread *t;

		m = picture_new(100 + 0.1 * i);
		m->snapshot.paused_us = i ? 0 : 20000;
		t = &m->threads.v[0];
		t->state = seen[i].state;
		t->syscall = STR_LIT("running");
		t->times_read = times_read;
		t->cpu_ns = seen[i].cpu_ms * MS;
		t->wait_ns = seen[i].wait_ms * MS;
		t->run_count = seen[i].runs;
		looks[i] = picture_done(m);
	}
	CHECK(thread_time_read(&(struct detection){.looks = looks, .count = LOOKS, .now = m}, 0,
			       PICTURE_THREAD, &time));
	CHECK(NEAR(time.seconds, 0.18));
	for (uint32_t i = 0; i < LOOKS; i++)
		model_destroy((struct model *)looks[i]);
	return time;
}

static double starved(const struct sight *seen)
{
	return read_time(seen, true).starved;
}

static void test_a_wait_that_is_not_counted_yet(void)
{
	/* The kernel counts a wait when it is over. */
	const struct sight all[LOOKS] = {
		{THREAD_RUNNING, 5, 7, 3}, {THREAD_RUNNING, 5, 7, 3}, {THREAD_RUNNING, 5, 7, 3}};
	const struct sight last[LOOKS] = {
		{THREAD_RUNNING, 5, 7, 3}, {THREAD_RUNNING, 9, 70, 4}, {THREAD_RUNNING, 9, 70, 4}};

	CHECK(NEAR(starved(all), 0.18));
	CHECK(NEAR(starved(last), 0.163));
	CHECK(NEAR(read_time(last, true).cpu, 0.004));
	/* Of counts that could not be read nothing follows. */
	CHECK(NEAR(read_time(all, false).starved, 0));
}

static void test_a_wait_is_counted_once(void)
{
	const struct sight over[LOOKS] = {
		{THREAD_RUNNING, 5, 7, 3}, {THREAD_RUNNING, 5, 7, 3}, {THREAD_RUNNING, 6, 157, 4}};

	CHECK(NEAR(starved(over), 0.15));
}

static void test_who_runs_or_sleeps_does_not_wait(void)
{
	const struct sight runs[LOOKS] = {{THREAD_RUNNING, 5, 7, 3},
					  {THREAD_RUNNING, 100, 7, 3},
					  {THREAD_RUNNING, 200, 7, 3}};
	const struct sight sleeps[LOOKS] = {
		{THREAD_SLEEPING, 5, 7, 3}, {THREAD_SLEEPING, 5, 7, 3}, {THREAD_RUNNING, 5, 7, 3}};

	CHECK(NEAR(starved(runs), 0));
	CHECK(NEAR(starved(sleeps), 0));
	CHECK_EQUAL(read_time(sleeps, true).asleep, 2);
}

int main(void)
{
	test_a_wait_that_is_not_counted_yet();
	test_a_wait_is_counted_once();
	test_who_runs_or_sleeps_does_not_wait();
	return check_result("thread_time");
}
