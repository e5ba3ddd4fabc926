/* SPDX-License-Identifier: Apache-2.0 */
/* The task table under the user's hands: the selection, opened rows, prompts, search, the mouse. */
#include "tests/unit/desk.h"

#include <locale.h>

#define F(n) (PRESS_F1 + (n)-1)

static void begin(struct desk *d, struct model *m)
{
	desk_init(d, 80, 24);
	desk_take(d, m);
}

/* `waits`: which objects they wait for, so that they move from one picture to the next. */
static struct model *mixed_picture(double when, vaddr waits)
{
	struct model *m = picture_new(when);
	uint32_t row = picture_task(m, "Task-10");

	picture_waits(m, row, AWAITS_SLEEP, "");
	picture_at(m, row, "nap", "/srv/db.py", 3);
	row = picture_task(m, "Task-2");
	picture_waits(m, row, AWAITS_LOCK, "Lock (held)");
	picture_at(m, row, "lock", "/srv/db.py", 4);
	picture_tasks(m, "w", 5);
	for (uint32_t i = 2; i < m->tasks.count; i++)
		m->tasks.v[i].awaits.id += waits;
	return m;
}

/* A torn picture that lacks the selected task takes nothing away; one that is whole does. */
static void test_missed(void)
{
	struct model *torn = picture_new(101);
	struct desk d;

	begin(&d, mixed_picture(100, 0));
	desk_press(&d, PRESS_DOWN);
	CHECK_NAMES(&d, "Task-2|>Task-10|+ ×5 w-1 … w-5");
	torn->snapshot.consistent = false;
	picture_task_with(torn, 0x9000, "other");
	desk_take(&d, torn);
	desk_press(&d, '2');
	CHECK(desk_find(&d, "This task could not be read this time") != NONE);
	desk_press(&d, '1');
	desk_take(&d, mixed_picture(102, 0));
	CHECK_NAMES(&d, "Task-2|>Task-10|+ ×5 w-1 … w-5");
	desk_press(&d, '2');
	CHECK(desk_find(&d, "task Task-10") != NONE);
	desk_take(&d, picture_new(103));
	CHECK(desk_find(&d, "This task has ended") != NONE);
	desk_deinit(&d);
}

/* The selection stays with its task, wherever the order takes it. */
static void test_selection(void)
{
	struct desk d;

	begin(&d, mixed_picture(100, 0));
	CHECK_NAMES(&d, ">Task-2|Task-10|+ ×5 w-1 … w-5");
	desk_press(&d, PRESS_DOWN);
	CHECK_NAMES(&d, "Task-2|>Task-10|+ ×5 w-1 … w-5");
	desk_press(&d, 'I');
	CHECK_NAMES(&d, "+ ×5 w-1 … w-5|>Task-10|Task-2");
	desk_press(&d, F(6));
	CHECK_EQUAL(d.ui.view, VIEW_SORT);
	desk_press(&d, PRESS_DOWN);
	desk_press(&d, PRESS_DOWN);
	desk_press(&d, PRESS_ENTER);
	CHECK_EQUAL(d.ui.rows.sort, SORT_WAITS);
	CHECK_NAMES(&d, "+ ×5 w-1 … w-5|Task-2|>Task-10");
	/* Another picture, in which it stands elsewhere. */
	desk_press(&d, '>');
	CHECK_EQUAL(d.ui.lists[VIEW_SORT].selected, SORT_WAITS);
	desk_press(&d, PRESS_HOME);
	desk_press(&d, PRESS_ENTER);
	CHECK_NAMES(&d, "Task-2|>Task-10|+ ×5 w-1 … w-5");
	desk_press(&d, 'f');
	CHECK_NAMES(&d, "Task-2|>Task-10|w-1|w-2|w-3|w-4|w-5");
	desk_press(&d, PRESS_END);
	CHECK_NAMES(&d, "Task-2|Task-10|w-1|w-2|w-3|w-4|>w-5");
	/* Within the group now. */
	desk_press(&d, 'f');
	CHECK_NAMES(&d, "Task-2|Task-10|>+ ×5 w-1 … w-5");
	desk_press(&d, 'f');
	CHECK_NAMES(&d, "Task-2|Task-10|w-1|w-2|w-3|w-4|>w-5");
	desk_deinit(&d);
}

