/* SPDX-License-Identifier: Apache-2.0 */
/* The task table's rows: sorted by each column both ways, filtered, alike ones folded. */
#include "tests/unit/picture.h"

#include <locale.h>

#define SORTED 5u

/*
 * Five tasks seen for a while, of which one moves each second, one each other second, one never; "Task-2" came last, and "stray" is in the picture but was never seen.
 */
static struct model *sorted_picture(double when, unsigned turn, uint32_t count)
{
	static const struct {
		const char *name;
		enum task_state state;
		enum await_kind kind;
		const char *file;
		int32_t line;
		unsigned moves; /* once in so many turns, 0 never */
	} tasks[SORTED] = {
		{"Task-10", TASK_PENDING, AWAITS_SLEEP, "/srv/app.py", 30, 2},
		{"Task-1", TASK_PENDING, AWAITS_LOCK, "/srv/db.py", 7, 0},
		{"Task-3", TASK_DONE, AWAITS_NOTHING, NULL, 0, 1},
		{"Task-2", TASK_RUNNING, AWAITS_RUNNING, "/srv/app.py", 5, 0},
		{"stray", TASK_PENDING, AWAITS_SLEEP, "/srv/app.py", 6, 0},
	};
	struct model *m = picture_new(when);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t row = picture_task(m, tasks[i].name);

		m->tasks.v[row].state = tasks[i].state;
		m->tasks.v[row].awaits.kind = tasks[i].kind;
		m->tasks.v[row].chain = NONE;
		if (tasks[i].moves)
			m->tasks.v[row].awaits.id = 1 + turn / tasks[i].moves;
		if (tasks[i].file)
			picture_at(m, row, "work", tasks[i].file, tasks[i].line);
	}
	return m;
}

static void test_sort(void)
{
	struct history h = picture_history();
	struct model *m = sorted_picture(103.5, 3, SORTED);

	picture_seen(&h, sorted_picture(100, 0, 2));
	picture_seen(&h, sorted_picture(101, 1, 3));
	picture_seen(&h, sorted_picture(102, 2, 3));
	picture_seen(&h, sorted_picture(103, 3, 3));
	picture_seen(&h, sorted_picture(103.5, 3, 4));
	picture_done(m);
	CHECK_LISTED(m, &h, "Task-1\nTask-2\nTask-3\nTask-10\nstray\n", .sort = SORT_NAME);
	CHECK_LISTED(m, &h, "stray\nTask-10\nTask-3\nTask-2\nTask-1\n", .sort = SORT_NAME,
		     .reverse = true);
	/* Running, pending by name, done. */
	CHECK_LISTED(m, &h, "Task-2\nTask-1\nTask-10\nstray\nTask-3\n", .sort = SORT_STATE);
	CHECK_LISTED(m, &h, "Task-3\nstray\nTask-10\nTask-1\nTask-2\n", .sort = SORT_STATE,
		     .reverse = true);
	/* lock, running, sleep, nothing. */
	CHECK_LISTED(m, &h, "Task-1\nTask-2\nTask-10\nstray\nTask-3\n", .sort = SORT_WAITS);
	CHECK_LISTED(m, &h, "Task-3\nstray\nTask-10\nTask-2\nTask-1\n", .sort = SORT_WAITS,
		     .reverse = true);
	/* The longest first; what is not known last, whichever way. */
	CHECK_LISTED(m, &h, "Task-1\nTask-10\nTask-3\nTask-2\nstray\n", .sort = SORT_SINCE);
	CHECK_LISTED(m, &h, "Task-2\nTask-3\nTask-10\nTask-1\nstray\n", .sort = SORT_SINCE,
		     .reverse = true);
	/* 1.0, 0.5, 0; Task-2 is not known for two seconds yet. */
	CHECK_LISTED(m, &h, "Task-3\nTask-10\nTask-1\nTask-2\nstray\n", .sort = SORT_STEPS);
	CHECK_LISTED(m, &h, "Task-1\nTask-10\nTask-3\nstray\nTask-2\n", .sort = SORT_STEPS,
		     .reverse = true);
	/* By file, then by line. */
	CHECK_LISTED(m, &h, "Task-2\nstray\nTask-10\nTask-1\nTask-3\n", .sort = SORT_WHERE);
	CHECK_LISTED(m, &h, "Task-1\nTask-10\nstray\nTask-2\nTask-3\n", .sort = SORT_WHERE,
		     .reverse = true);
	model_destroy(m);
	history_deinit(&h);
}

