# SPDX-License-Identifier: Apache-2.0
"""The target runs on, whatever happens to the reader: killed at any moment, interrupted, its reads failing."""

import signal
import subprocess
import time

import harness
import pytest
import schema


def runs_on(target):
    """Whether the target makes progress: its main thread's time on the CPU grows."""
    before = harness.schedule(target.pid)
    harness.wait_until(lambda: harness.schedule(target.pid) != before, "the target makes progress", 10)
    target.check_unharmed()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE])
def test_reader_is_killed_at_any_moment(some_python, start, how):
    target = start(some_python, "churn")
    for step in range(25):
        reader = subprocess.Popen(
            [harness.BINARY, "pstree", "--pause=always", "--max-pause=5000", str(target.pid)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(step * 0.0006)
        reader.send_signal(how)
        reader.wait(harness.PATIENCE)
        harness.wait_until(lambda: all(not tracer for _, _, tracer in harness.threads(target.pid)), "nobody traces it", 10)
        runs_on(target)


def inject(target, what, *options):
    """The command under strace, which makes one system call of it fail."""
    strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject={what}"]
    environment = {"ASAN_OPTIONS": "detect_leaks=0"}
    return harness.aiotrace("pstree", "--json", *options, target.pid, prefix=strace, env=environment)


@pytest.mark.parametrize("call", ["process_vm_readv", "pread64", "openat", "read", "getdents64"])
@pytest.mark.parametrize("error", ["EFAULT", "EPERM", "ESRCH", "ENOMEM", "EINTR", "EIO"])
def test_each_call_is_made_to_fail_in_turn(some_python, start, call, error):
    """An answer that is right in what it says, or a refusal: never a crash, never a hang."""
    target = start(some_python, "waits_sync")
    names = {task["name"] for task in target.truth["tasks"]}
    for turn in (1, 2, 3, 5, 8, 13, 21, 34):
        result = inject(target, f"{call}:error={error}:when={turn}")
        assert result.code in (0, 3, 4, 127), (turn, result.code, result.err)
        if result.code == 0:
            document = schema.check(schema.parse(result.out))
            assert {task["name"] for task in document["tasks"]} <= names | {None}
        target.check_unharmed()


@pytest.mark.parametrize("call", ["ptrace", "wait4", "waitid"])
def test_a_stop_that_fails_harms_nobody(some_python, start, call):
    target = start(some_python, "churn")
    for turn in (1, 2, 3, 4):
        result = inject(target, f"{call}:error=ESRCH:when={turn}", "--pause=always", "--max-pause=300")
        assert result.code in (0, 3, 4), (turn, result.code, result.err)
        runs_on(target)


def test_all_reads_fail(some_python, start):
    """No process_vm_readv at all (seccomp in a container): /proc/PID/mem will do, or a refusal."""
    target = start(some_python, "waits_sync")
    result = inject(target, "process_vm_readv:error=ENOSYS")
    assert result.code in (0, 3), result.err
    if result.code == 0:
        document = schema.check(schema.parse(result.out))
        assert {task["name"] for task in document["tasks"]} == {task["name"] for task in target.truth["tasks"]}
    target.check_unharmed()


def test_little_memory(some_python, start):
    """Under a limit of address space: an answer or one line, no crash."""
    target = start(some_python, "fold", 5_000)
    for kilobytes in (2_000_000, 200_000, 60_000):
        result = subprocess.run(
            ["sh", "-c", f'ulimit -v {kilobytes}; exec "$@"', "sh", harness.BINARY, "pstree", str(target.pid)],
            capture_output=True,
            timeout=harness.PATIENCE,
        )
        if b"AddressSanitizer failed to allocate" in result.stderr or b"ReserveShadowMemoryRange" in result.stderr:
            continue
        assert result.returncode in (0, 1, 3, 4, 127), result.stderr
