/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of refusal, and what tells interpreters without CPython's runtime apart. */
#include "unwind/layout/refuse.h"

#include "unwind/layout/table.h"

#include <string.h>

enum err layout_refuse_read(struct target *t, enum err kind, struct error *e)
{
	enum err hard = mem_hard_error(t->mem);

	if (hard)
		kind = hard;
	switch (kind) {
	case ERR_GONE:
		return error_set(e, ERR_GONE, 0, "process %d ended", t->pid);
	case ERR_ACCESS:
		return error_set(e, ERR_ACCESS, 0, "the memory of process %d can't be read",
				 t->pid);
	case ERR_NOMEM:
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	default:
		return error_set(e, ERR_NOT_PYTHON, 0,
				 "CPython could not be looked for in process %d", t->pid);
	}
}

static uint32_t version_in_maps(struct target *t)
{
	for (size_t i = 0; i < t->maps.count; i++) {
		uint32_t v = python_path_version(t->maps.v[i].path);

		if (v)
			return v;
	}
	return 0;
}

static enum err refuse_version(struct target *t, uint32_t version, struct error *e)
{
	return error_set(e, ERR_UNSUPPORTED, 0,
			 "process %d runs CPython %u.%u, which is not supported (%s are)", t->pid,
			 version >> 24, version >> 16 & 0xff, LAYOUT_SUPPORTED_TEXT);
}

static bool is_pypy(const struct map *m)
{
	const char *slash = strrchr(m->path, '/');
	const char *base = slash ? slash + 1 : m->path;

	return !strncmp(base, "libpypy", 7) || !strncmp(base, "pypy", 4);
}

enum err layout_refuse_missing(struct target *t, struct error *e)
{
	uint32_t version = 0;

	for (size_t i = 0; i < t->maps.count; i++) {
		if (is_pypy(&t->maps.v[i]))
			return error_set(e, ERR_UNSUPPORTED, 0,
					 "process %d runs PyPy, which is not supported "
					 "(CPython %s are)",
					 t->pid, LAYOUT_SUPPORTED_TEXT);
	}
	/* Before 3.7 there was no _PyRuntime: only names tell; those of the executable and of the library. */
	for (size_t i = 0; i < t->maps.count && !version; i++) {
		const char *slash = strrchr(t->maps.v[i].path, '/');

		if (slash && t->maps.v[i].exec)
			version = python_path_version(slash);
	}
	if (version && layout_version_support(version) == VERSION_OLD)
		return refuse_version(t, version, e);
	return error_set(e, ERR_NOT_PYTHON, 0, "process %d runs no CPython", t->pid);
}

enum err layout_refuse_image(struct target *t, const struct python_image *image, struct error *e)
{
	uint32_t version = image->version;

	if (!version)
		version = python_path_version(image->map->path);
	if (!version)
		version = version_in_maps(t);
	if (!version || (!image->version && layout_version_support(version) != VERSION_OLD))
		return error_set(e, ERR_UNSUPPORTED, 0,
				 "process %d runs a CPython that does not tell its version: older "
				 "than 3.11, or without dynamic symbols (%s are supported)",
				 t->pid, LAYOUT_SUPPORTED_TEXT);
	switch (layout_version_support(version)) {
	case VERSION_OLD:
		return refuse_version(t, version, e);
	case VERSION_NEW:
		return error_set(e, ERR_UNSUPPORTED, 0,
				 "process %d runs CPython %u.%u, which is newer than this "
				 "aiotrace knows (%s are supported)",
				 t->pid, version >> 24, version >> 16 & 0xff,
				 LAYOUT_SUPPORTED_TEXT);
	case VERSION_SUPPORTED:
		break;
	}
	if (image->free_threaded)
		return error_set(e, ERR_UNSUPPORTED, 0,
				 "process %d runs a free-threaded CPython %u.%u; free-threaded "
				 "builds are not supported yet",
				 t->pid, version >> 24, version >> 16 & 0xff);
	if (!image->initialised)
		return error_set(e, ERR_NOT_PYTHON, 0,
				 "the CPython of process %d is still starting, or has ended",
				 t->pid);
	return ERR_OK;
}