/* When the selected task ends the selection stays where it was, with the task that is there now. */
static void test_selected_ends(void)
{
	struct desk d;
	struct model *m;

	begin(&d, mixed_picture(100, 0));
	desk_press(&d, PRESS_DOWN);
	desk_press(&d, PRESS_DOWN);
	desk_press(&d, PRESS_ENTER);
	desk_press(&d, PRESS_HOME);
	CHECK_NAMES(&d, ">Task-2|Task-10|- ×5 w-1 … w-5|  w-1|  w-2|  w-3|  w-4|  w-5");
	/* The first two go: their place is the group's. */
	for (int i = 0; i < 2; i++) {
		m = picture_new(101 + i);
		for (uint32_t k = 2; k < 7; k++) {
			char name[16];

			snprintf(name, sizeof(name), "w-%u", k - 1);
			picture_task_with(m, PICTURE_ID(k), name);
		}
		desk_take(&d, m);
		CHECK_NAMES(&d, ">- ×5 w-1 … w-5|  w-1|  w-2|  w-3|  w-4|  w-5");
	}
	desk_take(&d, picture_new(103));
	CHECK_NAMES(&d, "");
	CHECK(desk_find(&d, "no tasks") != NONE);
	CHECK_EQUAL(desk_press(&d, PRESS_ENTER), REACT_DRAW);
	CHECK_EQUAL(d.ui.view, VIEW_OVERVIEW);
	desk_deinit(&d);
}

static void test_open(void)
{
	struct desk d;

	begin(&d, mixed_picture(100, 0));
	desk_press(&d, PRESS_END);
	desk_press(&d, PRESS_ENTER);
	CHECK_NAMES(&d, "Task-2|Task-10|>- ×5 w-1 … w-5|  w-1|  w-2|  w-3|  w-4|  w-5");
	/* They go from one sleep to the next, and come in another order. */
	desk_take(&d, mixed_picture(101, 0x100));
	CHECK_NAMES(&d, "Task-2|Task-10|>- ×5 w-1 … w-5|  w-1|  w-2|  w-3|  w-4|  w-5");
	/* A member is a task like others. */
	desk_press(&d, PRESS_DOWN);
	desk_press(&d, PRESS_DOWN);
	CHECK_NAMES(&d, "Task-2|Task-10|- ×5 w-1 … w-5|  w-1|>  w-2|  w-3|  w-4|  w-5");
	desk_take(&d, mixed_picture(102, 0x200));
	CHECK_NAMES(&d, "Task-2|Task-10|- ×5 w-1 … w-5|  w-1|>  w-2|  w-3|  w-4|  w-5");
	desk_press(&d, PRESS_ENTER);
	CHECK_EQUAL(d.ui.view, VIEW_TASK);
	CHECK(desk_find(&d, "task w-2  0x1030") != NONE);
	desk_press(&d, PRESS_ESCAPE);
	desk_press(&d, PRESS_UP);
	desk_press(&d, PRESS_UP);
	desk_press(&d, PRESS_ENTER);
	CHECK_NAMES(&d, "Task-2|Task-10|>+ ×5 w-1 … w-5");
	CHECK_EQUAL(d.ui.rows.opened_count, 0);
	/* As many as are remembered, the oldest one first to be forgotten. */
	for (uint32_t i = 0; i < OPENED_MOST; i++)
		d.ui.rows.opened[d.ui.rows.opened_count++] = i;
	desk_press(&d, PRESS_ENTER);
	CHECK_EQUAL(d.ui.rows.opened_count, OPENED_MOST);
	CHECK_EQUAL(d.ui.rows.opened[0], 1);
	CHECK_NAMES(&d, "Task-2|Task-10|>- ×5 w-1 … w-5|  w-1|  w-2|  w-3|  w-4|  w-5");
	desk_deinit(&d);
}

