/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libunwind asks for three things: words of memory, registers of the innermost frame, and the unwind information of an address. It writes nothing and
 * resumes nothing here.
 */
#include "unwind/native/unwinder.h"

#include <string.h>

#if __has_include(<libunwind.h>)
#include <libunwind.h>

/* In libunwind's library but not in its headers: looks an address up in a table that is read word by word. */
#define search_unwind_table UNW_OBJ(dwarf_search_unwind_table)
extern int search_unwind_table(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *di,
			       unw_proc_info_t *pi, int need_unwind_info, void *arg);

struct walk {
	struct images *images;
	const struct stack_copy *stack;
	bool guessed; /* the last step had no unwind information */
};

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi,
			  int need_unwind_info, void *arg)
{
	struct walk *w = arg;
	struct image *i = images_find(w->images, ip);
	unw_dyn_info_t di = {0};
	int answer;

	w->guessed = true;
	if (!i || !i->table.entries)
		return -UNW_ENOINFO;
	di.start_ip = i->first->start;
	di.end_ip = i->end;
	di.format = UNW_INFO_FORMAT_REMOTE_TABLE;
	di.u.rti.segbase = i->table.base;
	di.u.rti.table_data = i->table.at;
	di.u.rti.table_len = i->table.entries * 8 / sizeof(unw_word_t);
	answer = search_unwind_table(as, ip, &di, pi, need_unwind_info, arg);
	w->guessed = answer < 0;
	return answer;
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *pi, void *arg)
{
	(void)as;
	(void)pi;
	(void)arg;
}

static int no_dynamic_info(unw_addr_space_t as, unw_word_t *at, void *arg)
{
	(void)as;
	(void)at;
	(void)arg;
	return -UNW_ENOINFO;
}

/* The thread runs on: its stack is the copy's, and beyond it only what nobody writes is read. */
static int access_memory(unw_addr_space_t as, unw_word_t at, unw_word_t *value, int write,
			 void *arg)
{
	const struct walk *w = arg;
	const struct stack_copy *c = w->stack;
	const struct map *map;

	(void)as;
	if (write)
		return -UNW_EINVAL;
	if (at >= c->start && at - c->start < c->len) {
		if (c->len - (at - c->start) < sizeof(*value))
			return -UNW_EINVAL;
		memcpy(value, c->bytes + (at - c->start), sizeof(*value));
		return 0;
	}
	map = maps_find(w->images->maps, at);
	if (!map || !map->read || !images_is_file(map) ||
	    mem_read(w->images->mem, at, value, sizeof(*value)) != ERR_OK)
		return -UNW_EINVAL;
	return 0;
}

#if defined(__x86_64__)
static const uint64_t *register_at(const struct user_regs_struct *r, unw_regnum_t number)
{
	switch (number) {
	case UNW_X86_64_RAX:
		return (const uint64_t *)&r->rax;
	case UNW_X86_64_RDX:
		return (const uint64_t *)&r->rdx;
	case UNW_X86_64_RCX:
		return (const uint64_t *)&r->rcx;
	case UNW_X86_64_RBX:
		return (const uint64_t *)&r->rbx;
	case UNW_X86_64_RSI:
		return (const uint64_t *)&r->rsi;
	case UNW_X86_64_RDI:
		return (const uint64_t *)&r->rdi;
	case UNW_X86_64_RBP:
		return (const uint64_t *)&r->rbp;
	case UNW_X86_64_RSP:
		return (const uint64_t *)&r->rsp;
	case UNW_X86_64_R8:
		return (const uint64_t *)&r->r8;
	case UNW_X86_64_R9:
		return (const uint64_t *)&r->r9;
	case UNW_X86_64_R10:
		return (const uint64_t *)&r->r10;
	case UNW_X86_64_R11:
		return (const uint64_t *)&r->r11;
	case UNW_X86_64_R12:
		return (const uint64_t *)&r->r12;
	case UNW_X86_64_R13:
		return (const uint64_t *)&r->r13;
	case UNW_X86_64_R14:
		return (const uint64_t *)&r->r14;
	case UNW_X86_64_R15:
		return (const uint64_t *)&r->r15;
	case UNW_X86_64_RIP:
		return (const uint64_t *)&r->rip;
	default:
		return NULL;
	}
}
#else
static const uint64_t *register_at(const struct user_regs_struct *r, unw_regnum_t number)
{
	if (number >= UNW_AARCH64_X0 && number <= UNW_AARCH64_X30)
		return (const uint64_t *)&r->regs[number - UNW_AARCH64_X0];
	if (number == UNW_AARCH64_SP)
		return (const uint64_t *)&r->sp;
	return number == UNW_AARCH64_PC ? (const uint64_t *)&r->pc : NULL;
}
#endif

