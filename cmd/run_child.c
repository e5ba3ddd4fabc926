/* SPDX-License-Identifier: Apache-2.0 */
/* Starting, signals, the terminal, and the end of processes below us. */
#include "cmd/run_child.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_EXECUTABLE 126
#define NOT_FOUND      127

/* What the command gets as it was before we changed it. */
struct inherited {
	sigset_t mask;
	struct sigaction on_child;
};

static const int passed[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM,
			     SIGTERM, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH};

static void take_signals(struct child *c, struct inherited *before)
{
	struct sigaction plain = {.sa_handler = SIG_DFL};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(passed) / sizeof(*passed); i++)
		sigaddset(&set, passed[i]);
	sigaddset(&set, SIGCHLD);
	/* Ignored, it would have the kernel throw the exit status away. */
	sigaction(SIGCHLD, &plain, &before->on_child);
	sigprocmask(SIG_BLOCK, &set, &before->mask);
	c->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void find_terminal(struct child *c)
{
	c->terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (c->terminal < 0)
		return;
	if (tcgetpgrp(c->terminal) == getpgrp() && tcgetattr(c->terminal, &c->modes) == 0)
		return;
	close(c->terminal);
	c->terminal = -1;
}

__attribute__((noreturn)) static void become(char **argv, pid_t parent,
					     const struct inherited *before, int report)
{
	int failure;

	/* Should we be killed without a chance to pass it on. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(NOT_EXECUTABLE);
	sigaction(SIGCHLD, &before->on_child, NULL);
	sigprocmask(SIG_SETMASK, &before->mask, NULL);
	execvp(argv[0], argv);
	failure = errno;
	if (write(report, &failure, sizeof(failure)) != sizeof(failure))
		_exit(NOT_EXECUTABLE);
	_exit(NOT_FOUND);
}

static enum err start_failed(const char *what, struct error *e)
{
	return error_set(e, ERR_SYSTEM, errno, "can't %s: %s", what, strerror(errno));
}

/* What the child wrote before it gave up; nothing where it runs the command. */
static int read_failure(int from)
{
	int failure = 0;
	ssize_t n;

	do {
		n = read(from, &failure, sizeof(failure));
	} while (n < 0 && errno == EINTR);
	return n == sizeof(failure) ? failure : 0;
}

static enum err fork_command(char **argv, struct child *c, const struct inherited *before,
			     int *failure_ret, struct error *e)
{
	auto_close int from = -1;
	int ends[2];
	pid_t parent = getpid();

	if (pipe2(ends, O_CLOEXEC) != 0)
		return start_failed("make a pipe", e);
	from = ends[0];
	c->pid = fork();
	if (c->pid == 0)
		become(argv, parent, before, ends[1]);
	close(ends[1]);
	if (c->pid < 0)
		return start_failed("start a process", e);
	*failure_ret = read_failure(from);
	return ERR_OK;
}

enum err child_start(char **argv, struct child *ret, int *code, struct error *e)
{
	struct inherited before;
	int failure = 0;
	enum err err;

	*ret = (struct child){.signals = -1, .terminal = -1};
	*code = NOT_EXECUTABLE;
	take_signals(ret, &before);
	if (ret->signals < 0)
		return start_failed("watch signals", e);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
		return start_failed("adopt processes", e);
	find_terminal(ret);
	err = fork_command(argv, ret, &before, &failure, e);
	if (err == ERR_OK && failure) {
		waitpid(ret->pid, NULL, 0);
		*code = failure == ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
		err = error_set(e, ERR_SYSTEM, failure, "can't run \"%.200s\": %s", argv[0],
				strerror(failure));
	}
	if (err != ERR_OK)
		child_deinit(ret);
	return err;
}

/*
 * As the kernel would: it stops us, and it does not where nobody could let us go on (an orphaned process group). Time stopped is nobody's time.
 */
static void stop_like(struct child *c, int number)
{
	uint64_t start = clock_now_ns();
	sigset_t one, before;

	sigemptyset(&one);
	sigaddset(&one, number);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &one, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	c->away_ns += clock_now_ns() - start;
}

static void take_signal(struct child *c, const struct signalfd_siginfo *s)
{
	int number = (int)s->ssi_signo;
	/* The terminal's own go to the whole process group; but a hang-up to the session's leader alone. */
	bool reached = s->ssi_code == SI_KERNEL && !(number == SIGHUP && getsid(0) == getpid());

	switch (number) {
	case SIGCHLD:
		return;
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
		if (!reached)
			child_signal(c, number);
		stop_like(c, number);
		return;
	case SIGHUP:
	case SIGINT:
	case SIGQUIT:
	case SIGTERM:
		c->asked++;
		break;
	default:
		break;
	}
	if (!reached)
		child_signal(c, number);
}

static void reap(struct child *c)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, WNOHANG);

		if (pid < 0 && errno == EINTR)
			continue;
		c->alone = pid < 0;
		if (pid <= 0)
			return;
		if (pid == c->pid) {
			c->ended = true;
			c->status = status;
		}
	}
}

void child_wait(struct child *c, uint64_t until_ns)
{
	struct pollfd p = {c->signals, POLLIN, 0};
	struct signalfd_siginfo s;
	uint64_t now = clock_now_ns(), left = until_ns > now ? until_ns - now : 0;
	struct timespec ts = clock_timespec(left);

	if (ppoll(&p, 1, &ts, NULL) > 0) {
		while (read(c->signals, &s, sizeof(s)) == sizeof(s))
			take_signal(c, &s);
	}
	reap(c);
}

void child_signal(const struct child *c, int number)
{
	/* Not reaped yet, so that the number is nobody else's. */
	if (!c->ended)
		kill(c->pid, number);
}

void child_restore_terminal(struct child *c, bool modes)
{
	pid_t front = c->terminal < 0 ? -1 : tcgetpgrp(c->terminal);

	if (front < 0)
		return;
	/* Only from a group of which nobody lives: another one may be the shell, when we are in its background by now. */
	if (front != getpgrp() && kill(-front, 0) != 0 && errno == ESRCH)
		tcsetpgrp(c->terminal, getpgrp());
	if (modes && tcgetpgrp(c->terminal) == getpgrp())
		tcsetattr(c->terminal, TCSADRAIN, &c->modes);
}

int child_exit_code(const struct child *c)
{
	return WIFSIGNALED(c->status) ? 128 + WTERMSIG(c->status) : WEXITSTATUS(c->status);
}

void child_deinit(struct child *c)
{
	if (c->signals >= 0)
		close(c->signals);
	if (c->terminal >= 0)
		close(c->terminal);
	c->signals = c->terminal = -1;
}
