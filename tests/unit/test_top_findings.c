/* SPDX-License-Identifier: Apache-2.0 */
/* Findings over time: they come, stand, go, come again and are counted; in which order they are told, and for how long. */
#include "model/finding.h"
#include "tests/unit/desk.h"

#include <locale.h>

#define TRACKS_MOST 200u /* as tui/history_findings.c keeps */

static uint32_t find(struct model *m, const char *id, enum severity severity, const char *summary)
{
	uint32_t f = finding_add(m, id, severity);

	finding_summary(m, f, "%s", summary);
	finding_advice(m, f, "look at it");
	return f;
}

/* One task and one finding about it, or none. */
static struct model *found_at(double when, bool there)
{
	struct model *m = picture_new(when);
	uint32_t f;

	picture_task(m, "a");
	if (!there)
		return m;
	f = find(m, "blocked-loop", SEVERITY_CRITICAL, "a holds the loop");
	m->findings.v[f].loop = 0;
	m->findings.v[f].task = 0;
	return m;
}

static void test_comes_and_goes(void)
{
	struct history h = picture_history();
	const struct finding_track *f;
	struct model *m;

	picture_seen(&h, found_at(99, false));
	CHECK_EQUAL(h.finding_count, 0);
	picture_seen(&h, found_at(100, true));
	picture_need(h.finding_count == 1);
	f = &h.findings[0];
	CHECK(f->standing && f->first == 100 && f->times == 1 && f->samples == 1);
	CHECK(finding_track_stood(f) == 0);
	CHECK_EQUAL(f->task, PICTURE_ID(0));
	CHECK_EQUAL(f->loop, PICTURE_LOOP);
	CHECK_EQUAL(f->thread, 0);
	CHECK_TEXT(f->headline.v, "critical  blocked-loop: a holds the loop");
	CHECK(strncmp(f->lines.v, f->headline.v, f->headline.len) == 0);
	CHECK(strstr(f->lines.v, "look at it"));
	/* It stands: so it does where nothing has moved. */
	m = found_at(101, true);
	history_add(&h, picture_done(m));
	history_add_same(&h, m, 102);
	model_destroy(m);
	f = &h.findings[0];
	CHECK(f->standing && f->first == 100 && f->last == 102 && f->times == 1);
	CHECK(f->samples == 3 && finding_track_stood(f) == 2 && f->longest == 2);
	/* It goes. */
	picture_seen(&h, found_at(103, false));
	picture_seen(&h, found_at(104, false));
	picture_need(h.finding_count == 1);
	f = &h.findings[0];
	CHECK(!f->standing && f->first == 100 && f->last == 102 && f->times == 1);
	CHECK(finding_track_stood(f) == 2 && f->samples == 3);
	/* It comes again, for shorter, and for longer. */
	picture_seen(&h, found_at(110, true));
	picture_seen(&h, found_at(111, true));
	picture_need(h.finding_count == 1);
	f = &h.findings[0];
	CHECK(f->standing && f->first == 110 && f->times == 2 && f->samples == 5);
	CHECK(finding_track_stood(f) == 1 && f->longest == 2);
	picture_seen(&h, found_at(113, true));
	f = &h.findings[0];
	CHECK(f->times == 2 && finding_track_stood(f) == 3 && f->longest == 3);
	CHECK_EQUAL(h.samples, 9);
	history_deinit(&h);
}

/* Five minutes after it went. */
static void test_forgotten(void)
{
	struct history h = picture_history();

	picture_seen(&h, found_at(100, true));
	picture_seen(&h, found_at(101, false));
	picture_seen(&h, found_at(400, false));
	CHECK_EQUAL(h.finding_count, 1);
	picture_seen(&h, found_at(400.5, false));
	CHECK_EQUAL(h.finding_count, 0);
	/* What stands for longer stays. */
	picture_seen(&h, found_at(500, true));
	picture_seen(&h, found_at(1000, true));
	picture_need(h.finding_count == 1);
	CHECK(finding_track_stood(&h.findings[0]) == 500);
	history_deinit(&h);
}

static void check_order(const struct history *h, const char *want, int line)
{
	struct text t = {0};

	for (uint32_t i = 0; i < h->finding_count; i++)
		text_printf(&t, "%s%s%s", i ? " " : "", h->findings[i].standing ? "" : "-",
			    h->findings[i].id);
	check_text(t.v ? t.v : "", want, "order", __FILE__, line);
	text_deinit(&t);
}

#define CHECK_ORDER(h, want) check_order((h), (want), __LINE__)