/* Same kind: by what it waits on, as people count; same name: in the order of the picture. */
static void test_sort_ties(void)
{
	struct history h = picture_history();
	struct model *m = picture_new(100);
	struct rows r;

	picture_waits(m, picture_task(m, "a"), AWAITS_QUEUE, "Queue 10");
	picture_waits(m, picture_task(m, "b"), AWAITS_QUEUE, "Queue 9");
	picture_waits(m, picture_task(m, "b"), AWAITS_QUEUE, "Queue 9");
	picture_done(m);
	CHECK_LISTED(m, &h, "b\nb\na\n", .sort = SORT_WAITS);
	for (int reverse = 0; reverse < 2; reverse++) {
		const struct row_options o = {.sort = SORT_NAME, .reverse = reverse};

		picture_need(rows_init(&r, m, &h, &o) == ERR_OK);
		CHECK_EQUAL(r.v[reverse ? 0 : 1].g.low, 1);
		CHECK_EQUAL(r.v[reverse ? 1 : 2].g.low, 2);
		rows_deinit(&r);
	}
	for (int i = 0; i < SORT_COLUMNS; i++)
		CHECK(strlen(sort_column_title((enum sort_column)i)) >= 4);
	model_destroy(m);
	history_deinit(&h);
}

static struct model *named_picture(void)
{
	struct model *m = picture_new(100);
	uint32_t task;

	task = picture_task(m, "Fetch-1");
	picture_waits(m, task, AWAITS_STREAM, "tcp 127.0.0.1:5000");
	picture_at(m, task, "fetch", "/srv/net/client.py", 40);
	task = picture_task(m, "Größe");
	picture_waits(m, task, AWAITS_LOCK, "Lock (held)");
	picture_at(m, task, "measure", "/srv/app.py", 7);
	task = picture_task(m, "Задача-3");
	picture_waits(m, task, AWAITS_SLEEP, "");
	m->tasks.v[task].chain = NONE;
	task = picture_task(m, "x");
	m->tasks.v[task].name = (struct str){NULL, 0};
	picture_done(m);
	return m;
}

static void test_filter(void)
{
	struct history h = picture_history();
	struct model *m = named_picture();
	struct rows r;

	CHECK_LISTED(m, &h, "\nFetch-1\nGröße\nЗадача-3\n", .filter = "");
	CHECK_LISTED(m, &h, "\nFetch-1\nGröße\nЗадача-3\n", .filter = NULL);
	/* Name, in any case. */
	CHECK_LISTED(m, &h, "Fetch-1\n", .filter = "fETCH-");
	CHECK_LISTED(m, &h, "Größe\n", .filter = "öß");
	CHECK_LISTED(m, &h, "Größe\n", .filter = "GRÖ");
	CHECK_LISTED(m, &h, "Задача-3\n", .filter = "задача");
	CHECK_LISTED(m, &h, "Задача-3\n", .filter = "АЧА-3");
	/* Its end, and no more than that. */
	CHECK_LISTED(m, &h, "Задача-3\n", .filter = "ача-3");
	CHECK_LISTED(m, &h, "", .filter = "ача-34");
	/* What it waits on: the kind's word and the detail. */
	CHECK_LISTED(m, &h, "Fetch-1\n", .filter = "127.0.0.1:5000");
	CHECK_LISTED(m, &h, "Größe\n", .filter = "lock (HELD");
	CHECK_LISTED(m, &h, "Задача-3\n", .filter = "sleep");
	/* Its place: function, file and line. */
	CHECK_LISTED(m, &h, "Größe\n", .filter = "Measure app.py:7");
	CHECK_LISTED(m, &h, "Fetch-1\n", .filter = "net/client.py:40");
	/* Nothing has these; not across name and wait either. */
	CHECK_LISTED(m, &h, "", .filter = "Fetch-1tcp");
	CHECK_LISTED(m, &h, "", .filter = "no such letters");
	picture_need(rows_init(&r, m, &h, &(struct row_options){.filter = "app.py"}) == ERR_OK);
	CHECK_ROWS(&r, "\nGröße\n");
	CHECK_EQUAL(r.shown, 2);
	rows_deinit(&r);
	model_destroy(m);
	history_deinit(&h);
}

