/* SPDX-License-Identifier: Apache-2.0 */
/* What a row of pictures says of tasks and threads: since when, how often they move; what is dropped, copied and forgotten. */
#include "tests/unit/picture.h"

#include <locale.h>

#define MANY 1000u

/* One task that waits for the object `waits`. */
static struct model *one_task(double when, vaddr id, const char *name, vaddr waits)
{
	struct model *m = picture_new(when);
	uint32_t row = picture_task_with(m, id, name);

	m->tasks.v[row].awaits.id = waits;
	return m;
}

static struct task_track track_of(const struct history *h, vaddr id)
{
	const struct task_track *k = history_task(h, id);

	CHECK(k != NULL);
	return k ? *k : (struct task_track){0};
}

static void test_since(void)
{
	struct history h = picture_history();
	struct task_track k;
	struct model *m;

	picture_seen(&h, one_task(100, 0x1000, "a", 1));
	k = track_of(&h, 0x1000);
	CHECK(k.first == 100 && k.since == 100 && !k.since_known);
	picture_seen(&h, one_task(101, 0x1000, "a", 1));
	k = track_of(&h, 0x1000);
	CHECK(k.first == 100 && k.since == 100 && !k.since_known && k.steps == 0);
	/* It moves: from now on its time is known. */
	picture_seen(&h, one_task(102, 0x1000, "a", 2));
	k = track_of(&h, 0x1000);
	CHECK(k.first == 100 && k.since == 102 && k.since_known && k.steps == 1);
	/* One that is new among others came just now. */
	m = one_task(103, 0x1000, "a", 2);
	picture_task_with(m, 0x2000, "b");
	picture_seen(&h, m);
	k = track_of(&h, 0x2000);
	CHECK(k.first == 103 && k.since == 103 && k.since_known && k.steps == 0);
	CHECK(track_of(&h, 0x1000).since == 102);
	CHECK(history_task(&h, 0x3000) == NULL);
	history_deinit(&h);
}

/* A picture that lacks tasks, since they could not be read, says nothing of those. */
static void test_partial(void)
{
	struct history h = picture_history();
	struct model *m;

	picture_seen(&h, one_task(100, 0x1000, "a", 1));
	m = picture_new(101);
	m->tasks_truncated = true;
	picture_seen(&h, m);
	m = picture_new(102);
	m->snapshot.consistent = false;
	picture_seen(&h, m);
	m = one_task(103, 0x1000, "a", 1);
	picture_task_with(m, 0x2000, "b");
	picture_seen(&h, m);
	CHECK(track_of(&h, 0x1000).since == 100 && !track_of(&h, 0x1000).since_known);
	CHECK(track_of(&h, 0x2000).since == 103 && !track_of(&h, 0x2000).since_known);
	/* Not for ever. */
	for (int i = 0; i < 5; i++) {
		CHECK(history_task(&h, 0x1000));
		m = picture_new(107 + i);
		m->snapshot.consistent = false;
		picture_seen(&h, m);
	}
	CHECK(history_task(&h, 0x1000) == NULL);
	picture_seen(&h, one_task(119, 0x3000, "c", 1));
	CHECK(track_of(&h, 0x3000).since_known);
	picture_seen(&h, picture_new(120));
	/* What is missing from one that is whole is gone at once. */
	picture_seen(&h, one_task(121, 0x1000, "a", 1));
	CHECK(track_of(&h, 0x1000).since == 121 && track_of(&h, 0x1000).since_known);
	picture_seen(&h, picture_new(122));
	picture_seen(&h, picture_new(123));
	CHECK(history_task(&h, 0x1000) == NULL);
	history_deinit(&h);
}

