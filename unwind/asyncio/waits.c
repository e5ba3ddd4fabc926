/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses who speaks for a wait: the innermost library function with a rule (or one around it that says more), else the object at the end. Then the time limits around it. */
#include "unwind/asyncio/waits.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define LIMITED_FRAMES 64u /* frames from the leaf outwards that are asked for time limits */

static bool ends_walk(enum err err)
{
	return err == ERR_DEADLINE || error_is_hard(err);
}

/* From the leaf outwards through the frames of the library: the first rule, unless one around it is marked to win. */
static const struct wait_rule *choose(const struct await_chain *chain, uint32_t *at_ret)
{
	const struct wait_rule *best = NULL;

	for (uint32_t i = chain->count; i > 0; i--) {
		struct code_info *info = chain->v[i - 1].position.info;
		const struct wait_rule *rule;

		if (!info || !info->asyncio)
			break;
		rule = wait_rule_of(info);
		/* A Condition that takes its lock back waits for the lock. */
		if (!rule || (best && (!rule->outermost || (best->kind == AWAITS_LOCK &&
							    rule->kind == AWAITS_CONDITION))))
			continue;
		best = rule;
		*at_ret = i - 1;
	}
	return best;
}

/* What is on the value stack of a suspended frame under the object that it awaits: `async with` keeps its manager there. */
static void limit_by_frame(struct wait *w, const struct chain_position *p)
{
	struct items slots;
	const struct type_info *t;
	double when;
	vaddr at;

	if (frame_stack(w->r, &p->position, 16, &slots) != ERR_OK)
		return;
	for (uint32_t i = 0; i + 1 < slots.count; i++) {
		at = slots.v[i];
		if (!at || type_of(w->r, at, &t) != ERR_OK)
			continue;
		if (t->kind == TYPE_METHOD &&
		    (read_ptr(w->r, at, w->r->lay->method_self, &at) != ERR_OK ||
		     type_of(w->r, at, &t) != ERR_OK))
			continue;
		if (t->kind != TYPE_OTHER || !type_is(w->r, t, "asyncio.timeouts", "Timeout"))
			continue;
		if (attr_get(w->r, at, "_when", &at) == ERR_OK && at && !object_is_none(w->r, at) &&
		    object_float(w->r, at, &when) == ERR_OK)
			wait_until(w, when);
	}
}

static void limit(struct wait *w)
{
	const struct await_chain *chain = w->c->chain;
	double before = w->out->left;
	struct str detail = w->out->detail;

	for (uint32_t i = chain->count, n = 0; i > 0 && n < LIMITED_FRAMES; i--, n++) {
		if (chain->v[i - 1].generator)
			limit_by_frame(w, &chain->v[i - 1]);
	}
	if (isnan(w->out->left) || before <= w->out->left)
		return;
	if (detail.len)
		wait_detail(w, "%.*s, timeout", STR_ARG(detail));
	else
		wait_detail(w, "timeout");
}

enum err waits_describe(struct wait_context *c)
{
	struct task *task = &c->a->r->model->tasks.v[c->task];
	struct wait w = {.c = c, .r = c->a->r, .m = c->a->r->model, .out = &task->awaits};
	const struct wait_rule *rule;
	uint32_t at = 0;
	enum err err = ERR_SHAPE;

	if (task->state == TASK_RUNNING || c->chain->leaf_state == GEN_EXECUTING) {
		task->awaits.kind = AWAITS_RUNNING;
		return ERR_OK;
	}
	if (c->chain->leaf_state == GEN_CREATED && c->chain->count == 1) {
		task->awaits.kind = AWAITS_NOT_STARTED;
		return ERR_OK;
	}
	rule = choose(c->chain, &at);
	if (rule) {
		w.at = &c->chain->v[at];
		task->awaits.kind = rule->kind;
		err = rule->describe(&w, rule);
	}
	if (err != ERR_OK && !ends_walk(err)) {
		task->awaits.kind = AWAITS_OTHER;
		err = wait_describe_leaf(&w,
					 c->chain->leaf ? c->chain->leaf : c->future->fut_waiter);
	}
	if (err == ERR_OK)
		limit(&w);
	return err;
}

enum err wait_local(struct wait *w, const char *name, vaddr *ret)
{
	enum err err = frame_local(w->r, w->at->position.at, w->at->position.info, name, ret);

	return err == ERR_OK && !*ret ? ERR_SHAPE : err;
}

enum err wait_attr(struct wait *w, vaddr object, const char *name, vaddr *ret)
{
	enum err err = attr_get(w->r, object, name, ret);

	return err == ERR_OK && !*ret ? ERR_SHAPE : err;
}

enum err wait_attr_length(struct wait *w, vaddr object, const char *name, int64_t *ret)
{
	vaddr at;
	enum err err = attr_get(w->r, object, name, &at);

	*ret = 0;
	if (err != ERR_OK || !at || object_is_none(w->r, at))
		return err;
	return object_length(w->r, at, ret);
}

struct str wait_class(struct wait *w, vaddr object)
{
	const struct type_info *t;

	return type_of(w->r, object, &t) == ERR_OK ? t->name : STR_LIT("?");
}

void wait_add_task(struct wait *w, vaddr task)
{
	uint32_t row = model_find_task(w->m, task), edge;

	if (row == NONE)
		return;
	edge = model_add_edge(w->m, row);
	if (edge == NONE)
		return;
	if (!w->out->tasks_count++)
		w->out->tasks_first = edge;
}

enum err wait_add_tasks(struct wait *w, const struct items *futures, uint32_t *pending_ret)
{
	*pending_ret = 0;
	for (uint32_t i = 0; i < futures->count; i++) {
		struct future_view f;
		enum err err = future_read(w->r, futures->v[i], &f);

		if (err == ERR_SHAPE)
			continue;
		if (err != ERR_OK)
			return err;
		if (f.state != 0)
			continue;
		++*pending_ret;
		if (f.is_task)
			wait_add_task(w, f.at);
	}
	w->out->tasks_truncated |= futures->truncated;
	return ERR_OK;
}

void wait_until(struct wait *w, double when)
{
	double left = fmax(when - w->c->a->now, 0);

	if (isfinite(left) && !(w->out->left <= left))
		w->out->left = left;
}

void wait_until_timer(struct wait *w, vaddr handle)
{
	double when;
	vaddr at;

	if (handle && attr_get(w->r, handle, "_when", &at) == ERR_OK && at &&
	    object_float(w->r, at, &when) == ERR_OK)
		wait_until(w, when);
}

void wait_detail(struct wait *w, const char *format, ...)
{
	char line[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (n < 0)
		return;
	if ((size_t)n >= sizeof(line)) {
		n = (int)sizeof(line) - 1;
		/* Not in the middle of a character. */
		while (n > 0 && ((unsigned char)line[n] & 0xc0) == 0x80)
			n--;
	}
	w->out->detail = model_text(w->m, (struct str){line, (uint32_t)n});
}

void wait_detail_fd(struct wait *w, const char *what, int64_t fd)
{
	struct str target = {0};

	if (fd < 0 || fd > INT32_MAX) {
		wait_detail(w, "%s", what);
		return;
	}
	if (w->r->target && w->r->target->fds)
		target = fds_describe(w->r->target->fds, (int)fd, w->r->scratch);
	if (target.ptr)
		wait_detail(w, "%s fd %d, %.*s", what, (int)fd, STR_ARG(target));
	else
		wait_detail(w, "%s fd %d", what, (int)fd);
}
