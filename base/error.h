/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds of failure, and one error record without heap. Soft kinds mark one row of the picture and the listing goes on;
 * hard kinds end the command and are turned into an exit code in one place (cmd/exit.c).
 */
#ifndef AIOTRACE_BASE_ERROR_H
#define AIOTRACE_BASE_ERROR_H

#include <stdint.h>

#define must_check __attribute__((warn_unused_result))

/* An address in the target. A number, so that it can't be dereferenced here by accident. */
typedef uint64_t vaddr;

enum err {
	ERR_OK = 0,
	/* soft */
	ERR_FAULT, /* the address is not mapped in the target */
	ERR_TORN, /* two reads contradict each other */
	ERR_BOUND, /* a count, length or chain passed its bound */
	ERR_SHAPE, /* the bytes are not what the layout says they are */
	ERR_DEADLINE, /* the time allowed for this read is over */
	/* hard */
	ERR_ACCESS, /* no permission; exit 3 */
	ERR_UNSUPPORTED, /* CPython of a version or build we do not read; exit 3 */
	ERR_NOT_PYTHON, /* no CPython in the process; exit 3 */
	ERR_GONE, /* no such process, or it went away; exit 4 */
	ERR_USAGE, /* exit 2 */
	ERR_SYSTEM, /* a system call of ours failed; exit 3 */
	ERR_NOMEM, /* exit 3 */
};

struct error {
	enum err kind;
	int sys; /* errno, 0 where none */
	char text[400]; /* one line, no newline, no "aiotrace: " prefix */
};

/* Fills *e (may be NULL) and returns kind, so that `return error_set(e, ...)` reads well. */
enum err error_set(struct error *e, enum err kind, int sys, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* True for the kinds that end the command. */
static inline int error_is_hard(enum err kind)
{
	return kind >= ERR_ACCESS;
}

#endif
