# SPDX-License-Identifier: Apache-2.0
"""run --stall: what stands still is given up, what moves in any way is not."""

import harness
import pytest
from running import run

STILL = "nothing has moved for 1.0 s"


def stirs(python, way, seconds=2.5):
    return [*python.command, harness.FIXTURES / "stirs.py", way, seconds]


def is_left_alone(python, way):
    result = run("--stall=1", "--timeout=60", command=map(str, stirs(python, way)))
    assert (result.code, result.err) == (0, "")


@pytest.mark.parametrize("way", ["timer", "callbacks"])
def test_a_loop_that_turns_is_left_alone(python, way):
    is_left_alone(python, way)


@pytest.mark.parametrize("way", ["works", "steps", "starts"])
def test_what_moves_is_left_alone(some_python, way):
    is_left_alone(some_python, way)


def test_waking_up_for_nothing_is_no_move(python):
    result = run("--stall=1", "--timeout=60", command=map(str, stirs(python, "wakes")))
    assert result.code == 124 and STILL in result.err
    assert "Event, not set" in result.err and "wakes" in result.err


@pytest.mark.parametrize("fixture", ["blocked", "sync_only", "two_loops"])
def test_what_stands_still_is_given_up(python, fixture):
    result = run("--stall=1", "--timeout=60", command=[*python.command, str(harness.FIXTURES / f"{fixture}.py")])
    assert result.code == 124 and STILL in result.err
    assert f"{fixture}.py:" in result.err


def test_without_python_nothing_stalls():
    result = run("--stall=0.5", command=["sleep", "2"])
    assert (result.code, result.err) == (0, "")


def test_work_of_any_process_counts(some_python):
    """Python waits for a compiler."""
    script = "import subprocess; subprocess.run(['timeout', '3', 'sh', '-c', 'while :; do :; done'])"
    result = run("--stall=1", command=[*some_python.command, "-c", script])
    assert (result.code, result.err) == (0, "")
