/* SPDX-License-Identifier: Apache-2.0 */
/* The task table as a tree: who awaits whom, tasks that several await, rings, depth, several loops; and what a filter leaves of it. */
#include "tests/unit/picture.h"

#include <locale.h>

#define DEEP 300u

/* In a state of its own, so that nothing is alike by chance. */
static uint32_t add(struct model *m, const char *name)
{
	uint32_t row = picture_task(m, name);

	picture_at(m, row, name, "/srv/app.py", (int32_t)row + 1);
	return row;
}

/*
 * main awaits a and b; both await shared, which awaits leaf.
 */
static struct model *shared_picture(void)
{
	struct model *m = picture_new(100);
	uint32_t leaf = add(m, "leaf"), shared = add(m, "shared"), b = add(m, "b");
	uint32_t a = add(m, "a"), other = add(m, "zz-other"), top = add(m, "main");

	(void)other;
	picture_awaits(m, top, b);
	picture_awaits(m, top, a);
	picture_awaits(m, a, shared);
	picture_awaits(m, b, shared);
	picture_awaits(m, shared, leaf);
	picture_done(m);
	return m;
}

static void test_shared(void)
{
	struct history h = picture_history();
	struct model *m = shared_picture();
	struct rows r;

	picture_need(rows_init(&r, m, &h, &(struct row_options){.tree = true}) == ERR_OK);
	CHECK_ROWS(&r, "main\n"
		       "  a\n"
		       "    shared\n"
		       "      leaf\n"
		       "  b\n"
		       "    shared (shown above)\n"
		       "zz-other\n");
	/* The row in full, not the one that refers to it. */
	CHECK_EQUAL(rows_find(&r, PICTURE_ID(1), false), 2);
	/* Below main something follows; at a, b follows; at b nothing does. */
	CHECK_EQUAL(r.v[0].lines, 1);
	CHECK_EQUAL(r.v[1].lines, 3);
	CHECK_EQUAL(r.v[3].lines, 3);
	CHECK_EQUAL(r.v[4].lines, 1);
	CHECK_EQUAL(r.v[5].lines, 1);
	CHECK_EQUAL(r.v[6].lines, 0);
	rows_deinit(&r);
	/* The siblings are sorted as the user wants. */
	CHECK_LISTED(m, &h,
		     "zz-other\n"
		     "main\n"
		     "  b\n"
		     "    shared\n"
		     "      leaf\n"
		     "  a\n"
		     "    shared (shown above)\n",
		     .tree = true, .reverse = true);
	/* The list has each once, whoever awaits it. */
	CHECK_LISTED(m, &h, "a\nb\nleaf\nmain\nshared\nzz-other\n", .tree = false);
	model_destroy(m);
	history_deinit(&h);
}

static void test_filter(void)
{
	struct history h = picture_history();
	struct model *m = shared_picture();
	struct rows r;

	picture_need(rows_init(&r, m, &h, &(struct row_options){.tree = true, .filter = "LEAF"}) ==
		     ERR_OK);
	/* "task leaf" is what shared waits on. */
	CHECK_ROWS(&r, "main\n"
		       "  a\n"
		       "    shared\n"
		       "      leaf\n"
		       "  b\n"
		       "    shared (shown above)\n");
	CHECK_EQUAL(r.shown, 2);
	rows_deinit(&r);
	picture_need(
		rows_init(&r, m, &h, &(struct row_options){.tree = true, .filter = "app.py:1"}) ==
		ERR_OK);
	CHECK_ROWS(&r, "main\n  a\n    shared\n      leaf\n");
	CHECK_EQUAL(r.shown, 1);
	/* b is gone: no branch leads on to it. */
	CHECK_EQUAL(r.v[0].lines, 0);
	CHECK_EQUAL(r.v[1].lines, 0);
	CHECK_EQUAL(r.v[3].lines, 0);
	rows_deinit(&r);
	CHECK_LISTED(m, &h, "zz-other\n", .tree = true, .filter = "zz");
	CHECK_LISTED(m, &h, "main\n", .tree = true, .filter = "gather");
	CHECK_LISTED(m, &h, "", .tree = true, .filter = "no such letters");
	model_destroy(m);
	history_deinit(&h);
}

/* gather(a, a, b): each of them once, in full. */
static void test_twice(void)
{
	struct history h = picture_history();
	struct model *m = picture_new(100);
	uint32_t top = add(m, "main"), a = add(m, "a"), b = add(m, "b");

	picture_awaits(m, top, a);
	picture_awaits(m, top, a);
	picture_awaits(m, top, b);
	picture_done(m);
	CHECK_LISTED(m, &h, "main\n  a\n  b\n", .tree = true);
	model_destroy(m);
	history_deinit(&h);
}

/* x and y await each other, self itself; from main one comes into the ring at y. */
static void test_rings(void)
{
	struct history h = picture_history();
	struct model *m = picture_new(100);
	uint32_t x = add(m, "x"), y = add(m, "y"), self = add(m, "self"), top;

	picture_awaits(m, x, y);
	picture_awaits(m, y, x);
	picture_awaits(m, self, self);
	picture_done(m);
	CHECK_LISTED(m, &h, "self\n  self (shown above)\nx\n  y\n    x (shown above)\n",
		     .tree = true);
	top = add(m, "main");
	picture_awaits(m, top, y);
	picture_done(m);
	CHECK_LISTED(m, &h, "main\n  y\n    x\n      y (shown above)\nself\n  self (shown above)\n",
		     .tree = true, .fold = true);
	model_destroy(m);
	history_deinit(&h);
}

