# SPDX-License-Identifier: Apache-2.0
"""lost-wakeup: futures that nobody can end any more, and none that somebody holds; locks that are free while tasks wait for them."""

import finding
import pytest


def lost(document):
    names = {task["id"]: task["name"] for task in document["tasks"]}
    return {names[one["task"]]: one for one in document["findings"] if one["id"] == "lost-wakeup"}


@pytest.mark.on("orphans")
def test_futures_that_nobody_else_holds(target):
    document = finding.check(target)
    found = lost(document)
    truth = target.truth["lost"]
    if "second" in found:  # of two that share a future either may be named
        truth["second"] = truth.pop("first", truth.get("second"))
    assert set(found) == set(truth)
    for name, line in truth.items():
        one = found[name]
        assert one["severity"] == "critical" and "certain" not in one
        assert one["evidence"]["references_of_others"] == 0
        assert (one["evidence"]["where"]["line"], one["evidence"]["where"]["file"][-10:]) == (line, "orphans.py")
        assert f"task {name} waits at orphans.py:{line} on a future that nobody else holds" in one["summary"]
        assert one["evidence"]["task_held_elsewhere"] is (name != "fire-and-forget")
        assert ("only that future holds the task" in one["summary"]) is (name == "fire-and-forget")
    (shared,) = found.keys() & {"first", "second"}
    assert set(found[shared]["evidence"]["waiting"]) == set(target.truth["shared"])
    assert {one["id"] for one in document["findings"]} == {"lost-wakeup"}


@pytest.mark.on("free_locks", "free_locks_anyio")
def test_what_is_free_while_tasks_wait_for_it(target):
    document = finding.check(target)
    found = lost(document)
    names = {task["id"]: task["name"] for task in document["tasks"]}
    assert len(found) == len(target.truth["free"])
    for kind, waiting in target.truth["free"].items():
        (told,) = found.keys() & set(waiting)
        one = found[told]
        assert sorted(names[task] for task in one["evidence"]["waiting"]) == waiting
        assert kind in one["evidence"]["state"] and f"waits at {target.truth['fixture']}:" in one["summary"]
        assert one["evidence"]["waits_on"] == next(
            task["awaits"]["id"] for task in document["tasks"] if task["name"] == told
        )
    assert {one["id"] for one in document["findings"]} == {"lost-wakeup"}


@pytest.mark.on("lock_traffic")
def test_none_while_locks_change_hands(target):
    for _ in range(10):
        assert not lost(finding.check(target))