/* What is a move, and what none. */
static void test_moves(void)
{
	struct history h = picture_history();
	struct model *m = picture_new(100);
	struct task *t;

	picture_task_with(m, 0x1000, "a");
	t = &m->tasks.v[0];
	t->awaits.left = 10;
	history_add(&h, picture_done(m));
	/* Its deadline is where it was. */
	m->snapshot.monotonic = m->loops.v[0].time = 101;
	t->awaits.left = 9.0005;
	history_add(&h, m);
	CHECK_EQUAL(track_of(&h, 0x1000).steps, 0);
	/* Put off. */
	t->awaits.left = 9.1;
	history_add(&h, m);
	CHECK_EQUAL(track_of(&h, 0x1000).steps, 1);
	/* No deadline any more, twice the same. */
	t->awaits.left = NAN;
	history_add(&h, m);
	history_add(&h, m);
	CHECK_EQUAL(track_of(&h, 0x1000).steps, 2);
	CHECK_EQUAL(track_of(&h, 0x1000).change_count, 1);
	/* Another line, another kind, a request to cancel, running. */
	picture_at(m, 0, "work", "/srv/app.py", 13);
	history_add(&h, m);
	CHECK_EQUAL(track_of(&h, 0x1000).steps, 3);
	t->awaits.kind = AWAITS_SLEEP;
	history_add(&h, m);
	CHECK_EQUAL(track_of(&h, 0x1000).steps, 4);
	t->cancelling = 1;
	history_add(&h, m);
	CHECK_EQUAL(track_of(&h, 0x1000).steps, 5);
	t->state = TASK_RUNNING;
	t->awaits.kind = AWAITS_RUNNING;
	history_add(&h, m);
	CHECK_EQUAL(track_of(&h, 0x1000).steps, 6);
	/* Where it runs, says nothing: that is so each time. */
	picture_at(m, 0, "work", "/srv/app.py", 14);
	history_add(&h, m);
	CHECK_EQUAL(track_of(&h, 0x1000).steps, 6);
	CHECK_EQUAL(track_of(&h, 0x1000).change_count, 5);
	model_destroy(m);
	history_deinit(&h);
}

/* A loop that is held wakes nobody: whoever sleeps past the time stands where it stood. */
static void test_overdue(void)
{
	struct history h = picture_history();
	struct model *m = picture_new(100);

	picture_task_with(m, 0x1000, "a");
	m->tasks.v[0].awaits.left = 0.5;
	history_add(&h, picture_done(m));
	m->tasks.v[0].awaits.left = 0;
	for (double when = 101; when < 105; when++) {
		m->snapshot.monotonic = m->loops.v[0].time = when;
		history_add(&h, m);
	}
	CHECK_EQUAL(track_of(&h, 0x1000).steps, 0);
	CHECK(track_of(&h, 0x1000).since == 100);
	/* Overdue when it is first seen, too. */
	picture_task_with(m, 0x2000, "b");
	m->tasks.v[1].awaits.left = 0;
	history_add(&h, picture_done(m));
	m->snapshot.monotonic = m->loops.v[0].time = 106;
	history_add(&h, m);
	CHECK_EQUAL(track_of(&h, 0x2000).steps, 0);
	/* It goes on, and sleeps again. */
	m->tasks.v[0].awaits.left = 0.3;
	history_add(&h, m);
	CHECK_EQUAL(track_of(&h, 0x1000).steps, 1);
	model_destroy(m);
	history_deinit(&h);
}

static void test_steps(void)
{
	struct history h = picture_history();
	struct model *m;

	for (unsigned i = 0; i < 8; i++) {
		picture_seen(&h, one_task(100 + i / 4., 0x1000, "a", i));
		CHECK(isnan(track_of(&h, 0x1000).rate));
	}
	m = one_task(102, 0x1000, "a", 8);
	history_add(&h, picture_done(m));
	CHECK_EQUAL(track_of(&h, 0x1000).steps, 8);
	CHECK(track_of(&h, 0x1000).rate == 4);
	/* It rests: half of the next two seconds says nothing yet. */
	history_add_same(&h, m, 103);
	CHECK(track_of(&h, 0x1000).rate == 4);
	history_add_same(&h, m, 104);
	CHECK(track_of(&h, 0x1000).rate == 0);
	CHECK(track_of(&h, 0x1000).since == 102);
	CHECK_EQUAL(h.samples, 11);
	CHECK(h.first == 100 && h.last == 104);
	model_destroy(m);
	history_deinit(&h);
}

static void test_interval(void)
{
	struct history h = picture_history();

	picture_seen(&h, one_task(100, 0x1000, "a", 1));
	CHECK(isnan(h.interval));
	picture_seen(&h, one_task(100.5, 0x1000, "a", 1));
	CHECK(fabs(h.interval - 0.5) < 1e-9);
	picture_seen(&h, one_task(101.5, 0x1000, "a", 1));
	CHECK(fabs(h.interval - 0.6) < 1e-9);
	history_deinit(&h);
}

