/* SPDX-License-Identifier: Apache-2.0 */
/* From messages to a scene. */
#include "cmd/top_state.h"

#include "base/cleanup.h"
#include "report/json.h"
#include "tui/watched_json.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum err top_begin(struct top_state *t, const struct cli *cli, pid_t pid, struct opened *opened,
		   const struct text_style *style, struct error *e)
{
	*t = (struct top_state){.cli = cli, .e = e, .usage = {NAN, NAN, NAN, NAN}};
	ui_init(&t->ui, style, cli->rate);
	t->ui.process = pid;
	sources_init(&t->sources);
	if (history_init(&t->live, style->utf8) != ERR_OK) {
		process_close(opened);
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	}
	return sampler_start(cli, pid, opened, &t->sources, &t->sampler, e);
}

static void drop_looks(struct top_state *t)
{
	ui_forget(&t->ui);
	if (t->sampler) {
		sampler_release(t->sampler, t->newest);
		sampler_release(t->sampler, t->held);
		sampler_release(t->sampler, t->drawn);
	}
	t->newest = t->held = t->drawn = NULL;
}

static void drop_processes(struct top_state *t)
{
	for (uint32_t i = 0; i < t->process_count; i++)
		free((char *)t->processes[i].command);
	free(t->processes);
	t->processes = NULL;
	t->process_count = 0;
}

void top_end(struct top_state *t)
{
	drop_looks(t);
	t->leaked |= !sampler_stop(t->sampler);
	ui_deinit(&t->ui);
	history_deinit(&t->live);
	history_deinit(&t->kept);
	drop_processes(t);
	if (!t->leaked)
		sources_deinit(&t->sources);
}

static void forget(struct top_state *t)
{
	drop_looks(t);
	history_clear(&t->live);
	history_deinit(&t->kept);
	sources_clear(&t->sources);
	t->ended[0] = t->note[0] = 0;
	t->usage = (struct usage){NAN, NAN, NAN, NAN};
	t->ui.held = false;
	t->ui.task = t->ui.loop = 0;
	t->over = false;
	t->came = true;
}

enum err top_switch(struct top_state *t, pid_t pid, struct error *e)
{
	struct opened none = {0};

	forget(t);
	if (!sampler_stop(t->sampler)) {
		t->sampler = NULL;
		t->leaked = true;
		return error_set(e, ERR_SYSTEM, 0,
				 "process %d can't be left: a read of its files hangs", (int)pid);
	}
	t->sampler = NULL;
	return sampler_start(t->cli, pid, &none, &t->sources, &t->sampler, e);
}

static void tell_time(struct top_state *t)
{
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(t->clock, sizeof(t->clock), "%H:%M:%S", &tm);
}

void top_ask_native(struct top_state *t)
{
	if (t->over)
		ui_say(&t->ui, "the process has ended: no native stacks");
	else if (t->cli->pause == PAUSE_NEVER && t->cli->pause_given)
		ui_say(&t->ui, "no thread may be stopped (--pause=never): no native stacks");
	else
		sampler_ask_native(t->sampler);
}

static void hold_native(struct top_state *t)
{
	const struct snapshot_info *i = &t->newest->m->snapshot;
	struct error e = {0};

	if (i->native_note[0]) {
		ui_say(&t->ui, "no native stacks: %s", i->native_note);
		return;
	}
	t->ui.held = true;
	if (top_hold(t, &e) == ERR_OK)
		ui_say(&t->ui, "all threads were stopped for %.1f ms; Space goes on",
		       (double)i->paused_us / 1e3);
	else
		ui_say(&t->ui, "%s", e.text);
}

static void take_look(struct top_state *t, const struct message *m)
{
	history_add(&t->live, m->look->m);
	sampler_release(t->sampler, t->newest);
	t->newest = m->look;
	if (m->native_asked)
		hold_native(t);
}

void top_take(struct top_state *t)
{
	struct message m;

	while (sampler_take(t->sampler, &m)) {
		t->came = true;
		switch (m.kind) {
		case MESSAGE_LOOK:
			take_look(t, &m);
			break;
		case MESSAGE_SAME:
			if (t->newest)
				history_add_same(&t->live, t->newest->m, m.when);
			break;
		case MESSAGE_AGAIN:
			forget(t);
			if (m.text[0])
				ui_say(&t->ui, "%s", m.text);
			continue;
		case MESSAGE_ENDED:
			snprintf(t->ended, sizeof(t->ended), "%s", m.text);
			t->over = true;
			continue;
		case MESSAGE_TROUBLE:
			snprintf(t->note, sizeof(t->note), "%s", m.text);
			continue;
		}
		t->usage = m.usage;
		snprintf(t->note, sizeof(t->note), "%s", m.note);
		tell_time(t);
	}
}

