/* SPDX-License-Identifier: Apache-2.0 */
/* The model alone: interning, look-ups, edges and their inversion, rings, what survives a clear, and what 100,000 tasks cost. */
#include "model/finding.h"
#include "model/model.h"
#include "model/names.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

static struct model *new_model(void)
{
	struct model *m = NULL;

	if (model_create(&m) != ERR_OK) {
		fprintf(stderr, "no memory\n");
		exit(1);
	}
	return m;
}

static void waits_for(struct model *m, uint32_t task, uint32_t awaited)
{
	struct await *a = &m->tasks.v[task].awaits;
	uint32_t edge = model_add_edge(m, awaited);

	if (!a->tasks_count++)
		a->tasks_first = edge;
}

static void test_rows(void)
{
	struct model *m = new_model();
	uint32_t t;

	for (uint32_t i = 0; i < 1000; i++)
		CHECK_EQUAL(model_add_task(m, 0x1000 + i * 16), i);
	for (uint32_t i = 0; i < 1000; i++)
		CHECK_EQUAL(model_find_task(m, 0x1000 + i * 16), i);
	CHECK_EQUAL(model_find_task(m, 0x1001), NONE);
	t = 7;
	CHECK_EQUAL(m->tasks.v[t].chain, NONE);
	CHECK_EQUAL(m->tasks.v[t].loop, NONE);
	CHECK(isnan(m->tasks.v[t].awaits.left));
	CHECK(m->tasks.v[t].awaits.kind == AWAITS_NOTHING);
	CHECK_EQUAL(model_find_loop(m, 0x1000), NONE);
	CHECK_EQUAL(model_add_loop(m, 0x1000), 0);
	CHECK_EQUAL(model_find_loop(m, 0x1000), 0);
	CHECK_EQUAL(model_add_thread(m, 42), 0);
	CHECK_EQUAL(model_find_thread(m, 42), 0);
	CHECK_EQUAL(model_find_thread(m, 43), NONE);
	model_destroy(m);
}

static void test_interning(void)
{
	struct model *m = new_model();
	char name[] = "handle";
	struct str function = {name, 6};
	uint32_t f, g, c, d;

	f = model_intern_frame(m, function, STR_LIT("/srv/app.py"), 3);
	name[0] = 'x'; /* the model has its own copy */
	CHECK_EQUAL(model_intern_frame(m, STR_LIT("handle"), STR_LIT("/srv/app.py"), 3), f);
	g = model_intern_frame(m, STR_LIT("handle"), STR_LIT("/srv/app.py"), 4);
	CHECK(f != g);
	CHECK(model_intern_frame(m, STR_LIT("handl"), STR_LIT("e/srv/app.py"), 3) != f);
	c = model_push(m, NONE, f);
	d = model_push(m, c, g);
	CHECK_EQUAL(model_push(m, NONE, f), c);
	CHECK_EQUAL(model_push(m, c, g), d);
	CHECK(model_push(m, NONE, g) != d);
	CHECK_EQUAL(m->chains.v[d].depth, 2);
	CHECK_EQUAL(model_intern_string(m, STR_LIT("Task")),
		    model_intern_string(m, STR_LIT("Task")));
	CHECK(model_intern_string(m, (struct str){"a\0b", 3}) !=
	      model_intern_string(m, STR_LIT("a")));
	f = model_intern_frame(m, STR_LIT("sleep"), STR_LIT("/usr/lib/python3.12/asyncio/tasks.py"),
			       665);
	CHECK(m->frames.v[f].library);
	f = model_intern_frame(m, STR_LIT("main"), STR_LIT("/srv/asyncio/main.py"), 1);
	CHECK(!m->frames.v[f].library);
	CHECK(str_is(model_printf(m, "%s held, %u waiting", "Lock", 3u), "Lock held, 3 waiting"));
	model_destroy(m);
}

static void test_clear(void)
{
	struct model *m = new_model();
	struct str argv[2] = {STR_LIT("python"), {"a\0b", 3}};
	char *before;

	m->target.pid = 17;
	m->target.command = arena_copy(&m->text, argv, sizeof(argv));
	m->target.command_count = 2;
	for (size_t i = 0; i < 2; i++)
		m->target.command[i] = model_text(m, argv[i]);
	model_add_task(m, 0x10);
	model_intern_string(m, STR_LIT("Task"));
	for (int round = 0; round < 2; round++) {
		model_clear(m);
		before = arena_alloc(&m->text,
				     4096); /* what follows must not lie over the command */
		CHECK(before != NULL);
		memset(before, 'x', 4096);
		CHECK_EQUAL(m->target.pid, 17);
		CHECK_EQUAL(m->target.command_count, 2);
		CHECK(str_equal(m->target.command[0], argv[0]));
		CHECK(str_equal(m->target.command[1], argv[1]));
		CHECK_EQUAL(m->tasks.count, 0);
		CHECK_EQUAL(model_find_task(m, 0x10), NONE);
		CHECK_EQUAL(model_add_task(m, 0x10), 0);
		CHECK_EQUAL(model_intern_string(m, STR_LIT("Task")), 0);
	}
	model_destroy(m);
	model_destroy(NULL);
}

