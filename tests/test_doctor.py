# SPDX-License-Identifier: Apache-2.0
"""doctor: what can be read of a process and how; where it is refused, why, and the one command that mends it."""

import re
import subprocess

import harness
import pytest


@pytest.mark.on("two_loops")
def test_doctor_describes_the_process(target):
    result = harness.aiotrace("doctor", target.pid)
    assert result.code == 0 and result.err == "", result.err
    text = result.text
    assert target.python.version in text
    assert ("debug" in text) or not target.python.debug
    assert any(source in text for source in ("debug-offsets", "debug offsets", "table", "dwarf"))
    assert re.search(r"python3\.\d+|libpython3\.\d+", text)
    for word in ("uid", "CAP_SYS_PTRACE", "ptrace_scope", "seccomp", "namespace"):
        assert word.lower() in text.lower(), word
    assert re.search(r"threads?\b.*\b3\b|\b3\b.*threads?", text), text
    assert re.search(r"loops?\b.*\b2\b|\b2\b.*loops?", text), text


@pytest.mark.on("two_loops")
def test_doctor_names_the_layout_that_is_used(target):
    text = harness.aiotrace("doctor", target.pid).text
    assert ("offsets" in text) if target.python.minor >= (3, 13) else ("table" in text or "dwarf" in text)


def test_doctor_of_a_process_that_is_not_python():
    target = harness.Target(["sleep", "1000"], speaks=False)
    try:
        result = harness.aiotrace("doctor", target.pid)
        assert result.code == 3
        assert "Python" in result.text + result.err
    finally:
        target.check_unharmed()
        target.kill()


def test_doctor_of_no_process():
    child = subprocess.Popen(["true"])
    child.wait()
    assert harness.aiotrace("doctor", child.pid).code == 4


def test_doctor_without_permission_says_what_mends_it(some_python, start):
    target = start(some_python, "waits_sync")
    result = harness.aiotrace_as_nobody("doctor", target.pid)
    assert result.code == 3
    assert "sudo" in result.text + result.err


def test_doctor_refuses_what_it_does_not_know(refused_python):
    target = harness.Target(
        [*refused_python.command, "-c", "import sys, time; print('{}'); sys.stdout.flush(); time.sleep(1000)"]
    )
    try:
        result = harness.aiotrace("doctor", target.pid)
        assert result.code == 3
        said = result.text + result.err
        assert "pypy" in refused_python.flags or "%d.%d" % refused_python.minor in said
    finally:
        target.check_unharmed()
        target.kill()