static int access_register(unw_addr_space_t as, unw_regnum_t number, unw_word_t *value, int write,
			   void *arg)
{
	const struct walk *w = arg;
	const uint64_t *at = write ? NULL : register_at(&w->stack->registers, number);

	(void)as;
	if (!at)
		return -UNW_EBADREG;
	*value = *at;
	return 0;
}

static int no_float(unw_addr_space_t as, unw_regnum_t number, unw_fpreg_t *value, int write,
		    void *arg)
{
	(void)as;
	(void)number;
	(void)value;
	(void)write;
	(void)arg;
	return -UNW_EBADREG;
}

static int no_resume(unw_addr_space_t as, unw_cursor_t *cursor, void *arg)
{
	(void)as;
	(void)cursor;
	(void)arg;
	return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t as, unw_word_t at, char *name, size_t size, unw_word_t *offset,
		   void *arg)
{
	(void)as;
	(void)at;
	(void)name;
	(void)size;
	(void)offset;
	(void)arg;
	return -UNW_ENOINFO;
}

/* Does a call instruction end right before? Without unwind information libunwind follows frame pointers, and takes any word for one. */
static bool follows_call(struct images *s, vaddr pc)
{
#if defined(__x86_64__)
	uint8_t code[7]; /* ending at pc */

	if (pc < sizeof(code) || mem_read(s->mem, pc - sizeof(code), code, sizeof(code)) != ERR_OK)
		return false;
	if (code[2] == 0xe8) /* call rel32 */
		return true;
	/* call r/m: FF /2, of two, three, six or seven bytes */
	for (unsigned n = 2; n <= 7; n++) {
		if (n != 4 && n != 5 && code[7 - n] == 0xff && (code[8 - n] >> 3 & 7) == 2)
			return true;
	}
	return false;
#else
	uint32_t code;

	if (pc % 4 || mem_read(s->mem, pc - 4, &code, sizeof(code)) != ERR_OK)
		return false;
	return code >> 26 == 0x25 || (code & 0xfffffc1f) == 0xd63f0000; /* BL, BLR */
#endif
}

static enum err walk_frames(struct walk *w, unw_cursor_t *cursor, struct native_frame *v,
			    uint32_t max, uint32_t *count_ret, bool *complete_ret)
{
	vaddr last_sp = 0;
	bool call = false;

	while (*count_ret < max) {
		struct native_frame *f = &v[*count_ret];
		unw_word_t pc, sp;
		unw_proc_info_t info;
		int step;

		if (unw_get_reg(cursor, UNW_REG_IP, &pc) || unw_get_reg(cursor, UNW_REG_SP, &sp) ||
		    (*count_ret && sp <= last_sp))
			break;
		if (!pc) {
			*complete_ret = true;
			break;
		}
		*f = (struct native_frame){.pc = pc, .sp = sp, .call = call};
		f->image = images_find(w->images, pc);
		if (!f->image || (*count_ret && w->guessed && call && !follows_call(w->images, pc)))
			break;
		last_sp = sp;
		++*count_ret;
		w->guessed = false;
		if (unw_get_proc_info(cursor, &info) == 0)
			f->start = info.start_ip;
		/* What a signal interrupted is no call. */
		call = unw_is_signal_frame(cursor) <= 0;
		step = unw_step(cursor);
		if (step <= 0) {
			*complete_ret = step == 0;
			break;
		}
	}
	return ERR_OK;
}

enum err unwinder_walk(struct images *images, const struct stack_copy *stack,
		       struct native_frame *v, uint32_t max, uint32_t *count_ret,
		       bool *complete_ret)
{
	unw_accessors_t accessors = {
		.find_proc_info = find_proc_info,
		.put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = no_dynamic_info,
		.access_mem = access_memory,
		.access_reg = access_register,
		.access_fpreg = no_float,
		.resume = no_resume,
		.get_proc_name = no_name,
	};
	struct walk w = {.images = images, .stack = stack};
	unw_addr_space_t as = unw_create_addr_space(&accessors, 0);
	unw_cursor_t cursor;
	enum err err = ERR_OK;

	*count_ret = 0;
	*complete_ret = false;
	if (!as)
		return ERR_NOMEM;
	if (unw_init_remote(&cursor, as, &w) == 0)
		err = walk_frames(&w, &cursor, v, max, count_ret, complete_ret);
	unw_destroy_addr_space(as);
	return err;
}

#else

/* Cross-compiled without the libraries' headers: the innermost frame alone. */
enum err unwinder_walk(struct images *images, const struct stack_copy *stack,
		       struct native_frame *v, uint32_t max, uint32_t *count_ret,
		       bool *complete_ret)
{
	struct native_frame f = {.pc = registers_pc(&stack->registers),
				 .sp = registers_sp(&stack->registers)};

	*count_ret = 0;
	*complete_ret = false;
	f.image = images_find(images, f.pc);
	if (f.image && max)
		v[(*count_ret)++] = f;
	return ERR_OK;
}

#endif
