/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the image that holds CPython's runtime. */
#include "unwind/layout/runtime.h"

#include "unwind/layout/refuse.h"
#include "unwind/layout/table.h"

#include <string.h>

#define IMAGES_MOST 4096

/* Include/internal/pycore_debug_offsets.h (pycore_runtime.h in 3.13): all shapes begin alike. */
struct offsets_head {
	char cookie[8];
	uint64_t version, free_threaded;
	uint64_t runtime_size, runtime_finalizing, runtime_interpreters_head;
};

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool python_path_likely(const char *path)
{
	const char *base = base_name(path);

	return strstr(base, "python") || strstr(base, "pypy") || strstr(base, "_asyncio");
}

uint32_t python_path_version(const char *path)
{
	for (const char *p = path; (p = strstr(p, "python")); p++) {
		const char *d = p + strlen("python");
		unsigned minor = 0;
		int count = 0;

		if (!digit(d[0]) || d[1] != '.' || !digit(d[2]))
			continue;
		for (const char *m = d + 2; digit(*m) && count < 2; m++, count++)
			minor = minor * 10 + (unsigned)(*m - '0');
		return (uint32_t)(d[0] - '0') << 24 | minor << 16;
	}
	return 0;
}

void python_image_close(struct python_image *image)
{
	elf_close(image->elf);
	image->elf = NULL;
}

static void read_offsets_head(struct mem *mem, struct python_image *image, vaddr *head_field)
{
	struct offsets_head h;

	if (mem_read(mem, image->runtime, &h, sizeof(h)) ||
	    memcmp(h.cookie, "xdebugpy", sizeof(h.cookie)) != 0 || h.version > UINT32_MAX)
		return;
	image->has_offsets = true;
	image->free_threaded = h.free_threaded != 0;
	image->version = (uint32_t)h.version;
	if (h.runtime_interpreters_head < FIELD_ABSENT && h.runtime_interpreters_head % 8 == 0)
		*head_field = image->runtime + h.runtime_interpreters_head;
}

/* Py_Version (Python/getversion.c) is an unsigned long that holds PY_VERSION_HEX; 3.11 on. */
static void read_version(struct mem *mem, struct python_image *image)
{
	uint64_t value;
	vaddr at;

	if ((!elf_dynamic_symbol(image->elf, "Py_Version", &at, NULL) ||
	     !elf_symbol(image->elf, "Py_Version", &at, NULL)) &&
	    !mem_read(mem, at, &value, sizeof(value)) && value >> 24 == 3)
		image->version = (uint32_t)value;
}

/* _PyRuntime: a dynamic symbol of every build seen; where nothing is exported, its own section has it (Include/internal/pycore_runtime.h). */
static bool find_runtime(struct python_image *image)
{
	uint64_t size;

	return !elf_dynamic_symbol(image->elf, "_PyRuntime", &image->runtime, NULL) ||
	       !elf_section(image->elf, ".PyRuntime", &image->runtime, &size) ||
	       (python_path_likely(image->map->path) &&
		!elf_symbol(image->elf, "_PyRuntime", &image->runtime, NULL));
}

static void examine(struct mem *mem, struct python_image *image)
{
	vaddr head_field = 0, interp = 0, unused;

	read_version(mem, image);
	read_offsets_head(mem, image, &head_field);
	image->debug = !elf_dynamic_symbol(image->elf, "_Py_NegativeRefcount", &unused, NULL);
	if (!head_field) {
		struct layout lay = {.version = image->version, .debug = image->debug};

		if (!layout_table_fill(&lay))
			return;
		head_field = image->runtime + lay.runtime_interpreters_head.offset;
	}
	image->initialised = !mem_read(mem, head_field, &interp, sizeof(interp)) && interp &&
			     interp % 8 == 0;
}

/* True when the image is CPython's; the best one so far is kept in *best. */
static enum err probe(struct target *t, const struct map *map, struct python_image *best)
{
	struct python_image image = {.map = map};
	enum err r = elf_open(t->pid, t->mem, &t->maps, map, &image.elf);

	if (r == ERR_NOMEM || error_is_hard(mem_hard_error(t->mem)))
		return r ? r : mem_hard_error(t->mem);
	if (r)
		return ERR_OK;
	if (find_runtime(&image)) {
		examine(t->mem, &image);
		if (!best->elf || (image.initialised && !best->initialised)) {
			python_image_close(best);
			*best = image;
			return ERR_OK;
		}
	}
	python_image_close(&image);
	return ERR_OK;
}

/* First the files whose name says Python, then all others. */
static enum err search(struct target *t, struct python_image *best)
{
	size_t left = IMAGES_MOST;

	for (int likely = 1; likely >= 0; likely--) {
		for (size_t i = 0; i < t->maps.count && left; i++) {
			const struct map *m = &t->maps.v[i];
			enum err r;

			if (m->offset || !m->read || m->path[0] != '/' ||
			    python_path_likely(m->path) != likely)
				continue;
			left--;
			r = probe(t, m, best);
			if (r || best->initialised)
				return r;
		}
	}
	return ERR_OK;
}

enum err python_image_find(struct target *t, struct python_image *ret, struct error *e)
{
	enum err r;

	*ret = (struct python_image){0};
	r = search(t, ret);
	if (r)
		r = layout_refuse_read(t, r, e);
	else if (!ret->elf)
		r = layout_refuse_missing(t, e);
	else
		r = layout_refuse_image(t, ret, e);
	if (r)
		python_image_close(ret);
	return r;
}
