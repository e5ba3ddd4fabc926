/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/options.h"

#include "cmd/number.h"
#include "detect/detect.h"
#include "model/names.h"

#include <string.h>

static enum err bad_value(struct error *e, const char *option, const char *value,
			  const char *wanted)
{
	return error_set(e, ERR_USAGE, 0, "--%s takes %s, not \"%s\"", option, wanted, value);
}

static enum err take_json(struct cli *c, const char *value, struct error *e)
{
	(void)value;
	(void)e;
	c->json = true;
	return ERR_OK;
}

static enum err take_pause(struct cli *c, const char *value, struct error *e)
{
	static const char *const words[] = {"auto", "never", "always"};

	for (int i = 0; i < 3; i++) {
		if (strcmp(value, words[i]) == 0) {
			c->pause = (enum pause_policy)i;
			c->pause_given = true;
			return ERR_OK;
		}
	}
	return bad_value(e, "pause", value, "auto, never or always");
}

static enum err take_max_pause(struct cli *c, const char *value, struct error *e)
{
	uint64_t n;

	if (!number_parse(value, 0, 600000, &n))
		return bad_value(e, "max-pause", value, "milliseconds from 0 to 600000");
	c->max_pause_ms = (uint32_t)n;
	return ERR_OK;
}

static enum err take_children(struct cli *c, const char *value, struct error *e)
{
	(void)value;
	(void)e;
	c->children = true;
	return ERR_OK;
}

static enum err take_color(struct cli *c, const char *value, struct error *e)
{
	static const char *const words[] = {"auto", "always", "never"};

	for (int i = 0; i < 3; i++) {
		if (strcmp(value, words[i]) == 0) {
			c->color = (enum color_when)i;
			return ERR_OK;
		}
	}
	return bad_value(e, "color", value, "auto, always or never");
}

static enum err take_verbose(struct cli *c, const char *value, struct error *e)
{
	(void)value;
	(void)e;
	c->verbose = true;
	return ERR_OK;
}

static enum err take_threads(struct cli *c, const char *value, struct error *e)
{
	(void)value;
	(void)e;
	c->threads = true;
	return ERR_OK;
}

static enum err take_native(struct cli *c, const char *value, struct error *e)
{
	c->native = true;
	return take_threads(c, value, e);
}

static enum err take_loop(struct cli *c, const char *value, struct error *e)
{
	(void)value;
	(void)e;
	c->loop = true;
	return ERR_OK;
}

static enum err take_task(struct cli *c, const char *value, struct error *e)
{
	(void)e;
	c->task_pattern = value;
	return ERR_OK;
}

static enum err take_max_depth(struct cli *c, const char *value, struct error *e)
{
	uint64_t n;

	if (!number_parse(value, 1, 1000000, &n))
		return bad_value(e, "max-depth", value, "a number from 1 to 1000000");
	c->max_depth = (uint32_t)n;
	return ERR_OK;
}

static enum err take_no_fold(struct cli *c, const char *value, struct error *e)
{
	(void)value;
	(void)e;
	c->no_fold = true;
	return ERR_OK;
}

static enum err take_watch(struct cli *c, const char *value, struct error *e)
{
	if (!number_parse_seconds(value, 0.05, 86400, &c->watch_seconds))
		return bad_value(e, "watch", value, "seconds from 0.05 to 86400");
	return ERR_OK;
}

static enum err take_milliseconds(const char *option, const char *value, uint32_t *ret,
				  struct error *e)
{
	uint64_t n;

	if (!number_parse(value, 1, 3600000, &n))
		return bad_value(e, option, value, "milliseconds from 1 to 3600000");
	*ret = (uint32_t)n;
	return ERR_OK;
}

static enum err take_sample(struct cli *c, const char *value, struct error *e)
{
	return take_milliseconds("sample", value, &c->sample_ms, e);
}

static enum err take_blocked_after(struct cli *c, const char *value, struct error *e)
{
	return take_milliseconds("blocked-after", value, &c->blocked_after_ms, e);
}

static enum err take_fail_on(struct cli *c, const char *value, struct error *e)
{
	for (enum severity s = SEVERITY_INFO; s <= SEVERITY_CRITICAL; s++) {
		if (strcmp(value, severity_name(s)) == 0) {
			c->fail_on = s;
			return ERR_OK;
		}
	}
	return bad_value(e, "fail-on", value, "info, warning or critical");
}

/* "blocked-loop,dead-loop" as a set. */
static enum err take_ids(const char *value, uint32_t *set, struct error *e)
{
	const char *at = value;

	for (;;) {
		size_t n = strcspn(at, ",");
		const struct detector *d = detector_find((struct str){at, (uint32_t)n});

		if (!d)
			return error_set(e, ERR_USAGE, 0,
					 "\"%.*s\" is no finding (aiotrace-findings(7) lists them)",
					 n < 100 ? (int)n : 100, at);
		*set |= 1u << (d - detectors);
		if (!at[n])
			return ERR_OK;
		at += n + 1;
	}
}

static enum err take_only(struct cli *c, const char *value, struct error *e)
{
	return take_ids(value, &c->only, e);
}

