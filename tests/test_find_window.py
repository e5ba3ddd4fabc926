# SPDX-License-Identifier: Apache-2.0
"""enter-task-window up to 3.13 and shared-loop from then on: a task that is entered on the wrong thread, and what looks like it and is none."""

import finding
import pytest

IDS = ("enter-task-window", "shared-loop")


def id_for(python):
    return "shared-loop" if python.minor >= (3, 14) else "enter-task-window"


def window_finding(target, *options):
    """The one finding of the two ids that the version can have."""
    document = finding.check(target, *options)
    found = [found for found in document["findings"] if found["id"] in IDS]
    assert [one["id"] for one in found] == [id_for(target.python)], document["findings"]
    assert found[0].get("certain", True)
    assert found[0]["loop"] == target.truth["loop"]
    assert found[0]["task"] == target.truth["task"]
    return found[0], document


def go_on(target):
    """What became of the five victims, once the loop was woken."""
    target.process.stdin.write(b"\n")
    target.process.stdin.flush()
    return target.first_line()


@pytest.mark.parametrize("how", ["enters", "drives"])
def test_the_task_its_thread_and_the_steps_that_will_fail_are_named(python, start, how):
    target = start(python, "window", how)
    found, document = window_finding(target, "--max-pause=5000")
    assert found["severity"] == "critical"
    assert found["thread"] == target.truth["tid"]
    assert found["evidence"]["looks"] >= 1
    assert found["evidence"]["frame"]["file"].endswith("window.py")
    assert found["evidence"]["frame"]["function"] in ("spins", "all_stepped")
    assert [frame["function"] for frame in found["evidence"]["stack"] if frame["function"] in ("meddles", "enters")] == ["meddles", "enters"]
    assert "meddler" in found["summary"] and "entered" in found["summary"]
    if id_for(python) == "enter-task-window":
        ready = {handle["id"]: handle for loop in document["loops"] for handle in loop["ready"]}
        assert found["evidence"]["will_raise_count"] == 5
        assert [ready[id]["task"] for id in found["evidence"]["will_raise"]] == target.truth["victims"]
        assert found["evidence"]["cancelled_in_ready"] == target.truth["cancelled"]
    outcome = go_on(target)
    assert outcome == ({"ran": 0, "failed": 5} if id_for(python) == "enter-task-window" else {"ran": 5, "failed": 0})


@pytest.mark.on("window enters", "window drives")
@pytest.mark.parametrize("pause", ["always", "auto"])
def test_it_is_seen_however_the_process_is_read(target, pause):
    window_finding(target, f"--pause={pause}", "--max-pause=5000")
