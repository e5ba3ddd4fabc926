/* SPDX-License-Identifier: Apache-2.0 */
/* A loop's last minute: its seconds and graphs, how far it is behind, how long a callback holds it, GIL turns. */
#include "tests/unit/picture.h"
#include "tui/view.h"

#include <locale.h>

/* A loop alone, to be changed. */
static struct model *loop_at(double when, enum loop_state state, uint32_t ready)
{
	struct model *m = picture_new(when);

	m->loops.v[0].state = state;
	m->loops.v[0].ready_count = ready;
	return m;
}

static struct loop_track track_of(const struct history *h)
{
	const struct loop_track *k = history_loop(h, PICTURE_LOOP);

	picture_need(k != NULL);
	return *k;
}

/* The graph as its numbers, "." where nothing is known. */
static void check_values(const struct history *h, uint32_t count, bool lag, const char *want,
			 int line)
{
	struct loop_track k = track_of(h);
	struct text t = {0};
	double values[HISTORY_SECONDS];

	if (lag)
		loop_track_lag(&k, values, count);
	else
		loop_track_ready(&k, values, count);
	for (uint32_t i = 0; i < count; i++) {
		if (isnan(values[i]))
			text_add(&t, ".");
		else
			text_printf(&t, "%s%g", i ? " " : "", values[i]);
	}
	check_text(t.v ? t.v : "", want, lag ? "lag" : "ready", __FILE__, line);
	text_deinit(&t);
}

#define CHECK_READY(h, count, want) check_values((h), (count), false, (want), __LINE__)
#define CHECK_LAG(h, count, want)   check_values((h), (count), true, (want), __LINE__)

/* 55 blanks at the front of a minute. */
#define DOTS "......................................................."

static void test_seconds(void)
{
	struct history h = picture_history();
	struct loop_second sum;

	picture_seen(&h, loop_at(100.1, LOOP_POLLING, 3));
	picture_seen(&h, loop_at(100.6, LOOP_RUNNING, 1));
	picture_seen(&h, loop_at(102.2, LOOP_BLOCKED, 5));
	picture_seen(&h, loop_at(104.9, LOOP_CLOSED, 0));
	/* Seconds 101 and 103 were not looked at. */
	CHECK_READY(&h, 60, DOTS " 3. 5. 0");
	/* Two seconds a step, and three: the most of them. */
	CHECK_READY(&h, 30, "........................... 3 5 0");
	CHECK_READY(&h, 20, ".................. 3 5");
	CHECK_READY(&h, 1, "5");
	CHECK_READY(&h, 0, "");
	sum = loop_track_sum(&(struct loop_track){0});
	CHECK_EQUAL(sum.samples, 0);
	sum = loop_track_sum(history_loop(&h, PICTURE_LOOP));
	CHECK_EQUAL(sum.samples, 4);
	CHECK_EQUAL(sum.polling, 1);
	CHECK_EQUAL(sum.running, 2);
	CHECK_EQUAL(sum.gil, 0);
	CHECK_EQUAL(sum.ready, 5);
	history_deinit(&h);
}

/* What is older than a minute is gone, also where nothing came after it for long. */
static void test_minute(void)
{
	struct history h = picture_history();

	picture_seen(&h, loop_at(100, LOOP_POLLING, 7));
	picture_seen(&h, loop_at(110, LOOP_POLLING, 2));
	picture_seen(&h, loop_at(159, LOOP_POLLING, 1));
	CHECK_EQUAL(track_of(&h).seconds[100 % HISTORY_SECONDS].ready, 7);
	CHECK_EQUAL(loop_track_sum(history_loop(&h, PICTURE_LOOP)).ready, 7);
	picture_seen(&h, loop_at(160, LOOP_POLLING, 1));
	CHECK_EQUAL(loop_track_sum(history_loop(&h, PICTURE_LOOP)).ready, 2);
	CHECK_EQUAL(loop_track_sum(history_loop(&h, PICTURE_LOOP)).samples, 3);
	picture_seen(&h, loop_at(1000, LOOP_POLLING, 4));
	CHECK_EQUAL(loop_track_sum(history_loop(&h, PICTURE_LOOP)).samples, 1);
	CHECK_READY(&h, 60, DOTS ".... 4");
	history_deinit(&h);
	/* A machine that was started a moment ago. */
	h = picture_history();
	picture_seen(&h, loop_at(2.5, LOOP_POLLING, 4));
	CHECK_READY(&h, 60, DOTS ".... 4");
	history_deinit(&h);
}

