# SPDX-License-Identifier: Apache-2.0
"""The options of pstree and ps: which tasks, how deep, whose processes, again and again, on a terminal."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios

import harness
import pytest
import schema


def text_of(*arguments, **options):
    result = harness.aiotrace(*arguments, **options)
    assert result.code == 0 and result.err == "", result.err
    return result.text


def names_in(text):
    return {name for name in ("station", "morning/news", "morning/song", "evening/talk", "evening/concert") if name in text}


@pytest.fixture
def station(some_python, start):
    return start(some_python, "tree_314")


@pytest.mark.parametrize("command", ["pstree", "ps"])
def test_task_pattern_shows_matches_with_those_above_and_below(station, command):
    def shown(pattern):
        return names_in(text_of(command, "--no-fold", f"--task={pattern}", station.pid))

    assert shown("morning/n*") == {"station", "morning/news"}
    assert shown("evening") == {"station", "evening/talk", "evening/concert"}
    assert shown("*/[ns]*") == {"station", "morning/news", "morning/song"}
    assert shown("EVENING") == shown("nobody") == set()
    assert "no task" in text_of(command, "--task=nobody", station.pid)


@pytest.mark.parametrize("command", ["pstree", "ps"])
def test_max_depth(station, command):
    text = text_of(command, "--no-fold", "--max-depth=2", station.pid)
    assert "station" in text and re.search(r"\bmorning\b", text) and "morning/news" not in text
    assert "station" in text_of(command, "--max-depth=1", station.pid)


def test_threads(some_python, start):
    target = start(some_python, "waits_pool")
    for command in ("pstree", "ps"):
        assert "_run_once" not in text_of(command, target.pid)
        text = text_of(command, "--threads", target.pid)
        assert f"thread {target.pid}" in text and "_run_once" in text and "digs_in_thread" in text


def test_children(some_python):
    fixture = harness.ROOT / "fixtures" / "tree_314.py"
    script = f"sleep 1000 & {' '.join(map(str, some_python.command))} {fixture} & wait"
    family = harness.Target(["sh", "-c", script])
    family.may_end = True
    try:
        assert harness.aiotrace("pstree", family.pid).code == 3
        child = family.truth["pid"]
        text = text_of("pstree", "--children", family.pid)
        assert f"process {child}:" in text and "morning/news" in text and "sleep 1000" not in text
        document = schema.parse(harness.aiotrace("ps", "--children", "--json", family.pid).out)
        assert document["schema"] == "aiotrace/1" and set(document) == {"schema", "processes"}
        assert [process["target"]["pid"] for process in document["processes"]] == [child]
        schema.check(document["processes"][0])
        doctor = schema.parse(harness.aiotrace("doctor", "--children", "--json", family.pid).out)
        assert {process["doctor"]["pid"]: process["doctor"]["readable"] for process in doctor["processes"]} == {
            family.pid: False,
            child: True,
        }
    finally:
        family.kill()
        for pid in family_of(family):
            os.kill(pid, signal.SIGKILL)


def family_of(target):
    """Everything in the session that the target began."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getsid(int(entry)) == target.pid and int(entry) != target.pid:
                found.append(int(entry))
        except ProcessLookupError:
            continue
    return found


def watch(*arguments):
    return subprocess.Popen(
        [harness.BINARY, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )


def test_watch_repeats_until_interrupted(station):
    for interruption in (signal.SIGINT, signal.SIGTERM):
        running = watch("ps", "--json", "--watch=0.05", station.pid)
        for _ in range(3):
            schema.check(schema.parse(running.stdout.readline().encode()))
        running.send_signal(interruption)
        _, said = running.communicate(timeout=harness.PATIENCE)
        assert running.returncode == 0 and said == ""


def test_watch_ends_with_its_target(some_python, start):
    target = start(some_python, "tree_314")
    target.may_end = True
    running = watch("pstree", "--watch=0.05", target.pid)
    while "snapshot:" not in running.stdout.readline():
        pass
    target.process.kill()
    target.process.wait()
    _, said = running.communicate(timeout=harness.PATIENCE)
    assert running.returncode == 0
    assert len(said.splitlines()) == 1 and said.startswith("aiotrace: ") and str(target.pid) in said


def on_terminal(columns, *arguments, **environment):
    """What a terminal of that width is sent."""
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    env.update({"LC_ALL": "C.UTF-8", "TERM": "xterm", **environment})
    running = subprocess.Popen(
        [harness.BINARY, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=other, stderr=subprocess.PIPE, env=env
    )
    os.close(other)
    sent = b""
    try:
        while chunk := os.read(main, 65536):
            sent += chunk
    except OSError:
        pass  # the other side is closed
    os.close(main)
    assert running.wait(harness.PATIENCE) == 0 and running.stderr.read() == b""
    running.stderr.close()
    return sent.decode().replace("\r\n", "\n")


def test_a_terminal_has_colours_unless_told_otherwise(station):
    assert "\x1b[" in on_terminal(80, "pstree", station.pid)
    for quiet in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b[" not in on_terminal(80, "pstree", station.pid, **quiet)
    assert "\x1b[" not in on_terminal(80, "pstree", "--color=never", station.pid)
    assert "\x1b[" in on_terminal(80, "pstree", "--color=always", station.pid, NO_COLOR="1")


def test_ps_is_cut_to_the_terminal(station):
    for columns in (80, 200):
        lines = on_terminal(columns, "ps", "--no-fold", "--color=never", station.pid).splitlines()
        rows = [line for line in lines if line.startswith(("TASK", "0x"))]
        assert len(rows) == 9
        assert max(map(len, rows)) <= columns
