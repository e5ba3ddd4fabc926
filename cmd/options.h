/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of options: what each is called, which commands take it, its line of help, and where its value goes. */
#ifndef AIOTRACE_CMD_OPTIONS_H
#define AIOTRACE_CMD_OPTIONS_H

#include "cmd/cli.h"

#define OPTIONS_MAX 40 /* with the row that ends the table */

struct option_row {
	const char *name;
	char short_name; /* 0 none */
	unsigned group; /* 0: every command */
	const char *argument; /* NULL none */
	const char *help;
	enum err (*take)(struct cli *c, const char *value, struct error *e);
};

/* Ends with a row without a name. */
extern const struct option_row options[];

#endif
