/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the debug information of an image: in the file itself, or in the separate file of the same build id. */
#ifndef AIOTRACE_UNWIND_LAYOUT_DWARF_FILE_H
#define AIOTRACE_UNWIND_LAYOUT_DWARF_FILE_H

#include "base/error.h"

#include <elfutils/libdw.h>

struct dwarf_file {
	int fd;
	Elf *elf;
	Dwarf *dw;
	int alt_fd; /* the file shared by several (dwz), -1 none */
	Elf *alt_elf;
	Dwarf *alt;
};

/* fd is not kept. `root` as for dwarf_types_add. ERR_SHAPE where there is no debug information; ERR_NOMEM. */
must_check enum err dwarf_file_open(int fd, const char *root, struct dwarf_file *ret);
void dwarf_file_close(struct dwarf_file *f);

#endif