/* Late is the timer that is due; and a look that sees that nothing moved makes it later. */
static void test_lag(void)
{
	struct history h = picture_history();
	struct model *m = loop_at(100, LOOP_POLLING, 0);

	m->loops.v[0].timers_next = NAN;
	history_add(&h, picture_done(m));
	CHECK(track_of(&h).lag == 0);
	m->loops.v[0].timers_next = 1;
	m->snapshot.monotonic = 101;
	history_add(&h, m);
	CHECK(track_of(&h).lag == 0);
	history_add_same(&h, m, 102.5);
	CHECK(track_of(&h).lag == 0.5);
	history_add_same(&h, m, 102.75);
	CHECK(track_of(&h).lag == 0.75);
	m->loops.v[0].timers_next = -0.25;
	m->snapshot.monotonic = 103;
	history_add(&h, m);
	CHECK(track_of(&h).lag == 0.25);
	CHECK_LAG(&h, 60, DOTS ". 0 0 0.75 0.25");
	CHECK(loop_track_sum(history_loop(&h, PICTURE_LOOP)).lag == 0.75);
	/* As many samples as looks. */
	CHECK_EQUAL(loop_track_sum(history_loop(&h, PICTURE_LOOP)).samples, 5);
	CHECK_EQUAL(h.samples, 5);
	CHECK(h.last == 103);
	model_destroy(m);
	history_deinit(&h);
}

static void test_held(void)
{
	struct history h = picture_history();
	struct model *m = loop_at(100, LOOP_RUNNING, 0);
	struct loop *l = &m->loops.v[0];

	history_add(&h, picture_done(m));
	CHECK(isnan(loop_track_held(history_loop(&h, PICTURE_LOOP), 100)));
	l->turn_since = 99.5;
	l->turn_index = 0;
	m->snapshot.monotonic = 101;
	history_add(&h, m);
	/* From when it was first seen on; the loop is behind by as much. */
	CHECK(loop_track_held(history_loop(&h, PICTURE_LOOP), 101) == 0);
	CHECK(track_of(&h).lag == 0);
	history_add_same(&h, m, 101.5);
	CHECK(loop_track_held(history_loop(&h, PICTURE_LOOP), 101.5) == 0.5);
	CHECK(track_of(&h).lag == 0.5);
	m->snapshot.monotonic = 103;
	history_add(&h, m);
	CHECK(loop_track_held(history_loop(&h, PICTURE_LOOP), 103) == 2);
	/* The next callback of the same turn, one of another turn, none. */
	l->turn_index = 1;
	m->snapshot.monotonic = 104;
	history_add(&h, m);
	CHECK(loop_track_held(history_loop(&h, PICTURE_LOOP), 104.25) == 0.25);
	l->turn_since = 104.5;
	m->snapshot.monotonic = 105;
	history_add(&h, m);
	CHECK(loop_track_held(history_loop(&h, PICTURE_LOOP), 105.25) == 0.25);
	l->turn_since = NAN;
	m->snapshot.monotonic = 106;
	history_add(&h, m);
	CHECK(isnan(loop_track_held(history_loop(&h, PICTURE_LOOP), 106)));
	CHECK(track_of(&h).lag == 0);
	/* The same one as before, but not all the time. */
	l->turn_since = 104.5;
	m->snapshot.monotonic = 107;
	history_add(&h, m);
	CHECK(loop_track_held(history_loop(&h, PICTURE_LOOP), 107.5) == 0.5);
	model_destroy(m);
	history_deinit(&h);
}

