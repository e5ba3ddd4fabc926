/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are hashed one by one and added up, since sets of tasks have no order. */
#include "model/digest.h"

#include <math.h>
#include <stdlib.h>

/* The finalizer of splitmix64 over a running value. */
static uint64_t mix(uint64_t h, uint64_t v)
{
	h ^= v + 0x9e3779b97f4a7c15u;
	h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
	h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
	return h ^ (h >> 31);
}

static uint64_t mix_text(uint64_t h, struct str s)
{
	for (uint32_t i = 0; i < s.len; i++)
		h = (h ^ (unsigned char)s.ptr[i]) * 0x100000001b3u;
	return mix(h, s.len);
}

static uint64_t mix_double(uint64_t h, double d)
{
	uint64_t bits = 0;

	if (!isnan(d))
		memcpy(&bits, &d, sizeof(bits));
	return mix(h, bits);
}

/* Chains are told by what stands in them: rows have other numbers in the next picture. */
static uint64_t mix_chain(uint64_t h, const struct model *m, uint32_t chain)
{
	for (; chain != NONE; chain = m->chains.v[chain].outer) {
		const struct frame *f = &m->frames.v[m->chains.v[chain].frame];

		h = mix_text(h, f->function);
		h = mix_text(h, f->file);
		h = mix(h, (uint64_t)(uint32_t)f->line);
	}
	return mix(h, 1);
}

static uint64_t of_task(const struct model *m, const struct task *t)
{
	uint64_t h = mix_text(mix(2, t->id), t->name);

	h = mix(h, (uint64_t)t->state << 1 | t->must_cancel);
	h = mix(h, t->cancelling);
	h = mix(h, (uint64_t)t->awaits.kind);
	h = mix(h, t->awaits.id);
	return mix_chain(h, m, t->chain);
}

static uint64_t of_loop(const struct model *m, const struct loop *l)
{
	const struct thread *t = l->thread == NONE ? NULL : &m->threads.v[l->thread];
	uint64_t h = mix(3, l->id);

	h = mix(h, l->current_task == NONE ? 0 : m->tasks.v[l->current_task].id);
	h = mix(h, l->ready_count);
	h = mix(h, l->timers_count);
	for (uint32_t i = 0; i < l->timers_rows; i++)
		h = mix_double(h, m->handles.v[l->timers_first + i].due);
	h = mix_double(h, l->turn_since);
	h = mix(h, (uint64_t)l->turn_index);
	if (t && t->times_read && l->state == LOOP_POLLING)
		h = mix(h, t->run_count);
	return h;
}

static uint64_t of_thread(const struct model *m, const struct thread *t)
{
	return mix_chain(mix(4, (uint64_t)t->tid), m, t->chain);
}

uint64_t model_digest(const struct model *m)
{
	uint64_t sum = 1;

	for (uint32_t i = 0; i < m->tasks.count; i++)
		sum += of_task(m, &m->tasks.v[i]);
	for (uint32_t i = 0; i < m->loops.count; i++)
		sum += of_loop(m, &m->loops.v[i]);
	for (uint32_t i = 0; i < m->threads.count; i++)
		sum += of_thread(m, &m->threads.v[i]);
	return sum;
}
