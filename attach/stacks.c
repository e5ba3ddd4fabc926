/* SPDX-License-Identifier: Apache-2.0 */
/* Where a stack ends is its mapping's end; what lies between it and the stack pointer is what is in use. */
#include "attach/stacks.h"

#include "attach/live.h"
#include "base/clock.h"

#include <stdlib.h>

#define ROOM_RESERVE ((size_t)1 << 30)
/* x86-64's functions that call no other use so many bytes below the stack pointer (System V ABI, "red zone"). */
#define RED_ZONE 128u

#if defined(__x86_64__)
vaddr registers_sp(const struct user_regs_struct *r)
{
	return r->rsp;
}

vaddr registers_pc(const struct user_regs_struct *r)
{
	return r->rip;
}
#else
vaddr registers_sp(const struct user_regs_struct *r)
{
	return r->sp;
}

vaddr registers_pc(const struct user_regs_struct *r)
{
	return r->pc;
}
#endif

enum err stacks_prepare(pid_t pid, size_t count, struct stacks *ret, struct error *e)
{
	struct stacks s = {.pid = pid};
	enum err err = maps_load(pid, &s.maps, e);

	if (err != ERR_OK)
		return err;
	s.v = calloc(count + 1, sizeof(*s.v));
	s.live = live_create(pid);
	if (!s.v || !s.live || !arena_init(&s.room, ROOM_RESERVE)) {
		stacks_deinit(&s);
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	}
	*ret = s;
	return ERR_OK;
}

void stacks_deinit(struct stacks *s)
{
	if (s->live)
		live_source.close(s->live);
	if (s->room.base)
		arena_deinit(&s->room);
	maps_deinit(&s->maps);
	free(s->v);
	*s = (struct stacks){0};
}

/* The main thread's mapping may have grown since it was listed, and a thread be newer than the list: then it is listed again. */
static const struct map *stack_map(struct stacks *s, vaddr sp, bool *listed)
{
	const struct map *map = maps_find(&s->maps, sp);
	struct maps now;

	if ((map && map->write) || *listed)
		return map;
	*listed = true;
	if (maps_load(s->pid, &now, NULL) != ERR_OK)
		return NULL;
	maps_deinit(&s->maps);
	s->maps = now;
	return maps_find(&s->maps, sp);
}

static bool copy_one(struct stacks *s, const struct map *map, struct stack_copy *c)
{
	vaddr sp = registers_sp(&c->registers);
	struct mem_range range;
	int64_t got;

	c->start = sp - map->start < RED_ZONE ? map->start : sp - RED_ZONE;
	c->start &= ~(vaddr)7;
	c->len = map->end - c->start;
	if (c->len > STACK_COPY_MAX)
		c->len = STACK_COPY_MAX;
	range = (struct mem_range){c->start, arena_alloc(&s->room, c->len), c->len};
	if (!range.dst)
		return false;
	got = live_source.read(s->live, &range, 1);
	c->bytes = range.dst;
	c->len = got > 0 ? (size_t)got : 0;
	return got > 0;
}

void stacks_copy(struct stacks *s, const struct freeze *f, const pid_t *tids, size_t count,
		 uint64_t deadline_ns)
{
	bool listed = false;

	for (size_t i = 0; i < count && clock_now_ns() < deadline_ns; i++) {
		const struct user_regs_struct *registers = freeze_registers(f, tids[i]);
		struct stack_copy c = {.tid = tids[i]};
		const struct map *map;

		if (!registers)
			continue;
		c.registers = *registers;
		map = stack_map(s, registers_sp(registers), &listed);
		if (!map || !copy_one(s, map, &c))
			continue;
		s->v[s->count++] = c;
		s->bytes += c.len;
	}
}