static void test_gil(void)
{
	struct history h = picture_history();
	struct model *m = loop_at(100, LOOP_RUNNING, 0);
	uint32_t i = model_add_interpreter(m, 0);

	m->loops.v[0].interpreter = i;
	m->interpreters.v[i].gil_read = true;
	m->interpreters.v[i].gil_switches = 1000;
	m->threads.v[0].gil = GIL_WAITING;
	history_add(&h, picture_done(m));
	CHECK(isnan(track_of(&h).switches_rate));
	/* Less than a second says nothing. */
	m->snapshot.monotonic = 100.5;
	m->loops.v[0].state = LOOP_POLLING;
	m->interpreters.v[i].gil_switches = 1500;
	history_add(&h, m);
	CHECK(isnan(track_of(&h).switches_rate));
	m->snapshot.monotonic = 102;
	m->loops.v[0].state = LOOP_RUNNING;
	m->interpreters.v[i].gil_switches = 3000;
	m->threads.v[0].gil = GIL_HOLDING;
	history_add(&h, m);
	CHECK(track_of(&h).switches_rate == 1000);
	/* Not read: as it was. */
	m->snapshot.monotonic = 104;
	m->interpreters.v[i].gil_read = false;
	m->interpreters.v[i].gil_switches = 0;
	history_add(&h, m);
	CHECK(track_of(&h).switches_rate == 1000);
	/* A thread that waits for it is neither polling nor running. */
	CHECK_EQUAL(loop_track_sum(history_loop(&h, PICTURE_LOOP)).gil, 2);
	CHECK_EQUAL(loop_track_sum(history_loop(&h, PICTURE_LOOP)).running, 2);
	CHECK_EQUAL(loop_track_sum(history_loop(&h, PICTURE_LOOP)).polling, 0);
	model_destroy(m);
	history_deinit(&h);
}

/* What a watch saw between the pictures adds up; looks at the same picture add nothing. */
static void test_watched(void)
{
	struct history h = picture_history();
	struct model *m = loop_at(100, LOOP_RUNNING, 0);
	struct loop_watched w;

	m->loops.v[0].watched = (struct loop_watched){100, 2, 1, 0.002};
	history_add(&h, picture_done(m));
	history_add_same(&h, m, 100.5);
	m->snapshot.monotonic = 101;
	m->loops.v[0].watched = (struct loop_watched){50, 1, 1, 0.001};
	history_add(&h, m);
	w = track_of(&h).watched;
	CHECK_EQUAL(w.samples, 150);
	CHECK_EQUAL(w.seen, 3);
	CHECK_EQUAL(w.windows, 2);
	CHECK(w.longest == 0.002);
	model_destroy(m);
	history_deinit(&h);
}

static void check_spark(bool utf8, double least_top, const double *values, uint32_t count,
			const char *want)
{
	struct text_style style = {.utf8 = utf8};
	struct text t = {0};

	spark(&t, &style, values, count, least_top);
	CHECK_TEXT(t.v, want);
	text_deinit(&t);
}

static void test_spark(void)
{
	static const double values[] = {NAN, 0, 0.1, 3.5, 7, NAN, 7};

	check_spark(true, 4, values, 7, " ▁▂▅█ █");
	check_spark(false, 4, values, 7, " _.=# #");
	/* A quiet loop's graph stays low. */
	check_spark(true, 70, values, 7, " ▁▂▂▂ ▂");
	check_spark(true, 0, (const double[]){0, NAN, 0}, 3, "▁ ▁");
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	test_seconds();
	test_minute();
	test_lag();
	test_held();
	test_gil();
	test_watched();
	test_spark();
	return check_result("top_loops");
}
