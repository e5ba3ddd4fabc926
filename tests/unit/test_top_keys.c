/* SPDX-License-Identifier: Apache-2.0 */
/* Keys: what each is for, arrows and pages in tables of all sizes, prompts, the rate, what the caller is asked for. */
#include "tests/unit/desk.h"

#include <locale.h>

#define F(n) (PRESS_F1 + (n)-1)

static void test_table(void)
{
	static const struct {
		int32_t press;
		enum action action;
	} keys[] = {
		{F(1), ACT_HELP},
		{'?', ACT_HELP},
		{'h', ACT_HELP},
		{'1', ACT_OVERVIEW},
		{'2', ACT_TASK},
		{'3', ACT_LOOP},
		{'4', ACT_THREADS},
		{'5', ACT_FINDINGS},
		{'6', ACT_PROCESSES},
		{'p', ACT_PROCESSES},
		{PRESS_UP, ACT_UP},
		{'k', ACT_UP},
		{PRESS_DOWN, ACT_DOWN},
		{'j', ACT_DOWN},
		{PRESS_LEFT, ACT_LEFT},
		{PRESS_RIGHT, ACT_RIGHT},
		{PRESS_PAGE_UP, ACT_PAGE_UP},
		{PRESS_PAGE_DOWN, ACT_PAGE_DOWN},
		{PRESS_HOME, ACT_HOME},
		{'g', ACT_HOME},
		{PRESS_END, ACT_END},
		{'G', ACT_END},
		{PRESS_ENTER, ACT_ENTER},
		{'\r', ACT_ENTER},
		{PRESS_ESCAPE, ACT_BACK},
		{PRESS_BACKSPACE, ACT_BACK},
		{'/', ACT_SEARCH},
		{F(3), ACT_SEARCH},
		{'n', ACT_NEXT_FOUND_OR_NATIVE},
		{'\\', ACT_FILTER},
		{F(4), ACT_FILTER},
		{'t', ACT_TREE},
		{F(5), ACT_TREE},
		{'>', ACT_SORT},
		{'<', ACT_SORT},
		{F(6), ACT_SORT},
		{'I', ACT_REVERSE},
		{'f', ACT_FOLD},
		{F(7), ACT_FOLD},
		{'\t', ACT_NEXT_ONE},
		{' ', ACT_HOLD},
		{F(8), ACT_HOLD},
		{'+', ACT_FASTER},
		{'=', ACT_FASTER},
		{'-', ACT_SLOWER},
		{'s', ACT_SAVE},
		{F(9), ACT_SAVE},
		{'q', ACT_QUIT},
		{'Q', ACT_QUIT},
		{F(10), ACT_QUIT},
		{PRESS_NONE, ACT_NONE},
		{F(2), ACT_NONE},
		{'x', ACT_NONE},
		{PRESS_DELETE, ACT_NONE},
		{PRESS_MOUSE, ACT_NONE},
		{0x44f, ACT_NONE},
	};
	size_t presses = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		CHECK_EQUAL(key_action(keys[i].press), keys[i].action);
		presses += keys[i].action != ACT_NONE;
	}
	/* Nothing else is a key: each row's keys are these, and have words for the help. */
	for (const struct key_row *k = key_rows; k->action; k++) {
		CHECK(strlen(k->keys) > 0 && strlen(k->help) > 3);
		CHECK(!k->foot == !k->foot_key);
		for (unsigned i = 0; i < 4 && k->presses[i]; i++) {
			CHECK_EQUAL(key_action(k->presses[i]), k->action);
			presses--;
		}
	}
	CHECK_EQUAL(presses, 0);
	CHECK_TEXT(key_foot(0)->foot, "Help");
	CHECK_TEXT(key_foot(8)->foot, "Quit");
	CHECK(key_foot(9) == NULL);
}

static struct model *counted_picture(uint32_t count)
{
	struct model *m = picture_new(100);

	picture_tasks(m, "w", count);
	return m;
}

static uint32_t selected(const struct desk *d)
{
	return d->ui.lists[VIEW_OVERVIEW].selected;
}