/* Standing ones first, the worst of them first, then the one that stands for longer; of the others the one that went last. */
static void test_order(void)
{
	static const struct {
		double when;
		const char *
			ids; /* small letters are warnings, capitals critical, digits informative */
		const char *want;
	} pictures[] = {
		{100, "1ab", "a b 1"},	     {101, "1ab2C", "C a b 1 2"},
		{102, "ba2C", "C a b 2 -1"}, {103, "bC", "C b -a -2 -1"},
		{104, "1b", "b 1 -C -a -2"}, {105, "", "-b -1 -C -a -2"},
		{106, "a", "a -b -1 -C -2"},
	};
	static char ids[128][2];
	struct history h = picture_history();

	for (size_t i = 0; i < sizeof(pictures) / sizeof(*pictures); i++) {
		struct model *m = picture_new(pictures[i].when);

		for (const char *id = pictures[i].ids; *id; id++) {
			ids[(unsigned char)*id][0] = *id;
			find(m, ids[(unsigned char)*id],
			     *id >= 'a'	  ? SEVERITY_WARNING
			     : *id >= 'A' ? SEVERITY_CRITICAL
					  : SEVERITY_INFO,
			     "it is so");
		}
		picture_seen(&h, m);
		CHECK_ORDER(&h, pictures[i].want);
	}
	history_deinit(&h);
}

/* The same judgement of another task, thread or loop is another finding; a brief one is the loop's alone. */
static void test_same(void)
{
	struct history h = picture_history();
	struct model *m = picture_new(100);
	uint32_t rows[6];

	model_add_loop(m, 0x20);
	model_add_thread(m, 18);
	picture_tasks(m, "w", 2);
	for (size_t i = 0; i < 6; i++) {
		rows[i] = find(m, "stuck", SEVERITY_INFO, "it is so");
		m->findings.v[rows[i]].loop = 0;
		m->findings.v[rows[i]].task = 0;
	}
	m->findings.v[rows[1]].task = 1;
	m->findings.v[rows[2]].thread = 0;
	m->findings.v[rows[3]].thread = 1;
	m->findings.v[rows[4]].loop = 1;
	m->findings.v[rows[5]].task = NONE;
	history_add(&h, picture_done(m));
	CHECK_EQUAL(h.finding_count, 6);
	m->snapshot.monotonic = 101;
	history_add(&h, m);
	CHECK_EQUAL(h.finding_count, 6);
	for (uint32_t i = 0; i < h.finding_count; i++)
		CHECK(h.findings[i].times == 1 && h.findings[i].samples == 2);
	model_destroy(m);
	history_deinit(&h);
}

static struct model *window_at(double when, uint32_t task, bool there)
{
	struct model *m = picture_new(when);
	uint32_t f;

	picture_tasks(m, "w", 2);
	m->loops.v[0].watched = (struct loop_watched){100, there ? 3 : 0, there ? 2 : 0, 0.001};
	if (!there)
		return m;
	f = find(m, "window", SEVERITY_WARNING, "a window");
	m->findings.v[f].brief = true;
	m->findings.v[f].loop = 0;
	m->findings.v[f].task = task;
	return m;
}

/* What is too short for pictures is counted by the watch between them, whoever does it. */
static void test_watched(void)
{
	struct history h = picture_history();
	const struct finding_track *f;

	picture_seen(&h, window_at(100, 0, true));
	picture_seen(&h, window_at(101, 1, true));
	picture_need(h.finding_count == 1);
	f = &h.findings[0];
	CHECK(f->brief && f->standing && f->times == 1);
	CHECK_EQUAL(f->task, PICTURE_ID(1));
	CHECK_EQUAL(f->watched.samples, 200);
	CHECK_EQUAL(f->watched.seen, 6);
	CHECK_EQUAL(f->watched.windows, 4);
	CHECK(f->watched.longest == 0.001);
	/* It stands on for a while without a window, and comes again only after that. */
	picture_seen(&h, window_at(102, 0, false));
	f = &h.findings[0];
	CHECK(f->standing && f->last == 101);
	CHECK_EQUAL(f->watched.samples, 300);
	picture_seen(&h, window_at(106.5, 0, false));
	f = &h.findings[0];
	CHECK(!f->standing && f->times == 1);
	CHECK_EQUAL(f->watched.windows, 4);
	history_deinit(&h);
}

