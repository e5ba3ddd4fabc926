/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The await chain of a task: from its coroutine inwards along what each suspended generator has on top of its stack, stepping through the objects
 * that only pass a send on; for what executes now, along the frames of the thread that executes it.
 */
#include "unwind/asyncio/asyncio.h"

#include <string.h>

#define CHAIN_FIRST 64u
#define HOPS_MAX    (4u * CHAIN_MAX) /* objects that are stepped through, frames or not */

/* Brent: a link seen again closes a ring. */
struct ring {
	vaddr mark;
	uint32_t hops, power;
};

static bool ring_closed(struct ring *k, vaddr link)
{
	if (link == k->mark)
		return true;
	if (k->hops == k->power) {
		k->mark = link;
		k->power = k->power ? 2 * k->power : 1;
		k->hops = 0;
	}
	k->hops++;
	return false;
}

static bool ends_walk(enum err err)
{
	return err == ERR_DEADLINE || error_is_hard(err);
}

/* False: full (truncated is set) or out of memory. */
static bool append(struct asyncio *a, struct await_chain *c, const struct frame_walk *position,
		   vaddr generator)
{
	if (c->count == CHAIN_MAX) {
		c->truncated = true;
		return false;
	}
	if (c->count == a->chain_capacity) {
		uint32_t capacity = a->chain_capacity ? 2 * a->chain_capacity : CHAIN_FIRST;
		struct chain_position *grown =
			arena_alloc(a->r->scratch, capacity * sizeof(*grown));

		if (!grown)
			return false;
		if (c->count)
			memcpy(grown, a->chain, c->count * sizeof(*grown));
		a->chain = grown;
		a->chain_capacity = capacity;
	}
	a->chain[c->count++] =
		(struct chain_position){.position = *position, .generator = generator};
	c->v = a->chain;
	return true;
}

static bool full(const struct asyncio *a, const struct await_chain *c)
{
	return !c->truncated && a->r->scratch->exhausted;
}

/* The thread that has this frame on its stack, and where. */
static const struct thread_ref *find_frame(const struct asyncio *a, vaddr frame,
					   uint32_t *index_ret)
{
	for (uint32_t t = 0; t < a->thread_count; t++) {
		const struct thread_ref *ref = &a->threads[t];

		for (uint32_t i = 0; i < ref->frame_count; i++) {
			if (ref->frames[i].at == frame) {
				*index_ret = i;
				return ref;
			}
		}
	}
	return NULL;
}

/* What executes has nothing on its stack to follow: from its frame on the thread's frames are the chain. */
static void append_running(struct asyncio *a, struct await_chain *c, const struct gen_walk *g)
{
	uint8_t in_generator = a->r->lay->owner_generator;
	uint32_t index = 0;
	const struct thread_ref *ref = find_frame(a, g->frame, &index);

	if (!ref) {
		for (uint32_t t = 0; t < a->thread_count; t++)
			c->truncated |= a->threads[t].frames_truncated;
		c->damaged = true;
		append(a, c, &g->position, g->at);
		return;
	}
	c->thread = ref;
	for (uint32_t i = index + 1; i-- > 0;) {
		const struct frame_walk *f = &ref->frames[i];

		if (!append(a, c, f, f->owner == in_generator ? gen_of_frame(a->r, f->at) : 0))
			return;
	}
}

/* *next_ret: what it awaits, 0 at the end of the chain. */
static enum err visit_generator(struct asyncio *a, struct await_chain *c, vaddr at, vaddr *next_ret)
{
	struct gen_walk g = {0};
	enum err err = gen_read(a->r, at, &g);

	*next_ret = 0;
	c->leaf_state = g.state;
	if (err != ERR_OK) {
		/* Where it stands may be known although what it awaits is not. */
		if (g.position.info && g.position.owner == a->r->lay->owner_generator)
			append(a, c, &g.position, at);
		return err;
	}
	if (!g.frame)
		return ERR_OK;
	if (g.state == GEN_EXECUTING) {
		append_running(a, c, &g);
		return ERR_OK;
	}
	if (append(a, c, &g.position, at))
		*next_ret = g.awaits;
	return ERR_OK;
}

/* One link of the chain. Ends it (*next_ret 0) with what is no link as the leaf. */
static enum err follow(struct asyncio *a, struct await_chain *c, vaddr link, vaddr *next_ret)
{
	struct reader *r = a->r;
	const struct layout *lay = r->lay;
	const struct type_info *type;
	enum err err = type_of(r, link, &type);

	*next_ret = 0;
	if (err != ERR_OK)
		return err;
	switch (type->kind) {
	case TYPE_COROUTINE:
	case TYPE_GENERATOR:
	case TYPE_ASYNC_GENERATOR:
		return visit_generator(a, c, link, next_ret);
	case TYPE_CORO_WRAPPER:
		return read_ptr(r, link, lay->corowrapper_coroutine, next_ret);
	case TYPE_ASEND:
		return read_ptr(r, link, lay->asend_gen, next_ret);
	case TYPE_ATHROW:
		return read_ptr(r, link, lay->athrow_gen, next_ret);
	case TYPE_ANEXT:
		return read_ptr(r, link, lay->anext_wrapped, next_ret);
	case TYPE_FUTURE_ITER:
		err = read_ptr(r, link, lay->futureiter_future, &c->leaf);
		if (err == ERR_OK && !c->leaf)
			c->leaf = link;
		return err;
	default:
		c->leaf = link;
		return ERR_OK;
	}
}

/* A ring was gone round: keep each of its generators once. */
static void cut_ring(struct await_chain *c)
{
	uint32_t period = 1, first = 0;

	while (period < c->count &&
	       c->v[c->count - 1 - period].generator != c->v[c->count - 1].generator)
		period++;
	if (period >= c->count)
		return;
	while (c->v[first].generator != c->v[first + period].generator)
		first++;
	c->count = first + period;
}

enum err await_chain_read(struct asyncio *a, vaddr coro, struct await_chain *ret)
{
	struct ring ring = {0};
	vaddr link = coro, next = 0;

	*ret = (struct await_chain){.leaf_state = GEN_UNKNOWN};
	for (uint32_t hops = 0; link; hops++, link = next) {
		enum err err;

		if (ring_closed(&ring, link)) {
			cut_ring(ret);
			ret->truncated = true;
			break;
		}
		if (hops == HOPS_MAX) {
			ret->truncated = true;
			break;
		}
		err = follow(a, ret, link, &next);
		if (ends_walk(err))
			return err;
		if (full(a, ret))
			return ERR_NOMEM;
		if (err != ERR_OK) {
			ret->damaged = true;
			break;
		}
	}
	return ERR_OK;
}

/* An awaitable of another make may have frames of its own, which nobody sees. */
static bool hides_frames(struct reader *r, vaddr leaf)
{
	const struct type_info *t;

	if (!leaf)
		return false;
	return type_of(r, leaf, &t) != ERR_OK ||
	       (t->kind != TYPE_C_TASK && t->kind != TYPE_C_FUTURE && t->kind != TYPE_PY_TASK &&
		t->kind != TYPE_PY_FUTURE);
}

bool await_chain_handles(struct reader *r, const struct await_chain *c)
{
	vaddr handled;

	if (!c->count || c->damaged || c->truncated || hides_frames(r, c->leaf))
		return true;
	for (uint32_t i = 0; i < c->count; i++) {
		if (!c->v[i].generator)
			continue;
		if (read_ptr(r, c->v[i].generator, r->lay->gen_exc_value, &handled) != ERR_OK ||
		    (handled && !object_is_none(r, handled)))
			return true;
	}
	return false;
}
