/* SPDX-License-Identifier: Apache-2.0 */
/* Generators, coroutines and async generators: one structure with a frame inside (Include/cpython/genobject.h); what one awaits, as _PyGen_yf would say. */
#include "unwind/object/internal.h"
#include "unwind/python/internal.h"

#define GEN_HEAD_MAX 256u
#define CODE_UNIT    2u
#define RESUME_AWAITS \
	2u /* oparg of RESUME: 2 after yield from, 3 after await (Include/internal/pycore_opcode_utils.h) */
#define RESUME_LOCATION 3u /* bits of the oparg that say so */

vaddr gen_of_frame(const struct reader *r, vaddr frame)
{
	return frame - r->lay->gen_iframe.offset;
}

/* The slot that lies `depth` below the end of the frame's stack (1: its top). */
static enum err stack_slot(struct reader *r, const struct gen_walk *g, const uint8_t *frame,
			   uint32_t depth, vaddr *ret)
{
	vaddr top, bottom = g->frame + r->lay->frame_localsplus.offset +
			    (vaddr)g->position.info->nlocalsplus * POINTER_SIZE;
	uint64_t slot;
	enum err err = frame_stack_top(r, frame, g->frame, g->position.info, &top);

	if (err != ERR_OK)
		return err;
	if (top < bottom + (vaddr)depth * POINTER_SIZE)
		return ERR_SHAPE;
	err = read_u64(r, top - (vaddr)depth * POINTER_SIZE, &slot);
	if (err != ERR_OK)
		return err;
	*ret = stackref_object(r, slot);
	return *ret ? ERR_OK : ERR_SHAPE;
}

/* 3.11, 3.12: suspended in await or yield from, if a RESUME that says so comes next. */
static enum err resumes_awaiting(struct reader *r, const uint8_t *frame, bool *ret)
{
	uint8_t unit[CODE_UNIT];
	vaddr instr;
	enum err err;

	*ret = false;
	if (!field_decode(frame, r->lay->frame_instr, &instr))
		return ERR_SHAPE;
	err = mem_read(r->mem, instr + CODE_UNIT, unit, sizeof(unit));
	if (err != ERR_OK)
		return err;
	for (size_t i = 0; i < sizeof(r->lay->resume_opcodes) && r->lay->resume_opcodes[i]; i++) {
		if (unit[0] == r->lay->resume_opcodes[i])
			*ret = (unit[1] & RESUME_LOCATION) >= RESUME_AWAITS;
	}
	return ERR_OK;
}

static enum err gen_awaits(struct reader *r, struct gen_walk *g, const uint8_t *frame)
{
	bool awaiting = g->state == GEN_SUSPENDED_YIELD_FROM;
	enum err err;

	if (r->lay->await == AWAIT_RESUME_OPARG && g->state == GEN_SUSPENDED) {
		err = resumes_awaiting(r, frame, &awaiting);
		if (err != ERR_OK)
			return err;
		if (awaiting)
			g->state = GEN_SUSPENDED_YIELD_FROM;
	}
	if (!awaiting)
		return ERR_OK;
	return stack_slot(r, g, frame, r->lay->await == AWAIT_UNDER_INDEX ? 2 : 1, &g->awaits);
}

/* The frame of a generator that is not over, and what it awaits. */
static enum err gen_frame(struct reader *r, const uint8_t *frame, struct gen_walk *g)
{
	enum err err;

	g->frame = g->at + r->lay->gen_iframe.offset;
	err = frame_decode(r, g->frame, frame, &g->position);
	if (err != ERR_OK)
		return err;
	if (g->position.owner != r->lay->owner_generator)
		return ERR_SHAPE;
	return gen_awaits(r, g, frame);
}

enum err gen_read(struct reader *r, vaddr gen, struct gen_walk *ret)
{
	const struct layout *lay = r->lay;
	uint32_t iframe = lay->gen_iframe.offset, size = iframe + lay->frame_localsplus.offset;
	uint8_t buffer[GEN_HEAD_MAX + FRAME_HEAD_MAX];
	const struct type_info *t;
	uint64_t type, state;
	const uint8_t *head;
	enum err err;

	*ret = (struct gen_walk){.at = gen, .state = GEN_UNKNOWN};
	if (!object_plausible(gen) || size > sizeof(buffer))
		return ERR_SHAPE;
	head = view(r, gen, size, buffer, &err);
	if (!head)
		return err;
	if (!field_decode(head, lay->object_type, &type) ||
	    !field_decode(head, lay->gen_frame_state, &state))
		return ERR_SHAPE;
	err = type_read(r, type, &t);
	if (err != ERR_OK)
		return err;
	if (t->kind != TYPE_COROUTINE && t->kind != TYPE_GENERATOR &&
	    t->kind != TYPE_ASYNC_GENERATOR)
		return ERR_SHAPE;
	ret->state = layout_gen_state(lay, (int8_t)field_extend(lay->gen_frame_state, state));
	if (ret->state == GEN_UNKNOWN)
		return ERR_SHAPE;
	if (ret->state == GEN_COMPLETED || ret->state == GEN_CLEARED)
		return ERR_OK;
	return gen_frame(r, head + iframe, ret);
}
