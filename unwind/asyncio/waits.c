/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a task waits on: asks the rules of the asyncio frames at the inner end of its chain, then the future that the innermost awaits. Tasks that wait
 * for the same object share one description.
 */
#include "unwind/asyncio/waits.h"

#include <math.h>

#define KEPT_WAITS 4096u /* power of two */
#define KEPT_WORDS 256u /* likewise */

/* The last description of an object under a rule (NULL: a future, without one). */
struct kept_wait {
	vaddr object;
	const struct wait_rule *rule;
	struct await out;
};

/* "Event, not set, 3 waiting" with ", timeout" behind it. */
struct kept_words {
	const char *of;
	uint32_t suffix;
	struct str whole;
};

enum {
	SUFFIX_DONE = 1,
	SUFFIX_TIMEOUT = 2,
};

static struct waits *waits_of(struct asyncio *a)
{
	struct waits *w = a->waits;

	if (w)
		return w;
	w = arena_alloc(a->r->scratch, sizeof(*w));
	if (!w)
		return NULL;
	w->kept = arena_alloc(a->r->scratch, KEPT_WAITS * sizeof(*w->kept));
	w->suffixed = arena_alloc(a->r->scratch, KEPT_WORDS * sizeof(*w->suffixed));
	if (!w->kept || !w->suffixed)
		return NULL;
	a->waits = w;
	return w;
}

static const struct wait_rule *rule_of(struct code_info *info)
{
	if (!info->rule_known) {
		info->rule = wait_rule_find(info);
		info->rule_known = true;
	}
	return info->rule;
}

static struct kept_wait *kept_slot(struct waits *w, vaddr object, const struct wait_rule *rule)
{
	uint64_t h = ((object >> 4) ^ (uint64_t)(uintptr_t)rule) * 0x9e3779b97f4a7c15ULL;

	return &w->kept[(h >> 40) & (KEPT_WAITS - 1)];
}

/* False where nothing is kept of it. */
static bool recall(struct waiting *c, vaddr object, const struct wait_rule *rule)
{
	const struct kept_wait *k = kept_slot(c->w, object, rule);

	if (k->object != object || k->rule != rule)
		return false;
	c->out = k->out;
	return true;
}

static void keep(struct waiting *c, vaddr object, const struct wait_rule *rule)
{
	*kept_slot(c->w, object, rule) =
		(struct kept_wait){.object = object, .rule = rule, .out = c->out};
}

static void ask_rule(struct waiting *c)
{
	vaddr self = c->rule->shared ? wait_local(c, "self") : 0;

	if (self && recall(c, self, c->rule))
		return;
	c->rule->describe(c);
	if (self && c->out.kind != AWAITS_NOTHING)
		keep(c, self, c->rule);
}

/* The frames of asyncio's and anyio's at the inner end of the chain, outermost first, until one knows. */
static void ask_rules(struct waiting *c, uint32_t count)
{
	uint32_t first = count;

	for (; first > 0; first--) {
		const struct code_info *info = c->chain->v[first - 1].position.info;

		if (!info->asyncio && !info->anyio)
			break;
	}
	for (uint32_t i = first; i < count && c->out.kind == AWAITS_NOTHING; i++) {
		c->frame = i;
		c->rule = rule_of(c->chain->v[i].position.info);
		if (c->rule && c->rule->describe && (!c->rule->innermost || i + 1 == count))
			ask_rule(c);
	}
}

/* By the future alone: the same for all that await it. A task's edge is quicker made than remembered. */
static void ask_leaf(struct waiting *c)
{
	const struct type_info *t;

	if (type_of(c->r, c->leaf, &t) != ERR_OK)
		return;
	if (t->kind == TYPE_C_TASK || t->kind == TYPE_PY_TASK) {
		wait_on_task(c, c->leaf);
		return;
	}
	if (recall(c, c->leaf, NULL)) {
		/* The same edges count again: each stands for one more "awaited by". */
		if (!wait_more_edges(c, c->out.tasks_count)) {
			c->out.tasks_count = 0;
			c->out.tasks_truncated = true;
		}
		return;
	}
	wait_on_future(c, c->leaf);
	if (c->out.kind != AWAITS_NOTHING)
		keep(c, c->leaf, NULL);
}

/* An awaitable that is neither coroutine nor future. */
static void say_other(struct waiting *c, vaddr object)
{
	struct words s = {0};

	c->out.kind = AWAITS_OTHER;
	c->out.id = object;
	if (!object)
		return;
	words_str(&s, wait_type_name(c, object), 200);
	wait_detail(c, &s);
}