static enum err take_ignore(struct cli *c, const char *value, struct error *e)
{
	return take_ids(value, &c->ignore, e);
}

static enum err take_rate(struct cli *c, const char *value, struct error *e)
{
	if (!number_parse_seconds(value, 0.1, 20, &c->rate))
		return bad_value(e, "rate", value, "pictures a second from 0.1 to 20");
	return ERR_OK;
}

static enum err take_batch(struct cli *c, const char *value, struct error *e)
{
	uint64_t n;

	if (!number_parse(value, 1, 1000000, &n))
		return bad_value(e, "batch", value, "a number from 1 to 1000000");
	c->batch = (uint32_t)n;
	return ERR_OK;
}

static enum err take_seconds(const char *option, const char *value, double least, double *ret,
			     struct error *e)
{
	if (!number_parse_seconds(value, least, 1e7, ret))
		return bad_value(e, option, value, "seconds, such as 60 or 0.5");
	return ERR_OK;
}

static enum err take_timeout(struct cli *c, const char *value, struct error *e)
{
	return take_seconds("timeout", value, 0.1, &c->timeout_seconds, e);
}

static enum err take_stall(struct cli *c, const char *value, struct error *e)
{
	return take_seconds("stall", value, 0.5, &c->stall_seconds, e);
}

static enum err take_grace(struct cli *c, const char *value, struct error *e)
{
	return take_seconds("grace", value, 0, &c->grace_seconds, e);
}

static enum err take_report(struct cli *c, const char *value, struct error *e)
{
	if (!value[0])
		return bad_value(e, "report", value, "a folder");
	c->report = value;
	return ERR_OK;
}

const struct option_row options[] = {
	{"rate", 0, GROUP_TOP, "HZ", "pictures a second (default 2)", take_rate},
	{"batch", 0, GROUP_TOP, "N", "print N pictures as text; needs no terminal", take_batch},
	{"timeout", 0, GROUP_RUN, "S", "end the command after S seconds, with a diagnosis",
	 take_timeout},
	{"stall", 0, GROUP_RUN, "S", "the same when nothing has moved for S seconds", take_stall},
	{"grace", 0, GROUP_RUN, "S", "seconds between SIGTERM and SIGKILL (default 5)", take_grace},
	{"report", 0, GROUP_RUN, "DIR", "write the diagnosis there too: JSON and JUnit XML",
	 take_report},
	{"sample", 0, GROUP_CHECK | GROUP_RUN, "MS", "watch for MS milliseconds (default 250)",
	 take_sample},
	{"fail-on", 0, GROUP_CHECK, "SEVERITY",
	 "exit 1 from this severity on: info, warning (default) or critical", take_fail_on},
	{"blocked-after", 0, GROUP_CHECK | GROUP_RUN | GROUP_TOP, "MS",
	 "how long a callback may hold its loop (default 100)", take_blocked_after},
	{"only", 0, GROUP_CHECK | GROUP_RUN | GROUP_TOP, "ID,...", "look for these findings alone",
	 take_only},
	{"ignore", 0, GROUP_CHECK | GROUP_RUN | GROUP_TOP, "ID,...",
	 "do not look for these findings", take_ignore},
	{"threads", 0, GROUP_TREE, NULL, "show every thread too: system call, GIL, stack",
	 take_threads},
	{"native", 0, GROUP_TREE | GROUP_CHECK | GROUP_TOP, NULL,
	 "native frames in the threads' stacks too; stops all threads for a moment", take_native},
	{"loop", 0, GROUP_TREE, NULL,
	 "show each loop's ready queue, timers, descriptors and executor too", take_loop},
	{"task", 0, GROUP_TREE, "PATTERN",
	 "only tasks whose name matches (shell pattern), with those above and below them",
	 take_task},
	{"max-depth", 0, GROUP_TREE, "N", "show at most N levels of tasks below each other",
	 take_max_depth},
	{"no-fold", 0, GROUP_TREE, NULL, "show alike tasks one by one", take_no_fold},
	{"watch", 0, GROUP_TREE, "SEC", "repeat every SEC seconds, until interrupted", take_watch},
	{"children", 0, GROUP_READ, NULL, "the process and every Python process below it",
	 take_children},
	{"json", 0, GROUP_READ, NULL, "one JSON document (aiotrace-json(5)) on standard output",
	 take_json},
	{"pause", 0, GROUP_READ | GROUP_RUN, "WHEN",
	 "auto, never or always: may the process be stopped while it is read (default auto; top: never)",
	 take_pause},
	{"max-pause", 0, GROUP_READ | GROUP_RUN, "MS", "longest stop allowed (default 50)",
	 take_max_pause},
	{"color", 0, GROUP_READ | GROUP_RUN, "WHEN", "auto (default), always or never", take_color},
	{"verbose", 'v', GROUP_READ | GROUP_RUN, NULL,
	 "say on standard error what is done and how long it takes", take_verbose},
	{"help", 'h', 0, NULL, "show this help", NULL},
	{0},
};

_Static_assert(sizeof(options) / sizeof(options[0]) <= OPTIONS_MAX, "getopt's table is too small");
