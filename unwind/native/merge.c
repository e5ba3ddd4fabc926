/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call of the evaluation loop (_PyEval_EvalFrameDefault, its cold parts and variants) is known by is no name, which stripped builds don't have, but an
 * address: each call keeps an object on the C stack that its Python frames point to, so the C frame that holds the address is the call.
 */
#include "unwind/native/native.h"
#include "unwind/native/unwinder.h"

#include <stdio.h>
#include <string.h>

#define NAME_ROOM 400

struct merge {
	struct reader *r;
	struct images *images;
	struct eval_call *
		calls; /* of this thread, older ones first; the last ones have their place and are cut off */
	uint32_t call_count;
	uint32_t *rows; /* frames of the merged stack, innermost first */
	uint32_t count, room;
	uint32_t node; /* the thread's Python chain: its innermost frame that has no place yet */
	bool failed;
};

static void add_row(struct merge *m, uint32_t row)
{
	if (row == NONE || m->count == m->room)
		m->failed = true;
	else
		m->rows[m->count++] = row;
}

/* Python frames of the innermost call that is left. */
static void place_call(struct merge *m)
{
	const struct eval_call *c = &m->calls[--m->call_count];
	const struct model *model = m->r->model;

	for (uint32_t n = 0; n < c->frames && m->node != NONE; n++) {
		add_row(m, model->chains.v[m->node].frame);
		m->node = model->chains.v[m->node].outer;
	}
}

/* Places the calls that run in the C frame [low, high), and those inside of them that have no place; true when there are some. */
static bool place_calls(struct merge *m, vaddr low, vaddr high)
{
	uint32_t outermost = m->call_count;
	bool found = false;

	for (uint32_t n = m->call_count; n > 0; n--) {
		if (m->calls[n - 1].inside < low || m->calls[n - 1].inside >= high)
			continue;
		outermost = n - 1;
		found = true;
	}
	while (m->call_count > outermost)
		place_call(m);
	return found;
}

/* The loop itself, before its first frame or after its last one: it runs no call. */
static bool is_loop(const char *function)
{
	static const char *const names[] = {"_PyEval_EvalFrameDefault", "_TAIL_CALL_"};

	for (size_t i = 0; function && i < sizeof(names) / sizeof(names[0]); i++) {
		if (strncmp(function, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

/* "libfoo.so.1+0x1234"; of code that is in no file, the address. */
static void place_name(const struct image *i, const struct native_name *name, vaddr pc, char *text)
{
	const char *path = i->first->path, *slash = strrchr(path, '/');

	if (images_is_file(i->first))
		snprintf(text, NAME_ROOM, "%.300s+0x%llx", slash ? slash + 1 : path,
			 (unsigned long long)name->offset);
	else
		snprintf(text, NAME_ROOM, "0x%llx", (unsigned long long)pc);
}

static struct str utf8(struct merge *m, const char *text)
{
	return text ? proc_copy_utf8(m->r->scratch, text, strlen(text)) : (struct str){0};
}

/* Without what GCC and clang append to the names of the pieces and copies that they make of a function. */
static struct str function_name(const char *symbol)
{
	static const char *const suffixes[] = {".lto_priv.",  ".constprop.", ".isra.", ".part.",
					       ".localalias", ".cold",	     ".llvm."};
	size_t len = strlen(symbol);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		const char *at = strstr(symbol, suffixes[i]);

		if (at && at > symbol && (size_t)(at - symbol) < len)
			len = (size_t)(at - symbol);
	}
	return (struct str){symbol, (uint32_t)len};
}

static void add_native(struct merge *m, const struct native_frame *f)
{
	const char *path = f->image->first->path;
	struct native_name name;
	char place[NAME_ROOM];
	struct str function, file;

	native_name(m->images, f->image, f->pc, f->start, f->call, &name);
	if (is_loop(name.function))
		return;
	if (name.function) {
		function = function_name(name.function);
	} else {
		place_name(f->image, &name, f->pc, place);
		function = utf8(m, place);
	}
	file = utf8(m, name.file ? name.file : path);
	add_row(m, model_intern_native(m->r->model, function, utf8(m, path), file, name.line));
}

/* The thread may have states in several interpreters, and those of other threads lie between. */
static bool find_calls(struct merge *m, uint32_t thread)
{
	const struct eval_calls *e = m->r->evals;

	m->calls = arena_alloc(m->r->scratch, (e->count + 1ul) * sizeof(*m->calls));
	for (uint32_t n = 0; m->calls && n < e->count; n++) {
		if (e->v[n].thread == thread)
			m->calls[m->call_count++] = e->v[n];
	}
	return m->calls != NULL;
}

uint32_t native_merge(struct reader *r, struct images *images, uint32_t thread,
		      const struct native_frame *frames, uint32_t count)
{
	struct merge m = {.r = r, .images = images};
	uint32_t chain = NONE;

	m.node = r->model->threads.v[thread].chain;
	m.room = count + (m.node == NONE ? 0 : r->model->chains.v[m.node].depth);
	m.rows = arena_alloc(r->scratch, (m.room + 1ul) * sizeof(*m.rows));
	if (!m.rows || !find_calls(&m, thread))
		return NONE;
	for (uint32_t n = 0; n < count; n++) {
		/* Of the outermost frame nobody knows how far it reaches; the stack was cut there, or it is the thread's first function. */
		vaddr end = n + 1 < count ? frames[n + 1].sp : frames[n].sp;

		if (!place_calls(&m, frames[n].sp, end))
			add_native(&m, &frames[n]);
	}
	while (m.call_count)
		place_call(&m);
	for (uint32_t n = m.count; n > 0 && !m.failed; n--) {
		chain = model_push(r->model, chain, m.rows[n - 1]);
		m.failed = chain == NONE;
	}
	return m.failed ? NONE : chain;
}
