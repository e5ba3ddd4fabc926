/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols and sections of an image that is mapped in the target. Looked up in the target's own memory first (PT_DYNAMIC, .dynsym, gnu hash or
 * symbol count by section/hash), so that a deleted or replaced file and another mount namespace don't matter; sections, and symbols outside
 * .dynsym, come from the file: /proc/PID/map_files/A-B, else /proc/PID/root + path, else path. Build ids are compared before a file is believed
 * to be the mapped image (where the image has one).
 */
#ifndef AIOTRACE_ATTACH_ELF_H
#define AIOTRACE_ATTACH_ELF_H

#include "attach/maps.h"
#include "attach/mem.h"

struct elf_image;

/* `first` is the mapping of file offset 0 of the image. ERR_SHAPE where it is no ELF64 of our machine. */
must_check enum err elf_open(pid_t pid, struct mem *mem, const struct maps *maps,
			     const struct map *first, struct elf_image **ret);
void elf_close(struct elf_image *i); /* accepts NULL */
/* Value is the run-time address. *size_ret (may be NULL) is st_size. Absent: ERR_SHAPE. Dynamic symbols, then .symtab of the file. */
must_check enum err elf_symbol(struct elf_image *i, const char *name, vaddr *ret,
			       uint64_t *size_ret);
/* Dynamic symbols only (cheap, from memory). */
must_check enum err elf_dynamic_symbol(struct elf_image *i, const char *name, vaddr *ret,
				       uint64_t *size_ret);
/* Run-time address and size of a section, by name, from the file's section headers. Absent: ERR_SHAPE. */
must_check enum err elf_section(struct elf_image *i, const char *name, vaddr *ret,
				uint64_t *size_ret);
/* Run-time address minus the address in the file. */
uint64_t elf_bias(const struct elf_image *i);
/* Run-time address and size in memory of the first segment of that type (PT_GNU_EH_FRAME …). Absent: ERR_SHAPE. */
must_check enum err elf_segment(const struct elf_image *i, uint32_t type, vaddr *ret,
				uint64_t *size_ret);
/* Open file of the image (an fd that stays the image's), -1 where it can't be had. */
int elf_file(struct elf_image *i);
/* GNU build id: length in bytes, 0 where none. */
size_t elf_build_id(struct elf_image *i, unsigned char *ret, size_t size);

#endif
