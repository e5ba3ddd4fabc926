/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel answers EPERM and no more. Its rules (kernel/ptrace.c __ptrace_may_access, security/yama, security/commoncap.c) are gone through here in
 * order, on facts that anybody may read, until one of them explains the refusal.
 */
#include "attach/access.h"

#include "attach/live.h"
#include "attach/maps.h"
#include "attach/procfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* include/uapi/linux/capability.h: CAP_SYS_PTRACE */
#define CAPABILITY_PTRACE ((uint64_t)1 << 19)

/* What /proc/PID/status says of one process. */
struct status {
	uint64_t uid[4], gid[4]; /* real, effective, saved, file system */
	uint64_t permitted, effective;
	uint64_t seccomp, tracer;
	unsigned depth; /* pid namespaces, from that of /proc inwards */
	bool seccomp_known;
};

static void read_numbers(const char *at, int base, uint64_t *v, unsigned count)
{
	for (unsigned i = 0; at && i < count; i++) {
		char *end;

		v[i] = strtoull(at, &end, base);
		if (end == at)
			return;
		at = end;
	}
}

static unsigned count_numbers(const char *at)
{
	unsigned count = 0;

	while (at && *at >= '0' && *at <= '9') {
		at += strspn(at, "0123456789");
		at += strspn(at, " \t");
		count++;
	}
	return count;
}

static enum err status_read(pid_t pid, struct status *ret, struct error *e)
{
	char path[40], text[4096];
	ssize_t n;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	else
		snprintf(path, sizeof(path), "/proc/self/status");
	n = procfile_read(AT_FDCWD, path, text, sizeof(text));
	if (n == -ENOENT || n == -ESRCH)
		return error_set(e, ERR_GONE, (int)-n, "no process %d", (int)pid);
	if (n < 0)
		return error_set(e, ERR_SYSTEM, (int)-n, "%s: %s", path, strerror((int)-n));
	memset(ret, 0, sizeof(*ret));
	read_numbers(procfile_field(text, "Uid"), 10, ret->uid, 4);
	read_numbers(procfile_field(text, "Gid"), 10, ret->gid, 4);
	read_numbers(procfile_field(text, "CapPrm"), 16, &ret->permitted, 1);
	read_numbers(procfile_field(text, "CapEff"), 16, &ret->effective, 1);
	ret->seccomp_known = procfile_number(text, "Seccomp", 10, &ret->seccomp);
	(void)procfile_number(text, "TracerPid", 10, &ret->tracer);
	ret->depth = count_numbers(procfile_field(text, "NSpid"));
	return ERR_OK;
}

static int yama_scope(void)
{
	char text[16];

	if (procfile_read(AT_FDCWD, "/proc/sys/kernel/yama/ptrace_scope", text, sizeof(text)) <= 0)
		return -1;
	return atoi(text);
}

/* The map of user ids is readable for all, and differs between a user namespace and its parent. */
static bool same_user_namespace(pid_t pid)
{
	char path[40], own[4096], other[4096];
	struct stat a, b;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	if (stat("/proc/self/ns/user", &a) == 0 && stat(path, &b) == 0)
		return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
	snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);
	if (procfile_read(AT_FDCWD, "/proc/self/uid_map", own, sizeof(own)) < 0 ||
	    procfile_read(AT_FDCWD, path, other, sizeof(other)) < 0)
		return true;
	return strcmp(own, other) == 0;
}

static bool can_read(pid_t pid)
{
	struct maps maps;
	void *live;
	bool ok = false, refused = false;

	if (maps_load(pid, &maps, NULL) != ERR_OK)
		return false;
	live = live_create(pid);
	for (size_t i = 0; live && !ok && !refused && i < maps.count; i++) {
		unsigned char byte;
		struct mem_range r = {maps.v[i].start, &byte, 1};
		int64_t n = maps.v[i].read ? live_source.read(live, &r, 1) : -EFAULT;

		ok = n == 1;
		refused = n < 0 && n != -EFAULT;
	}
	if (live)
		live_source.close(live);
	maps_deinit(&maps);
	return ok;
}

/* Is one of our ancestors the target's? Yama's scope 1 allows a process its descendants only. */
static bool is_descendant(pid_t pid)
{
	pid_t own = getpid();

	for (unsigned i = 0; i < 128 && pid > 1; i++) {
		char path[40], text[4096];
		uint64_t parent = 0;

		if (pid == own)
			return true;
		snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
		if (procfile_read(AT_FDCWD, path, text, sizeof(text)) <= 0 ||
		    !procfile_number(text, "PPid", 10, &parent))
			return false;
		pid = (pid_t)parent;
	}
	return false;
}

static bool same_ids(const struct status *own, const struct status *other)
{
	for (unsigned i = 0; i < 3; i++)
		if (other->uid[i] != own->uid[0] || other->gid[i] != own->gid[0])
			return false;
	return true;
}

/* What a person without the capability does about it. */
static void remedy_capability(struct access_report *r, const struct status *own)
{
	const char *text = "run it as root: sudo aiotrace ...";

	if (own->uid[1] == 0)
		text = "root without CAP_SYS_PTRACE, as in a container: start that with --cap-add=SYS_PTRACE, or run aiotrace on its host";
	snprintf(r->remedy, sizeof(r->remedy), "%s", text);
}

