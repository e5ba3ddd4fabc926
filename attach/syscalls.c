/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of system calls in words: descriptors, timeouts, children. */
#include "attach/syscalls.h"

#include <inttypes.h>
#include <linux/futex.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define SELECT_MOST 1024

/* head, what the descriptor is, tail: a description of any length stands between two short ones. */
struct words {
	char head[160], tail[96];
	size_t len;
	struct str what;
};

__attribute__((format(printf, 2, 3))) static void add(struct words *w, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(w->head + w->len, sizeof(w->head) - w->len, format, args);
	va_end(args);
	if (n > 0)
		w->len += (size_t)n < sizeof(w->head) - w->len ? (size_t)n
							       : sizeof(w->head) - w->len - 1;
}

static void add_fd(struct words *w, struct target *t, int fd, struct arena *a)
{
	if (fd < 0)
		return;
	add(w, ", fd %d", fd);
	w->what = fds_describe(t->fds, fd, a);
}

struct span_text {
	char text[40];
};

static struct span_text span(double seconds)
{
	struct span_text s;

	if (seconds > 0 && seconds < 1)
		snprintf(s.text, sizeof(s.text), "%.3g ms", seconds * 1e3);
	else
		snprintf(s.text, sizeof(s.text), seconds < 100 ? "%.3g s" : "%.0f s", seconds);
	return s;
}

static void say_timeout(struct words *w, double seconds)
{
	if (seconds < 0)
		snprintf(w->tail, sizeof(w->tail), ", no timeout");
	else if (seconds > 0)
		snprintf(w->tail, sizeof(w->tail), ", timeout %s", span(seconds).text);
	else
		snprintf(w->tail, sizeof(w->tail), ", does not wait");
}

static void say_left(struct words *w, double seconds)
{
	if (seconds < 0)
		seconds = 0;
	snprintf(w->tail, sizeof(w->tail), ", %s left", span(seconds).text);
}

/* A timespec or timeval of the target in seconds. */
static bool read_time(struct target *t, vaddr at, double unit, double *ret)
{
	int64_t v[2];

	if (mem_read(t->mem, at, v, sizeof(v)) != ERR_OK)
		return false;
	*ret = (double)v[0] + (double)v[1] * unit;
	return true;
}

static void say_pointed_timeout(struct words *w, struct target *t, vaddr at, double unit)
{
	double seconds;

	if (!at)
		say_timeout(w, -1);
	else if (read_time(t, at, unit, &seconds))
		say_timeout(w, seconds < 0 ? 0 : seconds);
}

