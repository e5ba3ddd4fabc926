# SPDX-License-Identifier: Apache-2.0
"""A false alarm is as bad as a miss: a hundred looks at each healthy process, and not one finding."""

import concurrent.futures
import itertools
import json
import subprocess
import sys

import harness
import pytest

pytestmark = pytest.mark.plain_only

RUNS = 100
AT_ONCE = 10
LIVES = ("quiet", "busy", "sleepers", "pool", "threads", "shutdown")
NOTHING_TO_CHECK = 3
GONE = 4


def findings(pid):
    """What a run found; a process that can't be looked at, since it is not there yet or any more, has none."""
    result = harness.aiotrace("check", "--json", "--fail-on=info", pid)
    if result.code in (NOTHING_TO_CHECK, GONE):
        return None
    document = json.loads(result.out)
    assert result.code == (1 if document["findings"] else 0), result.err
    return document["findings"]


def many(pid, runs=RUNS):
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(findings, itertools.repeat(pid, runs)))


@pytest.mark.on(*(f"healthy {life}" for life in LIVES))
def test_nothing_is_found(target):
    answers = many(target.pid)
    assert answers == [[]] * RUNS, [found for found in answers if found][:3]


@pytest.mark.parametrize("life", ["quiet", "busy"])
def test_nothing_is_found_in_a_process_that_a_signal_has_stopped(python, start, life):
    process = start(python, "healthy", life)
    process.stop()
    answers = many(process.pid)
    process.go_on()
    assert answers == [[]] * RUNS, [found for found in answers if found][:3]


@pytest.mark.parametrize("life", ["quiet", "busy"])
def test_nothing_is_found_in_a_debuggers_stop(python, start, life):
    process = start(python, "healthy", life)
    tracer = subprocess.Popen(
        [sys.executable, harness.ROOT / "tests" / "tracer.py", str(process.pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert tracer.stdout.readline() == b"stopped\n"
    try:
        answers = many(process.pid)
    finally:
        tracer.communicate()
    assert tracer.returncode == 0
    assert answers == [[]] * RUNS, [found for found in answers if found][:3]


@pytest.mark.parametrize("life", ["quiet", "busy"])
def test_nothing_is_found_at_start_up(python, life):
    """From the first instruction on until it is at work, again and again."""
    answers = []
    while len(answers) < RUNS:
        process = harness.Target([*python.command, harness.FIXTURES / "healthy.py", life], cwd=harness.ROOT, speaks=False)
        try:
            harness.wait_until(lambda: answers.extend(many(process.pid, AT_ONCE)) or [] in answers[-AT_ONCE:], "it is at work")
        finally:
            process.kill()
    assert [found for found in answers if found] == []
