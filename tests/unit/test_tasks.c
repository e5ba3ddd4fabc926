/* SPDX-License-Identifier: Apache-2.0 */
/* Linked lists of tasks (CPython 3.14) on hand-made images: whole ones, ones that do not close, and nodes that are no tasks. */
#include "tests/unit/check.h"
#include "tests/unit/process.h"

#define INTERP	    ((vaddr)0x10000000)
#define THREAD	    ((vaddr)0x20000000)
#define TYPES	    ((vaddr)0x30000000)
#define TASK_TYPE   (TYPES + 0x1000)
#define OBJECT_TYPE (TYPES + 0x2000)
#define TYPE_TYPE   (TYPES + 0x3000)
#define NAMES	    (TYPES + 0x8000)
#define TASKS	    ((vaddr)0x40000000)
#define STRIDE	    0x100u

static void put_type(struct process *p, vaddr type, vaddr name, const char *text, vaddr base)
{
	put(p, type + p->lay.object_type.offset, TYPE_TYPE);
	put(p, type + p->lay.type_name.offset, name);
	put(p, type + p->lay.type_base.offset, base);
	put(p, type + p->lay.type_basicsize.offset, p->lay.task_sizeof);
	put_bytes(p, name, text, strlen(text) + 1);
}

static vaddr task_at(size_t i)
{
	return TASKS + STRIDE * i;
}

static vaddr node_at(const struct process *p, size_t i)
{
	return task_at(i) + p->lay.task_node.offset;
}

static vaddr head_at(const struct process *p, size_t thread)
{
	return THREAD + 0x1000 * thread + p->lay.thread_asyncio_tasks_head.offset;
}

static void link_nodes(struct process *p, vaddr first, vaddr second)
{
	put(p, first, second);
	put(p, second + 8, first);
}

/* Tasks [first, first + count) as the list at `head`, in order. */
static void make_list(struct process *p, vaddr head, size_t first, size_t count)
{
	vaddr last = head;

	for (size_t i = first; i < first + count; i++) {
		put(p, task_at(i) + p->lay.object_type.offset, TASK_TYPE);
		link_nodes(p, last, node_at(p, i));
		last = node_at(p, i);
	}
	link_nodes(p, last, head);
}

/* `count` tasks in the list of the first thread; the other lists are empty. */
static struct process *new_process(size_t count)
{
	struct process *p = process_create();

	p->interp.at = INTERP;
	for (size_t i = 0; i < 2; i++)
		p->threads[i] = (struct thread_ref){
			.walk = {.at = THREAD + 0x1000 * i, .interp = INTERP}, .row = NONE};
	p->a = (struct asyncio){.r = &p->r,
				.interps = &p->interp,
				.interp_count = 1,
				.threads = p->threads,
				.thread_count = 2};
	put_type(p, TYPE_TYPE, NAMES, "type", OBJECT_TYPE);
	put(p, TYPE_TYPE + p->lay.type_flags.offset, FLAG_TYPE_SUBCLASS);
	put_type(p, OBJECT_TYPE, NAMES + 0x40, "object", 0);
	put_type(p, TASK_TYPE, NAMES + 0x80, "_asyncio.Task", OBJECT_TYPE);
	make_list(p, INTERP + p->lay.interp_asyncio_tasks_head.offset, 0, 0);
	make_list(p, head_at(p, 0), 0, count);
	make_list(p, head_at(p, 1), count, 0);
	return p;
}

/* Reads all lists and compares how many tasks were found, and whether that is said to be all. */
static void check_tasks(struct process *p, size_t count, bool truncated)
{
	CHECK_EQUAL(tasks_enumerate(&p->a, &p->interp), ERR_OK);
	CHECK_EQUAL(p->model->tasks.count, count);
	CHECK_EQUAL(p->model->tasks_truncated, truncated);
}

static void test_whole_lists(void)
{
	struct process *p = new_process(5);

	make_list(p, head_at(p, 1), 5, 3);
	make_list(p, INTERP + p->lay.interp_asyncio_tasks_head.offset, 8, 1);
	check_tasks(p, 9, false);
	for (uint32_t i = 0; i < 8; i++)
		CHECK_EQUAL(model_find_task(p->model, task_at(i)),
			    i + 1); /* by age; the task of a dead thread first */
	CHECK_EQUAL(tasks_interpreter(&p->a, 3), 0);
	process_destroy(p);
}

static void test_empty_lists(void)
{
	struct process *p = new_process(0);

	put(p, head_at(p, 1), 0); /* a thread state that is being made */
	check_tasks(p, 0, false);
	process_destroy(p);
}

static void test_long_list(void)
{
	struct process *p = new_process(20000);

	check_tasks(p, 20000, false);
	CHECK_EQUAL(model_find_task(p->model, task_at(19999)), 19999);
	tasks_prefetch(&p->a);
	process_destroy(p);
}

static void test_self_linked(void)
{
	struct process *p = new_process(10);

	put(p, node_at(p, 3), node_at(p, 3));
	check_tasks(p, 10, true); /* those behind it are found from the other end */
	process_destroy(p);
}

static void test_ring_without_head(void)
{
	struct process *p = new_process(300);

	put(p, node_at(p, 200), node_at(p, 100));
	put(p, node_at(p, 250) + 8, node_at(p, 260));
	check_tasks(p, 201 + 50, true);
	process_destroy(p);
}

static void test_rubbish(void)
{
	static const vaddr rubbish[] = {0,
					1,
					8,
					NOWHERE,
					UINT64_MAX,
					UINT64_MAX - 7,
					TYPES,
					TASKS + STRIDE * 50,
					0x8000000000000000u};

	for (size_t i = 0; i < sizeof(rubbish) / sizeof(rubbish[0]); i++) {
		struct process *p = new_process(10);

		put(p, node_at(p, 4), rubbish[i]);
		check_tasks(p, 10, true);
		process_destroy(p);
		p = new_process(10);
		put(p, head_at(p, 0), rubbish[i]);
		put(p, head_at(p, 0) + 8, rubbish[i]);
		check_tasks(p, 0, rubbish[i] != 0);
		process_destroy(p);
	}
}

static void test_other_type(void)
{
	struct process *p = new_process(10);

	put(p, task_at(4) + p->lay.object_type.offset, OBJECT_TYPE);
	put(p, task_at(6) + p->lay.object_type.offset, NOWHERE);
	check_tasks(p, 4 + 3, true);
	process_destroy(p);
}

static void test_in_two_lists(void)
{
	struct process *p = new_process(4);

	put(p, head_at(p, 1),
	    node_at(p, 2)); /* torn: a list's head still names a node that moved */
	check_tasks(p, 4, true);
	process_destroy(p);
}

static void test_unmapped_thread(void)
{
	struct process *p = new_process(4);

	p->threads[1].walk.at = NOWHERE;
	check_tasks(p, 4, true);
	process_destroy(p);
}

int main(void)
{
	test_whole_lists();
	test_empty_lists();
	test_long_list();
	test_self_linked();
	test_ring_without_head();
	test_rubbish();
	test_other_type();
	test_in_two_lists();
	test_unmapped_thread();
	return check_result("tasks");
}