/* Seconds from now to that moment of the target's clock. */
static double until(const struct target *t, clockid_t clock, double moment)
{
	struct timespec now;

	if (clock_gettime(clock, &now) != 0)
		return 0;
	moment -= (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	return clock == CLOCK_MONOTONIC ? moment - proc_monotonic_offset(t->pid) : moment;
}

static void say_milliseconds(struct words *w, uint64_t argument)
{
	int32_t ms = (int32_t)argument;

	say_timeout(w, ms < 0 ? -1 : ms / 1e3);
}

static void say_polled(struct words *w, struct target *t, const uint64_t *args, struct arena *a)
{
	struct pollfd first;

	if (args[1] > 1)
		add(w, " of %" PRIu64 " descriptors", args[1]);
	if (args[1] && mem_read(t->mem, args[0], &first, sizeof(first)) == ERR_OK)
		add_fd(w, t, first.fd, a);
}

/* The first descriptor of the sets for reading, else writing. */
static void say_selected(struct words *w, struct target *t, const uint64_t *args, struct arena *a)
{
	uint64_t most = args[0] < SELECT_MOST ? args[0] : SELECT_MOST;
	uint64_t set[SELECT_MOST / 64];
	size_t bytes = (most + 63) / 64 * 8;

	for (unsigned i = 1; i <= 2; i++) {
		if (!args[i] || !bytes || mem_read(t->mem, args[i], set, bytes) != ERR_OK)
			continue;
		for (uint64_t fd = 0; fd < most; fd++) {
			if (set[fd / 64] >> (fd % 64) & 1) {
				add_fd(w, t, (int)fd, a);
				return;
			}
		}
	}
}

static void say_futex(struct words *w, struct target *t, const uint64_t *args)
{
	int op = (int)args[1] & FUTEX_CMD_MASK;
	double seconds;

	if (op != FUTEX_WAIT && op != FUTEX_WAIT_BITSET && op != FUTEX_LOCK_PI)
		return;
	if (!args[3]) {
		say_timeout(w, -1);
		return;
	}
	if (!read_time(t, args[3], 1e-9, &seconds))
		return;
	if (op == FUTEX_WAIT)
		say_timeout(w, seconds);
	else
		say_left(w, until(t,
				  args[1] & FUTEX_CLOCK_REALTIME || op == FUTEX_LOCK_PI
					  ? CLOCK_REALTIME
					  : CLOCK_MONOTONIC,
				  seconds));
}

static void say_clock_nanosleep(struct words *w, struct target *t, const uint64_t *args)
{
	double seconds;

	if (!read_time(t, args[2], 1e-9, &seconds))
		return;
	if (args[1] & TIMER_ABSTIME)
		say_left(w, until(t, (clockid_t)args[0], seconds));
	else
		add(w, ", for %s", span(seconds).text);
}

static void say_child(struct words *w, int64_t pid)
{
	if (pid > 0)
		add(w, ", process %" PRId64, pid);
	else
		add(w, ", any child");
}

static void say(struct words *w, enum syscall_shape shape, struct target *t, const uint64_t *args,
		struct arena *a)
{
	double seconds;

	switch (shape) {
	case SYSCALL_PLAIN:
		break;
	case SYSCALL_FD:
		add_fd(w, t, (int)args[0], a);
		break;
	case SYSCALL_EPOLL:
		add(w, ", fd %d", (int)args[0]);
		say_milliseconds(w, args[3]);
		break;
	case SYSCALL_EPOLL2:
		add(w, ", fd %d", (int)args[0]);
		say_pointed_timeout(w, t, args[3], 1e-9);
		break;
	case SYSCALL_POLL:
		say_polled(w, t, args, a);
		say_milliseconds(w, args[2]);
		break;
	case SYSCALL_PPOLL:
		say_polled(w, t, args, a);
		say_pointed_timeout(w, t, args[2], 1e-9);
		break;
	case SYSCALL_SELECT:
		say_selected(w, t, args, a);
		say_pointed_timeout(w, t, args[4], 1e-6);
		break;
	case SYSCALL_PSELECT:
		say_selected(w, t, args, a);
		say_pointed_timeout(w, t, args[4], 1e-9);
		break;
	case SYSCALL_FUTEX:
		say_futex(w, t, args);
		break;
	case SYSCALL_NANOSLEEP:
		if (read_time(t, args[0], 1e-9, &seconds))
			add(w, ", for %s", span(seconds).text);
		break;
	case SYSCALL_CLOCK_NANOSLEEP:
		say_clock_nanosleep(w, t, args);
		break;
	case SYSCALL_WAIT4:
		say_child(w, (int32_t)args[0]);
		break;
	case SYSCALL_WAITID:
		if (args[0] == P_PID || args[0] == P_ALL)
			say_child(w, args[0] == P_PID ? (int32_t)args[1] : 0);
		else if (args[0] == P_PIDFD)
			add(w, ", pidfd %d", (int)args[1]);
		break;
	}
}

static char *put(char *at, const char *from, size_t len)
{
	memcpy(at, from, len);
	return at + len;
}

static struct str joined(const struct words *w, struct arena *a)
{
	size_t tail = strlen(w->tail), between = w->what.len ? 2 : 0;
	size_t len = w->len + between + w->what.len + tail;
	char *text = arena_alloc(a, len + 1), *at = text;

	if (!text)
		return (struct str){0};
	at = put(at, w->head, w->len);
	at = put(at, ", ", between);
	if (between)
		at = put(at, w->what.ptr, w->what.len);
	put(at, w->tail, tail);
	return (struct str){text, (uint32_t)len};
}

static void name_into(struct words *w, const struct proc_syscall *s)
{
	const struct syscall_row *row = syscall_find(s->number);

	if (row)
		add(w, "%s", row->name);
	else
		add(w, "syscall %" PRId64, s->number);
}

struct str syscall_name(const struct proc_syscall *s, struct arena *a)
{
	struct words w = {0};

	if (s->running || s->number < 0)
		return (struct str){0};
	name_into(&w, s);
	return joined(&w, a);
}

struct str syscall_describe(const struct proc_syscall *s, struct target *t, struct arena *a)
{
	const struct syscall_row *row = syscall_find(s->number);
	struct words w = {0};

	if (s->running || s->number < 0)
		return (struct str){0};
	name_into(&w, s);
	if (row)
		say(&w, row->shape, t, s->args, a);
	return joined(&w, a);
}

vaddr syscall_futex_address(const struct proc_syscall *s)
{
	/* One that was interrupted goes on as restart_syscall, with its arguments where they were. */
	if (s->running || (s->number != SYS_futex && s->number != SYS_restart_syscall))
		return 0;
	return s->args[0];
}

static double milliseconds(uint64_t argument)
{
	int32_t ms = (int32_t)argument;

	return ms < 0 ? INFINITY : ms / 1e3;
}

static double pointed_timeout(struct target *t, vaddr at, double unit)
{
	double seconds;

	if (!at)
		return INFINITY;
	return t && read_time(t, at, unit, &seconds) ? seconds : NAN;
}

double syscall_events_timeout(const struct proc_syscall *s, struct target *t)
{
	const struct syscall_row *row = s->running ? NULL : syscall_find(s->number);

	switch (row ? row->shape : SYSCALL_PLAIN) {
	case SYSCALL_EPOLL:
		return milliseconds(s->args[3]);
	case SYSCALL_EPOLL2:
		return pointed_timeout(t, s->args[3], 1e-9);
	case SYSCALL_POLL:
		return milliseconds(s->args[2]);
	case SYSCALL_PPOLL:
		return pointed_timeout(t, s->args[2], 1e-9);
	case SYSCALL_SELECT:
		return pointed_timeout(t, s->args[4], 1e-6);
	case SYSCALL_PSELECT:
		return pointed_timeout(t, s->args[4], 1e-9);
	default:
		return NAN;
	}
}
