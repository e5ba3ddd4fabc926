/* SPDX-License-Identifier: Apache-2.0 */
/* What every reading command does before it can show something: opens the process, finds the layout, takes the picture. */
#ifndef AIOTRACE_CMD_READ_H
#define AIOTRACE_CMD_READ_H

#include "cmd/cli.h"
#include "model/model.h"
#include "report/report.h"

/* One process. On success *ret is the caller's (model_destroy). */
must_check enum err read_process(const struct cli *cli, pid_t pid, struct model **ret,
				 struct error *e);

/* The target and, with --children, all processes below it, parents first; malloc'ed. */
must_check enum err read_family(const struct cli *cli, pid_t **ret, size_t *count_ret,
				struct error *e);

/* Pictures of the target and, with --children, of every Python process below it. */
struct pictures {
	struct model **v;
	size_t count, capacity;
};
/* Processes below the target that are no Python, or that end meanwhile, are left out; when nothing is left, the target's own error is returned. */
must_check enum err pictures_take(const struct cli *cli, struct pictures *ret, struct error *e);
void pictures_deinit(struct pictures *p);

typedef enum err (*render_text)(FILE *out, const struct model *m, const struct report_options *o,
				struct error *e);
/* Takes the pictures and prints them as JSON or by `render`, again and again with --watch. Returns the exit code. */
int read_and_show(const struct cli *cli, render_text render);
/* Colours, width and characters of standard output. */
struct text_style output_style(const struct cli *cli);

#endif