static void test_search(void)
{
	const struct row_options o = {.sort = SORT_NAME};
	struct history h = picture_history();
	struct model *m = named_picture();
	struct rows r;

	picture_need(rows_init(&r, m, &h, &o) == ERR_OK);
	CHECK_EQUAL(rows_search(&r, "app.py", 0), 0);
	CHECK_EQUAL(rows_search(&r, "APP.py", 1), 2);
	/* Around again. */
	CHECK_EQUAL(rows_search(&r, "app.py", 3), 0);
	CHECK_EQUAL(rows_search(&r, "задача", 0), 3);
	CHECK_EQUAL(rows_search(&r, "no such letters", 0), NONE);
	CHECK_EQUAL(rows_search(&r, "", 0), NONE);
	rows_deinit(&r);
	model_clear(m);
	picture_need(rows_init(&r, picture_done(m), &h, &o) == ERR_OK);
	CHECK_EQUAL(r.count, 0);
	CHECK_EQUAL(rows_search(&r, "app.py", 0), NONE);
	CHECK_EQUAL(rows_find(&r, PICTURE_ID(0), false), NONE);
	rows_deinit(&r);
	model_destroy(m);
	history_deinit(&h);
}

/* What makes one of five alike ones a row of its own. */
static void check_odd_one(void (*change)(struct model *, struct task *))
{
	struct history h = picture_history();
	struct model *m = picture_new(100);

	picture_tasks(m, "w", 5);
	if (change)
		change(m, &m->tasks.v[2]);
	picture_done(m);
	CHECK_LISTED(m, &h, change ? "+4 w-1 … w-5\nw-3\n" : "+5 w-1 … w-5\n", .fold = true);
	CHECK_LISTED(m, &h, "w-1\nw-2\nw-3\nw-4\nw-5\n", .fold = false);
	model_destroy(m);
	history_deinit(&h);
}

static void change_state(struct model *m, struct task *t)
{
	(void)m;
	t->state = TASK_RUNNING;
}

static void change_wait(struct model *m, struct task *t)
{
	(void)m;
	t->awaits.kind = AWAITS_SLEEP;
}

static void change_line(struct model *m, struct task *t)
{
	picture_at(m, (uint32_t)(t - m->tasks.v), "work", "/srv/app.py", 13);
}

static void change_cancelling(struct model *m, struct task *t)
{
	(void)m;
	t->cancelling = 1;
}

static void change_class(struct model *m, struct task *t)
{
	t->cls = model_intern_string(m, STR_LIT("MyTask"));
}

static void change_loop(struct model *m, struct task *t)
{
	t->loop = model_add_loop(m, 0x20);
}

static void test_fold_alike(void)
{
	check_odd_one(NULL);
	check_odd_one(change_state);
	check_odd_one(change_wait);
	check_odd_one(change_line);
	check_odd_one(change_cancelling);
	check_odd_one(change_class);
	check_odd_one(change_loop);
}

