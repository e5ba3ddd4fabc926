# SPDX-License-Identifier: Apache-2.0
"""Starts interpreters on fixtures, runs the binary, and looks after both: what every test stands on."""

import contextlib
import dataclasses
import json
import os
import pathlib
import select
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
BINARY = pathlib.Path(os.environ.get("AIOTRACE_BINARY", ROOT / "build" / "aiotrace")).resolve()
SANITIZED = BINARY.exists() and b"__asan_init" in BINARY.read_bytes()
MINORS = [(3, 11), (3, 12), (3, 13), (3, 14), (3, 15)]
SANITIZERS = ("AddressSanitizer", "LeakSanitizer", "UndefinedBehaviorSanitizer", "runtime error:", "MemorySanitizer")
PATIENCE = 60.0
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


@dataclasses.dataclass(frozen=True)
class Python:
    id: str
    version: str
    flags: frozenset
    command: tuple

    @property
    def minor(self):
        return tuple(int(part) for part in self.version.split(".")[:2])

    @property
    def debug(self):
        return "debug" in self.flags

    @property
    def supported(self):
        return "unsupported" not in self.flags


def interpreters():
    listing = subprocess.run([ROOT / "tools" / "interpreters"], check=True, capture_output=True, text=True).stdout
    rows = [line.split("\t") for line in listing.splitlines()]
    return [Python(id, version, frozenset(flags.split(",")), tuple(shlex.split(command))) for id, version, flags, command in rows]


@dataclasses.dataclass
class Result:
    code: int
    out: bytes
    err: str
    command: list

    @property
    def text(self):
        return self.out.decode("utf-8")


def checked(result):
    for word in SANITIZERS:
        assert word not in result.err, f"{shlex.join(map(str, result.command))}: {result.err}"
    assert result.code >= 0, f"{shlex.join(map(str, result.command))} ended by signal {-result.code}: {result.err}"
    return result


def aiotrace(*arguments, prefix=(), env=None, timeout=PATIENCE):
    """Runs the binary to its end. No sanitizer may speak, no signal may end it."""
    command = [*map(str, prefix), str(BINARY), *map(str, arguments)]
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    environment.update({"LC_ALL": "C.UTF-8", **(env or {})})
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, env=environment)
    return checked(Result(ended.returncode, ended.stdout, ended.stderr.decode("utf-8", "replace"), command))


def aiotrace_as_nobody(*arguments):
    """Runs a copy of the binary as the user nobody, who may read no process of ours."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        copy = pathlib.Path(folder) / "aiotrace"
        shutil.copy(BINARY, copy)
        command = [*NOBODY, copy, *map(str, arguments)]
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, cwd="/")
    return checked(Result(ended.returncode, ended.stdout, ended.stderr.decode("utf-8", "replace"), command))


def status(pid, tid):
    """The fields of /proc/PID/task/TID/status."""
    lines = pathlib.Path(f"/proc/{pid}/task/{tid}/status").read_text().splitlines()
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def threads(pid):
    """(tid, state letter, tracer's pid) of every thread."""
    found = []
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            fields = status(pid, tid)
        except (FileNotFoundError, ProcessLookupError):
            continue
        found.append((int(tid), fields["State"][0], int(fields["TracerPid"])))
    return found


def schedule(pid):
    """What changes when any thread runs: every thread's state and run counters."""
    counters = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            folder = pathlib.Path(f"/proc/{pid}/task/{tid}")
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            counters[tid] = state, (folder / "schedstat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
    return counters


def wait_until(condition, what, patience=PATIENCE):
    deadline = time.monotonic() + patience
    while not (answer := condition()):
        assert time.monotonic() < deadline, f"waited {patience} s in vain until {what}"
        time.sleep(0.005)
    return answer


def resting(pid):
    """Whether all threads sleep and none ran between two looks."""
    before = schedule(pid)
    time.sleep(0.02)
    return before and all(state == "S" for state, _ in before.values()) and before == schedule(pid)


class Target:
    """A process in a known state; `truth` is what it said of itself."""

    living = []

    def __init__(self, command, cwd=None, speaks=True, env=None):
        self.errors = tempfile.TemporaryFile()
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8", **(env or {})}
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *map(str, command)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            cwd=cwd,
            env=environment,
            start_new_session=True,
        )
        self.pid = self.process.pid
        self.may_end = False
        self.stopped = False
        self.truth = None
        Target.living.append(self)
        try:
            self.truth = self.first_line() if speaks else None
            if self.truth and self.truth.get("still"):
                self.rest()
        except BaseException:
            self.kill()
            raise

    def first_line(self):
        line = b""
        deadline = time.monotonic() + PATIENCE
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            chunk = os.read(self.process.stdout.fileno(), 1 << 20) if ready else b""
            if not chunk:
                raise AssertionError(f"the target did not say its truth: {self.said()}")
            line += chunk
        return json.loads(line)

    def rest(self):
        """Waits until nothing moves: after a stop, threads run for a moment to go back to sleep."""
        wait_until(lambda: resting(self.pid), "the target rests")

    def said(self):
        self.errors.seek(0)
        return self.errors.read().decode("utf-8", "replace")[-4000:]

    def alive(self):
        return self.process.poll() is None

    def check_unharmed(self):
        """Alive, not stopped by anybody but the test, traced by nobody."""
        if self.may_end:
            return
        assert self.alive(), f"the target ended with {self.process.returncode}: {self.said()}"
        for tid, state, tracer in threads(self.pid):
            assert tracer == 0, f"thread {tid} is still traced by {tracer}"
            assert self.stopped or state not in "Tt", f"thread {tid} is left stopped ({state})"

    def stop(self):
        self.stopped = True
        os.kill(self.pid, signal.SIGSTOP)
        wait_until(lambda: all(state == "T" for _, state, _ in threads(self.pid)), "all threads are stopped")

    def go_on(self):
        os.kill(self.pid, signal.SIGCONT)
        wait_until(lambda: all(state not in "Tt" for _, state, _ in threads(self.pid)), "all threads run on")
        self.stopped = False

    def kill(self):
        """Once: its number may be another's by then."""
        if self not in Target.living:
            return
        Target.living.remove(self)
        # Its children too, those that a process pool forks among them: they are all of its session.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()


def start(python, fixture, *arguments, **options):
    return Target([*python.command, FIXTURES / f"{fixture}.py", *arguments], cwd=ROOT, **options)