/* What a suffix is put behind: the report's words where the description has none; a task's name it adds itself. */
static void say_base(struct waiting *c, struct words *s)
{
	if (c->out.detail.len)
		words_str(s, c->out.detail, 900);
	else if (c->out.kind == AWAITS_TASK && !c->out.tasks_count)
		words_add(s, "a task");
	else if (c->out.kind != AWAITS_TASK)
		words_add(s, c->out.kind == AWAITS_SLEEP ? "sleep" : "future");
}

static const char *comma(const struct words *s)
{
	return s->len ? ", " : "";
}

static void add_suffix(struct waiting *c, uint32_t suffix)
{
	const char *of = c->out.detail.ptr;
	struct kept_words *k = &c->w->suffixed[(((uintptr_t)of >> 3) ^ suffix) & (KEPT_WORDS - 1)];
	struct words s = {0};

	if (of && k->of == of && k->suffix == suffix) {
		c->out.detail = k->whole;
		return;
	}
	say_base(c, &s);
	if (suffix & SUFFIX_DONE)
		words_add(&s, "%sdone: runs on in the loop's next turn", comma(&s));
	if (suffix & SUFFIX_TIMEOUT)
		words_add(&s, "%stimeout", comma(&s));
	wait_detail(c, &s);
	if (of)
		*k = (struct kept_words){.of = of, .suffix = suffix, .whole = c->out.detail};
}

static void add_suffixes(struct waiting *c)
{
	double timeout = fmin(wait_open_timeout(c), wait_anyio_deadline(c));
	uint32_t suffix = c->own_timeout ? SUFFIX_TIMEOUT : 0;

	c->out.done = c->leaf && wait_future_state(c, c->leaf) > 0;
	if (c->out.done)
		suffix |= SUFFIX_DONE;
	if (!isnan(timeout) && !(c->out.left <= timeout)) {
		suffix |= SUFFIX_TIMEOUT;
		c->out.left = timeout;
	}
	if (suffix)
		add_suffix(c, suffix);
}

/* Where no frame of Python's is: a coroutine of another make. */
static void describe_foreign(struct waiting *c)
{
	if (c->r->model->tasks.v[c->task].state == TASK_RUNNING)
		c->out.kind = AWAITS_RUNNING;
	else if (c->leaf)
		ask_leaf(c);
	if (c->out.kind == AWAITS_NOTHING)
		say_other(c, c->chain->leaf);
}

static void describe_suspended(struct waiting *c)
{
	uint32_t count = c->chain->count;

	if (wait_rule_is_future(rule_of(c->chain->v[count - 1].position.info))) {
		count--;
		c->frame = count;
		c->leaf = wait_local(c, "self");
	}
	ask_rules(c, count);
	if (c->out.kind == AWAITS_NOTHING && c->leaf)
		ask_leaf(c);
	if (c->out.kind == AWAITS_NOTHING && c->chain->leaf)
		say_other(c, c->chain->leaf);
	if (c->out.kind == AWAITS_NOTHING)
		c->out.kind = AWAITS_YIELD;
	else
		add_suffixes(c);
}

static void describe(struct waiting *c)
{
	if (!c->chain->count) {
		describe_foreign(c);
		return;
	}
	switch (c->chain->leaf_state) {
	case GEN_EXECUTING:
		c->out.kind = AWAITS_RUNNING;
		wait_nested_run(c);
		break;
	case GEN_CREATED:
		c->out.kind = AWAITS_NOT_STARTED;
		break;
	case GEN_SUSPENDED:
	case GEN_SUSPENDED_YIELD_FROM:
		describe_suspended(c);
		break;
	default:
		say_other(c, 0);
		break;
	}
}

enum err waits_describe(struct wait_context *context)
{
	struct reader *r = context->a->r;
	struct waiting c = {
		.a = context->a,
		.r = r,
		.w = waits_of(context->a),
		.task = context->task,
		.chain = context->chain,
		.leaf = context->chain->leaf,
		.out = {.kind = AWAITS_NOTHING,
			.left = NAN,
			.thread = NONE,
			.worker_chain = NONE,
			.other_refs = -1},
	};

	if (!c.w)
		return ERR_NOMEM;
	/* An awaitable of C's, or a chain cut short: the task itself knows the future. */
	if (wait_future_state(&c, c.leaf) < 0)
		c.leaf = context->future->fut_waiter;
	describe(&c);
	r->model->tasks.v[c.task].awaits = c.out;
	if (mem_hard_error(r->mem) != ERR_OK)
		return mem_hard_error(r->mem);
	return mem_deadline_hit(r->mem) ? ERR_DEADLINE : ERR_OK;
}