/* More than are kept: what went first makes room for what comes. */
static void test_many(void)
{
	struct history h = picture_history();
	const struct finding_track *f;
	struct model *m;
	uint32_t row;

	for (uint32_t turn = 0; turn < TRACKS_MOST + 20; turn++) {
		m = picture_new(100 + turn / 10.);
		picture_task_with(m, PICTURE_ID(turn), "a");
		row = find(m, "lost", SEVERITY_INFO, "it is so");
		m->findings.v[row].task = 0;
		picture_seen(&h, m);
		CHECK(h.finding_count <= TRACKS_MOST);
		CHECK(h.findings[0].standing && h.findings[0].task == PICTURE_ID(turn));
	}
	CHECK_EQUAL(h.finding_count, TRACKS_MOST);
	CHECK(!h.out_of_memory);
	/* The first twenty are forgotten. */
	f = &h.findings[h.finding_count - 1];
	CHECK_EQUAL(f->task, PICTURE_ID(20));
	/* As many at once: there is no room for more. */
	m = picture_new(200);
	for (uint32_t i = 0; i < TRACKS_MOST + 20; i++) {
		picture_task_with(m, PICTURE_ID(1000 + i), "a");
		row = find(m, "lost", SEVERITY_INFO, "it is so");
		m->findings.v[row].task = i;
	}
	picture_seen(&h, m);
	CHECK_EQUAL(h.finding_count, TRACKS_MOST);
	CHECK(h.out_of_memory);
	history_deinit(&h);
}

static void test_copy_and_clear(void)
{
	struct history h = picture_history(), copy;

	picture_seen(&h, found_at(100, true));
	picture_seen(&h, found_at(101, true));
	picture_need(history_copy(&copy, &h) == ERR_OK);
	picture_seen(&h, found_at(102, false));
	CHECK(!h.findings[0].standing);
	history_clear(&h);
	CHECK_EQUAL(h.finding_count, 0);
	picture_need(copy.finding_count == 1);
	CHECK(copy.findings[0].standing && copy.findings[0].last == 101);
	CHECK_TEXT(copy.findings[0].headline.v, "critical  blocked-loop: a holds the loop");
	CHECK(strstr(copy.findings[0].lines.v, "look at it"));
	/* After that it comes for the first time again. */
	picture_seen(&h, found_at(103, true));
	CHECK(h.finding_count == 1 && h.findings[0].times == 1 && h.findings[0].first == 103);
	history_deinit(&h);
	history_deinit(&copy);
}

/* On the screens: what stands, then greyed what is gone. */
static void test_shown(void)
{
	struct desk d;
	uint32_t line;

	desk_init(&d, 100, 30);
	desk_take(&d, found_at(100, false));
	CHECK(desk_find(&d, "no findings") != NONE);
	desk_take(&d, found_at(101, true));
	desk_take(&d, found_at(103, true));
	line = desk_find(&d, "blocked-loop");
	CHECK_TEXT(desk_line(&d, line), "for 2.0 s  critical  blocked-loop: a holds the loop");
	CHECK_EQUAL(d.c.v[line].role, LINE_PLAIN);
	CHECK(desk_find(&d, "loop blocked") != NONE);
	desk_take(&d, found_at(104, false));
	line = desk_find(&d, "blocked-loop");
	CHECK_TEXT(desk_line(&d, line),
		   "gone 1.0 s ago, stood 2.0 s  critical  blocked-loop: a holds the loop");
	CHECK_EQUAL(d.c.v[line].role, LINE_GONE);
	CHECK(desk_find(&d, "loop polling") != NONE);
	desk_take(&d, found_at(105, true));
	CHECK_TEXT(desk_line(&d, desk_find(&d, "blocked-loop")),
		   "for 0 µs, 2 times  critical  blocked-loop: a holds the loop");
	d.ui.style.color = true;
	desk_press(&d, '5');
	CHECK(desk_find(&d, "\033[1;31mcritical  blocked-loop") != NONE);
	CHECK(desk_find(&d, "stands for 0 µs; came 2 times, longest 2.0 s, in 3 of 5 samples") !=
	      NONE);
	CHECK(desk_find(&d, "look at it") != NONE);
	desk_take(&d, found_at(106, false));
	CHECK(desk_find(&d, "\033[2mcritical  blocked-loop") != NONE);
	CHECK(desk_find(&d, "gone since 1.0 s; came 2 times") != NONE);
	desk_deinit(&d);
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	test_comes_and_goes();
	test_forgotten();
	test_order();
	test_same();
	test_watched();
	test_many();
	test_copy_and_clear();
	test_shown();
	return check_result("top_findings");
}
