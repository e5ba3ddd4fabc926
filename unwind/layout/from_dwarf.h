/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider: debug information (libdw). Files are added one after the other; each is walked once, and only the structures that fields.def names are
 * remembered. Used on a target whose build no table fits, and by tools/layoutgen, which writes the tables.
 */
#ifndef AIOTRACE_UNWIND_LAYOUT_FROM_DWARF_H
#define AIOTRACE_UNWIND_LAYOUT_FROM_DWARF_H

#include "unwind/layout/layout.h"

struct dwarf_types;

must_check enum err dwarf_types_create(struct dwarf_types **ret);
void dwarf_types_destroy(struct dwarf_types *types); /* accepts NULL */
/*
 * Adds the debug information of an ELF file, or of the separate file that has its build id, below `root`/usr/lib/debug/.build-id (root "" is our own
 * /; NULL: don't look for one). fd stays the caller's and may be closed. ERR_SHAPE where there is none; ERR_BOUND after eight files.
 */
must_check enum err dwarf_types_add(struct dwarf_types *types, int fd, const char *root);
/* Sets the rows that the debug information knows (a structure without the member: absent; an unknown structure: untouched). Returns how many were set. */
unsigned dwarf_types_fill(struct dwarf_types *types, struct layout *lay);
/* The same for one row; false where its structure is unknown. */
bool dwarf_types_fill_row(struct dwarf_types *types, struct layout *lay, size_t row);

#endif