static void explain_ids(pid_t pid, struct access_report *r, const struct status *own)
{
	if (r->target_uid != r->own_uid)
		snprintf(r->reason, sizeof(r->reason),
			 "process %d runs as uid %u and aiotrace as uid %u", (int)pid,
			 r->target_uid, r->own_uid);
	else
		snprintf(
			r->reason, sizeof(r->reason),
			"process %d has other real, effective or saved user or group ids than aiotrace",
			(int)pid);
	remedy_capability(r, own);
}

static void explain_yama(pid_t pid, struct access_report *r)
{
	static const char *const remedies[] = {
		[1] = "run as root, or: sudo sysctl kernel.yama.ptrace_scope=0",
		[2] = "run it as root: sudo aiotrace ...",
		[3] = "none without a reboot: at 3 nobody may, and it can't be set back",
	};
	int scope = r->yama_scope > 3 ? 3 : r->yama_scope;

	snprintf(r->reason, sizeof(r->reason),
		 scope == 1   ? "Yama's ptrace_scope is %d: only a parent may look into process %d"
		 : scope == 2 ? "Yama's ptrace_scope is %d: only root may look into process %d"
			      : "Yama's ptrace_scope is %d: nobody may look into process %d",
		 r->yama_scope, (int)pid);
	snprintf(r->remedy, sizeof(r->remedy), "%s", remedies[scope]);
}

/* A process that is not dumpable shows in /proc under root's name, whatever its user id. */
static bool is_dumpable(pid_t pid, const struct status *other)
{
	char path[32];
	struct stat s;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &s) != 0 || other->uid[1] == 0 || s.st_uid == other->uid[1];
}

static void explain(pid_t pid, struct access_report *r, const struct status *own,
		    const struct status *other)
{
	bool yama = r->yama_scope == 3 || (r->yama_scope == 2 && !r->own_ptrace_capability) ||
		    (r->yama_scope == 1 && !r->own_ptrace_capability && !is_descendant(pid));

	if (!r->own_ptrace_capability && !same_ids(own, other)) {
		explain_ids(pid, r, own);
	} else if (!r->own_ptrace_capability && !is_dumpable(pid, other)) {
		snprintf(
			r->reason, sizeof(r->reason),
			"process %d has made itself unreadable (setuid program, or prctl PR_SET_DUMPABLE)",
			(int)pid);
		remedy_capability(r, own);
	} else if (yama) {
		explain_yama(pid, r);
	} else if (!r->own_ptrace_capability && (other->permitted & ~own->permitted)) {
		snprintf(r->reason, sizeof(r->reason),
			 "process %d holds capabilities that aiotrace has not", (int)pid);
		remedy_capability(r, own);
	} else if (!r->same_user_namespace) {
		snprintf(r->reason, sizeof(r->reason), "process %d is in another user namespace",
			 (int)pid);
		snprintf(
			r->remedy, sizeof(r->remedy),
			"run as root outside of it, or inside: sudo nsenter -t %d -U -p -m aiotrace ...",
			(int)pid);
	} else if (r->own_seccomp > 0) {
		snprintf(r->reason, sizeof(r->reason),
			 "a seccomp filter on aiotrace refuses process_vm_readv and /proc/%d/mem",
			 (int)pid);
		snprintf(
			r->remedy, sizeof(r->remedy),
			"in a container: --security-opt seccomp=unconfined, or --cap-add=SYS_PTRACE");
	} else {
		snprintf(
			r->reason, sizeof(r->reason),
			"the kernel refuses to show the memory of process %d (a security module such as SELinux or AppArmor?)",
			(int)pid);
		snprintf(r->remedy, sizeof(r->remedy),
			 "look for a denial in the kernel's log: sudo dmesg | grep -i denied");
	}
}

enum err access_examine(pid_t pid, struct access_report *ret, struct error *e)
{
	struct status own = {0}, other = {0};
	enum err err = status_read(0, &own, e);

	if (err == ERR_OK)
		err = status_read(pid, &other, e);
	if (err != ERR_OK)
		return err;
	memset(ret, 0, sizeof(*ret));
	ret->own_uid = (unsigned)own.uid[1];
	ret->target_uid = (unsigned)other.uid[1];
	ret->own_ptrace_capability = own.effective & CAPABILITY_PTRACE;
	ret->yama_scope = yama_scope();
	ret->own_seccomp = own.seccomp_known ? (int)own.seccomp : -1;
	ret->target_seccomp = other.seccomp_known ? (int)other.seccomp : -1;
	ret->tracer = (pid_t)other.tracer;
	ret->same_user_namespace = same_user_namespace(pid);
	ret->same_pid_namespace = own.depth == other.depth;
	ret->can_read = can_read(pid);
	ret->can_attach = ret->can_read && !ret->tracer;
	if (!ret->can_read) {
		explain(pid, ret, &own, &other);
	} else if (ret->tracer) {
		snprintf(ret->reason, sizeof(ret->reason),
			 "process %d can be read but not paused: process %d traces it already",
			 (int)pid, (int)ret->tracer);
		snprintf(ret->remedy, sizeof(ret->remedy),
			 "end the debugger or tracer %d, or use --pause=never", (int)ret->tracer);
	}
	return ERR_OK;
}

enum err access_refused(pid_t pid, struct error *e)
{
	struct access_report r;
	enum err err = access_examine(pid, &r, NULL);

	if (err != ERR_OK || !r.reason[0])
		return error_set(e, ERR_ACCESS, EPERM, "no permission to read process %d",
				 (int)pid);
	return error_set(e, ERR_ACCESS, EPERM, "no permission to read process %d: %s; %s", (int)pid,
			 r.reason, r.remedy);
}
