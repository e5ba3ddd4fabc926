/* SPDX-License-Identifier: Apache-2.0 */
/* blocked-loop on pictures made by hand: what its thread sleeps in decides whether the callback holds it. */
#include "detect/detect.h"
#include "tests/unit/picture.h"

/* One callback of one turn, whose thread has run for `cpu` seconds so far; syscall NULL: in none. */
static struct model *look(double when, double cpu, enum thread_state state, const char *syscall)
{
	struct model *m = picture_new(when);
	struct loop *l = &m->loops.v[0];
	struct thread *t = &m->threads.v[0];

	l->state = LOOP_RUNNING;
	l->running = model_add_handle(m, 0x30);
	l->turn_since = 99;
	l->turn_index = 0;
	t->state = state;
	t->cpu_ns = (uint64_t)(cpu * 1e9);
	t->run_count = 5;
	t->syscall = syscall ? model_text(m, str_from(syscall)) : (struct str){0};
	picture_need(model_finish(m) == ERR_OK);
	return m;
}

/* Findings of three looks, 0.2 s apart. */
static uint32_t found(enum thread_state state, const char *syscall, double cpu_each)
{
	struct model *looks[3];
	struct detection d = {.looks = (const struct model *const *)looks,
			      .count = 3,
			      .limits = {.blocked_after = 0.1}};
	uint32_t count;

	for (int i = 0; i < 3; i++)
		looks[i] = look(100 + 0.2 * i, cpu_each * i, state, syscall);
	d.now = looks[2];
	picture_need(detect_run(&d, UINT32_MAX) == ERR_OK);
	count = d.now->findings.count;
	for (uint32_t i = 0; i < count; i++)
		CHECK_TEXT(d.now->findings.v[i].id, "blocked-loop");
	for (int i = 0; i < 3; i++)
		model_destroy(looks[i]);
	return count;
}

int main(void)
{
	CHECK_EQUAL(found(THREAD_SLEEPING, "read", 0), 1);
	CHECK_EQUAL(found(THREAD_DISK, "fsync", 0), 1);
	CHECK_EQUAL(found(THREAD_RUNNING, NULL, 0.2), 1);
	/* For a page, or for the map of its memory, which its reader holds too. */
	CHECK_EQUAL(found(THREAD_DISK, NULL, 0), 0);
	CHECK_EQUAL(found(THREAD_DISK, "mmap", 0), 0);
	CHECK_EQUAL(found(THREAD_SLEEPING, "madvise", 0), 0);
	/* What it did on the CPU beside that still counts. */
	CHECK_EQUAL(found(THREAD_DISK, "munmap", 0.2), 1);
	return check_result("blocked");
}
