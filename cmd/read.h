/* SPDX-License-Identifier: Apache-2.0 */
/* What every reading command does before it can show something: opens the process, finds the layout, takes the picture. */
#ifndef AIOTRACE_CMD_READ_H
#define AIOTRACE_CMD_READ_H

#include "attach/target.h"
#include "cmd/cli.h"
#include "model/model.h"
#include "report/report.h"
#include "unwind/layout/layout.h"

/* A process that is open, so that it can be looked at again and again. */
struct opened {
	struct target target;
	struct layout lay;
};
/* Says with -v how long it took. */
must_check enum err process_open(const struct cli *cli, pid_t pid, struct opened *ret,
				 struct error *e);
void process_close(struct opened *o); /* accepts a zeroed one */

/* What of a process a look is to contain. */
struct look_options {
	bool threads, loops, native;
	bool again; /* one of many (unwind/snapshot.h) */
};
/* One picture into *m, which is emptied first. */
must_check enum err process_look(const struct cli *cli, struct opened *o,
				 const struct look_options *want, struct model *m, struct error *e);

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
/* How one of them comes to be; on success *ret is the caller's. */
typedef enum err (*picture_reader)(const struct cli *cli, pid_t pid, struct model **ret,
				   struct error *e);
/* Processes below the target that are no Python, or that end meanwhile, are left out; when nothing is left, the target's own error is returned. */
must_check enum err pictures_take(const struct cli *cli, picture_reader read, struct pictures *ret,
				  struct error *e);
void pictures_deinit(struct pictures *p);

typedef enum err (*render_text)(FILE *out, const struct model *m, const struct report_options *o,
				struct error *e);
/* Takes the pictures and prints them as JSON or by `render`, again and again with --watch. Returns the exit code. */
int read_and_show(const struct cli *cli, render_text render);
/* What was printed goes out; ERR_SYSTEM where it can't. */
must_check enum err output_flush(struct error *e);
/* The failure is that the reader has read enough and went away (head, less), which is none: what is left to be written is dropped. */
bool output_left_alone(const struct error *e);
/* As one JSON document, or with --children as a list of them. */
must_check enum err pictures_json(const struct cli *cli, const struct pictures *p, struct error *e);
/* Colours, width and characters of what a descriptor leads to. */
struct text_style stream_style(const struct cli *cli, int fd);
/* The same of standard output. */
struct text_style output_style(const struct cli *cli);

#endif