/* Whatever is pressed, the selection is on a row that there is and on the screen. */
static void check_moves(uint32_t count, unsigned height)
{
	static const int32_t presses[] = {
		PRESS_DOWN,
		PRESS_DOWN,
		PRESS_UP,
		PRESS_UP,
		PRESS_UP,
		PRESS_PAGE_DOWN,
		PRESS_UP,
		PRESS_PAGE_UP,
		PRESS_END,
		PRESS_DOWN,
		PRESS_PAGE_DOWN,
		PRESS_HOME,
		PRESS_UP,
		PRESS_PAGE_UP,
		PRESS_END,
		PRESS_WHEEL_UP,
		PRESS_HOME,
		PRESS_WHEEL_UP,
		PRESS_WHEEL_DOWN,
		PRESS_END,
		PRESS_LEFT,
		PRESS_RIGHT,
		'k',
		'j',
	};
	struct desk d;

	desk_init(&d, 80, height);
	desk_take(&d, counted_picture(count));
	d.ui.rows.fold = false;
	for (size_t i = 0; i < sizeof(presses) / sizeof(*presses); i++) {
		CHECK(desk_press(&d, presses[i]) == REACT_DRAW);
		CHECK(selected(&d) < (count ? count : 1));
		if (d.ui.lists[VIEW_OVERVIEW].page)
			CHECK((desk_selected(&d) != NONE) == (count > 0));
	}
	desk_deinit(&d);
}

static void test_moves(void)
{
	struct desk d;
	uint32_t page;

	for (uint32_t count = 0; count <= 3; count++)
		check_moves(count, 24);
	check_moves(1000, 24);
	for (unsigned height = 1; height < 12; height++)
		check_moves(7, height);
	desk_init(&d, 80, 24);
	d.ui.rows.fold = false;
	desk_take(&d, counted_picture(100));
	page = d.ui.lists[VIEW_OVERVIEW].page;
	CHECK(page > 8 && page < 20);
	desk_press(&d, PRESS_DOWN);
	desk_press(&d, 'j');
	CHECK_EQUAL(selected(&d), 2);
	desk_press(&d, PRESS_UP);
	CHECK_EQUAL(selected(&d), 1);
	/* A page keeps one line of the page before. */
	desk_press(&d, PRESS_PAGE_DOWN);
	CHECK_EQUAL(selected(&d), page);
	desk_press(&d, PRESS_PAGE_UP);
	CHECK_EQUAL(selected(&d), 1);
	desk_press(&d, PRESS_END);
	CHECK_EQUAL(selected(&d), 99);
	CHECK_EQUAL(d.ui.lists[VIEW_OVERVIEW].top, 100 - page);
	desk_press(&d, PRESS_WHEEL_UP);
	CHECK_EQUAL(selected(&d), 96);
	desk_press(&d, PRESS_HOME);
	CHECK_EQUAL(selected(&d), 0);
	CHECK_EQUAL(d.ui.lists[VIEW_OVERVIEW].top, 0);
	desk_deinit(&d);
}

/* Screens that only scroll: from the first line to where the last one is at the bottom. */
static void test_scroll(void)
{
	struct desk d;
	struct list *l;

	desk_init(&d, 80, 12);
	desk_take(&d, counted_picture(3));
	desk_press(&d, '?');
	l = &d.ui.lists[VIEW_HELP];
	CHECK_EQUAL(l->page, 8);
	CHECK(l->count > 30);
	desk_press(&d, PRESS_UP);
	CHECK_EQUAL(l->top, 0);
	desk_press(&d, PRESS_END);
	CHECK_EQUAL(l->top, l->count - l->page);
	desk_press(&d, PRESS_DOWN);
	CHECK_EQUAL(l->top, l->count - l->page);
	desk_press(&d, PRESS_PAGE_UP);
	CHECK_EQUAL(l->top, l->count - 2 * l->page + 1);
	/* A larger screen shows what there is to its last line. */
	d.height = 100;
	desk_draw(&d);
	CHECK_EQUAL(l->top, 0);
	desk_press(&d, PRESS_DOWN);
	CHECK_EQUAL(l->top, 0);
	/* Back to where it came from. */
	desk_press(&d, '?');
	CHECK_EQUAL(d.ui.view, VIEW_OVERVIEW);
	desk_press(&d, '5');
	desk_press(&d, F(1));
	desk_press(&d, PRESS_ESCAPE);
	CHECK_EQUAL(d.ui.view, VIEW_FINDINGS);
	desk_press(&d, PRESS_RIGHT);
	CHECK_EQUAL(d.c.shift, 8);
	desk_press(&d, PRESS_LEFT);
	desk_press(&d, PRESS_LEFT);
	CHECK_EQUAL(d.c.shift, 0);
	for (int i = 0; i < 100; i++)
		desk_press(&d, PRESS_RIGHT);
	CHECK_EQUAL(d.c.shift, 400);
	/* Each screen begins at its lines' beginning; the overview's table fits anyway. */
	desk_press(&d, '4');
	CHECK_EQUAL(d.c.shift, 0);
	desk_press(&d, PRESS_ESCAPE);
	CHECK_EQUAL(d.ui.view, VIEW_OVERVIEW);
	desk_press(&d, PRESS_RIGHT);
	CHECK_EQUAL(d.c.shift, 0);
	desk_deinit(&d);
}