/* Another task at the same address. */
static void test_reused(void)
{
	struct history h = picture_history();
	struct task_track k;

	for (unsigned i = 0; i <= 4; i++)
		picture_seen(&h, one_task(100 + i, 0x1000, "a", i));
	CHECK_EQUAL(track_of(&h, 0x1000).steps, 4);
	CHECK(track_of(&h, 0x1000).rate == 1);
	picture_seen(&h, one_task(105, 0x1000, "b", 4));
	k = track_of(&h, 0x1000);
	CHECK(k.first == 105 && k.since == 105 && k.since_known && isnan(k.rate));
	CHECK_EQUAL(k.steps, 0);
	CHECK_EQUAL(k.change_count, 1);
	history_deinit(&h);
}

static void test_comes_and_goes(void)
{
	struct history h = picture_history();
	struct task_track k;

	picture_seen(&h, one_task(100, 0x1000, "a", 1));
	/* What is shown beside a picture that lacks it is still told. */
	picture_seen(&h, one_task(101, 0x2000, "b", 1));
	CHECK(track_of(&h, 0x1000).first == 100);
	picture_seen(&h, one_task(102, 0x2000, "b", 1));
	CHECK(history_task(&h, 0x1000) == NULL);
	CHECK(track_of(&h, 0x2000).first == 101);
	/* What comes then is new. */
	picture_seen(&h, one_task(103, 0x1000, "a", 1));
	k = track_of(&h, 0x1000);
	CHECK(k.first == 103 && k.since == 103 && k.since_known);
	history_deinit(&h);
}

/* Two of three go: those that stay are still found, and no others. */
static void test_many(void)
{
	struct history h = picture_history();

	for (unsigned turn = 0; turn < 4; turn++) {
		struct model *m = picture_new(100 + turn);

		for (uint32_t i = 0; i < MANY; i++) {
			if (turn == 0 || i % 3 == 0)
				picture_task_with(m, PICTURE_ID(i), "a");
		}
		picture_seen(&h, m);
	}
	for (uint32_t i = 0; i < MANY; i++) {
		const struct task_track *k = history_task(&h, PICTURE_ID(i));

		CHECK(i % 3 ? k == NULL : k && k->id == PICTURE_ID(i) && k->first == 100);
	}
	history_deinit(&h);
}

/* The way that it came: the newest changes, with their places. */
static void test_changes(void)
{
	struct history h = picture_history();
	const struct task_change *c;
	struct task_track k;

	for (int32_t i = 0; i < 12; i++) {
		struct model *m = one_task(100 + i, 0x1000, "a", 1);

		if (i == 11)
			m->tasks.v[0].chain = NONE;
		else if (i == 10)
			picture_at(m, 0, NULL, "", 0);
		else
			picture_at(m, 0, i % 2 ? "odd" : "even", "/srv/app.py", i % 2);
		picture_seen(&h, m);
	}
	k = track_of(&h, 0x1000);
	CHECK_EQUAL(k.change_count, 12);
	c = &k.changes[(k.change_count - 1) % HISTORY_CHANGES];
	CHECK(c->when == 111 && c->place == NONE);
	c = &k.changes[(k.change_count - 2) % HISTORY_CHANGES];
	CHECK(c->when == 110 && h.places[c->place].function.len == 0);
	c = &k.changes[(k.change_count - 8) % HISTORY_CHANGES];
	CHECK(c->when == 104 && c->state == TASK_PENDING && c->kind == AWAITS_FUTURE);
	CHECK(str_is(h.places[c->place].function, "even"));
	CHECK(str_is(h.places[c->place].file, "/srv/app.py") && h.places[c->place].line == 0);
	/* Each place is kept once. */
	CHECK_EQUAL(h.place_count, 3);
	history_deinit(&h);
}

static struct model *one_thread(double when, bool read, uint64_t cpu_ms)
{
	struct model *m = picture_new(when);

	m->threads.v[0].times_read = read;
	m->threads.v[0].cpu_ns = read ? cpu_ms * 1000000u : 0;
	return m;
}

static double share(const struct history *h)
{
	const struct thread_track *k = history_thread(h, PICTURE_THREAD);

	CHECK(k != NULL);
	return k ? k->share : -1;
}

