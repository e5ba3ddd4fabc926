/* SPDX-License-Identifier: Apache-2.0 */
/* run: a command under a time limit, with a diagnosis where others only kill. */
#include "base/clock.h"
#include "cmd/commands.h"
#include "cmd/exit.h"
#include "cmd/run_child.h"
#include "cmd/run_look.h"
#include "cmd/run_report.h"
#include "cmd/run_stall.h"
#include "cmd/run_tree.h"

#include <signal.h>
#include <stdio.h>

#define SECOND 1000000000u
/* For what ends by itself when the command has ended: helpers that see their pipe closed. */
#define LINGER_NS (SECOND / 2)
/* A process that a signal can't end by then (disk, another user's) is left, and said. */
#define KILL_NS	 (10 * (uint64_t)SECOND)
#define AGAIN_NS (SECOND / 20)

struct run {
	const struct cli *cli;
	struct child child;
	struct stall stall;
	uint64_t start_ns, next_check_ns;
	const char *reason; /* why it was given up, NULL: it was not */
};

static uint64_t ns(double seconds)
{
	return (uint64_t)(seconds * 1e9);
}

/* UINT64_MAX: no time limit. */
static uint64_t deadline(const struct run *r)
{
	if (!(r->cli->timeout_seconds > 0))
		return UINT64_MAX;
	return r->start_ns + ns(r->cli->timeout_seconds) + r->child.away_ns;
}

static void check_stall(struct run *r, uint64_t now)
{
	if (now < r->next_check_ns)
		return;
	if (stall_check(&r->stall, now))
		r->reason = "stall";
	r->next_check_ns = clock_now_ns() + stall_interval(r->cli);
}

/* Until the command ends, or a limit is reached. */
static void watch(struct run *r)
{
	bool stalls = r->cli->stall_seconds > 0;

	r->next_check_ns = stalls ? r->start_ns : UINT64_MAX;
	while (!r->child.ended && !r->reason) {
		uint64_t away = r->child.away_ns, until = deadline(r), now;

		child_wait(&r->child, until < r->next_check_ns ? until : r->next_check_ns);
		now = clock_now_ns();
		if (r->child.away_ns != away)
			stall_forget(&r->stall, now);
		if (r->child.ended)
			return;
		if (now >= deadline(r))
			r->reason = "timeout";
		else if (stalls)
			check_stall(r, now);
	}
}

/* Until nothing is left below us, that time has passed, or somebody who asked us to end asks again. */
static void wait_alone(struct run *r, uint64_t ns_most)
{
	uint64_t until = clock_now_ns() + ns_most;
	unsigned asked = r->child.asked;

	while (!r->child.alone && clock_now_ns() < until && r->child.asked == asked)
		child_wait(&r->child, until);
}

/* What started meanwhile, and what a dead parent left to us, gets it with the next round. */
static void kill_all(struct run *r)
{
	uint64_t until = clock_now_ns() + KILL_NS;

	while (!r->child.alone && clock_now_ns() < until) {
		processes_signal(SIGKILL);
		child_wait(&r->child, clock_now_ns() + AGAIN_NS);
	}
	if (!r->child.alone)
		fputs("aiotrace: some processes could not be ended\n", stderr);
}

/* A stopped process can only end when it goes on. */
static void end_all(struct run *r)
{
	processes_signal(SIGTERM);
	processes_signal(SIGCONT);
	wait_alone(r, ns(r->cli->grace_seconds));
	kill_all(r);
}

static void diagnose(struct run *r)
{
	struct stuck all = {
		.reason = r->reason,
		.limit = r->reason[0] == 's' ? r->cli->stall_seconds : r->cli->timeout_seconds,
		.ran = (double)(clock_now_ns() - r->start_ns - r->child.away_ns) / 1e9,
		.command = r->cli->command,
	};
	struct error e = {0};

	if (stuck_look(r->cli, &all, &e) != ERR_OK)
		exit_with(&e);
	if (report_say(r->cli, &all, &e) != ERR_OK)
		exit_with(&e);
	if (r->cli->report && report_files(r->cli, &all, &e) != ERR_OK)
		exit_with(&e);
	stuck_deinit(&all);
}

static void end_what_is_left(struct run *r)
{
	size_t left;

	wait_alone(r, LINGER_NS);
	left = r->child.alone ? 0 : processes_signal(0);
	if (r->child.alone)
		return;
	fprintf(stderr, "aiotrace: the command has ended, but left %zu process%s: ended too\n",
		left, left == 1 ? "" : "es");
	end_all(r);
}

int run_run(const struct cli *cli)
{
	struct run r = {.cli = cli};
	struct error e = {0};
	int code;

	if (cli->report && report_prepare(cli->report, &e) != ERR_OK)
		return exit_with(&e);
	if (child_start(cli->command, &r.child, &code, &e) != ERR_OK) {
		exit_with(&e);
		return code;
	}
	r.start_ns = clock_now_ns();
	stall_init(&r.stall, cli, r.start_ns);
	watch(&r);
	if (r.reason) {
		diagnose(&r);
		end_all(&r);
		code = EXIT_TIME_LIMIT;
	} else {
		end_what_is_left(&r);
		code = child_exit_code(&r.child);
	}
	child_restore_terminal(&r.child, r.reason != NULL);
	stall_deinit(&r.stall);
	child_deinit(&r.child);
	return code;
}
