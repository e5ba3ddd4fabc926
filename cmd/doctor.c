/* SPDX-License-Identifier: Apache-2.0 */
/* doctor: gathers what is known of a process and of our rights to it, also where it can't be read. */
#include "attach/access.h"
#include "attach/target.h"
#include "base/cleanup.h"
#include "cmd/commands.h"
#include "cmd/exit.h"
#include "cmd/read.h"
#include "report/doctor.h"
#include "report/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FACTS_MAX 64
#define LOOPS_MAX 20 /* listed one by one */

struct examination {
	struct doctor_report report;
	struct doctor_fact facts[FACTS_MAX];
	struct arena text;
	struct access_report access;
	struct error problem; /* kind ERR_OK: none */
};

__attribute__((format(printf, 5, 6))) static void add_fact(struct examination *x,
							   const char *section, const char *name,
							   bool bad, const char *format, ...)
{
	char line[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (n < 0 || x->report.count == FACTS_MAX)
		return;
	if ((size_t)n >= sizeof(line))
		n = (int)sizeof(line) - 1;
	x->facts[x->report.count++] = (struct doctor_fact){
		.section = section,
		.name = arena_copy(&x->text, name, strlen(name) + 1),
		.value = {arena_copy(&x->text, line, (size_t)n), (uint32_t)n},
		.bad = bad,
	};
}

static const char *yes_no(bool b)
{
	return b ? "yes" : "no";
}

static void examine_command(struct examination *x)
{
	struct str *argv;
	size_t argc;
	struct text t = {0};

	if (proc_command(x->report.pid, &x->text, &argv, &argc) != ERR_OK)
		return;
	for (size_t i = 0; i < argc; i++) {
		if (i)
			text_add(&t, " ");
		text_add_bytes(&t, argv[i].ptr, argv[i].len);
	}
	x->report.command = (struct str){arena_copy(&x->text, t.v, t.len), (uint32_t)t.len};
	text_deinit(&t);
}

static void examine_process(struct examination *x)
{
	struct proc_stat stat;

	if (proc_stat_read(x->report.pid, &stat, NULL) != ERR_OK)
		return;
	add_fact(x, "process", "state", false, "%c%s", stat.state,
		 stat.state == 'T'   ? " (stopped by a signal; it can still be read)"
		 : stat.state == 't' ? " (stopped by a debugger; it can still be read)"
				     : "");
	add_fact(x, "process", "threads", false, "%u", stat.threads);
	add_fact(x, "process", "parent", false, "%d", (int)stat.ppid);
	add_fact(x, "process", "in a container", false, "%s",
		 yes_no(proc_in_container(x->report.pid)));
}

static void examine_python(struct examination *x, const struct layout *lay)
{
	char version[32];

	add_fact(x, "python", "version", false, "CPython %s",
		 layout_version_text(lay, version, sizeof(version)));
	add_fact(x, "python", "build", false, "%s%s",
		 lay->debug ? "debug (--with-pydebug)" : "release",
		 lay->free_threaded ? ", free-threaded" : "");
	add_fact(x, "python", "found in", false, "%s at 0x%llx", lay->python_path,
		 (unsigned long long)lay->python_image);
	add_fact(x, "python", "offsets from", false, "%s%s", layout_source_name(lay->source),
		 lay->source == LAYOUT_DEBUG_OFFSETS
			 ? " (the target's own; the rest from tables, verified)"
			 : " (verified on the target)");
	if (lay->all_tasks == TASKS_LINKED)
		add_fact(x, "python", "asyncio offsets", false, "%s",
			 lay->asyncio_found ? "the target's own"
					    : "from tables: the target has not loaded _asyncio");
}

static void examine_picture(struct examination *x, const struct cli *cli)
{
	struct model *m;

	if (read_process(cli, x->report.pid, &m, &x->problem) != ERR_OK)
		return;
	add_fact(x, "python", "interpreters", false, "%u", m->interpreters.count);
	add_fact(x, "python", "threads", false, "%u", m->threads.count);
	add_fact(x, "python", "loops", false, "%u", m->loops.count);
	for (uint32_t i = 0; i < m->loops.count && i < LOOPS_MAX; i++) {
		const struct loop *l = &m->loops.v[i];
		char name[24];

		snprintf(name, sizeof(name), "loop %u", i + 1);
		add_fact(x, "python", name, false, "%.*s, %u tasks, thread %d",
			 STR_ARG(l->cls == NONE ? STR_LIT("?") : m->strings.v[l->cls]),
			 l->task_count, l->thread == NONE ? 0 : (int)m->threads.v[l->thread].tid);
	}
	add_fact(x, "python", "tasks", false, "%u", m->tasks.count);
	add_fact(x, "python", "snapshot", false, "%s, %llu us, %llu system calls",
		 m->snapshot.consistent ? "consistent" : "not consistent",
		 (unsigned long long)m->snapshot.duration_us,
		 (unsigned long long)m->snapshot.read_calls);
	model_destroy(m);
}

static void examine_target(struct examination *x, const struct cli *cli)
{
	struct target t = {0};
	struct layout lay;
	enum err err = target_open(x->report.pid, &t, &x->problem);

	if (err == ERR_OK)
		err = layout_find(&t, &lay, &x->problem);
	if (err == ERR_OK)
		examine_python(x, &lay);
	target_close(&t);
	if (err == ERR_OK)
		examine_picture(x, cli);
}

static void examine_permission(struct examination *x)
{
	const struct access_report *a = &x->access;

	if (access_examine(x->report.pid, &x->access, NULL) != ERR_OK)
		return;
	add_fact(x, "permission", "memory readable", !a->can_read, "%s", yes_no(a->can_read));
	add_fact(x, "permission", "may be paused", !a->can_attach, "%s", yes_no(a->can_attach));
	add_fact(x, "permission", "uid of aiotrace", a->own_uid != a->target_uid && !a->can_read,
		 "%u", a->own_uid);
	add_fact(x, "permission", "uid of the target", false, "%u", a->target_uid);
	add_fact(x, "permission", "CAP_SYS_PTRACE", false, "%s", yes_no(a->own_ptrace_capability));
	if (a->yama_scope < 0)
		add_fact(x, "permission", "ptrace_scope", false, "no Yama in this kernel");
	else
		add_fact(x, "permission", "ptrace_scope", a->yama_scope > 0 && !a->can_read, "%d",
			 a->yama_scope);
	add_fact(x, "permission", "seccomp", false,
		 "aiotrace %d, target %d (0 off, 1 strict, 2 filter)", a->own_seccomp,
		 a->target_seccomp);
	add_fact(x, "permission", "user namespace", !a->same_user_namespace && !a->can_read, "%s",
		 a->same_user_namespace ? "the same" : "another");
	add_fact(x, "permission", "pid namespace", false, "%s",
		 a->same_pid_namespace ? "the same" : "another");
	if (a->tracer)
		add_fact(x, "permission", "traced by", false,
			 "process %d (it can be read, but not paused by us)", (int)a->tracer);
}

static void examination_destroy(struct examination *x)
{
	if (!x)
		return;
	arena_deinit(&x->text);
	free(x);
}

static enum err examine(const struct cli *cli, pid_t pid, struct examination **ret, struct error *e)
{
	struct examination *x = calloc(1, sizeof(*x));

	if (!x || !arena_init(&x->text, (size_t)1 << 28)) {
		free(x);
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	}
	x->report.pid = pid;
	examine_command(x);
	examine_target(x, cli);
	if (x->problem.kind != ERR_GONE) {
		examine_process(x);
		examine_permission(x);
	}
	x->report.facts = x->facts;
	x->report.readable = x->problem.kind == ERR_OK;
	x->report.problem = x->problem.text;
	x->report.remedy = x->report.readable ? "" : x->access.remedy;
	*ret = x;
	return ERR_OK;
}

/* Of the processes below the target only those that are Python are of interest; of the target itself, all is. */
static bool is_wanted(const struct examination *x, bool below)
{
	return x->problem.kind != ERR_GONE && !(below && x->problem.kind == ERR_NOT_PYTHON);
}

static enum err print_reports(const struct cli *cli, const struct doctor_report *const *reports,
			      size_t count, struct error *e)
{
	struct text_style style = output_style(cli);
	enum err err = ERR_OK;

	if (cli->json)
		return doctor_json(stdout, reports, count, cli->children, e);
	for (size_t i = 0; i < count && err == ERR_OK; i++) {
		if (i)
			fputc('\n', stdout);
		err = doctor_render(stdout, reports[i], &style, e);
	}
	return err;
}

/* Examines all and prints what is wanted. The code is the target's own, but 0 where it is no Python and one below it can be read. */
static int examine_family(const struct cli *cli, const pid_t *pids, size_t count,
			  struct examination **all, const struct doctor_report **reports)
{
	struct error e = {0};
	size_t wanted = 0;
	int code;

	for (size_t i = 0; i < count; i++) {
		if (examine(cli, pids[i], &all[i], &e) != ERR_OK || !all[i])
			return exit_with(&e);
		if (is_wanted(all[i], i > 0))
			reports[wanted++] = &all[i]->report;
	}
	code = exit_code_of(all[0]->problem.kind);
	if (!wanted)
		return exit_with(&all[0]->problem);
	for (size_t i = 1; i < count && all[0]->problem.kind == ERR_NOT_PYTHON; i++) {
		if (all[i]->report.readable)
			code = EXIT_DONE;
	}
	return print_reports(cli, reports, wanted, &e) == ERR_OK ? code : exit_with(&e);
}

int doctor_run(const struct cli *cli)
{
	auto_free pid_t *pids = NULL;
	auto_free struct examination **all = NULL;
	auto_free const struct doctor_report **reports = NULL;
	struct error e = {0};
	size_t count = 0;
	int code;

	if (read_family(cli, &pids, &count, &e) != ERR_OK)
		return exit_with(&e);
	all = calloc(count, sizeof(struct examination *));
	reports = calloc(count, sizeof(struct doctor_report *));
	if (!all || !reports) {
		error_set(&e, ERR_NOMEM, 0, "out of memory");
		return exit_with(&e);
	}
	code = examine_family(cli, pids, count, all, reports);
	for (size_t i = 0; i < count; i++)
		examination_destroy(all[i]);
	return code;
}
