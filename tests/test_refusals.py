# SPDX-License-Identifier: Apache-2.0
"""Bad input: one line on standard error, nothing on standard output, the contract's exit code, the target as it was."""

import os
import pathlib
import subprocess
import sys
import threading

import harness
import pytest
import schema

COMMANDS = ("pstree", "ps")


def refused(code, *arguments, **options):
    result = harness.aiotrace(*arguments, **options)
    assert result.code == code, (result.code, result.err)
    assert result.out == b""
    lines = result.err.splitlines()
    assert len(lines) == 1 and lines[0].startswith("aiotrace: "), result.err
    return lines[0]


def free_pid():
    """A process id that nobody has."""
    child = subprocess.Popen(["true"])
    child.wait()
    assert not pathlib.Path(f"/proc/{child.pid}").exists()
    return child.pid


@pytest.fixture
def plain():
    started = []

    def start_plain(*command, **options):
        started.append(harness.Target(command, speaks=False, **options))
        return started[-1]

    yield start_plain
    for process in started:
        if process.stopped:
            process.go_on()
        process.check_unharmed()
        process.kill()


@pytest.mark.parametrize("command", COMMANDS)
def test_no_such_process(command):
    pid = free_pid()
    assert str(pid) in refused(4, command, pid)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_zombie(command):
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.close(read_end)
    os.close(write_end)
    try:
        harness.wait_until(lambda: harness.threads(pid)[0][1] == "Z", "the child is a zombie")
        assert refused(4, command, pid)
    finally:
        os.waitpid(pid, 0)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_kernel_thread(command):
    kernel_threads = [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and is_kernel_thread(entry)]
    if kernel_threads:
        assert "kernel" in refused(3, command, kernel_threads[0])
    else:
        assert not pathlib.Path("/proc/2/comm").exists(), "pid 2 is there, yet no kernel thread was found"


def is_kernel_thread(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[6]) & 0x00200000
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("command", COMMANDS)
def test_a_process_that_is_not_python(command, plain):
    assert "Python" in refused(3, command, plain("sleep", "1000").pid)


def test_a_shell_that_has_python_in_its_name(plain, tmp_path):
    liar = tmp_path / "python3.13"
    liar.symlink_to("/bin/sleep")
    assert "Python" in refused(3, "pstree", plain(liar, "1000").pid)


@pytest.mark.parametrize("command", COMMANDS)
def test_an_interpreter_that_is_not_supported(refused_python, command, plain):
    target = harness.Target(
        [*refused_python.command, "-c", "import sys, time; print('{}'); sys.stdout.flush(); time.sleep(1000)"]
    )
    try:
        line = refused(3, command, target.pid)
        if "pypy" in refused_python.flags:
            assert "PyPy" in line or "Python" in line
        else:
            assert "%d.%d" % refused_python.minor in line
    finally:
        target.check_unharmed()
        target.kill()


def test_a_stopped_process_is_read_and_stays_stopped(python, start):
    target = start(python, "waits_sync")
    target.stop()
    for pause in ("auto", "never", "always"):
        result = harness.aiotrace("pstree", "--json", f"--pause={pause}", "--max-pause=5000", target.pid)
        assert result.code == 0, result.err
        document = schema.check(schema.parse(result.out))
        assert {task["id"] for task in document["tasks"]} >= {task["id"] for task in target.truth["tasks"]}
        # A thread that was stopped twice over wakes in the kernel for a moment, to go from one stop to the other.
        harness.wait_until(
            lambda: all(thread[1:] == ("T", 0) for thread in harness.threads(target.pid)), "it is stopped as before", 10
        )


@pytest.mark.parametrize("command", COMMANDS)
def test_without_permission(command, some_python, start):
    target = start(some_python, "waits_sync")
    result = harness.aiotrace_as_nobody(command, target.pid)
    assert result.code == 3 and result.out == b"", result.err
    lines = result.err.splitlines()
    assert len(lines) == 1 and lines[0].startswith("aiotrace: ")
    assert "sudo" in lines[0] or "root" in lines[0] or "CAP_SYS_PTRACE" in lines[0], lines[0]


def test_ends_while_it_is_read(python, start):
    """Either the answer came in time, or the process was not there any more: never a half answer, never a crash."""
    codes = set()
    for delay in (0, 0.001, 0.002, 0.004, 0.008, 0.016):
        target = start(python, "exits")
        target.may_end = True
        byte = threading.Timer(delay, target.process.stdin.raw.write, [b"x"])
        byte.start()
        result = harness.aiotrace("pstree", "--json", target.pid)
        byte.join()
        codes.add(result.code)
        if result.code == 0:
            schema.check(schema.parse(result.out))
        else:
            assert result.code == 4, (result.code, result.err)
            assert result.out == b"" and len(result.err.splitlines()) == 1 and result.err.startswith("aiotrace: ")
        target.process.wait(harness.PATIENCE)
    assert codes <= {0, 4}


def test_execs_while_it_is_read(python, start):
    target = start(python, "execs")
    for attempt in range(40):
        result = harness.aiotrace("pstree", "--json", target.pid)
        assert result.code in (0, 3, 4), (result.code, result.err)
        if result.code == 0:
            document = schema.check(schema.parse(result.out))
            if document["snapshot"]["consistent"]:
                assert all(task["name"].startswith(("life-", "Task-1")) for task in document["tasks"])
        else:
            assert result.out == b"" and len(result.err.splitlines()) == 1 and result.err.startswith("aiotrace: ")


def test_itself_is_no_target():
    code = "import os, sys; os.execv(sys.argv[1], [sys.argv[1], 'pstree', str(os.getpid())])"
    ended = subprocess.run([sys.executable, "-c", code, harness.BINARY], capture_output=True, text=True)
    assert ended.returncode == 3 and ended.stdout == "" and ended.stderr.startswith("aiotrace: ")


def test_output_that_nobody_reads(some_python, start):
    target = start(some_python, "fold", 20_000)
    for options in (["--no-fold"], ["--json"]):
        running = subprocess.Popen(
            [harness.BINARY, "pstree", *options, str(target.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        running.stdout.read(10)
        running.stdout.close()
        said = running.stderr.read().decode()
        running.stderr.close()
        running.wait(harness.PATIENCE)
        assert len(said.splitlines()) <= 1 and not any(word in said for word in harness.SANITIZERS)


def test_output_to_a_full_disk(some_python, start):
    target = start(some_python, "waits_sync")
    with open("/dev/full", "w") as full:
        ended = subprocess.run([harness.BINARY, "ps", str(target.pid)], stdout=full, stderr=subprocess.PIPE, text=True)
    assert ended.returncode != 0 and ended.stderr.startswith("aiotrace: ") and len(ended.stderr.splitlines()) == 1
