/* SPDX-License-Identifier: Apache-2.0 */
/* Tree and table of hand-made models: rings, shared children, folding, depth, hostile names. */
#include "report/report.h"
#include "report/json.h"
#include "tests/unit/picture.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

static const struct report_options utf8 = {.style = {.utf8 = true}};
static const struct report_options ascii = {.style = {.utf8 = false}};
static const struct report_options unfolded = {.style = {.utf8 = true}, .no_fold = true};

typedef enum err (*render)(FILE *out, const struct model *m, const struct report_options *o,
			   struct error *e);

/* malloc'ed. */
static char *rendered(render how, struct model *m, const struct report_options *o)
{
	struct error e = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(model_finish(m) == ERR_OK);
	CHECK(how(out, m, o, &e) == ERR_OK);
	fclose(out);
	CHECK_EQUAL(strlen(text), size);
	return text;
}

static struct model *new_model(void)
{
	struct model *m = NULL;
	static struct str command[2] = {{"python", 6}, {"app.py", 6}};
	uint32_t loop, thread;

	if (model_create(&m) != ERR_OK)
		exit(1);
	m->target.pid = 17;
	m->target.command = command;
	m->target.command_count = 2;
	m->target.layout = "table";
	strcpy(m->target.python, "3.12.1");
	m->snapshot = (struct snapshot_info){.method = SNAPSHOT_STILL,
					     .consistent = true,
					     .duration_us = 2100,
					     .wall_time = 1.5};
	loop = model_add_loop(m, 0x10);
	thread = model_add_thread(m, 17);
	m->threads.v[thread].name = STR_LIT("python");
	m->threads.v[thread].state = THREAD_SLEEPING;
	m->loops.v[loop].thread = thread;
	m->loops.v[loop].cls = model_intern_string(m, STR_LIT("_UnixSelectorEventLoop"));
	m->loops.v[loop].state = LOOP_POLLING;
	return m;
}

static uint32_t add_task(struct model *m, struct str name)
{
	uint32_t row = model_add_task(m, 0x1000 + 16ull * m->tasks.count);
	struct task *t = &m->tasks.v[row];
	uint32_t chain = model_push(
		m, NONE, model_intern_frame(m, STR_LIT("work"), STR_LIT("/srv/app.py"), 12));

	t->name = model_text(m, name);
	t->cls = model_intern_string(m, STR_LIT("Task"));
	t->loop = 0;
	t->state = TASK_PENDING;
	t->chain = chain;
	t->awaits.kind = AWAITS_SLEEP;
	t->awaits.left = 30 + row;
	return row;
}

/* No strstr: under AddressSanitizer it measures the whole text each time. */
static size_t count_of(const char *text, const char *what)
{
	size_t n = 0, len = strlen(what);

	for (; *text; text++)
		n += *text == *what && strncmp(text, what, len) == 0;
	return n;
}

static void test_small(void)
{
	struct model *m = new_model();
	uint32_t a = add_task(m, STR_LIT("Task-1")), b = add_task(m, STR_LIT("fetch"));
	uint32_t c = m->tasks.v[b].chain;
	char *text;

	m->tasks.v[b].chain = model_push(
		m, c,
		model_intern_frame(m, STR_LIT("sleep"),
				   STR_LIT("/usr/lib/python3.12/asyncio/tasks.py"), 665));
	m->tasks.v[b].cancelling = 2;
	picture_awaits(m, a, b);
	text = rendered(tree_render, m, &utf8);
	CHECK_TEXT(text,
		   "process 17: python app.py (CPython 3.12.1)\n"
		   "2 tasks in 1 loop, 1 thread: 1 task, 1 sleep\n"
		   "\n"
		   "loop _UnixSelectorEventLoop, thread 17 \"python\", polling, 2 tasks\n"
		   "└─ Task-1 → task fetch\n"
		   "   │ work  app.py:12\n"
		   "   └─ fetch [cancel requested 2 times] → sleep, 31.0 s left\n"
		   "        work   app.py:12\n"
		   "        sleep  asyncio/tasks.py:665\n"
		   "\n"
		   "snapshot: still (no thread ran meanwhile), nothing stopped, took 2.1 ms\n");
	free(text);
	text = rendered(table_render, m, &utf8);
	CHECK_TEXT(
		text,
		"process 17: python app.py (CPython 3.12.1)\n"
		"2 tasks in 1 loop, 1 thread: 1 task, 1 sleep\n"
		"\n"
		"TASK    NAME    STATE                              WAITS ON    TIME LEFT  WHERE\n"
		"0x1000  Task-1  pending                            task fetch             work app.py:12\n"
		"0x1010  fetch   pending, cancel requested 2 times  sleep       31.0 s     work app.py:12\n"
		"\n"
		"snapshot: still (no thread ran meanwhile), nothing stopped, took 2.1 ms\n");
	free(text);
	model_destroy(m);
}

