/* SPDX-License-Identifier: Apache-2.0 */
/* Tries the sources of a layout in order and takes the first that proves true on the target. */
#include "unwind/layout/asyncio_offsets.h"
#include "unwind/layout/check.h"
#include "unwind/layout/debug_offsets.h"
#include "unwind/layout/from_dwarf.h"
#include "unwind/layout/refuse.h"
#include "unwind/layout/rows.h"
#include "unwind/layout/runtime.h"
#include "unwind/layout/table.h"

#include <stdio.h>
#include <string.h>

#define LIVE_ATTEMPTS 8

struct finder {
	struct target *t;
	const struct python_image *image;
	const struct layout *base; /* identity and table; never changed */
	unsigned sources; /* 1 << enum layout_source */
	struct error why; /* of the last source that did not fit */
	bool starting;
	bool moved; /* its debug offsets contradict the table */
};

/* The target runs meanwhile, so a list may change under the reader: only a layout that never fits is wrong. */
static enum err prove(struct finder *f, const struct layout *lay)
{
	enum err r = layout_check_fields(lay, &f->why);

	for (int i = 0; !r && i < LIVE_ATTEMPTS; i++) {
		bool started;

		r = layout_check_live(f->t->mem, lay, &started, &f->why);
		if (error_is_hard(r))
			return r;
		f->starting = !r && !started;
		if (!r && started)
			return ERR_OK;
		mem_forget(f->t->mem);
		r = i + 1 < LIVE_ATTEMPTS ? ERR_OK : ERR_SHAPE;
	}
	return r ? r : ERR_SHAPE;
}

/* Each source fills a copy of the base; ERR_SHAPE: it has nothing, or nothing that fits. */
static enum err from_debug_offsets(struct finder *f, struct layout *ret, bool believe_moved)
{
	enum err r;

	if (!f->image->has_offsets)
		return ERR_SHAPE;
	*ret = *f->base;
	ret->source = LAYOUT_DEBUG_OFFSETS;
	r = debug_offsets_fill(f->t->mem, ret, &f->moved, &f->why);
	if (r)
		f->moved = false;
	if (!r && f->moved && !believe_moved)
		return ERR_SHAPE;
	if (!r)
		r = asyncio_offsets_fill(f->t, ret, &f->why);
	return r ? r : prove(f, ret);
}

static enum err from_table(struct finder *f, struct layout *ret)
{
	enum err r;

	*ret = *f->base;
	ret->source = LAYOUT_TABLE;
	r = asyncio_offsets_fill(f->t, ret, &f->why);
	return r ? r : prove(f, ret);
}

static bool has_structures(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;

	return !strncmp(base, "_asyncio.", 9) || !strncmp(base, "_collections.", 13) ||
	       !strncmp(base, "_functools.", 11) || !strncmp(base, "_queue.", 7) ||
	       !strncmp(base, "_socket.", 8);
}

static void add_debug_files(struct finder *f, struct dwarf_types *types, bool *found)
{
	char root[64];

	snprintf(root, sizeof(root), "/proc/%d/root", f->t->pid);
	for (size_t i = 0; i < f->t->maps.count; i++) {
		const struct map *m = &f->t->maps.v[i];
		struct elf_image *elf = NULL;
		int fd;

		if (m->offset || (m != f->image->map && !has_structures(m->path)) ||
		    elf_open(f->t->pid, f->t->mem, &f->t->maps, m, &elf))
			continue;
		fd = elf_file(elf);
		if (fd >= 0 &&
		    (!dwarf_types_add(types, fd, root) || !dwarf_types_add(types, fd, "")))
			*found = true;
		elf_close(elf);
	}
}

static enum err from_dwarf(struct finder *f, struct layout *ret)
{
	struct dwarf_types *types;
	bool found = false;
	enum err r = dwarf_types_create(&types);

	if (r)
		return r;
	*ret = *f->base;
	ret->source = LAYOUT_DWARF;
	add_debug_files(f, types, &found);
	if (found)
		dwarf_types_fill(types, ret);
	dwarf_types_destroy(types);
	if (!found)
		return ERR_SHAPE;
	r = asyncio_offsets_fill(f->t, ret, &f->why);
	return r ? r : prove(f, ret);
}

static enum err try_sources(struct finder *f, struct layout *ret)
{
	unsigned offsets = f->sources & 1u << LAYOUT_DEBUG_OFFSETS;
	enum err r = offsets ? from_debug_offsets(f, ret, false) : ERR_SHAPE;

	if (r == ERR_SHAPE && !f->moved && f->sources & 1u << LAYOUT_TABLE)
		r = from_table(f, ret);
	if (r == ERR_SHAPE && f->sources & 1u << LAYOUT_DWARF)
		r = from_dwarf(f, ret);
	/* Structures unlike the table's, and nobody to say what became of the fields that debug offsets don't have. */
	if (r == ERR_SHAPE && offsets)
		r = from_debug_offsets(f, ret, true);
	return r;
}

static enum err refuse(struct finder *f, enum err r, struct error *e)
{
	char version[32];
	enum err gone;

	if (r != ERR_SHAPE)
		return layout_refuse_read(f->t, r, e);
	gone = target_check(f->t, e);
	if (gone)
		return gone;
	if (f->starting)
		return error_set(e, ERR_NOT_PYTHON, 0,
				 "the CPython of process %d is still starting, or has ended",
				 f->t->pid);
	return error_set(
		e, ERR_UNSUPPORTED, 0,
		"process %d runs a build of CPython %s that aiotrace does not know (%.150s), and "
		"there is no debug information of it",
		f->t->pid, layout_version_text(f->base, version, sizeof(version)),
		f->why.text[0] ? f->why.text : "no source of its layout");
}

enum err layout_find(struct target *t, struct layout *ret, struct error *e)
{
	return layout_find_by(t, ~0u, ret, e);
}

enum err layout_find_by(struct target *t, unsigned sources, struct layout *ret, struct error *e)
{
	struct python_image image;
	struct layout base = {0};
	struct finder f = {.t = t, .image = &image, .base = &base, .sources = sources};
	enum err r = python_image_find(t, &image, e);

	if (r)
		return r;
	base.version = image.version;
	base.free_threaded = image.free_threaded;
	base.debug = image.debug;
	base.runtime = image.runtime;
	base.python_image = image.map->start;
	snprintf(base.python_path, sizeof(base.python_path), "%s", image.map->path);
	if (!layout_table_fill(&base))
		r = ERR_SHAPE;
	if (!r)
		r = try_sources(&f, ret);
	if (r)
		r = refuse(&f, r, e);
	python_image_close(&image);
	return r;
}
