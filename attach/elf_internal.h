/* SPDX-License-Identifier: Apache-2.0 */
/* What elf.c (the image in memory) and elf_file.c (the file it came from) share. */
#ifndef AIOTRACE_ATTACH_ELF_INTERNAL_H
#define AIOTRACE_ATTACH_ELF_INTERNAL_H

#include "attach/elf.h"

#include <libelf.h>
#include <sys/types.h>

#define ELF_SEGMENTS_MOST 128u
#define ELF_BUILD_ID_MOST 64u

/* The tables that PT_DYNAMIC points to, at run-time addresses; 0: not there. */
struct elf_dynamic {
	vaddr symbols, strings, gnu_hash, hash;
	uint64_t strings_size;
};

struct elf_image {
	pid_t pid;
	struct mem *mem;
	vaddr start, end; /* mapping of the file's beginning */
	char *path;
	bool deleted;
	Elf64_Ehdr header;
	Elf64_Phdr *segments;
	size_t segment_count;
	uint64_t bias;
	vaddr image_end; /* end of the highest segment */
	struct elf_dynamic dynamic;
	bool dynamic_read;
	unsigned char build_id[ELF_BUILD_ID_MOST];
	size_t build_id_size;
	bool build_id_read;
	int fd; /* -1 none */
	Elf *file;
	bool file_tried;
};

/* Fills i->dynamic, once. */
void elf_read_dynamic(struct elf_image *i);
/* Build id in a stretch of notes; 0 where there is none. */
size_t elf_find_build_id(const unsigned char *notes, size_t size, size_t align, unsigned char *ret);
/* Opens the file and proves that it is this image's. False where it can't be had. */
bool elf_file_open(struct elf_image *i);
void elf_file_close(struct elf_image *i);
/* In .symtab, or .dynsym, of the file: value as in the file. */
must_check enum err elf_file_symbol(struct elf_image *i, const char *name, uint64_t *ret,
				    uint64_t *size_ret);

#endif
