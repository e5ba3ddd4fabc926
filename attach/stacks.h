/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers and stacks of threads, copied while they stand, to be unwound when they have long run on. Only what is in use is read, from the stack pointer
 * upwards: a read below the mapping of the main stack would make the kernel wonder whether it should grow.
 */
#ifndef AIOTRACE_ATTACH_STACKS_H
#define AIOTRACE_ATTACH_STACKS_H

#include "attach/freeze.h"
#include "attach/maps.h"
#include "base/arena.h"

#include <sys/user.h>

#define STACK_COPY_MAX ((size_t)512 << 10) /* bytes of one stack, from its innermost end */

struct stack_copy {
	pid_t tid;
	struct user_regs_struct registers;
	vaddr start; /* the copy is of [start, start + len) */
	const unsigned char *bytes;
	size_t len;
};

struct stacks {
	struct stack_copy *v;
	size_t count;
	size_t bytes; /* copied in all */
	struct maps maps; /* as they were shortly before the stop, or in it */
	struct arena room;
	pid_t pid;
	void *live; /* live_source's */
};

/* Before the stop: mappings, and room for that many threads. ERR_NOMEM, ERR_GONE, ERR_ACCESS. */
must_check enum err stacks_prepare(pid_t pid, size_t count, struct stacks *ret, struct error *e);
/* In the stop: about 5 µs a thread. A thread that does not stand or can't be read is left out; past the deadline all that follow are. */
void stacks_copy(struct stacks *s, const struct freeze *f, const pid_t *tids, size_t count,
		 uint64_t deadline_ns);
void stacks_deinit(struct stacks *s); /* accepts a zeroed one */

/* Stack pointer and program counter. */
vaddr registers_sp(const struct user_regs_struct *r);
vaddr registers_pc(const struct user_regs_struct *r);

#endif
