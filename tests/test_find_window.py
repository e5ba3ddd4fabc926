# SPDX-License-Identifier: Apache-2.0
"""enter-task-window up to 3.13 and shared-loop from then on: a task that is entered on the wrong thread, and what looks like it and is none."""

import concurrent.futures
import re
import threading
import time

import finding
import harness
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


def test_in_text_a_cancelled_callback_is_told_as_such(python, start):
    if id_for(python) == "enter-task-window":
        text = harness.aiotrace("check", start(python, "window", "enters").pid).text
        assert re.search(r"^ +cancelled in ready +cleared by cancel\(\)$", text, re.M), text


@pytest.mark.on("window enters", "window drives")
@pytest.mark.parametrize("pause", ["always", "auto"])
def test_it_is_seen_however_the_process_is_read(target, pause):
    window_finding(target, f"--pause={pause}", "--max-pause=5000")


@pytest.mark.parametrize("ready", ["", "alone"])
def test_short_windows_are_found_by_the_watch(python, start, ready):
    """Of 0.2 to 2 ms, 30 to 100 times a second: in three seconds there are dozens, of which a look would see a few."""
    target = start(python, "window", "brief", *ready.split())
    found, _ = window_finding(target, "--sample=3000")
    evidence = found["evidence"]
    assert found["thread"] == target.truth["tid"]
    assert evidence["windows"] >= 3
    assert evidence["windows"] <= evidence["samples_with_it"] < evidence["samples"]
    assert evidence.get("longest_s", 0) < evidence["watched_s"] <= 3
    assert "meddles" in [frame["function"] for frame in evidence["stack"]]
    assert evidence["ready_in_window"] == (0 if ready else 6)
    if id_for(python) == "enter-task-window":
        assert found["severity"] == ("warning" if ready else "critical")
        assert evidence["will_raise_count"] == (0 if ready else 5)


def test_a_task_that_is_entered_without_a_running_loop_is_found(python, start):
    """From 3.14 on that can't be done: asyncio refuses."""
    if python.minor >= (3, 14):
        return
    found, _ = window_finding(start(python, "window", "bare"), "--sample=1000")
    assert found["severity"] == "critical"
    assert found["evidence"]["will_raise_count"] == 5


class Sleeper(threading.Thread):
    """How often this machine, busy as it is, wakes up somebody who asks for it as often as the watch does."""

    def __init__(self):
        super().__init__(daemon=True)
        self.done = threading.Event()
        self.wakes = 0

    def run(self):
        begin = time.monotonic()
        while not self.done.is_set():
            time.sleep(0.0004)
            self.wakes += 1
        self.rate = self.wakes / (time.monotonic() - begin)


@pytest.mark.plain_only
@pytest.mark.on("window brief alone", "healthy quiet", "waits_tasks")
def test_the_watch_looks_a_thousand_times_a_second(target):
    """Where the machine wakes anybody up so often. And it takes its share of a CPU at most: a fifth."""
    sleeper = Sleeper()
    sleeper.start()
    told = harness.aiotrace("check", "-v", "--sample=1000", target.pid).err
    sleeper.done.set()
    sleeper.join()
    line = re.search(r"watch: (\d+) samples a second, ([\d.]+) % of a CPU", told)
    assert line, told
    rate, part = line.groups()
    assert int(rate) >= min(1000, sleeper.rate / 2), told
    assert float(part) <= 20, told


LIVES = ("loops", "blocked", "submits", "eager", "debug", "nested")
RUNS = 100


@pytest.mark.plain_only
@pytest.mark.on(*(f"apart {life}" for life in LIVES))
def test_threads_and_tasks_that_only_look_like_it_are_none(target):
    def ids(_):
        return [found["id"] for found in finding.check(target, f"--only={','.join(IDS)}")["findings"]]

    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(ids, range(RUNS)))
    assert answers == [[]] * RUNS
