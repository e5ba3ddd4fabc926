/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter: interpreters and thread states, frames, code objects and their line tables, generators. */
#ifndef AIOTRACE_UNWIND_PYTHON_PYTHON_H
#define AIOTRACE_UNWIND_PYTHON_PYTHON_H

#include "unwind/object/object.h"

/* --- interpreters and threads (interp.c) */
struct interp_walk {
	vaddr at;
	int64_t id;
	vaddr modules; /* sys.modules dict, 0 while starting up */
};
struct thread_walk {
	vaddr at; /* PyThreadState */
	vaddr interp;
	pid_t tid; /* native_thread_id: in the target's own pid namespace */
	uint64_t thread_id; /* pthread_t */
};
/* At most `max` entries, in the runtime's order; *truncated_ret set when there were more or the list did not close. */
must_check enum err interps_read(struct reader *r, uint32_t max, struct interp_walk **ret,
				 uint32_t *count_ret, bool *truncated_ret);
must_check enum err threads_read(struct reader *r, const struct interp_walk *interp, uint32_t max,
				 struct thread_walk **ret, uint32_t *count_ret,
				 bool *truncated_ret);
/* --- the GIL (gil.c) */
struct gil_walk {
	vaddr at;
	uint32_t size; /* bytes: its condition variables and mutexes lie within */
	vaddr holder; /* PyThreadState that holds it now, 0 none */
	uint64_t switches;
};
must_check enum err gil_read(struct reader *r, const struct interp_walk *interp,
			     struct gil_walk *ret);

/* A module of sys.modules by name: its dict; *ret 0 where it is not imported. */
must_check enum err module_dict(struct reader *r, const struct interp_walk *interp,
				const char *name, vaddr *ret);

/* --- code objects (code.c), cached by address and checked by first bytes (qualname and filename pointers) */
#define CODE_LINES_KEPT	 8u
#define CODE_LOCALS_KEPT 8u
struct wait_rule; /* unwind/asyncio/waits.h: how to name a wait inside this function; looked up once a code object */
struct code_info {
	vaddr at;
	struct str qualname, file; /* in the model's text */
	int32_t firstlineno;
	uint32_t flags;
	uint32_t nlocalsplus;
	vaddr localsplusnames; /* tuple of str */
	vaddr code_adaptive;
	const uint8_t *linetable; /* own copy */
	uint32_t linetable_len;
	bool asyncio; /* the file is one of CPython's asyncio package (".../asyncio/x.py") */
	bool anyio; /* the file is one of anyio's (".../anyio/_core/x.py") */
	const struct wait_rule *rule; /* NULL: none; valid once rule_known */
	bool rule_known;
	/* code.c's own: what was worked out before. Thousands of frames stand at the same few instructions. */
	vaddr qualname_at, filename_at;
	struct {
		int64_t addr;
		int32_t line;
		bool known;
	} lines[CODE_LINES_KEPT];
	struct {
		uint64_t name; /* hash */
		int32_t index; /* -1: no such variable */
		bool cell; /* a cell or free variable */
	} locals[CODE_LOCALS_KEPT];
	uint32_t locals_kept;
};
must_check enum err code_read(struct reader *r, vaddr code, struct code_info **ret);
struct code_cache *code_cache_create(void);
void code_cache_clear(struct code_cache *c);
void code_cache_destroy(struct code_cache *c);
/* linetable_line of the code's own table, remembered. */
int32_t code_line(const struct reader *r, struct code_info *info, int64_t addr);
/* Index of a variable among the fast locals, -1 where there is none; *cell_ret: it may be held in a cell. */
must_check enum err code_local(struct reader *r, struct code_info *info, const char *name,
			       int32_t *ret, bool *cell_ret);
/* Line of the instruction at byte offset `addr` (linetable.c, pure). addr < 0: firstlineno. 0: no line. */
int32_t linetable_line(enum linetable_format format, const uint8_t *table, uint32_t len,
		       int32_t firstlineno, int64_t addr);

/* --- frames (frame.c) */
struct frame_walk {
	vaddr at; /* _PyInterpreterFrame */
	vaddr previous; /* 0 at the outermost */
	vaddr code;
	uint8_t owner;
	struct code_info *info;
	int32_t line;
	/*
	 * thread_frames alone: where this frame was the first that a call of the evaluation loop ran, the address of an object in that call's C frame
	 * (its shim; in 3.11 its _PyCFrame). Else 0: the loop went on into it by itself.
	 */
	vaddr entry;
};
/* One frame with code and line. ERR_SHAPE for shims (owner >= layout's owner_skip_from): *previous is still filled. */
must_check enum err frame_read(struct reader *r, vaddr at, struct frame_walk *ret);
/* Innermost frame of a thread: 0 where no Python code runs in it. */
must_check enum err thread_current_frame(struct reader *r, const struct thread_walk *t, vaddr *ret);
/* The thread's Python stack, innermost first, shims left out, at most max; a ring ends it. */
must_check enum err thread_frames(struct reader *r, const struct thread_walk *t, uint32_t max,
				  struct frame_walk **ret, uint32_t *count_ret,
				  bool *truncated_ret);
/* A stack slot or f_executable without its tag; 0 for NULL and for tagged integers. */
vaddr stackref_object(const struct reader *r, uint64_t slot);
/* Value of a local, cell or free variable by name (cells are opened, stack-reference tags stripped); *ret 0 where unset or absent. */
must_check enum err frame_local(struct reader *r, vaddr frame, struct code_info *info,
				const char *name, vaddr *ret);

/* The value stack of a suspended generator's frame, bottom first, at most `max` slots from its top down; unset slots are 0. */
must_check enum err frame_stack(struct reader *r, const struct frame_walk *frame, uint32_t max,
				struct items *ret);

/* All slots of a suspended generator's frame as they are, tags included: first the variables, then the value stack. ERR_BOUND: more than 10,000. */
struct frame_slots {
	uint64_t *v;
	uint32_t variables, count;
};
must_check enum err frame_slots_read(struct reader *r, const struct frame_walk *frame,
				     struct frame_slots *ret);

/* --- generators, coroutines, async generators (generator.c) */
struct gen_walk {
	vaddr at;
	enum gen_state state;
	vaddr frame; /* its embedded frame; 0 when finished */
	vaddr awaits; /* object on top of its stack in GEN_SUSPENDED_YIELD_FROM, which is told from GEN_SUSPENDED (a bare yield) on every version; else 0 */
	struct frame_walk position; /* valid when frame != 0 */
};
must_check enum err gen_read(struct reader *r, vaddr gen, struct gen_walk *ret);
/* The generator that owns a frame of owner "generator". */
vaddr gen_of_frame(const struct reader *r, vaddr frame);

#endif