static void test_threads(void)
{
	struct history h = picture_history();

	picture_seen(&h, one_thread(100, true, 1000));
	CHECK(isnan(share(&h)));
	/* Too soon. */
	picture_seen(&h, one_thread(100.25, true, 1250));
	CHECK(isnan(share(&h)));
	picture_seen(&h, one_thread(101, true, 1500));
	CHECK(fabs(share(&h) - 0.5) < 1e-9);
	/* Not read: what was known stays. */
	picture_seen(&h, one_thread(102, false, 0));
	CHECK(fabs(share(&h) - 0.5) < 1e-9);
	picture_seen(&h, one_thread(103, true, 1700));
	CHECK(fabs(share(&h) - 0.1) < 1e-9);
	/* Another thread under the same number. */
	picture_seen(&h, one_thread(104, true, 3));
	CHECK(isnan(share(&h)));
	CHECK(history_thread(&h, PICTURE_THREAD + 1) == NULL);
	history_clear(&h);
	/* First read late: nothing is known from one reading. */
	picture_seen(&h, one_thread(110, false, 0));
	picture_seen(&h, one_thread(111, true, 90000));
	CHECK(isnan(share(&h)));
	picture_seen(&h, one_thread(112, true, 90250));
	CHECK(fabs(share(&h) - 0.25) < 1e-9);
	history_deinit(&h);
}

static void test_copy(void)
{
	struct history h = picture_history(), copy;
	struct task_track k;

	for (unsigned i = 0; i <= 4; i++)
		picture_seen(&h, one_task(100 + i, 0x1000, "a", i));
	picture_need(history_copy(&copy, &h) == ERR_OK);
	/* The other goes on, and away. */
	picture_seen(&h, one_task(105, 0x2000, "b", 9));
	picture_seen(&h, one_task(106, 0x2000, "b", 10));
	picture_seen(&h, one_task(107, 0x2000, "b", 11));
	CHECK(history_task(&h, 0x1000) == NULL);
	history_deinit(&h);
	k = track_of(&copy, 0x1000);
	CHECK(k.first == 100 && k.since == 104 && k.steps == 4 && k.rate == 1);
	CHECK(history_task(&copy, 0x2000) == NULL);
	CHECK(history_thread(&copy, PICTURE_THREAD) != NULL);
	CHECK(history_loop(&copy, PICTURE_LOOP) != NULL);
	CHECK_EQUAL(copy.samples, 5);
	CHECK(copy.first == 100 && copy.last == 104 && fabs(copy.interval - 1) < 1e-9);
	CHECK_EQUAL(copy.place_count, 1);
	CHECK(str_is(copy.places[0].function, "work") && copy.places[0].line == 12);
	/* It is a history like any other. */
	picture_seen(&copy, one_task(105, 0x1000, "a", 9));
	CHECK_EQUAL(track_of(&copy, 0x1000).steps, 5);
	CHECK_EQUAL(copy.place_count, 1);
	history_deinit(&copy);
}

static void test_clear(void)
{
	struct history h = picture_history();
	struct task_track k;

	for (unsigned i = 0; i <= 4; i++)
		picture_seen(&h, one_task(100 + i, 0x1000, "a", i));
	history_clear(&h);
	CHECK(history_task(&h, 0x1000) == NULL && history_loop(&h, PICTURE_LOOP) == NULL);
	CHECK(history_thread(&h, PICTURE_THREAD) == NULL);
	CHECK_EQUAL(h.samples, 0);
	CHECK_EQUAL(h.place_count, 0);
	CHECK(isnan(h.interval));
	picture_seen(&h, one_task(200, 0x1000, "a", 4));
	k = track_of(&h, 0x1000);
	CHECK(k.first == 200 && !k.since_known && k.steps == 0);
	CHECK(h.first == 200 && h.last == 200);
	CHECK(isnan(h.interval));
	CHECK_EQUAL(h.place_count, 1);
	history_deinit(&h);
	history_deinit(&h);
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	test_since();
	test_partial();
	test_moves();
	test_overdue();
	test_steps();
	test_interval();
	test_reused();
	test_comes_and_goes();
	test_many();
	test_changes();
	test_threads();
	test_copy();
	test_clear();
	return check_result("top_history");
}
