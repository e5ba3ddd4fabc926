/* SPDX-License-Identifier: Apache-2.0 */
/* From copies of stacks to rows of the picture; nothing is stopped here. */
#include "unwind/native/native.h"

#include "unwind/native/unwinder.h"

#define FRAMES_MAX 5000u

static enum err fill_thread(struct reader *r, struct images *images, const struct stack_copy *c,
			    struct native_frame *frames)
{
	uint32_t row = model_find_thread(r->model, c->tid), count = 0, chain;
	bool complete = false;
	enum err err;

	if (row == NONE)
		return ERR_OK;
	err = unwinder_walk(images, c, frames, FRAMES_MAX, &count, &complete);
	if (err != ERR_OK || !count)
		return err;
	chain = native_merge(r, images, row, frames, count);
	if (chain == NONE)
		return ERR_NOMEM;
	r->model->threads.v[row].native = chain;
	r->model->threads.v[row].native_truncated = !complete;
	return ERR_OK;
}

enum err native_fill(struct reader *r, const struct stacks *stacks)
{
	struct native_frame *frames = arena_alloc(r->scratch, FRAMES_MAX * sizeof(*frames));
	struct images images = {.pid = stacks->pid, .mem = r->mem, .maps = &stacks->maps};
	enum err err = frames ? ERR_OK : ERR_NOMEM;

	for (size_t i = 0; i < stacks->count && err == ERR_OK; i++)
		err = fill_thread(r, &images, &stacks->v[i], frames);
	images_deinit(&images);
	return err;
}