static void test_edges(void)
{
	struct model *m = new_model();
	uint32_t loop = model_add_loop(m, 1);
	const struct task *t;

	for (uint32_t i = 0; i < 5; i++) {
		uint32_t row = model_add_task(m, 16 + i);

		m->tasks.v[row].loop = i < 4 ? loop : NONE;
	}
	waits_for(m, 0, 2);
	waits_for(m, 0, 3);
	waits_for(m, 0, 2); /* twice the same */
	waits_for(m, 1, 2);
	for (int round = 0; round < 2; round++) {
		CHECK(model_finish(m) == ERR_OK);
		t = &m->tasks.v[2];
		CHECK_EQUAL(t->awaited_by_count, 2);
		CHECK_EQUAL(m->back_edges.v[t->awaited_by_first], 0);
		CHECK_EQUAL(m->back_edges.v[t->awaited_by_first + 1], 1);
		CHECK_EQUAL(m->tasks.v[3].awaited_by_count, 1);
		CHECK_EQUAL(m->tasks.v[0].awaited_by_count, 0);
		CHECK_EQUAL(m->loops.v[loop].task_count, 4);
	}
	model_destroy(m);
}

static void test_rings(void)
{
	struct model *m = new_model();
	static const uint32_t want[] = {0, 1, 1, 1, 0, 2, 3, 3, 0};
	uint32_t *ring = NULL, rings = 0;

	for (uint32_t i = 0; i < 9; i++)
		model_add_task(m, 16 + i);
	waits_for(m, 0, 1); /* 0 leads into a ring and is not of it */
	waits_for(m, 1, 2);
	waits_for(m, 2, 3);
	waits_for(m, 2, 4); /* 4 hangs off the ring */
	waits_for(m, 3, 1);
	waits_for(m, 5, 5); /* itself */
	waits_for(m, 6, 7);
	waits_for(m, 7, 6);
	waits_for(m, 7, 1);
	CHECK(model_rings(m, &ring, &rings) == ERR_OK);
	CHECK_EQUAL(rings, 3);
	for (uint32_t i = 0; i < 9; i++)
		CHECK_EQUAL(ring[i], want[i]);
	free(ring);
	model_clear(m);
	CHECK(model_rings(m, &ring, &rings) == ERR_OK);
	CHECK_EQUAL(rings, 0);
	free(ring);
	model_destroy(m);
}

/* 100,000 tasks, each awaiting the next, the last the first: one ring, no recursion. */
static void test_deep_ring(void)
{
	struct model *m = new_model();
	uint32_t n = 100000, *ring = NULL, rings = 0;

	for (uint32_t i = 0; i < n; i++)
		model_add_task(m, 16 + i);
	for (uint32_t i = 0; i < n; i++)
		waits_for(m, i, (i + 1) % n);
	CHECK(model_rings(m, &ring, &rings) == ERR_OK);
	CHECK_EQUAL(rings, 1);
	CHECK_EQUAL(ring[0], 1);
	CHECK_EQUAL(ring[n - 1], 1);
	free(ring);
	model_destroy(m);
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* The time is printed, not judged: machines differ. Memory is judged. */
static void test_cost(void)
{
	struct model *m = new_model();
	double start = seconds();
	size_t bytes;

	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t row = model_add_task(m, 0x7f0000000000 + i * 352ull), chain = NONE;
		char name[32];

		snprintf(name, sizeof(name), "worker-%u", i);
		m->tasks.v[row].name = model_text(m, str_from(name));
		m->tasks.v[row].cls = model_intern_string(m, STR_LIT("Task"));
		for (int f = 0; f < 3; f++)
			chain = model_push(m, chain,
					   model_intern_frame(m, STR_LIT("Connection.handle"),
							      STR_LIT("/srv/app/server.py"), f));
		m->tasks.v[row].chain = chain;
		m->tasks.v[row].awaits.detail = STR_LIT("sleep");
		if (row)
			waits_for(m, row, row - 1);
	}
	CHECK(model_finish(m) == ERR_OK);
	bytes = m->tasks.capacity * sizeof(*m->tasks.v) + m->edges.capacity * 8ul + m->text.used +
		(8ul << 18);
	printf("100,000 tasks: %.1f ms, %.1f MB\n", (seconds() - start) * 1e3, (double)bytes / 1e6);
	CHECK(bytes < 30000000);
	CHECK_EQUAL(m->chains.count, 3);
	model_destroy(m);
}

static void test_names(void)
{
	for (int k = 0; k < AWAITS_NOTHING; k++)
		CHECK(await_kind_name((enum await_kind)k) != NULL);
	CHECK(await_kind_name(AWAITS_NOTHING) == NULL);
	CHECK(task_state_name(TASK_UNKNOWN) == NULL);
	CHECK_TEXT(task_state_name(TASK_CANCELLED), "cancelled");
	CHECK(loop_state_name(LOOP_UNKNOWN) == NULL);
	CHECK_TEXT(loop_state_name(LOOP_CLOSED), "closed");
	CHECK_TEXT(await_kind_name(AWAITS_NOT_STARTED), "not-started");
	CHECK_TEXT(thread_state_name(THREAD_ZOMBIE), "zombie");
	CHECK_TEXT(snapshot_method_name(SNAPSHOT_TORN), "torn");
}

/* A sentence that is too long ends with a whole character. */
static void test_long_sentences(void)
{
	for (uint32_t before = 995; before <= 1002; before++) {
		struct model *m = new_model();
		uint32_t whole = before + 2 <= 1000 ? before + 2 : before <= 1000 ? before : 1000;
		uint32_t finding = finding_add(m, "lost-wakeup", SEVERITY_INFO);

		finding_summary(m, finding, "%*s\xc3\xa9", (int)before, "");
		CHECK_EQUAL(m->findings.v[finding].summary.len, whole);
		model_destroy(m);
	}
}

int main(void)
{
	test_rows();
	test_interning();
	test_clear();
	test_edges();
	test_rings();
	test_deep_ring();
	test_cost();
	test_names();
	test_long_sentences();
	return check_result("test_model");
}
