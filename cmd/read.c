/* SPDX-License-Identifier: Apache-2.0 */
/* From a process id to a picture. */
#include "cmd/read.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>

/* More processes than these below one are a fork bomb. */
#define PROCESSES_MAX 10000

static void log_line(void *ctx, const char *line)
{
	fprintf(stderr, "aiotrace: process %d: %s\n", *(const pid_t *)ctx, line);
}

static void log_step(const struct cli *cli, pid_t pid, const char *what, uint64_t since)
{
	char line[160];

	if (!cli->verbose)
		return;
	snprintf(line, sizeof(line), "%s: %.2f ms", what, (double)(clock_now_ns() - since) / 1e6);
	log_line(&pid, line);
}

static void describe_target(struct model *m, const struct target *t, const struct layout *lay)
{
	struct target_info *info = &m->target;

	info->pid = t->pid;
	info->free_threaded = lay->free_threaded;
	info->debug_build = lay->debug;
	info->thread_tasks = field_present(lay->thread_running_task);
	info->container = proc_in_container(t->pid);
	info->layout = layout_source_name(lay->source);
	layout_version_text(lay, info->python, sizeof(info->python));
}

/* Every failure has a reason to print; a read alone answers with its kind. */
static enum err explained(pid_t pid, enum err err, struct error *e)
{
	if (err == ERR_OK || e->kind == err)
		return err;
	return error_set(e, err, 0, "process %d could not be read", (int)pid);
}

enum err process_open(const struct cli *cli, pid_t pid, struct opened *ret, struct error *e)
{
	uint64_t start = clock_now_ns();
	enum err err;

	*ret = (struct opened){0};
	err = target_open(pid, &ret->target, e);
	if (err != ERR_OK)
		return err;
	log_step(cli, pid, "opened", start);
	start = clock_now_ns();
	err = layout_find(&ret->target, &ret->lay, e);
	if (err == ERR_OK)
		log_step(cli, pid, "layout found", start);
	else
		process_close(ret);
	return explained(pid, err, e);
}

void process_close(struct opened *o)
{
	target_close(&o->target);
}

enum err process_look(const struct cli *cli, struct opened *o, const struct look_options *want,
		      struct model *m, struct error *e)
{
	pid_t pid = o->target.pid;
	struct snapshot_options options = {
		.pause = cli->pause,
		.max_pause_ms = cli->max_pause_ms,
		.threads = want->threads,
		.loops = want->loops,
		.again = want->again,
		.native = want->native,
		.log = cli->verbose ? log_line : NULL,
		.log_ctx = &pid,
	};
	enum err err;

	describe_target(m, &o->target, &o->lay);
	err = snapshot_take(&o->target, &o->lay, &options, m, e);
	if (err != ERR_OK)
		return explained(pid, err, e);
	err = proc_command(pid, &m->text, &m->target.command, &m->target.command_count);
	/* Where the command line can't be read, the picture stands all the same. */
	return err == ERR_GONE || err == ERR_NOMEM ? explained(pid, err, e) : ERR_OK;
}

enum err read_process(const struct cli *cli, pid_t pid, struct model **ret, struct error *e)
{
	const struct look_options want = {
		.threads = cli->threads, .loops = cli->loop, .native = cli->native};
	struct opened o;
	struct model *m = NULL;
	enum err err = process_open(cli, pid, &o, e);

	if (err != ERR_OK)
		return err;
	err = model_create(&m);
	if (err == ERR_OK)
		err = process_look(cli, &o, &want, m, e);
	else
		error_set(e, ERR_NOMEM, 0, "out of memory");
	process_close(&o);
	if (err == ERR_OK)
		*ret = m;
	else
		model_destroy(m);
	return err;
}

static enum err add_picture(struct pictures *p, struct model *m, struct error *e)
{
	if (p->count == p->capacity) {
		size_t capacity = p->capacity ? 2 * p->capacity : 8;
		struct model **grown = realloc(p->v, capacity * sizeof(struct model *));

		if (!grown) {
			model_destroy(m);
			return error_set(e, ERR_NOMEM, 0, "out of memory");
		}
		p->v = grown;
		p->capacity = capacity;
	}
	p->v[p->count++] = m;
	return ERR_OK;
}

enum err read_family(const struct cli *cli, pid_t **ret, size_t *count_ret, struct error *e)
{
	pid_t *all = malloc(PROCESSES_MAX * sizeof(*all));
	size_t count = 0;

	if (!all)
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	all[count++] = cli->pid;
	for (size_t i = 0; cli->children && i < count; i++) {
		auto_free pid_t *children = NULL;
		size_t n = 0;

		if (proc_children(all[i], &children, &n) != ERR_OK)
			continue;
		for (size_t k = 0; k < n && count < PROCESSES_MAX; k++)
			all[count++] = children[k];
	}
	*ret = all;
	*count_ret = count;
	return ERR_OK;
}

/* What is no Python, or has gone, belongs to no answer about Python processes; anything else is said. */
static void say_left_out(const struct error *e)
{
	if (e->kind != ERR_NOT_PYTHON && e->kind != ERR_GONE)
		fprintf(stderr, "aiotrace: %s\n", e->text);
}

enum err pictures_take(const struct cli *cli, picture_reader read, struct pictures *ret,
		       struct error *e)
{
	auto_free pid_t *pids = NULL;
	size_t count = 0;
	struct error first = {0};
	enum err err = ERR_OK;

	if (!cli->children) {
		struct model *m = NULL;

		err = read(cli, cli->pid, &m, e);
		return err == ERR_OK ? add_picture(ret, m, e) : err;
	}
	err = read_family(cli, &pids, &count, e);
	for (size_t i = 0; i < count && err == ERR_OK; i++) {
		struct error own = {0};
		struct model *m = NULL;

		if (read(cli, pids[i], &m, &own) == ERR_OK) {
			err = add_picture(ret, m, e);
			continue;
		}
		if (i == 0)
			first = own;
		else
			say_left_out(&own);
	}
	if (err == ERR_OK && !ret->count) {
		*e = first;
		return first.kind;
	}
	if (err == ERR_OK && first.kind != ERR_OK)
		say_left_out(&first);
	return err;
}

void pictures_deinit(struct pictures *p)
{
	for (size_t i = 0; i < p->count; i++)
		model_destroy(p->v[i]);
	free(p->v);
	*p = (struct pictures){0};
}