/* Columns of the table: what is known since when is marked. */
static void test_columns(void)
{
	struct desk d;

	begin(&d, mixed_picture(100, 0));
	desk_take(&d, mixed_picture(101.5, 0x100));
	desk_take(&d, mixed_picture(103, 0x100));
	CHECK_TEXT(
		desk_line(&d, desk_find(&d, "Task-2")),
		"Task-2           pending  Lock (held)              >3.0 s     0.0 db.py:4 lock");
	CHECK_TEXT(
		desk_line(&d, desk_find(&d, "w-1")),
		"+ ×5 w-1 … w-5   pending  future                    1.5 s     1.7 app.py:12 work");
	desk_deinit(&d);
	/* A folded row too, where the longest of them was there from the start. */
	begin(&d, mixed_picture(100, 0));
	desk_take(&d, mixed_picture(101.5, 0));
	CHECK_TEXT(
		desk_line(&d, desk_find(&d, "w-1")),
		"+ ×5 w-1 … w-5   pending  future                   >1.5 s         app.py:12 work");
	desk_press(&d, 't');
	CHECK(desk_find(&d, "STEPS") == NONE);
	CHECK_NAMES(&d, ">├─Task-2|├─Task-10|└─+ ×5 w-1 … w-5");
	desk_deinit(&d);
}

static void test_filter_prompt(void)
{
	struct desk d;

	begin(&d, mixed_picture(100, 0));
	desk_press(&d, F(4));
	CHECK_EQUAL(d.ui.prompt, PROMPT_FILTER);
	/* Letters are letters now, whatever they are for elsewhere. */
	desk_type(&d, "q1 ");
	CHECK_TEXT(d.ui.filter, "q1 ");
	CHECK_NAMES(&d, "");
	CHECK(desk_find(&d, "no task has these letters") != NONE);
	CHECK(desk_find(&d, "filter: q1 _") != NONE);
	for (int i = 0; i < 4; i++)
		desk_press(&d, i % 2 ? PRESS_DELETE : PRESS_BACKSPACE);
	CHECK_TEXT(d.ui.filter, "");
	CHECK_EQUAL(d.ui.prompt, PROMPT_FILTER);
	desk_type(&d, "tASK");
	CHECK_NAMES(&d, ">Task-2|Task-10");
	/* The arrows move meanwhile; other keys that are no letters do nothing. */
	desk_press(&d, PRESS_DOWN);
	CHECK_NAMES(&d, "Task-2|>Task-10");
	CHECK_EQUAL(desk_press(&d, F(10)), 0);
	CHECK_EQUAL(desk_press(&d, '\t'), 0);
	CHECK_EQUAL(desk_press(&d, PRESS_MOUSE), 0);
	desk_press(&d, PRESS_ENTER);
	CHECK_EQUAL(d.ui.prompt, PROMPT_NONE);
	CHECK_TEXT(d.ui.filter, "tASK");
	CHECK(desk_find(&d, "those of 7 tasks with \"tASK\" alone") != NONE);
	/* It goes on with what it was; Esc drops it, in the prompt and after it. */
	desk_press(&d, '\\');
	desk_type(&d, "-1");
	CHECK_NAMES(&d, ">Task-10");
	desk_press(&d, PRESS_ESCAPE);
	CHECK_TEXT(d.ui.filter, "");
	CHECK_NAMES(&d, "Task-2|>Task-10|+ ×5 w-1 … w-5");
	desk_press(&d, '\\');
	desk_type(&d, "w");
	desk_press(&d, PRESS_ENTER);
	desk_press(&d, PRESS_ESCAPE);
	CHECK_TEXT(d.ui.filter, "");
	desk_deinit(&d);
}

