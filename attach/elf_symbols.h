/* SPDX-License-Identifier: Apache-2.0 */
/* From an address to the function that it is in: all function symbols of an image, sorted, from its file's tables or, where there is no file, from memory. */
#ifndef AIOTRACE_ATTACH_ELF_SYMBOLS_H
#define AIOTRACE_ATTACH_ELF_SYMBOLS_H

#include "attach/elf.h"

#include <libelf.h>

struct elf_symbols;

must_check enum err elf_symbols_create(struct elf_symbols **ret);
void elf_symbols_destroy(struct elf_symbols *s); /* accepts NULL */
/* Adds the functions of the image: .symtab and .dynsym of its file, else the dynamic symbols in memory. Nothing where there is neither. */
must_check enum err elf_symbols_add_image(struct elf_symbols *s, struct elf_image *i);
/* Adds those of a file with the same addresses: separate debug information. */
must_check enum err elf_symbols_add_file(struct elf_symbols *s, Elf *file);
/*
 * Name of the function that holds the address `at` (as in the file): within a symbol's size, or, for symbols of size 0 (assembler), in the stretch of code
 * that begins with the symbol at `start` (0: not known). Never the next best one: NULL. Printable ASCII, valid until destroy.
 */
const char *elf_symbols_find(struct elf_symbols *s, uint64_t at, uint64_t start);

#endif
