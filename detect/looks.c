/* SPDX-License-Identifier: Apache-2.0 */
/* See looks.h. */
#include "detect/looks.h"

#define STACK_CARRIED 100u /* innermost frames of a stack that go into another look */

double looks_span(const struct detection *d)
{
	return d->now->snapshot.monotonic - d->looks[0]->snapshot.monotonic;
}

bool looks_consistent(const struct detection *d)
{
	for (uint32_t i = 0; i < d->count; i++) {
		if (!d->looks[i]->snapshot.consistent)
			return false;
	}
	return true;
}

const struct loop *looks_loop(const struct detection *d, uint32_t look, const struct loop *newest)
{
	const struct model *m = d->looks[look];
	uint32_t row = model_find_loop(m, newest->id);

	return row == NONE ? NULL : &m->loops.v[row];
}

/* An address may be used again by another task, which has another name as a rule. */
const struct task *looks_task(const struct detection *d, uint32_t look, const struct task *newest)
{
	const struct model *m = d->looks[look];
	uint32_t row = model_find_task(m, newest->id);

	if (row == NONE || !str_equal(m->tasks.v[row].name, newest->name))
		return NULL;
	return &m->tasks.v[row];
}

const struct thread *looks_thread(const struct detection *d, uint32_t look,
				  const struct thread *newest)
{
	const struct model *m = d->looks[look];
	uint32_t row = model_find_thread(m, newest->tid);

	return row == NONE ? NULL : &m->threads.v[row];
}

bool looks_running(const struct loop *l)
{
	return l->state == LOOP_RUNNING || l->state == LOOP_BLOCKED;
}

bool looks_polling(const struct loop *l)
{
	return l->state == LOOP_POLLING || l->state == LOOP_STALLED;
}

uint32_t looks_intruder(const struct model *m, uint32_t loop)
{
	uint32_t own = m->loops.v[loop].thread;

	for (uint32_t i = 0; own != NONE && i < m->threads.count; i++) {
		if (m->threads.v[i].loop == loop && i != own)
			return i;
	}
	return NONE;
}

static bool same_frame(const struct frame *a, const struct frame *b)
{
	return a->line == b->line && str_equal(a->function, b->function) &&
	       str_equal(a->file, b->file);
}

bool looks_same_chain(const struct model *a, uint32_t chain_a, const struct model *b,
		      uint32_t chain_b)
{
	while (chain_a != NONE && chain_b != NONE) {
		const struct chain *x = &a->chains.v[chain_a], *y = &b->chains.v[chain_b];

		if (x->depth != y->depth ||
		    !same_frame(&a->frames.v[x->frame], &b->frames.v[y->frame]))
			return false;
		chain_a = x->outer;
		chain_b = y->outer;
	}
	return chain_a == chain_b;
}

static bool contains(struct str s, const char *part)
{
	size_t n = strlen(part);

	for (size_t i = 0; i + n <= s.len; i++) {
		if (memcmp(s.ptr + i, part, n) == 0)
			return true;
	}
	return false;
}

/* ".../lib/python3.12/json/decoder.py", "<frozen importlib._bootstrap>"; test suites and programs of the target's own are not below such a folder. */
bool looks_is_own(const struct frame *f)
{
	return !(f->library || str_starts_with(f->file, "<frozen ") ||
		 contains(f->file, "/lib/python3") || contains(f->file, "/lib64/python3") ||
		 contains(f->file, "/site-packages/") || contains(f->file, "/dist-packages/"));
}

uint32_t looks_own_frame(const struct model *m, uint32_t chain)
{
	for (; chain != NONE; chain = m->chains.v[chain].outer) {
		if (looks_is_own(&m->frames.v[m->chains.v[chain].frame]))
			return m->chains.v[chain].frame;
	}
	return NONE;
}

uint32_t looks_innermost(const struct model *m, uint32_t chain)
{
	return chain == NONE ? NONE : m->chains.v[chain].frame;
}

uint32_t looks_frame_now(const struct detection *d, const struct model *then, uint32_t frame)
{
	const struct frame *f;
	uint32_t row;

	if (frame == NONE || then == d->now)
		return frame;
	f = &then->frames.v[frame];
	row = model_intern_frame(d->now, f->function, f->file, f->line);
	if (row != NONE)
		d->now->frames.v[row].library = f->library;
	return row;
}

uint32_t looks_stack_now(const struct detection *d, const struct model *then, uint32_t chain)
{
	uint32_t nodes[STACK_CARRIED], count = 0, node = NONE;

	if (then == d->now)
		return chain;
	for (; chain != NONE && count < STACK_CARRIED; chain = then->chains.v[chain].outer)
		nodes[count++] = then->chains.v[chain].frame;
	while (count > 0)
		node = model_push(d->now, node, looks_frame_now(d, then, nodes[--count]));
	return node;
}

struct str looks_task_name(const struct task *t)
{
	return t->name.ptr ? t->name : STR_LIT("?");
}

struct str looks_place(struct model *m, uint32_t frame)
{
	const struct frame *f = frame == NONE ? NULL : &m->frames.v[frame];
	uint32_t start;

	if (!f)
		return STR_LIT("?");
	start = f->file.len;
	while (start > 0 && f->file.ptr[start - 1] != '/')
		start--;
	if (f->line <= 0)
		return (struct str){f->file.ptr + start, f->file.len - start};
	return model_printf(m, "%.*s:%d", (int)(f->file.len - start),
			    f->file.ptr ? f->file.ptr + start : "", f->line);
}
