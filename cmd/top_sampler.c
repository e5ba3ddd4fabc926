/* SPDX-License-Identifier: Apache-2.0 */
/* When to look, and what became of the process; one look is sampler_look.c. */
#include "cmd/top_sampler.h"

#include "base/clock.h"
#include "cmd/top_sampler_inner.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define RETRY_SECONDS 0.5
#define STOP_SECONDS  3

/* The waking up costs more than the samples: two hundred times a second are half a percent of a CPU, so a process that rests gets fewer. */
static const struct watch_pace pace_as_a_rule = {.every_ns = 5000000, .pause = 249};
static const struct watch_pace pace_at_rest = {.every_ns = 15000000, .pause = 249};

static double now_seconds(void)
{
	return (double)clock_now_ns() / 1e9;
}

/* A word that others set, under the lock. */
static bool is_set(struct sampler *s, const bool *word)
{
	bool set;

	pthread_mutex_lock(&s->lock);
	set = *word;
	pthread_mutex_unlock(&s->lock);
	return set;
}

static bool take_native_asked(struct sampler *s)
{
	bool asked;

	pthread_mutex_lock(&s->lock);
	asked = s->native_asked;
	s->native_asked = false;
	pthread_mutex_unlock(&s->lock);
	return asked;
}

void sampler_ask_native(struct sampler *s)
{
	pthread_mutex_lock(&s->lock);
	s->native_asked = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

void sampler_read_sources(struct sampler *s)
{
	pthread_mutex_lock(&s->lock);
	s->sources_asked = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

static void read_sources(struct sampler *s)
{
	while (s->is_open && !is_set(s, &s->stop) && sources_read_one(s->sources, s->pid))
		;
}

/* Sleeps until then, or until native stacks are asked for; false: it is to end. */
static bool sleep_until(struct sampler *s, double when)
{
	struct timespec ts = {(time_t)when, (long)((when - (double)(time_t)when) * 1e9)};
	bool stop;

	pthread_mutex_lock(&s->lock);
	while (!s->stop && !s->native_asked && now_seconds() < when) {
		if (!s->sources_asked) {
			pthread_cond_clockwait(&s->changed, &s->lock, CLOCK_MONOTONIC, &ts);
			continue;
		}
		s->sources_asked = false;
		pthread_mutex_unlock(&s->lock);
		read_sources(s);
		pthread_mutex_lock(&s->lock);
	}
	stop = s->stop;
	pthread_mutex_unlock(&s->lock);
	return !stop;
}

/* The same, and watches meanwhile. */
static bool wait_until(struct sampler *s, double when)
{
	while (s->watcher && (double)s->watch_due / 1e9 < when) {
		if (!sleep_until(s, (double)s->watch_due / 1e9))
			return false;
		if (is_set(s, &s->native_asked))
			return true;
		s->watch_due = watcher_sample(s->watcher,
					      sampler_rests(s) ? &pace_at_rest : &pace_as_a_rule);
	}
	return sleep_until(s, when);
}

/* Waits for room; what is left over when it ends is dropped. */
void sampler_post(struct sampler *s, const struct message *m)
{
	uint64_t one = 1;

	pthread_mutex_lock(&s->lock);
	while (s->queued == QUEUE_MOST && !s->stop)
		pthread_cond_wait(&s->changed, &s->lock);
	if (s->queued < QUEUE_MOST)
		s->queue[(s->first + s->queued++) % QUEUE_MOST] = *m;
	else if (m->look)
		m->look->holders--;
	pthread_mutex_unlock(&s->lock);
	if (write(s->event, &one, sizeof(one)) < 0)
		return; /* it is readable already */
}

bool sampler_take(struct sampler *s, struct message *ret)
{
	uint64_t count;
	bool got;

	pthread_mutex_lock(&s->lock);
	got = s->queued > 0;
	if (got) {
		*ret = s->queue[s->first];
		s->first = (s->first + 1) % QUEUE_MOST;
		s->queued--;
		pthread_cond_broadcast(&s->changed);
	} else if (read(s->event, &count, sizeof(count)) < 0) {
		got = false; /* nothing was there to be taken back */
	}
	pthread_mutex_unlock(&s->lock);
	return got;
}

void sampler_hold(struct sampler *s, struct look *l)
{
	pthread_mutex_lock(&s->lock);
	l->holders++;
	pthread_mutex_unlock(&s->lock);
}

void sampler_release(struct sampler *s, struct look *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&s->lock);
	l->holders--;
	pthread_mutex_unlock(&s->lock);
}

int sampler_fd(const struct sampler *s)
{
	return s->event;
}

static void time_of_day(char *text, size_t size)
{
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(text, size, "%H:%M:%S", &tm);
}

static void say_ended(struct sampler *s)
{
	struct message m = {.kind = MESSAGE_ENDED, .when = now_seconds()};
	char code[64] = "", at[32];
	int status;

	if (proc_exit_status(s->pid, &status) && WIFEXITED(status))
		snprintf(code, sizeof(code), " (exit code %d)", WEXITSTATUS(status));
	else if (proc_exit_status(s->pid, &status) && WIFSIGNALED(status))
		snprintf(code, sizeof(code), " (by signal %d, %s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	time_of_day(at, sizeof(at));
	snprintf(m.text, sizeof(m.text), "process %d ended%s at %s", (int)s->pid, code, at);
	sampler_post(s, &m);
}

static bool is_alive(pid_t pid)
{
	struct proc_stat stat;

	return proc_stat_read(pid, &stat, NULL) == ERR_OK && stat.state != 'Z' && stat.state != 'X';
}

static void say_trouble(struct sampler *s, const struct error *e)
{
	struct message m = {.kind = MESSAGE_TROUBLE, .when = now_seconds()};

	snprintf(m.text, sizeof(m.text), "%.290s", e->text);
	sampler_post(s, &m);
}

/* What a failed look means. */
static void lost(struct sampler *s, const struct error *e)
{
	if (e->kind != ERR_GONE) {
		say_trouble(s, e);
		return;
	}
	sampler_forget(s);
	process_close(&s->opened);
	s->is_open = false;
	s->ended = !is_alive(s->pid);
	if (s->ended)
		say_ended(s);
}

/* Another program under the same number; until there is one that can be read, this is tried again and again. */
static void open_again(struct sampler *s)
{
	struct message m = {.kind = MESSAGE_AGAIN, .when = now_seconds()};
	struct error e = {0};
	char at[32];

	if (process_open(&s->cli, s->pid, &s->opened, &e) != ERR_OK) {
		if (s->ended)
			return;
		if (e.kind == ERR_GONE && !is_alive(s->pid)) {
			s->ended = true;
			say_ended(s);
		} else {
			say_trouble(s, &e);
		}
		return;
	}
	time_of_day(at, sizeof(at));
	if (s->was_open)
		snprintf(m.text, sizeof(m.text), "process %d %s at %s", (int)s->pid,
			 s->ended ? "was started again" : "executed another program", at);
	s->is_open = s->was_open = true;
	s->ended = false;
	sampler_begin(s);
	sampler_post(s, &m);
}

static void *sample(void *context)
{
	struct sampler *s = context;
	double due = now_seconds();

	if (s->is_open)
		sampler_begin(s);
	while (wait_until(s, due)) {
		struct error e = {0};
		double start = now_seconds(), pause = RETRY_SECONDS;
		bool native = take_native_asked(s);

		if (!s->is_open)
			open_again(s);
		if (s->is_open && sampler_look(s, native, &pause, &e) != ERR_OK)
			lost(s, &e);
		read_sources(s);
		due = due + pause > now_seconds() ? due + pause : start + pause;
	}
	return NULL;
}

enum err sampler_start(const struct cli *cli, pid_t pid, struct opened *opened,
		       struct sources *sources, struct sampler **ret, struct error *e)
{
	struct sampler *s = calloc(1, sizeof(*s));
	int failed;

	if (!s)
		return error_set(e, ERR_NOMEM, 0, "out of memory");
	s->cli = *cli;
	s->pid = pid;
	s->sources = sources;
	s->opened = *opened;
	s->is_open = s->was_open = opened->target.pid != 0;
	*opened = (struct opened){0};
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	s->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	failed = s->event < 0 ? errno : pthread_create(&s->thread, NULL, sample, s);
	if (failed) {
		error_set(e, ERR_SYSTEM, failed, "can't start a thread: %s", strerror(failed));
		s->stop = true;
		sampler_destroy(s);
		return ERR_SYSTEM;
	}
	*ret = s;
	return ERR_OK;
}

bool sampler_stop(struct sampler *s)
{
	struct timespec ts;

	if (!s)
		return true;
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_sec += STOP_SECONDS;
	if (pthread_clockjoin_np(s->thread, NULL, CLOCK_MONOTONIC, &ts) != 0)
		return false;
	sampler_destroy(s);
	return true;
}
