# SPDX-License-Identifier: Apache-2.0
"""dead-loop: found where nothing can wake the loop, and not where one thing can."""

import finding
import pytest

ALIVE = ("timer", "socket", "signal", "python-signal", "thread", "native-thread", "executor", "process")


def dead(document):
    return [one for one in document["findings"] if one["id"] == "dead-loop"]


def task_id(target, name):
    return next(task["id"] for task in target.truth["tasks"] if task["name"] == name)


@pytest.mark.on("dead event", "dead pool")
def test_a_loop_that_nothing_can_wake(target):
    document = finding.check(target)
    (found,) = dead(document)
    assert found["severity"] == "critical" and "certain" not in found
    assert found["task"] == task_id(target, "child") and found["loop"] == target.truth["loops"][0]["id"]
    assert found["thread"] == target.truth["loops"][0]["tid"]
    assert set(found["evidence"]["tasks"]) == {task_id(target, "child"), task_id(target, "Task-1")}
    for words in ("2 tasks of the loop wait", "child waits for Event, not set", f"dead.py:{target.truth['line']}"):
        assert words in found["summary"]
    assert "Task-1 waits for task child at dead.py:" in found["evidence"]["waits"]
    assert found["evidence"]["stack"][-1]["function"] == "Event.wait"
    assert [one["id"] for one in document["findings"]] == ["dead-loop"]


@pytest.mark.on("dead two-loops")
def test_loops_that_could_only_wake_each_other(target):
    document = finding.check(target)
    assert len(dead(document)) == 2
    assert {found["thread"] for found in dead(document)} == {thread["tid"] for thread in document["threads"]}


@pytest.mark.since(3, 12)
@pytest.mark.on("dead group")
def test_a_group_whose_child_was_never_cancelled(target):
    document = finding.check(target)
    (found,) = document["findings"]
    assert found["id"] == "dead-loop" and found["task"] == task_id(target, "child")
    assert f"dead.py:{target.truth['line']}" in found["summary"]
    assert "Task-1 waits for Group, 1 task, cancelling them at dead.py:" in found["evidence"]["waits"]


@pytest.mark.on("dead nested")
def test_a_task_that_runs_the_loop_that_waits_for_it(target):
    document = finding.check(target)
    ring, found = document["findings"]
    both = {task_id(target, "outer"), task_id(target, "inner")}
    assert (ring["id"], found["id"]) == ("await-cycle", "dead-loop")
    assert set(ring["evidence"]["ring"]) == set(found["evidence"]["tasks"]) == both
    assert "inner waits for task outer at dead.py:" in ring["evidence"]["waits"]
    assert "outer waits for running, until the loop that it runs inside itself is through with it" in found["evidence"]["waits"]


@pytest.mark.on(*(f"dead {state}" for state in ALIVE))
def test_one_thing_that_could_wake_it(target):
    finding.none(target)


@pytest.mark.on("dead event")
def test_not_of_a_process_that_is_stopped(target):
    target.stop()
    try:
        finding.none(target)
    finally:
        target.go_on()
        target.rest()
    assert dead(finding.check(target))
