# SPDX-License-Identifier: Apache-2.0
"""--loop: ready queue, timers, descriptors and executor, against what the process itself says of its loop."""

import harness
import pytest
import schema


def read(target, *options, command="pstree"):
    result = harness.aiotrace(command, "--json", *options, target.pid)
    assert result.code == 0, result.err
    return schema.check(schema.parse(result.out))


def loop_of(document, target):
    wanted = target.truth["loops"][0]["id"]
    return next(loop for loop in document["loops"] if loop["id"] == wanted)


def text_of(target, *options, command="pstree"):
    result = harness.aiotrace(command, "--loop", *options, target.pid)
    assert result.code == 0, result.err
    return result.text


def callback_of(true, names):
    """A task's step and wake-up are told with its name; a cancelled handle has dropped its callback."""
    words = {"task-step": "step of ", "task-wakeup": "wake-up of "}
    return words[true["kind"]] + names[true["task"]] if true["task"] else true["callback"]


def check_handle(handle, true, now, names):
    for key in ("id", "kind", "task", "cancelled"):
        assert handle[key] == true[key], (key, handle, true)
    assert handle["callback"] == callback_of(true, names), (handle, true)
    if true["due"] is None:
        assert handle["in"] is None
    else:
        assert handle["in"] == pytest.approx(true["due"] - now, abs=1e-3)
    if true["source"] is None:
        assert handle["source"] is None
    else:
        assert handle["source"] == true["source"]


@pytest.fixture
def whole(target):
    """The document and the loop's truth."""
    document = read(target, "--loop")
    names = {task["id"]: task["name"] for task in target.truth["tasks"]}
    return loop_of(document, target), target.truth["loop_state"], names


pytestmark = pytest.mark.on("loop_state", "loop_state debug")


def test_ready_queue_in_order(whole):
    loop, truth, names = whole
    assert loop["ready_count"] == len(truth["ready"]) == len(loop["ready"])
    for handle, true in zip(loop["ready"], truth["ready"]):
        check_handle(handle, true, loop["time"], names)
    assert {handle["kind"] for handle in loop["ready"]} >= {"task-step", "task-wakeup", "callback", "reader"}
    assert any(handle["cancelled"] for handle in loop["ready"])


def test_timers_by_deadline(whole):
    loop, truth, names = whole
    timers = loop["timers"]
    assert timers["count"] == len(truth["timers"]) == len(timers["items"])
    assert timers["cancelled"] == truth["timers_cancelled"] > 0
    true = {timer["id"]: timer for timer in truth["timers"]}
    for handle in timers["items"]:
        check_handle(handle, true.pop(handle["id"]), loop["time"], names)
    due = [handle["in"] for handle in timers["items"]]
    assert due == sorted(due)
    assert timers["next_in"] == min(handle["in"] for handle in timers["items"] if not handle["cancelled"])
    assert timers["last_in"] == due[-1]


def test_descriptors(target, whole):
    loop, truth, names = whole
    found = {row["fd"]: row for row in loop["fds"]}
    assert set(found) == {row["fd"] for row in truth["fds"]}
    for true in truth["fds"]:
        row = found[true["fd"]]
        assert row["events"] == true["events"]
        for side in ("reader", "writer"):
            if true[side]:
                check_handle(row[side], true[side], loop["time"], names)
            else:
                assert row[side] is None
    for fd, words in target.truth["targets"].items():
        for word in words:
            assert word in found[int(fd)]["target"]
    assert found[truth["self_pipe"]]["target"] == "self-pipe"


def test_executor(whole):
    loop, truth, _ = whole
    loop["executor"]["calls"].sort(key=lambda call: call["thread"])
    assert loop["executor"] == truth["executor"] and truth["executor"]["calls"]


@pytest.mark.parametrize("command", ["pstree", "ps"])
def test_text(target, command):
    truth = target.truth["loop_state"]
    lines = text_of(target, command=command).splitlines()
    inner = [line.strip() for line in lines if line.startswith("    ")]

    def one(start):
        return next(line for line in inner if line.startswith(start))

    assert one("runs now:") == "runs now: blocks"
    assert one("ready queue:") == f"ready queue: {len(truth['ready'])}, of them 1 cancelled"
    assert one("step of step-0 … step-python (steps)  × 11")
    assert one("wake-up of waits-0 … waits-python (waits)  × 4")
    assert one("reader ping")
    assert one("timers:").startswith(f"timers: {len(truth['timers'])}, of them {truth['timers_cancelled']} cancelled (24 %)")
    assert one(f"cancelled  × {truth['timers_cancelled']}, in ")
    assert one(f"descriptors: {len(truth['fds'])}")
    assert one(f"fd {truth['self_pipe']} r, self-pipe")
    executor = truth["executor"]
    assert one("default executor:") == (
        f"default executor: 2 workers of at most 2, {executor['idle']} idle, {executor['queued']} queued"
    )
    names = {thread["tid"]: thread["name"] for thread in read(target, "--threads")["threads"]}
    for call in executor["calls"]:
        own = next(frame for frame in call["stack"] if frame["function"] == "digs")
        assert one(f"thread {names[call['thread']]} runs digs, at loop_state.py:{own['line']}")
    assert one("late, late by 50")
    assert one("signal handlers: 2")
    made = [line for line in inner if ", made at " in line]
    assert bool(made) == target.truth["loops"][0]["debug"]


def test_one_by_one(target):
    text = text_of(target, "--no-fold")
    for number in range(10):
        assert f"step of step-{number} (steps)" in text
    assert "more\n" not in text


def test_nothing_of_it_unless_asked(target):
    loop = loop_of(read(target), target)
    assert loop["ready_count"] is None and loop["timers"] is None and loop["executor"] is None
    assert loop["ready"] == [] and loop["fds"] == []
    assert "ready queue" not in harness.aiotrace("pstree", target.pid).text
