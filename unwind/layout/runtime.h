/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the CPython that runs in the target: which mapped image, where its _PyRuntime is, of which version and build. */
#ifndef AIOTRACE_UNWIND_LAYOUT_RUNTIME_H
#define AIOTRACE_UNWIND_LAYOUT_RUNTIME_H

#include "attach/elf.h"
#include "attach/target.h"

struct python_image {
	const struct map *map; /* of the target's maps */
	struct elf_image *elf; /* owned; elf_close */
	vaddr runtime;
	uint32_t version; /* 0: an interpreter that doesn't say (before 3.11) */
	bool has_offsets; /* _PyRuntime begins with debug offsets */
	bool free_threaded, debug;
	bool initialised; /* an interpreter state exists */
};

/*
 * Takes the image whose runtime is initialised. ERR_NOT_PYTHON, also for a Python that is still starting; ERR_UNSUPPORTED for a version that no table
 * knows, PyPy, and free-threaded builds; ERR_GONE, ERR_ACCESS, ERR_NOMEM.
 */
must_check enum err python_image_find(struct target *t, struct python_image *ret, struct error *e);
void python_image_close(struct python_image *image);

/* Whether a mapped file's name looks as if CPython, or a part of it, were in it. */
bool python_path_likely(const char *path);
/* "python3.9", "libpython3.9.so.1.0", "/usr/lib/python3.9/x.so": 0x03090000; 0 where no version is in it. Only major and minor are set. */
uint32_t python_path_version(const char *path);

#endif