/* UTF-8 of one to four bytes: each typed letter is one that Backspace takes away; and there is an end to the line. */
static void test_letters(void)
{
	struct desk d;

	begin(&d, mixed_picture(100, 0));
	desk_press(&d, '\\');
	desk_type(&d, "aé€😀");
	CHECK_TEXT(d.ui.filter, "aé€😀");
	CHECK(desk_find(&d, "filter: aé€😀_") != NONE);
	desk_press(&d, PRESS_BACKSPACE);
	CHECK_TEXT(d.ui.filter, "aé€");
	desk_press(&d, PRESS_BACKSPACE);
	CHECK_TEXT(d.ui.filter, "aé");
	desk_press(&d, PRESS_BACKSPACE);
	CHECK_TEXT(d.ui.filter, "a");
	desk_press(&d, PRESS_BACKSPACE);
	desk_press(&d, PRESS_BACKSPACE);
	CHECK_TEXT(d.ui.filter, "");
	for (unsigned i = 0; i < INPUT_MOST; i++)
		desk_press(&d, 0x20ac);
	CHECK_EQUAL(strlen(d.ui.filter), (INPUT_MOST - 1) / 3 * 3);
	desk_type(&d, "xyz");
	CHECK_EQUAL(strlen(d.ui.filter), INPUT_MOST - 1);
	desk_press(&d, PRESS_ESCAPE);
	CHECK_TEXT(d.ui.filter, "");
	desk_deinit(&d);
}

static void test_search(void)
{
	struct desk d;

	begin(&d, mixed_picture(100, 0));
	desk_press(&d, 'n');
	CHECK(desk_find(&d, "nothing to search for yet") != NONE);
	desk_press(&d, '/');
	CHECK(desk_find(&d, "search: _") != NONE);
	desk_type(&d, "w-3");
	CHECK_NAMES(&d, "Task-2|Task-10|>+ ×5 w-1 … w-5");
	desk_type(&d, "x");
	CHECK(desk_find(&d, "nothing has \"w-3x\"") != NONE);
	CHECK_NAMES(&d, "Task-2|Task-10|>+ ×5 w-1 … w-5");
	desk_press(&d, PRESS_ENTER);
	CHECK_TEXT(d.ui.search, "w-3x");
	/* Each search begins anew. */
	desk_press(&d, F(3));
	CHECK_TEXT(d.ui.search, "");
	desk_type(&d, "DB.py");
	CHECK_NAMES(&d, ">Task-2|Task-10|+ ×5 w-1 … w-5");
	desk_press(&d, F(3));
	CHECK_NAMES(&d, "Task-2|>Task-10|+ ×5 w-1 … w-5");
	desk_press(&d, PRESS_ENTER);
	desk_press(&d, 'n');
	CHECK_NAMES(&d, ">Task-2|Task-10|+ ×5 w-1 … w-5");
	desk_press(&d, '/');
	desk_type(&d, "w");
	desk_press(&d, PRESS_ESCAPE);
	CHECK_TEXT(d.ui.search, "");
	desk_deinit(&d);
}

/* On other screens too, of the newest picture: the one that the table was of is gone. */
static void test_search_elsewhere(void)
{
	struct desk d;

	begin(&d, mixed_picture(100, 0));
	desk_press(&d, '/');
	desk_type(&d, "db.py");
	desk_press(&d, PRESS_ENTER);
	for (int32_t view = '2'; view <= '6'; view++) {
		if (view == '4')
			continue;
		desk_press(&d, view);
		desk_take(&d, mixed_picture(view, 0));
		CHECK(d.ui.drawn == NULL);
		desk_press(&d, 'n');
		CHECK_EQUAL(d.ui.view, VIEW_OVERVIEW);
		CHECK_NAMES(&d, view == '2' || view == '5' ? "Task-2|>Task-10|+ ×5 w-1 … w-5"
							   : ">Task-2|Task-10|+ ×5 w-1 … w-5");
	}
	/* The list of columns has rows of its own. */
	desk_press(&d, '>');
	desk_press(&d, 'n');
	CHECK(d.ui.lists[VIEW_SORT].selected < SORT_COLUMNS);
	CHECK_EQUAL(d.ui.view, VIEW_OVERVIEW);
	desk_deinit(&d);
}