static bool source(void *context, struct str file, int32_t line, struct str *ret)
{
	return sources_line(context, file, line, ret);
}

struct scene top_scene(struct top_state *t)
{
	const struct look *look = t->held ? t->held : t->newest;

	return (struct scene){
		.m = look ? look->m : NULL,
		.h = t->held ? &t->kept : &t->live,
		.usage = t->usage,
		.wanted_rate = SAMPLES_PER_SECOND,
		.blocked_after = t->cli->blocked_after_ms / 1e3,
		.max_pause_ms = t->cli->max_pause_ms,
		.clock = t->clock,
		.note = t->note,
		.ended = t->ended,
		.processes = t->processes,
		.process_count = t->process_count,
		.source = source,
		.source_ctx = &t->sources,
	};
}

void top_keep_drawn(struct top_state *t)
{
	struct look *look = t->held ? t->held : t->newest;

	if (look == t->drawn)
		return;
	if (look)
		sampler_hold(t->sampler, look);
	sampler_release(t->sampler, t->drawn);
	t->drawn = look;
}

enum err top_hold(struct top_state *t, struct error *e)
{
	sampler_release(t->sampler, t->held);
	t->held = NULL;
	history_deinit(&t->kept);
	if (!t->ui.held || !t->newest)
		return ERR_OK;
	if (history_copy(&t->kept, &t->live) != ERR_OK) {
		t->ui.held = false;
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	}
	t->held = t->newest;
	sampler_hold(t->sampler, t->held);
	return ERR_OK;
}

#define COMMAND_ARENA ((size_t)64 << 20) /* reserved, not used */

/* Its command line as one text; NULL where it has none (a kernel thread, a zombie) or where there is no memory. */
static char *command_of(pid_t pid)
{
	struct arena a;
	struct str *argv;
	struct text t = {0};
	size_t argc = 0;

	if (!arena_init(&a, COMMAND_ARENA))
		return NULL;
	if (proc_command(pid, &a, &argv, &argc) == ERR_OK) {
		for (size_t i = 0; i < argc && t.len < 1000; i++) {
			text_add(&t, i ? " " : "");
			text_add_bytes(&t, argv[i].ptr, strnlen(argv[i].ptr, argv[i].len));
		}
	}
	arena_deinit(&a);
	return t.v;
}

enum err top_list(struct top_state *t, struct error *e)
{
	auto_free pid_t *pids = NULL;
	size_t count = 0;
	enum err err = read_family(t->cli, &pids, &count, e);

	if (err != ERR_OK)
		return err;
	drop_processes(t);
	t->processes = calloc(count + 1, sizeof(*t->processes));
	for (size_t i = 0; t->processes && i < count; i++) {
		struct opened o;
		struct error why = {0};
		char *command;

		if (process_open(t->cli, pids[i], &o, &why) != ERR_OK)
			continue;
		process_close(&o);
		command = command_of(pids[i]);
		if (command)
			t->processes[t->process_count++] = (struct process_row){pids[i], command};
	}
	return ERR_OK;
}

#define SOURCES_MS 1000u /* where a file system hangs */

enum err top_json(struct top_state *t, FILE *out, struct error *e)
{
	struct scene s = top_scene(t);

	watched_json_want(&s);
	if (!t->over) {
		sampler_read_sources(t->sampler);
		sources_wait(&t->sources, SOURCES_MS);
	}
	return json_document_with(out, s.m, watched_json, &s, e);
}

/* Never a file that is there already, nor what a link leads to. */
void top_save(struct top_state *t)
{
	char name[64], date[32];
	time_t now = time(NULL);
	struct error e = {0};
	struct tm tm;
	int fd = -1;
	FILE *out;
	enum err err;

	if (!top_scene(t).m) {
		ui_say(&t->ui, "there is no picture yet");
		return;
	}
	localtime_r(&now, &tm);
	strftime(date, sizeof(date), "%Y%m%dT%H%M%S", &tm);
	for (unsigned i = 0; i < 100 && fd < 0; i++) {
		snprintf(name, sizeof(name), i ? "aiotrace-%d-%s-%u.json" : "aiotrace-%d-%s.json",
			 (int)top_scene(t).m->target.pid, date, i);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		ui_say(&t->ui, "can't save to %s: %s", name, strerror(errno));
		return;
	}
	err = top_json(t, out, &e);
	if (fclose(out) != 0 && err == ERR_OK)
		err = error_set(&e, ERR_SYSTEM, errno, "%s", strerror(errno));
	if (err == ERR_OK)
		ui_say(&t->ui, "saved to %s", name);
	else
		ui_say(&t->ui, "%s could not be written: %s", name, e.text);
}
