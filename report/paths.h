/* SPDX-License-Identifier: Apache-2.0 */
/* File names for the eye: as short as still tells them apart. JSON has them whole. */
#ifndef AIOTRACE_REPORT_PATHS_H
#define AIOTRACE_REPORT_PATHS_H

#include "model/model.h"

struct paths {
	struct str
		common; /* the folder that all files of the program share, with the last slash; len 0: none */
};

void paths_init(struct paths *p, const struct model *m);
/*
 * "asyncio/tasks.py" and "aiohttp/web.py" for libraries, relative to the common folder for the program's own; at most the last four parts. *cut says
 * that an ellipsis and a slash belong before it.
 */
struct str paths_short(const struct paths *p, struct str file, bool *cut);

#endif
