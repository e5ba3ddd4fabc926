/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for child processes: Lib/asyncio/subprocess.py, base_subprocess.py, unix_events.py. The command is the process's own word in /proc, else Popen's. */
#include "unwind/asyncio/waits.h"

#include <inttypes.h>

#define COMMAND_BYTES 200u
#define ARGS_MAX      64u

static void say_argument(struct words *s, uint32_t start, struct str arg)
{
	uint32_t used = s->len - start;

	if (used >= COMMAND_BYTES)
		return;
	words_add(s, used ? " " : ", ");
	words_str(s, arg, COMMAND_BYTES - used);
}

/* False where /proc has no command: another pid namespace, a zombie, no such process any more. */
static bool say_command(struct waiting *c, struct words *s, int64_t pid)
{
	struct str *argv;
	size_t argc;
	uint32_t start = s->len;

	if (!c->r->target || c->r->model->target.container ||
	    proc_command((pid_t)pid, c->r->scratch, &argv, &argc) != ERR_OK || !argc)
		return false;
	for (size_t i = 0; i < argc && i < ARGS_MAX; i++)
		say_argument(s, start, argv[i]);
	return true;
}

/* Popen.args: a str, or a list or tuple of them (bytes and paths are left out). */
static void say_popen(struct waiting *c, struct words *s, vaddr args)
{
	const struct type_info *t;
	struct items list = {0};
	struct str text;
	uint32_t start = s->len;
	enum err err = ERR_SHAPE;

	if (!args || type_of(c->r, args, &t) != ERR_OK)
		return;
	if (t->kind == TYPE_STR)
		list = (struct items){&args, 1, false}, err = ERR_OK;
	else if (t->kind == TYPE_LIST)
		err = object_list(c->r, args, ARGS_MAX, &list);
	else if (t->kind == TYPE_TUPLE)
		err = object_tuple(c->r, args, ARGS_MAX, &list);
	for (uint32_t i = 0; err == ERR_OK && i < list.count; i++) {
		if (object_str(c->r, list.v[i], COMMAND_BYTES, c->r->scratch, &text, NULL) ==
		    ERR_OK)
			say_argument(s, start, text);
	}
}

static void say_process(struct waiting *c, struct words *s, int64_t pid, vaddr transport)
{
	struct proc_stat stat;

	if (pid > 0 && pid <= INT32_MAX)
		words_add(s, ", pid %" PRId64, pid);
	else
		pid = 0;
	if (!pid || !say_command(c, s, pid))
		say_popen(c, s, wait_attr(c, wait_attr(c, transport, "_proc"), "args"));
	if (pid && c->r->target && !c->r->model->target.container &&
	    proc_stat_read((pid_t)pid, &stat, NULL) == ERR_OK && stat.state == 'Z')
		words_add(s, ", ended (a zombie)");
}

/* asyncio.subprocess.Process; communicate() also waits for the tasks that feed and read it. */
void wait_process(struct waiting *c)
{
	struct words s = {0};
	struct waited_for n;
	vaddr process = wait_local(c, "self");
	const struct type_info *t;

	if (!process)
		return;
	c->out.kind = AWAITS_PROCESS;
	c->out.id = process;
	words_add(&s, "%s", c->rule->verb);
	say_process(c, &s, wait_number(c, process, "pid"), wait_attr(c, process, "_transport"));
	if (c->leaf && type_of(c->r, c->leaf, &t) == ERR_OK &&
	    type_is(c->r, t, "asyncio.tasks", "_GatheringFuture"))
		wait_collect(c, &(struct items){&c->leaf, 1, false}, &n);
	wait_detail(c, &s);
}

void wait_process_transport(struct waiting *c)
{
	struct words s = {0};
	vaddr transport = wait_local(c, c->rule->variable);

	if (!transport)
		return;
	c->out.kind = AWAITS_PROCESS;
	c->out.id = transport;
	words_add(&s, "%s", c->rule->verb);
	say_process(c, &s, wait_number(c, transport, "_pid"), transport);
	wait_detail(c, &s);
}