/* The column at which a word begins in a line. */
static unsigned column_of(struct desk *d, uint32_t line, const char *word)
{
	const char *words = desk_line(d, line), *at = strstr(words, word);

	picture_need(at != NULL);
	return (unsigned)(at - words);
}

static void test_mouse(void)
{
	struct desk d;
	uint32_t heads, foot;

	begin(&d, mixed_picture(100, 0));
	/* Headings: once sorts, once more turns it round. */
	heads = desk_find(&d, "NAME▽");
	picture_need(heads != NONE);
	desk_event(&d, PRESS_MOUSE, column_of(&d, heads, "STATE") - 2, heads);
	CHECK(d.ui.rows.sort == SORT_STATE && !d.ui.rows.reverse);
	CHECK(strstr(desk_line(&d, heads), "STATE▽"));
	desk_event(&d, PRESS_MOUSE, 17, heads);
	CHECK(d.ui.rows.sort == SORT_STATE && d.ui.rows.reverse);
	CHECK(strstr(desk_line(&d, heads), "STATE△"));
	desk_event(&d, PRESS_MOUSE, 0, heads);
	CHECK(d.ui.rows.sort == SORT_NAME && !d.ui.rows.reverse);
	/* Between two columns, and above them, nothing happens. */
	CHECK_EQUAL(desk_event(&d, PRESS_MOUSE, 16, heads), 0);
	CHECK_EQUAL(desk_event(&d, PRESS_MOUSE, 3, 0), 0);
	CHECK_EQUAL(desk_event(&d, PRESS_MOUSE, 3, 5000), 0);
	CHECK(d.ui.rows.sort == SORT_NAME && !d.ui.rows.reverse);
	/* Rows: once selects, twice opens. */
	desk_event(&d, PRESS_MOUSE, 3, heads + 3);
	CHECK_NAMES(&d, "Task-2|Task-10|>+ ×5 w-1 … w-5");
	desk_event(&d, PRESS_MOUSE_TWICE, 3, heads + 3);
	CHECK_NAMES(&d, "Task-2|Task-10|>- ×5 w-1 … w-5|  w-1|  w-2|  w-3|  w-4|  w-5");
	desk_event(&d, PRESS_MOUSE_TWICE, 70, heads + 1);
	CHECK_EQUAL(d.ui.view, VIEW_TASK);
	CHECK(desk_find(&d, "task Task-2") != NONE);
	/* The foot's words are keys. */
	foot = d.c.count - 1;
	CHECK_EQUAL(d.c.v[foot].role, LINE_FOOT);
	CHECK_EQUAL(desk_event(&d, PRESS_MOUSE, column_of(&d, foot, "Quit"), foot), REACT_QUIT);
	CHECK_EQUAL(desk_event(&d, PRESS_MOUSE, column_of(&d, foot, "F10"), foot), REACT_QUIT);
	desk_event(&d, PRESS_MOUSE, column_of(&d, foot, "F8Pause") + 6, foot);
	CHECK(d.ui.held);
	foot = d.c.count - 1;
	desk_event(&d, PRESS_MOUSE, 0, foot);
	CHECK_EQUAL(d.ui.view, VIEW_HELP);
	CHECK_EQUAL(desk_event(&d, PRESS_MOUSE, 79, d.c.count - 1), 0);
	desk_deinit(&d);
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	test_selection();
	test_missed();
	test_selected_ends();
	test_open();
	test_columns();
	test_filter_prompt();
	test_letters();
	test_search();
	test_search_elsewhere();
	test_mouse();
	return check_result("top_table");
}
