# SPDX-License-Identifier: Apache-2.0
"""blocked-loop: the task, its line, and what the thread does, for each way to hold a loop; and who looks like it and is healthy."""

import finding
import harness
import pytest

WAYS = ["sleep", "recv", "connect", "getaddrinfo", "lock", "sqlite", "spin", "regex", "native", "naps"]


def check_place(frame, truth):
    assert frame["function"] == truth["own"]["function"]
    assert frame["file"] == truth["own"]["file"]
    assert frame["line"] in (truth["own"]["line"], truth["own"]["line"] + 1)


def check_blocked(target, *options):
    """What the finding says, against what the process said of itself."""
    truth = target.truth
    # What computes may have to share its CPU with others, and its own time counts.
    longer = ["--sample=1000"] * truth["on_cpu"]
    found, document = finding.the_finding(target, "blocked-loop", *longer, *options)
    evidence = found["evidence"]
    tasks = {task["id"]: task for task in document["tasks"]}
    loop = next(loop for loop in document["loops"] if loop["id"] == found["loop"])
    assert found["severity"] == "critical"
    assert (tasks[found["task"]]["name"] if found["task"] else None) == truth["task"]
    assert found["thread"] == truth["tid"]
    assert loop["state"] == "blocked"
    check_place(evidence["own_frame"], truth)
    assert evidence["where"]["function"] == truth["inner"]
    assert evidence["stack"][-1] == evidence["where"]
    assert evidence["on_cpu"] == truth["on_cpu"]
    assert evidence["blocked_for_s"] >= 0.1
    assert (truth["task"] or f"callback {truth['callback']}") in found["summary"]
    return found, evidence, truth


@pytest.mark.on(*[f"blocks {way}" for way in WAYS])
def test_each_way_to_hold_a_loop_is_named(target):
    found, evidence, truth = check_blocked(target)
    assert found.get("certain", True)
    if truth["on_cpu"]:
        assert "system_call" not in evidence
        assert "on the CPU" in found["summary"]
        return
    name, *_ = evidence["system_call"].split(",")
    assert name in truth["syscalls"], evidence["system_call"]
    for word in truth["words"]:
        assert word in evidence["system_call"]
    assert name in found["summary"]


@pytest.mark.on("blocks sleep", "blocks spin")
def test_its_age_is_told_although_it_is_longer_than_the_watch(target):
    def seen():
        _, evidence, _ = check_blocked(target)
        return evidence["blocked_for_s"] > 1 and "at_most_s" not in evidence

    harness.wait_until(seen, "it has been blocked for a second")


@pytest.mark.on("blocks native")
def test_a_native_call_that_keeps_the_gil_is_told(target):
    _, evidence, _ = check_blocked(target)
    assert evidence["holds_gil"] is True


@pytest.mark.on("blocks sleep callback", "blocks sleep late", "blocks spin callback late")
def test_a_plain_callback_and_one_that_is_not_the_first_of_its_turn(target):
    found, evidence, truth = check_blocked(target, "--sample=1000")
    assert ("at_most_s" in evidence) == (not truth["exact"])
    assert ("at least" in found["summary"]) == (not truth["exact"])


@pytest.mark.on("blocks sleep", "blocks lock", "blocks spin")
@pytest.mark.parametrize("pause", ["always", "never"])
def test_however_it_is_read(target, pause):
    check_blocked(target, f"--pause={pause}", "--max-pause=5000")


@pytest.mark.on("blocks sleep")
def test_it_is_said_in_text(target):
    result = harness.aiotrace("check", target.pid)
    assert result.code == 1
    own = target.truth["own"]
    headline = f"critical  blocked-loop: task blocks has held the loop's thread for "
    line = next(line for line in result.text.splitlines() if line.startswith(headline))
    assert f"blocks.py:{own['line']}" in line


@pytest.mark.on("blocks sleep")
def test_less_than_the_limit_is_no_finding(target):
    assert finding.findings(target, "blocked-loop", "--blocked-after=60000") == []


@pytest.mark.parametrize("way", ["sleep", "spin"])
def test_a_process_that_stands_stopped_is_not_blocked(python, start, way):
    target = start(python, "blocks", way)
    target.stop()
    assert finding.check(target)["findings"] == []
    target.go_on()


@pytest.mark.on("works short-callbacks", "works short-steps", "works nested", "waits_tasks", "churn")
@pytest.mark.parametrize("pause", ["auto", "always"])
def test_a_loop_that_turns_is_not_blocked(target, pause):
    for _ in range(5):
        assert finding.check(target, f"--pause={pause}")["findings"] == []
