/* SPDX-License-Identifier: Apache-2.0 */
/* What run's reports stand on: XML that is valid whatever goes in, the place that a process is stuck at, and digests that tell what moved. */
#include "model/digest.h"
#include "model/finding.h"
#include "report/junit.h"
#include "tests/unit/check.h"

#include <stdlib.h>

static void check_escaped(struct str from, const char *want)
{
	struct text t = {0};

	xml_escape(&t, from);
	CHECK_TEXT(t.v, want);
	text_deinit(&t);
}

static void test_escapes(void)
{
	check_escaped(STR_LIT("a<b>&\"c\"'"), "a&lt;b&gt;&amp;&quot;c&quot;'");
	check_escaped(STR_LIT("]]>"), "]]&gt;");
	check_escaped(STR_LIT("a\tb\nc\rd"), "a&#9;b\nc&#13;d");
	check_escaped(STR_LIT("\0\x01\x1b\x7f"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\x7f");
	/* Surrogates, what is no character, above the last one, cut short, overlong. */
	check_escaped(STR_LIT("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	check_escaped(STR_LIT("\xef\xbf\xbe\xef\xbf\xbf"), "\xef\xbf\xbd\xef\xbf\xbd");
	check_escaped(STR_LIT("\xf4\x90\x80\x80"),
		      "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	check_escaped(STR_LIT("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");
	check_escaped(STR_LIT("\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd");
	check_escaped(STR_LIT("\xe2\x82\xac\xf0\x9f\x98\x80"), "\xe2\x82\xac\xf0\x9f\x98\x80");
}

static uint32_t push(struct model *m, uint32_t outer, const char *function, const char *file,
		     int32_t line)
{
	return model_push(m, outer,
			  model_intern_frame(m, str_from(function), str_from(file), line));
}

/* Two tasks: of "outer" none waits, "inner" is awaited by it. */
static struct model *two_tasks(void)
{
	struct model *m = NULL;
	uint32_t outer, inner, edge;

	CHECK(model_create(&m) == ERR_OK);
	model_add_loop(m, 0x10);
	model_add_thread(m, 7);
	m->loops.v[0].state = LOOP_POLLING;
	m->loops.v[0].thread = 0;
	m->threads.v[0].times_read = true;
	m->threads.v[0].chain = push(m, NONE, "main", "/srv/main.py", 3);
	inner = model_add_task(m, 0x1000);
	outer = model_add_task(m, 0x2000);
	edge = model_add_edge(m, inner);
	m->tasks.v[inner].name = STR_LIT("inner");
	m->tasks.v[outer].name = STR_LIT("outer");
	m->tasks.v[inner].chain = push(m, NONE, "inner", "/srv/app.py", 20);
	m->tasks.v[outer].chain = push(m, push(m, NONE, "outer", "/srv/app.py", 10), "gather",
				       "/usr/lib/python3.12/asyncio/tasks.py", 99);
	m->tasks.v[inner].loop = m->tasks.v[outer].loop = 0;
	m->tasks.v[inner].awaits.kind = AWAITS_EVENT;
	m->tasks.v[outer].awaits.kind = AWAITS_GATHER;
	m->tasks.v[outer].awaits.tasks_first = edge;
	m->tasks.v[outer].awaits.tasks_count = 1;
	CHECK(model_finish(m) == ERR_OK);
	return m;
}

static int32_t line_of(const struct stuck_process *p)
{
	uint32_t frame = stuck_place(p);

	return frame == NONE ? -1 : p->picture->frames.v[frame].line;
}

static void test_places(void)
{
	struct model *m = two_tasks();
	struct stuck_process p = {.pid = 7, .picture = m, .python = true};
	uint32_t finding;

	CHECK_EQUAL(line_of(&p), 10);
	m->loops.v[0].current_task = 0;
	CHECK_EQUAL(line_of(&p), 20);
	finding = finding_add(m, "lost-wakeup", SEVERITY_CRITICAL);
	m->findings.v[finding].task = 1;
	CHECK_EQUAL(line_of(&p), 10);
	/* Where all tasks stand in libraries, a thread has to tell. */
	m->tasks.v[0].chain = m->tasks.v[1].chain = NONE;
	CHECK_EQUAL(line_of(&p), 3);
	m->threads.v[0].chain = NONE;
	CHECK_EQUAL(line_of(&p), -1);
	model_destroy(m);
}

/* Digest of two_tasks after a change. */
#define DIGEST(...)                            \
	({                                     \
		struct model *m = two_tasks(); \
		uint64_t digest_;              \
		__VA_ARGS__;                   \
		digest_ = model_digest(m);     \
		model_destroy(m);              \
		digest_;                       \
	})

static void test_digests(void)
{
	uint64_t still = DIGEST();

	CHECK(DIGEST() == still);
	/* What passes by itself. */
	CHECK(DIGEST(m->tasks.v[0].awaits.left = 4) == still);
	CHECK(DIGEST(m->loops.v[0].time = 4) == still);
	CHECK(DIGEST(m->threads.v[0].cpu_ns = 4) == still);
	CHECK(DIGEST(m->snapshot.wall_time = 4) == still);
	/* What moves. */
	CHECK(DIGEST(m->tasks.v[0].state = TASK_DONE) != still);
	CHECK(DIGEST(m->tasks.v[0].must_cancel = true) != still);
	CHECK(DIGEST(m->tasks.v[0].awaits.kind = AWAITS_LOCK) != still);
	CHECK(DIGEST(m->tasks.v[0].awaits.id = 4) != still);
	CHECK(DIGEST(m->tasks.v[0].chain = m->tasks.v[1].chain) != still);
	CHECK(DIGEST(m->tasks.v[0].name = STR_LIT("other")) != still);
	CHECK(DIGEST(model_add_task(m, 0x3000)) != still);
	CHECK(DIGEST(m->loops.v[0].current_task = 1) != still);
	CHECK(DIGEST(m->loops.v[0].ready_count = 1) != still);
	CHECK(DIGEST(m->loops.v[0].turn_since = 1) != still);
	CHECK(DIGEST(m->loops.v[0].turn_index = 1) != still);
	CHECK(DIGEST(m->threads.v[0].chain = NONE) != still);
	/* A loop that polls wakes for a turn alone; one in a callback may have a thread that wakes for nothing. */
	CHECK(DIGEST(m->threads.v[0].run_count = 4) != still);
	CHECK(DIGEST(m->loops.v[0].state = LOOP_RUNNING; m->threads.v[0].run_count = 4) ==
	      DIGEST(m->loops.v[0].state = LOOP_RUNNING));
}

int main(void)
{
	test_escapes();
	test_places();
	test_digests();
	return check_result("test_run_report");
}