/* a -> b -> c -> a, and d leads into it: from d the ring is met once, and ends. */
static void test_ring(void)
{
	struct model *m = new_model();
	uint32_t a = add_task(m, STR_LIT("a")), b = add_task(m, STR_LIT("b"));
	uint32_t c = add_task(m, STR_LIT("c")), self;
	char *text;

	picture_awaits(m, a, b);
	picture_awaits(m, b, c);
	picture_awaits(m, c, a);
	self = add_task(m, STR_LIT("self"));
	picture_awaits(m, self, self);
	text = rendered(tree_render, m, &ascii);
	CHECK(strstr(text, "|- a -> task b\n"));
	CHECK(strstr(text, "|        `- @ a  a ring: 3 tasks wait for each other\n"));
	CHECK(strstr(text, "   `- @ self  a ring: it waits for itself\n"));
	free(text);
	picture_awaits(m, add_task(m, STR_LIT("d")), b);
	text = rendered(tree_render, m, &ascii);
	CHECK(strstr(text, "|- d -> task b\n"));
	CHECK_EQUAL(count_of(text, "a ring: 3"), 1);
	CHECK_EQUAL(count_of(text, "-> task c\n"), 1);
	free(text);
	model_destroy(m);
}

static void test_shared(void)
{
	struct model *m = new_model();
	uint32_t shared = add_task(m, STR_LIT("shared")), deep = add_task(m, STR_LIT("deep"));
	char *text;

	picture_awaits(m, shared, deep);
	for (int i = 0; i < 3; i++)
		picture_awaits(m,
			       add_task(m, i == 0   ? STR_LIT("x")
					   : i == 1 ? STR_LIT("y")
						    : STR_LIT("z")),
			       shared);
	text = rendered(tree_render, m, &utf8);
	CHECK_EQUAL(count_of(text, "↑ shared  (shown above)\n"), 2);
	CHECK_EQUAL(count_of(text, "shared → task deep\n"), 1);
	CHECK_EQUAL(count_of(text, "deep → sleep"), 1);
	free(text);
	model_destroy(m);
}

/* 10,000 workers, each with a child of its own; four that share one; one that differs. */
static void test_fold(void)
{
	struct model *m = new_model();
	uint32_t shared = add_task(m, STR_LIT("shared"));
	char *text, name[32];

	for (int i = 0; i < 10000; i++) {
		uint32_t child, worker;

		snprintf(name, sizeof(name), "child-%d", i);
		child = add_task(m, str_from(name));
		snprintf(name, sizeof(name), "worker-%d", i);
		worker = add_task(m, str_from(name));
		picture_awaits(m, worker, child);
		if (i == 77)
			m->tasks.v[child].awaits.kind = AWAITS_EVENT;
	}
	for (int i = 0; i < 4; i++)
		picture_awaits(m, add_task(m, STR_LIT("sharer")), shared);
	text = rendered(tree_render, m, &utf8);
	CHECK(strstr(text,
		     "├─ worker-0 … worker-9999  × 9,999 → task child-0 (and others like it)\n") ||
	      strstr(text, "├─ worker-0 … worker-9999  × 9,999 → task child-0\n"));
	CHECK(strstr(text,
		     "│  └─ child-0 … child-9999  × 9,999 → sleep, 31.0 s … 5 h 33 m left\n"));
	CHECK(strstr(text, "worker-77 → task child-77\n"));
	CHECK(strstr(text, "child-77 → event"));
	CHECK(strstr(text, "sharer  × 4 → task shared\n"));
	CHECK_EQUAL(count_of(text, "shared → sleep"), 1);
	CHECK(count_of(text, "\n") < 30);
	free(text);
	text = rendered(tree_render, m, &unfolded);
	CHECK_EQUAL(count_of(text, "×"), 0);
	CHECK_EQUAL(count_of(text, "work  app.py:12\n"), m->tasks.count);
	free(text);
	text = rendered(table_render, m, &utf8);
	CHECK(count_of(text, "\n") < 20);
	CHECK(strstr(text, "× 10,000"));
	free(text);
	model_destroy(m);
}