static void test_asks(void)
{
	struct desk d;

	desk_init(&d, 80, 24);
	desk_draw(&d); /* no picture yet */
	CHECK_EQUAL(desk_press(&d, 'q'), REACT_QUIT | REACT_DRAW);
	CHECK_EQUAL(desk_press(&d, PRESS_DOWN), REACT_DRAW);
	CHECK_EQUAL(desk_press(&d, PRESS_ENTER), REACT_DRAW);
	desk_take(&d, counted_picture(3));
	CHECK_EQUAL(desk_press(&d, 's'), REACT_SAVE | REACT_DRAW);
	CHECK_EQUAL(desk_press(&d, ' '), REACT_HOLD | REACT_DRAW);
	CHECK(d.ui.held);
	CHECK(strstr(desk_line(&d, 0), "PAUSED "));
	CHECK_EQUAL(desk_press(&d, F(8)), REACT_HOLD | REACT_DRAW);
	CHECK(!d.ui.held);
	CHECK(!strstr(desk_line(&d, 0), "PAUSED "));
	CHECK_EQUAL(desk_press(&d, '4'), REACT_DRAW);
	CHECK_EQUAL(desk_press(&d, 'n'), REACT_NATIVE | REACT_DRAW);
	CHECK_EQUAL(d.ui.view, VIEW_THREADS);
	for (int32_t press = '1'; press <= '5'; press++) {
		desk_press(&d, press);
		CHECK_EQUAL(d.ui.view, VIEW_OVERVIEW + press - '1');
		CHECK_EQUAL(desk_press(&d, 'n'),
			    press == '4' ? REACT_NATIVE | REACT_DRAW : REACT_DRAW);
	}
	CHECK_EQUAL(desk_press(&d, 'q'), REACT_QUIT | REACT_DRAW);
	desk_deinit(&d);
}

static void check_rate(double from, int32_t press, double want)
{
	struct desk d;

	desk_init(&d, 200, 24);
	d.ui.rate = from;
	desk_press(&d, press);
	CHECK(d.ui.rate == want);
	CHECK(strstr(d.ui.message, "pictures a second"));
	desk_deinit(&d);
}

/* Steps of the scale, its ends, rates between, and those beyond it that the command line takes. */
static void test_rate(void)
{
	check_rate(2, '+', 4);
	check_rate(2, '-', 1);
	check_rate(4, '=', 5);
	check_rate(10, '+', 10);
	check_rate(5, '+', 10);
	check_rate(0.2, '-', 0.2);
	check_rate(0.5, '-', 0.2);
	check_rate(3, '+', 4);
	check_rate(3, '-', 2);
	check_rate(20, '+', 20);
	check_rate(20, '-', 10);
	check_rate(0.1, '-', 0.1);
	check_rate(0.1, '+', 0.2);
}

static void test_processes(void)
{
	static const struct process_row rows[] = {{17, "python app.py"}, {18, "python\033[2J b"}};
	struct desk d;

	desk_init(&d, 80, 24);
	desk_take(&d, counted_picture(3));
	d.ui.process = 17;
	desk_press(&d, 'p');
	CHECK(desk_find(&d, "no processes to choose from") != NONE);
	CHECK_EQUAL(desk_press(&d, PRESS_ENTER), REACT_DRAW);
	CHECK_EQUAL(d.ui.process, 17);
	d.s.processes = rows;
	d.s.process_count = 2;
	desk_draw(&d);
	CHECK_NAMES(&d, ">* 17|  18");
	/* Not as the escape that it is. */
	CHECK(desk_find(&d, "python\\x1b[2J b") != NONE);
	desk_press(&d, PRESS_DOWN);
	desk_press(&d, PRESS_DOWN);
	CHECK_EQUAL(desk_press(&d, PRESS_ENTER), REACT_PROCESS | REACT_DRAW);
	CHECK_EQUAL(d.ui.process, 18);
	CHECK_EQUAL(d.ui.view, VIEW_OVERVIEW);
	desk_deinit(&d);
}

static void test_next_loop(void)
{
	struct desk d;
	struct model *m = counted_picture(1);

	model_add_loop(m, 0x20);
	model_add_loop(m, 0x30);
	desk_init(&d, 80, 24);
	desk_take(&d, m);
	desk_press(&d, '3');
	CHECK_EQUAL(d.ui.loop, PICTURE_LOOP);
	CHECK(desk_find(&d, "loop 1 of 3") != NONE);
	desk_press(&d, '\t');
	CHECK_EQUAL(d.ui.loop, 0x20);
	desk_press(&d, '\t');
	desk_press(&d, '\t');
	CHECK_EQUAL(d.ui.loop, PICTURE_LOOP);
	desk_deinit(&d);
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	test_table();
	test_moves();
	test_scroll();
	test_asks();
	test_rate();
	test_processes();
	test_next_loop();
	return check_result("top_keys");
}
