# SPDX-License-Identifier: Apache-2.0
"""stalled-loop: callbacks that wait while nothing has woken their loop, whoever put them there and however it is read."""

import finding
import pytest

WAYS = ["stalls call-soon", "stalls create-task", "stalls set-result", "stalls signal", "stalls call-soon timer"]


def check_stalled(target, *options):
    found, document = finding.the_finding(target, "stalled-loop", *options)
    loop = next(loop for loop in document["loops"] if loop["id"] == target.truth["loop"])
    assert found["severity"] == "critical"
    assert found.get("certain", True)
    assert found["loop"] == target.truth["loop"]
    assert found["thread"] == target.truth["tid"]
    assert loop["state"] == "stalled"
    assert found["evidence"]["waiting"] == target.truth["waiting"]
    assert found["evidence"]["waiting_for_s"] >= 0.1
    return found, document


@pytest.mark.on(*WAYS)
@pytest.mark.parametrize("pause", ["auto", "always", "never"])
def test_what_waits_is_named(target, pause):
    check_stalled(target, f"--pause={pause}", "--max-pause=5000")
    target.rest()


@pytest.mark.on("stalls create-task", "stalls set-result")
def test_a_task_that_waits_for_its_step_is_named(target):
    found, document = check_stalled(target)
    names = {task["id"]: task["name"] for task in document["tasks"]}
    assert names[found["task"]] in ("made-by-a-thread", "waits")
    assert names[found["task"]] in found["summary"]


@pytest.mark.on("stalls call-soon")
def test_the_system_call_without_end_is_told(target):
    found, _ = check_stalled(target)
    assert found["evidence"]["system_call"].endswith("no timeout")
    assert "next_timer_s" not in found["evidence"]


@pytest.mark.on("stalls call-soon timer")
def test_when_a_timer_will_wake_it_is_told(target):
    found, _ = check_stalled(target)
    assert 3000 < found["evidence"]["next_timer_s"] < 3600


@pytest.mark.on("stalls call-soon debug")
def test_where_it_was_scheduled_is_told_in_debug_mode(target):
    found, _ = check_stalled(target)
    assert found["evidence"]["scheduled_at"]["function"] == "call_soon"


@pytest.mark.on("stalls cancelled", "stalls woken", "works woken", "works short-callbacks", "blocks sleep", "waits_tasks", "churn")
@pytest.mark.parametrize("pause", ["auto", "always"])
def test_a_loop_that_was_woken_or_has_nothing_to_do_is_not_stalled(target, pause):
    for _ in range(5):
        assert finding.findings(target, "stalled-loop", f"--pause={pause}") == []