/* Deeper than a row has room for: each task once, one level each, and branches on 64 levels at most. */
static void test_depth(void)
{
	struct history h = picture_history();
	struct model *m = picture_new(100);
	struct rows r;
	char name[16];

	for (uint32_t i = 0; i < DEEP; i++) {
		snprintf(name, sizeof(name), "t-%u", i);
		add(m, name);
	}
	for (uint32_t i = 0; i + 1 < DEEP; i++)
		picture_awaits(m, i, i + 1);
	add(m, "z");
	picture_done(m);
	picture_need(rows_init(&r, m, &h, &(struct row_options){.tree = true, .fold = true}) ==
		     ERR_OK);
	CHECK_EQUAL(r.count, DEEP + 1);
	for (uint32_t i = 0; i < DEEP && i < r.count; i++) {
		CHECK_EQUAL(r.v[i].g.low, i);
		CHECK_EQUAL(r.v[i].depth, i);
		CHECK_EQUAL(r.v[i].lines, 1);
		CHECK_EQUAL(r.v[i].kind, ROW_TASK);
	}
	CHECK_EQUAL(r.v[DEEP].lines, 0);
	rows_deinit(&r);
	/* The innermost one alone is let through: all above it stay. */
	picture_need(rows_init(&r, m, &h,
			       &(struct row_options){.tree = true, .filter = "t-299 "}) == ERR_OK);
	CHECK_EQUAL(r.count, DEEP);
	CHECK_EQUAL(r.shown, 1);
	rows_deinit(&r);
	model_destroy(m);
	history_deinit(&h);
}

/* Tasks of a second loop are roots beside the others, and one loop's task may await another's. */
static void test_loops(void)
{
	struct history h = picture_history();
	struct model *m = picture_new(100);
	uint32_t second = model_add_loop(m, 0x20);
	uint32_t a = add(m, "a"), b = add(m, "b"), c = add(m, "c"), lost = add(m, "lost");

	m->tasks.v[b].loop = m->tasks.v[c].loop = second;
	m->tasks.v[lost].loop = NONE;
	picture_awaits(m, c, b);
	picture_awaits(m, b, a);
	picture_done(m);
	CHECK_LISTED(m, &h, "c\n  b\n    a\nlost\n", .tree = true);
	CHECK_LISTED(m, &h, "a\nb\nc\nlost\n", .tree = false, .fold = true);
	model_destroy(m);
	history_deinit(&h);
}

/* Siblings that are alike down to their leaves are one row; below it what they wait for is one as well. */
static void test_fold(void)
{
	struct history h = picture_history();
	struct model *m = picture_new(100);
	uint32_t top = add(m, "main"), rows[5];
	struct rows r;

	for (uint32_t i = 0; i < 5; i++) {
		char name[16];
		uint32_t leaf;

		snprintf(name, sizeof(name), "w-%u", i);
		rows[i] = picture_task(m, name);
		snprintf(name, sizeof(name), "leaf-%u", i);
		leaf = picture_task(m, name);
		picture_at(m, leaf, "leaf", "/srv/app.py", i == 4 ? 99 : 70);
		picture_awaits(m, rows[i], leaf);
	}
	for (uint32_t i = 0; i < 5; i++)
		picture_awaits(m, top, rows[i]);
	picture_done(m);
	/* The leaf of the last one is at another line, and so its branch is another. */
	CHECK_LISTED(m, &h,
		     "main\n"
		     "  +4 w-0 … w-3\n"
		     "    +4 leaf-0 … leaf-3\n"
		     "  w-4\n"
		     "    leaf-4\n",
		     .tree = true, .fold = true);
	CHECK_LISTED(m, &h,
		     "+4 leaf-0 … leaf-3\n"
		     "leaf-4\n"
		     "main\n"
		     "+5 w-0 … w-4\n",
		     .fold = true);
	picture_need(rows_init(&r, m, &h,
			       &(struct row_options){
				       .tree = true, .fold = true, .filter = "leaf-2"}) == ERR_OK);
	/* w-2 waits on it. A group stays whole. */
	CHECK_ROWS(&r, "main\n  +4 w-0 … w-3\n    +4 leaf-0 … leaf-3\n");
	CHECK_EQUAL(r.shown, 2);
	rows_deinit(&r);
	model_destroy(m);
	history_deinit(&h);
}

/* A process that has only just begun, whatever the user chose before. */
static void test_no_tasks(void)
{
	struct history h = picture_history();
	struct model *m = picture_new(100);

	picture_done(m);
	for (unsigned chosen = 0; chosen < 8; chosen++) {
		const struct row_options o = {
			.tree = chosen & 1, .fold = chosen & 2, .filter = chosen & 4 ? "leaf" : ""};
		struct rows r;

		picture_need(rows_init(&r, m, &h, &o) == ERR_OK);
		CHECK_EQUAL(r.count, 0);
		CHECK_EQUAL(rows_find(&r, PICTURE_ID(1), false), NONE);
		rows_deinit(&r);
	}
	model_destroy(m);
	history_deinit(&h);
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	test_shared();
	test_filter();
	test_twice();
	test_rings();
	test_depth();
	test_loops();
	test_fold();
	test_no_tasks();
	return check_result("top_tree");
}
