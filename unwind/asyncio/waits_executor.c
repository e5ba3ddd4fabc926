/* SPDX-License-Identifier: Apache-2.0 */
/* Work handed to concurrent.futures: which worker thread runs it, and what that thread does now. Lib/concurrent/futures/thread.py, _WorkItem.run. */
#include "unwind/asyncio/waits.h"

#include <stdlib.h>

/* A worker that is inside _WorkItem.run. */
struct call {
	vaddr future;
	uint32_t thread; /* index in asyncio.threads */
	uint32_t frame; /* of _WorkItem.run in its frames: what it runs lies further in */
};

struct executor_calls {
	struct call *v;
	uint32_t count;
};

static bool is_pool_code(const struct code_info *info)
{
	return str_ends_with(info->file, "/concurrent/futures/thread.py");
}

static bool find_call(struct reader *r, const struct thread_ref *t, struct call *ret)
{
	for (uint32_t i = 0; i < t->frame_count; i++) {
		struct code_info *info = t->frames[i].info;
		vaddr self;

		if (!is_pool_code(info) || !str_is(info->qualname, "_WorkItem.run"))
			continue;
		ret->frame = i;
		return frame_local(r, t->frames[i].at, info, "self", &self) == ERR_OK && self &&
		       attr_get(r, self, "future", &ret->future) == ERR_OK && ret->future;
	}
	return false;
}

static struct executor_calls *calls_of(struct asyncio *a)
{
	struct executor_calls *calls = a->calls;

	if (calls)
		return calls;
	calls = arena_alloc(a->r->scratch, sizeof(*calls));
	if (!calls)
		return NULL;
	calls->v = arena_alloc(a->r->scratch, a->thread_count * sizeof(*calls->v));
	for (uint32_t i = 0; calls->v && i < a->thread_count; i++) {
		struct call *call = &calls->v[calls->count];

		call->thread = i;
		calls->count += find_call(a->r, &a->threads[i], call);
	}
	a->calls = calls;
	return calls;
}

/* What the worker runs: the frames within, without the pool's own; as a chain, outermost first. */
static void describe_running(struct wait *w, const struct call *call)
{
	const struct thread_ref *t = &w->c->a->threads[call->thread];
	const struct thread *row = t->row == NONE ? NULL : &w->m->threads.v[t->row];
	const struct frame_walk *outer = NULL, *inner = call->frame ? &t->frames[0] : NULL;
	uint32_t node = NONE;

	for (uint32_t i = call->frame; i > 0; i--) {
		const struct frame_walk *f = &t->frames[i - 1];
		uint32_t frame;

		if (!outer && is_pool_code(f->info))
			continue;
		if (!outer)
			outer = f;
		frame = model_intern_frame(w->m, f->info->qualname, f->info->file, f->line);
		if (frame != NONE)
			node = model_push(w->m, node, frame);
	}
	w->out->thread = t->row;
	w->out->worker_chain = node;
	if (!outer)
		wait_detail(w, "executor, running a C function in thread %d \"%.*s\"",
			    row ? (int)row->tid : 0, STR_ARG(row ? row->name : (struct str){0}));
	else if (outer == inner)
		wait_detail(w, "executor, running %.*s (line %d) in thread %d \"%.*s\"",
			    STR_ARG(outer->info->qualname), (int)outer->line,
			    row ? (int)row->tid : 0, STR_ARG(row ? row->name : (struct str){0}));
	else
		wait_detail(w,
			    "executor, running %.*s, now in %.*s (line %d), in thread %d \"%.*s\"",
			    STR_ARG(outer->info->qualname), STR_ARG(inner->info->qualname),
			    (int)inner->line, row ? (int)row->tid : 0,
			    STR_ARG(row ? row->name : (struct str){0}));
}

enum err wait_executor(struct wait *w, vaddr concurrent_future)
{
	const struct executor_calls *calls = calls_of(w->c->a);
	vaddr state = 0;

	if (!calls)
		return ERR_NOMEM;
	w->out->kind = AWAITS_EXECUTOR;
	w->out->id = concurrent_future;
	for (uint32_t i = 0; i < calls->count; i++) {
		if (calls->v[i].future == concurrent_future) {
			describe_running(w, &calls->v[i]);
			return ERR_OK;
		}
	}
	if (attr_get(w->r, concurrent_future, "_state", &state) == ERR_OK && state &&
	    object_str_is(w->r, state, "PENDING"))
		w->out->detail = STR_LIT("executor, queued: no worker has begun it");
	else if (state && object_str_is(w->r, state, "RUNNING"))
		w->out->detail = STR_LIT("executor, running, but in no thread of this process");
	else
		w->out->detail = STR_LIT("executor");
	return ERR_OK;
}