/* Which row shows a task: the group, or where it is open the group or the member. */
static void test_fold_find(void)
{
	struct history h = picture_history();
	struct model *m = picture_new(100);
	struct row_options o = {.sort = SORT_NAME, .fold = true};
	struct rows r;

	picture_task(m, "main");
	picture_at(m, 0, "main", "/srv/app.py", 90);
	picture_tasks(m, "w", 4);
	picture_done(m);
	picture_need(rows_init(&r, m, &h, &o) == ERR_OK);
	CHECK_ROWS(&r, "main\n+4 w-1 … w-4\n");
	CHECK_EQUAL(rows_find(&r, PICTURE_ID(0), false), 0);
	CHECK_EQUAL(rows_find(&r, PICTURE_ID(3), false), 1);
	CHECK_EQUAL(rows_find(&r, PICTURE_ID(3), true), 1);
	CHECK_EQUAL(rows_find(&r, PICTURE_ID(77), false), NONE);
	o.opened[o.opened_count++] = rows_sign(&r, &r.v[1]);
	rows_deinit(&r);
	picture_need(rows_init(&r, m, &h, &o) == ERR_OK);
	CHECK_ROWS(&r, "main\n-4 w-1 … w-4\n  w-1\n  w-2\n  w-3\n  w-4\n");
	CHECK_EQUAL(r.v[3].kind, ROW_MEMBER);
	CHECK_EQUAL(rows_find(&r, PICTURE_ID(3), true), 1);
	CHECK_EQUAL(rows_find(&r, PICTURE_ID(3), false), 4);
	rows_deinit(&r);
	/* The members are sorted as the rows are. */
	o.reverse = true;
	CHECK(rows_init(&r, m, &h, &o) == ERR_OK);
	CHECK_ROWS(&r, "-4 w-1 … w-4\n  w-4\n  w-3\n  w-2\n  w-1\nmain\n");
	rows_deinit(&r);
	model_destroy(m);
	history_deinit(&h);
}

/* The filter comes first: what it leaves of a group may be too few for one. */
static void test_fold_and_filter(void)
{
	struct history h = picture_history();
	struct model *m = picture_new(100);

	picture_task(m, "main");
	picture_at(m, 0, "main", "/srv/app.py", 90);
	picture_tasks(m, "w", 11);
	picture_done(m);
	CHECK_LISTED(m, &h, "+11 w-1 … w-11\n", .fold = true, .filter = "W-");
	CHECK_LISTED(m, &h, "w-1\nw-10\nw-11\n", .fold = true, .filter = "w-1");
	CHECK_LISTED(m, &h, "main\n+11 w-1 … w-11\n", .fold = true, .filter = "app.py");
	model_destroy(m);
	history_deinit(&h);
}

/* Ten tasks that rest, of which one came later, and four that move once a second each, and one that moves twice. */
static struct model *moving_picture(unsigned turn)
{
	struct model *m = picture_new(100 + turn / 2.);

	picture_tasks(m, "rest", 10);
	m->tasks.v[9].awaits.id = 0x9000 + (turn >= 4);
	for (uint32_t i = 1; i <= 4; i++) {
		char name[16];
		uint32_t row;

		snprintf(name, sizeof(name), "busy-%u", i);
		row = picture_task(m, name);
		picture_at(m, row, "busy", "/srv/app.py", 50);
		m->tasks.v[row].awaits.id = 0x9000 + turn / 2;
	}
	picture_task(m, "fast");
	picture_at(m, 14, "fast", "/srv/app.py", 60);
	m->tasks.v[14].awaits.id = 0x9000 + turn;
	return m;
}

/* A group's steps are those of all of them, and it waits for as long as the first that came. */
static void test_fold_and_sort(void)
{
	struct history h = picture_history();
	struct model *m = moving_picture(8);
	struct rows r;

	for (unsigned turn = 0; turn <= 8; turn++)
		picture_seen(&h, moving_picture(turn));
	picture_done(m);
	picture_need(rows_init(&r, m, &h,
			       &(struct row_options){.sort = SORT_STEPS, .fold = true}) == ERR_OK);
	CHECK_ROWS(&r, "+4 busy-1 … busy-4\nfast\n+10 rest-1 … rest-10\n");
	CHECK(fabs(r.v[0].steps - 4) < 1e-9);
	CHECK(fabs(r.v[1].steps - 2) < 1e-9);
	CHECK(r.v[2].steps == 0);
	CHECK(r.v[0].since == 104 && r.v[2].since == 100);
	rows_deinit(&r);
	CHECK_LISTED(m, &h, "+10 rest-1 … rest-10\n+4 busy-1 … busy-4\nfast\n", .sort = SORT_SINCE,
		     .fold = true);
	CHECK_LISTED(m, &h, "busy-1\nbusy-2\nbusy-3\nbusy-4\n", .sort = SORT_STEPS, .fold = false,
		     .filter = "py:50");
	model_destroy(m);
	history_deinit(&h);
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	test_sort();
	test_sort_ties();
	test_filter();
	test_search();
	test_fold_alike();
	test_fold_find();
	test_fold_and_filter();
	test_fold_and_sort();
	return check_result("top_rows");
}