/* 300 deep and 50,000 deep: neither recursion nor a square of blanks. */
static void test_deep(void)
{
	struct report_options shallow = utf8;
	struct model *m = new_model();
	uint32_t above = add_task(m, STR_LIT("top")), chain = NONE, row;
	char *text;

	for (int i = 0; i < 50000; i++) {
		row = add_task(m, STR_LIT("next"));
		picture_awaits(m, above, row);
		above = row;
	}
	text = rendered(tree_render, m, &utf8);
	CHECK(strstr(text, "(level 50001) next"));
	CHECK_EQUAL(count_of(text, "next"),
		    100000); /* once as a task, once as what is waited for */
	CHECK(strlen(text) < 20000000);
	free(text);
	shallow.max_depth = 2;
	text = rendered(tree_render, m, &shallow);
	CHECK(count_of(text, "\n") < 12);
	CHECK(strstr(text, "(waits for 1 more task below)\n"));
	free(text);
	text = rendered(table_render, m, &shallow);
	CHECK_EQUAL(count_of(text, "app.py:12\n"), 2);
	free(text);
	model_clear(m);
	model_destroy(m);

	m = new_model();
	row = add_task(m, STR_LIT("recursive"));
	for (int i = 0; i < 300; i++)
		chain = model_push(
			m, chain,
			model_intern_frame(m, STR_LIT("descend"), STR_LIT("/srv/app.py"), 5));
	m->tasks.v[row].chain = chain;
	text = rendered(tree_render, m, &utf8);
	CHECK(strstr(text, "descend  app.py:5  × 300\n"));
	free(text);
	model_destroy(m);
}

static void test_pattern(void)
{
	struct report_options o = utf8;
	struct model *m = new_model();
	uint32_t a = add_task(m, STR_LIT("Task-1")), b = add_task(m, STR_LIT("fetch-7"));
	uint32_t c = add_task(m, STR_LIT("below")), d = add_task(m, STR_LIT("aside"));
	char *text;

	picture_awaits(m, a, b);
	picture_awaits(m, a, d);
	picture_awaits(m, b, c);
	add_task(m, STR_LIT("other"));
	o.task_pattern = "fetch-*";
	for (int i = 0; i < 2; i++) {
		text = rendered(i ? table_render : tree_render, m, &o);
		CHECK(strstr(text, "Task-1") && strstr(text, "fetch-7") && strstr(text, "below"));
		CHECK(!strstr(text, "aside") && !strstr(text, "other"));
		CHECK(strstr(text, "5 tasks") && strstr(text, "shown here 3"));
		free(text);
	}
	o.task_pattern = "FETCH-*";
	text = rendered(tree_render, m, &o);
	CHECK(strstr(text, "no task has such a name\n"));
	free(text);
	model_destroy(m);
}

static bool printable(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < 32 && *text != '\n')
			return false;
	}
	return true;
}

static void test_hostile(void)
{
	static const struct {
		struct str name;
		const char *shown, *in_ascii;
	} names[] = {
		{STR_LIT("\033[2Jx"), " \\x1b[2Jx → ", " \\x1b[2Jx -> "},
		{STR_LIT("two\nlines\t."), " two\\nlines\\t. → ", " two\\nlines\\t. -> "},
		{{"nul\0l", 5}, " nul\\x00l → ", " nul\\x00l -> "},
		{STR_LIT("\xe2\x80\xae"
			 "rtl"),
		 " \\u202ertl → ", " \\u202ertl -> "},
		{STR_LIT("\xff\xc0\x80"), " \\xff\\xc0\\x80 → ", " \\xff\\xc0\\x80 -> "},
		{STR_LIT("\xed\xa0\x80"), " \\xed\\xa0\\x80 → ", " \\xed\\xa0\\x80 -> "},
		{STR_LIT("größe 日本"), " größe 日本 → ", " gr\\xf6\\xdfe \\u65e5\\u672c -> "},
		{STR_LIT("😀"), " 😀 → ", " \\U0001f600 -> "},
		{STR_LIT("\xc2\x9b"
			 "c1"),
		 " \\x9bc1 → ", " \\x9bc1 -> "},
		{STR_LIT(""), " \"\" → ", " \"\" -> "},
	};
	struct model *m = new_model();
	char *text, *long_name = malloc(100001);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		add_task(m, names[i].name);
	memset(long_name, 'n', 100000);
	long_name[100000] = 0;
	add_task(m, str_from(long_name));
	text = rendered(tree_render, m, &unfolded);
	CHECK(printable(text));
	CHECK(strlen(text) < 4000);
	CHECK(strstr(text, "nnn… → sleep"));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		check_that(strstr(text, names[i].shown) != NULL, names[i].shown, __FILE__,
			   __LINE__);
	free(text);
	text = rendered(tree_render, m, &(struct report_options){.no_fold = true});
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		check_that(strstr(text, names[i].in_ascii) != NULL, names[i].in_ascii, __FILE__,
			   __LINE__);
	for (const char *p = text; *p; p++) {
		if (!check_that(*p == '\n' || (*p >= 32 && *p < 127), "ASCII alone", __FILE__,
				__LINE__))
			break;
	}
	free(text);
	text = rendered(table_render, m, &unfolded);
	CHECK(printable(text));
	free(text);
	free(long_name);
	model_destroy(m);
}

