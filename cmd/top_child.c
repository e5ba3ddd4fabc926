/* SPDX-License-Identifier: Apache-2.0 */
/* Fork, session, descriptors, exec; whether exec went well comes back through a pipe that exec closes. */
#include "cmd/top_child.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GRACE_NS    3000000000u
#define WORDS_SHOWN ((off_t)64 << 10) /* bytes of what it said last */

static _Noreturn void become(char **argv, int output, int report, pid_t parent)
{
	int nothing = open("/dev/null", O_RDWR);
	sigset_t none;
	int sys;

	setsid();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (getppid() == parent && nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
	    dup2(output, STDOUT_FILENO) >= 0 && dup2(output, STDERR_FILENO) >= 0)
		execvp(argv[0], argv);
	sys = errno;
	if (write(report, &sys, sizeof(sys)) < 0)
		_exit(126);
	_exit(127);
}

/* A file without a name, on the disk rather than in memory where that can be had: a command may say a lot. */
static int open_output(void)
{
	const char *folder = getenv("TMPDIR");
	int fd = open(folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_APPEND | O_CLOEXEC, 0600);

	return fd >= 0 ? fd : memfd_create("output", MFD_CLOEXEC);
}

enum err top_child_start(char **argv, bool to_stderr, struct top_child *ret, struct error *e)
{
	int report[2], sys = 0;
	int output = to_stderr ? STDERR_FILENO : open_output();
	pid_t parent = getpid(), pid;

	if (output < 0 || pipe2(report, O_CLOEXEC) != 0)
		return error_set(e, ERR_SYSTEM, errno, "can't start %.100s: %s", argv[0],
				 strerror(errno));
	pid = fork();
	if (pid == 0)
		become(argv, output, report[1], parent);
	close(report[1]);
	if (pid > 0 && read(report[0], &sys, sizeof(sys)) != sizeof(sys))
		sys = 0;
	close(report[0]);
	*ret = (struct top_child){pid, to_stderr ? -1 : output};
	if (pid > 0 && !sys)
		return ERR_OK;
	error_set(e, ERR_USAGE, sys, "can't run %.200s: %s", argv[0],
		  strerror(pid < 0 ? errno : sys));
	top_child_end(ret);
	return ERR_USAGE;
}

static void show_words(int fd)
{
	struct stat st;
	char bytes[4096];
	off_t at;
	ssize_t n;

	if (fstat(fd, &st) != 0)
		return;
	at = st.st_size > WORDS_SHOWN ? st.st_size - WORDS_SHOWN : 0;
	while ((n = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		if (write(STDERR_FILENO, bytes, (size_t)n) != n)
			return;
		at += n;
	}
}

static bool waited(pid_t pid, uint64_t until_ns)
{
	const struct timespec nap = {0, 10000000};

	for (;;) {
		pid_t got = waitpid(pid, NULL, WNOHANG);

		if (got == pid || (got < 0 && errno != EINTR))
			return true;
		if (clock_now_ns() >= until_ns)
			return false;
		nanosleep(&nap, NULL);
	}
}

void top_child_end(struct top_child *c)
{
	if (c->pid > 0) {
		/* Its session's leader is not waited for yet: the number is still its own. */
		kill(-c->pid, SIGTERM);
		kill(c->pid, SIGTERM);
		if (!waited(c->pid, clock_now_ns() + GRACE_NS)) {
			kill(-c->pid, SIGKILL);
			waited(c->pid, UINT64_MAX);
		}
	}
	if (c->pid > 0 && c->output >= 0)
		show_words(c->output);
	if (c->output >= 0)
		close(c->output);
	*c = (struct top_child){0, -1};
}
