/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exceptions that nobody has looked at: a finished future keeps its own, and says so when it is thrown away (Modules/_asynciomodule.c, fut_log_tb; in Python
 * Future.__log_traceback). asyncio knows tasks that are done up to 3.13 alone; later they are found where somebody waits for them.
 */
#include "unwind/asyncio/asyncio.h"

#define LEFTOVERS_MAX 1000u
#define MESSAGE_CHARS 300u

static bool is_unseen(struct reader *r, const struct future_view *f, vaddr *exception_ret)
{
	bool unseen = f->log_tb;

	*exception_ret = f->exception;
	if (f->state != 2)
		return false;
	if (f->type->kind == TYPE_PY_TASK || f->type->kind == TYPE_PY_FUTURE) {
		if (attr_bool(r, f->at, "_Future__log_traceback", &unseen) != ERR_OK ||
		    attr_get(r, f->at, "_exception", exception_ret) != ERR_OK)
			return false;
	}
	return unseen && *exception_ret && !object_is_none(r, *exception_ret);
}

static struct str message_of(struct reader *r, vaddr exception)
{
	struct items args;
	struct str text = {0};
	vaddr tuple;

	if (read_ptr(r, exception, r->lay->exception_args, &tuple) != ERR_OK ||
	    object_tuple(r, tuple, 2, &args) != ERR_OK || args.count != 1 ||
	    object_str(r, args.v[0], MESSAGE_CHARS, &r->model->text, &text, NULL) != ERR_OK)
		return (struct str){0};
	return text;
}

void leftover_note(struct asyncio *a, const struct future_view *f)
{
	struct reader *r = a->r;
	struct model *m = r->model;
	struct unretrieved u = {.id = f->at};
	const struct type_info *t;
	vaddr exception;

	if (!a->loop_state || !is_unseen(r, f, &exception) || m->unretrieved.count >= LEFTOVERS_MAX)
		return;
	for (uint32_t i = 0; i < m->unretrieved.count; i++) {
		if (m->unretrieved.v[i].id == f->at)
			return;
	}
	u.task = model_find_task(m, f->at);
	u.loop = loop_row(a, f->loop, NONE);
	if (f->is_task && task_name(r, f, &u.name) != ERR_OK)
		u.name = (struct str){0};
	if (type_of(r, exception, &t) == ERR_OK) {
		u.type = model_text(m, t->name);
		u.message = message_of(r, exception);
	}
	model_add_unretrieved(m, &u);
}
