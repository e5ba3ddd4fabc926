/* SPDX-License-Identifier: Apache-2.0 */
/* The executables and libraries that native code of a target lies in, each opened when the first address in it is met. */
#ifndef AIOTRACE_UNWIND_NATIVE_IMAGES_H
#define AIOTRACE_UNWIND_NATIVE_IMAGES_H

#include "attach/elf.h"
#include "attach/elf_symbols.h"
#include "unwind/layout/dwarf_file.h"

/* .eh_frame_hdr's sorted table: where the unwind information of each function lies. */
struct unwind_table {
	vaddr base; /* addresses in it are relative to this */
	vaddr at;
	uint64_t entries; /* pairs of 32 bits; 0: the image has none */
};

struct image {
	const struct map
		*first; /* mapping of the file's beginning; of anonymous code the mapping itself */
	vaddr end; /* of the last mapping of the file */
	struct elf_image *elf; /* NULL: no ELF file, or its beginning is not mapped */
	struct unwind_table table;
	/* names.c's, from the first name that is asked for */
	bool names_tried, lines_known;
	struct elf_symbols *symbols;
	struct dwarf_file lines;
};

struct images {
	pid_t pid;
	struct mem *mem;
	const struct maps *maps;
	struct image **v;
	size_t count, room;
};

/* What is executable at that address; NULL where nothing is, or on no memory. Lives as long as *s. */
struct image *images_find(struct images *s, vaddr pc);
void images_deinit(struct images *s);

/* Is the mapping one that no running thread changes, as unwind information and code are: of a file, or the kernel's vDSO? */
bool images_is_file(const struct map *map);

/* names.c: what is known of one address of code. Texts live as long as the images. */
struct native_name {
	const char *function; /* NULL: no symbol covers it */
	const char *file; /* source, NULL: no debug information */
	int32_t line; /* 0 not known */
	uint64_t
		offset; /* of the address in the file's own terms, as objdump and addr2line count */
};
/* start: of the stretch of code that holds pc, by its unwind information, 0 not known. call: pc is where a call will return to. */
void native_name(struct images *s, struct image *i, vaddr pc, vaddr start, bool call,
		 struct native_name *ret);
void native_names_close(struct image *i);

#endif
