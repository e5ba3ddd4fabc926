/* SPDX-License-Identifier: Apache-2.0 */
/* Provider: generated tables, one a minor version and kind of build, and what the numbers can't say (the enums of struct layout). */
#ifndef AIOTRACE_UNWIND_LAYOUT_TABLE_H
#define AIOTRACE_UNWIND_LAYOUT_TABLE_H

#include "unwind/layout/layout.h"

#define LAYOUT_SUPPORTED_TEXT "3.11 to 3.15"

/* Minor version as in Py_Version: 0x030d for 3.13. */
static inline unsigned layout_minor(uint32_t version)
{
	return version >> 16;
}

enum version_support {
	VERSION_OLD,
	VERSION_SUPPORTED,
	VERSION_NEW
};

enum version_support layout_version_support(uint32_t version);
/*
 * Fills the rows and the enums of *lay for lay->version and lay->debug; the other members stay. False: no such table.
 */
bool layout_table_fill(struct layout *lay);

#endif
