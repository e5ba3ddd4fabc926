# SPDX-License-Identifier: Apache-2.0
"""A busy process: snapshots that call themselves consistent must be right in everything that holds at any moment."""

import collections
import pathlib
import re
import threading

import harness
import schema

SNAPSHOTS = 50 if harness.SANITIZED else 200
LIVING = ("pending", "running")
FREE = {"torn", "validated", "still"}


class Judge:
    """What churn.py says of its families of tasks, held against a snapshot."""

    def __init__(self, truth):
        self.families = [dict(family, name=re.compile(family["name"])) for family in truth["families"]]
        self.lines = truth["lines"]
        self.loop = truth["loops"][0]["id"]
        self.turns = collections.defaultdict(int)

    def family(self, name):
        for family in self.families:
            if match := family["name"].fullmatch(name):
                return family, match
        raise AssertionError(f"no task was ever called {name!r}")

    def judge(self, document):
        tasks = {task["id"]: task for task in document["tasks"] if task["state"] in LIVING}
        members = collections.Counter()
        for task in tasks.values():
            family, match = self.family(task["name"])
            members[family["name"].pattern, match[1]] += 1
            assert task["loop"] == self.loop
            assert task["cancelling"] == 0 and task["must_cancel"] is False
            current = task["id"] in [loop["current_task"] for loop in document["loops"]]
            if task["stack"] or not current:  # a task whose coroutine has just returned is current, and has no stack
                self.judge_stack(task, family)
            if family["awaits"] is None:
                assert task["awaits"]["tasks"] == [], (task["name"], task["awaits"])
            self.judge_neighbours(task, match, family["awaits"], task["awaits"]["tasks"], tasks, document)
            self.judge_neighbours(task, match, family["awaited_by"], task["awaited_by"], tasks, document)
            self.judge_turn(task["name"])
        running = [task["name"] for task in tasks.values() if task["state"] == "running"]
        assert len(running) <= 1, running
        assert members["(Task-1)", "Task-1"] == 1
        for family in self.families:
            pattern = family["name"].pattern
            groups = {number: count for (name, number), count in members.items() if name == pattern}
            if "count" in family:
                assert len(groups) == family["count"] and set(groups.values()) == {1}, (pattern, groups)
            else:
                assert max(groups.values(), default=0) <= family["most"], (pattern, groups)

    def judge_stack(self, task, family):
        functions = [frame["function"] for frame in task["stack"]]
        if task["state"] == "running":
            assert functions[:1] in [chain[:1] for chain in family["chains"]], (task["name"], functions)
            return
        assert functions in family["chains"] or functions == family["chains"][0][:1], (task["name"], functions)
        for frame in task["stack"]:
            if frame["function"] in self.lines:
                assert frame["line"] in self.lines[frame["function"]], (task["name"], frame)
            elif frame["function"] != "main":
                assert "/asyncio/" in frame["file"], frame

    def judge_neighbours(self, task, match, pattern, ids, tasks, document):
        for id in ids:
            name = next(other["name"] for other in document["tasks"] if other["id"] == id)
            assert pattern is not None, f"{task['name']} has to do with {name}"
            assert re.fullmatch(pattern.replace(r"\1", match[1]), name), f"{task['name']} has to do with {name}"

    def judge_turn(self, name):
        """c-3-17 comes after c-3-16: a number that falls is an old task told as a living one."""
        kind, _, rest = name.partition("-")
        if kind in ("c", "m", "b"):
            number, turn = rest.split("-")[:2]
            assert int(turn) >= self.turns[kind, number], name
            self.turns[kind, number] = int(turn)


def snapshot(target, *options):
    result = harness.aiotrace("pstree", "--json", *options, target.pid)
    if result.code == 3:
        assert result.out == b"" and result.err.startswith("aiotrace: ")
        return None
    assert result.code == 0, result.err
    return schema.check(schema.parse(result.out))


def test_a_busy_process_is_read_rightly(python, start):
    target = start(python, "churn")
    assert target.truth["switches_per_second"] > (5_000 if python.debug else 20_000)
    judge = Judge(target.truth)
    methods = collections.Counter()
    for _ in range(SNAPSHOTS):
        document = snapshot(target, "--max-pause=1000")
        methods[document["snapshot"]["method"] if document else "refused"] += 1
        if document and document["snapshot"]["consistent"]:
            judge.judge(document)
    assert methods["torn"] + methods["refused"] <= SNAPSHOTS // 100, methods


class StopWatch(threading.Thread):
    """Looks at a process as often as it can: is it ever stopped, or traced?"""

    def __init__(self, pid):
        super().__init__()
        self.pid, self.looks, self.seen, self.over = pid, 0, set(), threading.Event()

    def run(self):
        status = pathlib.Path(f"/proc/{self.pid}/status")
        while not self.over.is_set():
            text = status.read_text()
            self.seen.add((re.search(r"State:\s+(\w)", text)[1] in "tT", re.search(r"TracerPid:\s+(\d+)", text)[1] != "0"))
            self.looks += 1


def test_pause_never_stops_nothing(python, start):
    target = start(python, "churn")
    judge = Judge(target.truth)
    watch = StopWatch(target.pid)
    watch.start()
    try:
        for _ in range(20):
            document = snapshot(target, "--pause=never")
            if document:
                assert document["snapshot"]["method"] in FREE and document["snapshot"]["paused_us"] == 0
                if document["snapshot"]["consistent"]:
                    judge.judge(document)
    finally:
        watch.over.set()
        watch.join()
    assert watch.looks > 20 and watch.seen == {(False, False)}


def test_pause_always_keeps_within_its_limit(some_python, start):
    target = start(some_python, "churn")
    judge = Judge(target.truth)
    for _ in range(20):
        document = snapshot(target, "--pause=always", "--max-pause=1000")
        assert document["snapshot"]["method"] == "paused"
        assert 0 < document["snapshot"]["paused_us"] < 1_000_000
        judge.judge(document)


def test_a_limit_that_cannot_be_kept_is_told(some_python, start):
    target = start(some_python, "churn", 40)
    judge = Judge(target.truth)
    for _ in range(10):
        document = snapshot(target, "--max-pause=0")
        if document and document["snapshot"]["consistent"]:
            judge.judge(document)