static void test_narrow(void)
{
	struct report_options o = utf8;
	struct model *m = new_model();
	char *text, *line, *rest;

	add_task(m, STR_LIT("a name that is longer than a narrow terminal has room for"));
	m->tasks.v[0].awaits.detail =
		STR_LIT("tcp 127.0.0.1:5000 -> 127.0.0.1:6000 established, reading");
	o.style.width = 100;
	text = rendered(table_render, m, &o);
	CHECK(strstr(text, "…"));
	rest = strstr(text, "TASK");
	for (int i = 0; i < 2; i++) {
		line = strsep(&rest, "\n");
		CHECK(text_width(&o.style, str_from(line), SIZE_MAX) <= 100);
	}
	free(text);
	model_destroy(m);
}

static void test_other_lines(void)
{
	struct report_options o = utf8;
	struct model *m = new_model();
	uint32_t row = add_task(m, STR_LIT("lost"));
	char *text;

	m->tasks.v[row].loop = NONE;
	m->tasks.v[row].state = TASK_RUNNING;
	m->tasks.v[row].awaits.kind = AWAITS_RUNNING;
	m->tasks.v[row].awaits.left = NAN;
	m->threads.v[0].chain = m->tasks.v[row].chain;
	m->snapshot.method = SNAPSHOT_PAUSED;
	m->snapshot.paused_us = 400;
	o.threads = true;
	text = rendered(tree_render, m, &o);
	CHECK(strstr(text,
		     "no loop that could be read\n└─ lost [running]\n     work  app.py:12\n"));
	CHECK(strstr(text, "thread 17 \"python\", sleeping\n    work  app.py:12\n"));
	CHECK(strstr(text, "snapshot: paused, running threads stopped for 400 µs, took 2.1 ms\n"));
	free(text);
	m->snapshot.method = SNAPSHOT_TORN;
	m->snapshot.consistent = false;
	o.style.color = true;
	text = rendered(tree_render, m, &o);
	CHECK(strstr(text, "\033[1;31msnapshot: torn"));
	free(text);
	model_destroy(m);
}

static void test_full_disk(void)
{
	struct model *m = new_model();
	struct error e = {0};
	FILE *full = fopen("/dev/full", "w");

	add_task(m, STR_LIT("a"));
	CHECK(model_finish(m) == ERR_OK);
	setvbuf(full, NULL, _IONBF, 0);
	CHECK(tree_render(full, m, &utf8, &e) == ERR_SYSTEM);
	CHECK(table_render(full, m, &utf8, &e) == ERR_SYSTEM);
	CHECK(strstr(e.text, "No space left") != NULL);
	fclose(full);
	model_destroy(m);
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static enum err json_render(FILE *out, const struct model *m, const struct report_options *o,
			    struct error *e)
{
	(void)o;
	return json_document(out, m, e);
}

/* The times are printed, not judged: machines differ. */
static void test_cost(void)
{
	static const render how[] = {tree_render, tree_render, table_render, table_render,
				     json_render};
	static const char *const names[] = {"tree", "tree unfolded", "table", "table unfolded",
					    "json"};
	struct model *m = new_model();
	char name[32];

	for (int i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "worker-%d", i);
		add_task(m, str_from(name));
	}
	for (int i = 0; i < 5; i++) {
		double start = seconds();
		char *text = rendered(how[i], m, i & 1 ? &unfolded : &utf8);

		printf("100,000 tasks, %s: %.0f ms, %.1f MB\n", names[i], (seconds() - start) * 1e3,
		       (double)strlen(text) / 1e6);
		free(text);
	}
	model_destroy(m);
}

int main(void)
{
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		return 1;
	test_small();
	test_ring();
	test_shared();
	test_fold();
	test_deep();
	test_pattern();
	test_hostile();
	test_narrow();
	test_other_lines();
	test_full_disk();
	test_cost();
	return check_result("test_report");
}
