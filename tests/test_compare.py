# SPDX-License-Identifier: Apache-2.0
"""The comparison with the truth sees a difference in every single thing that it is there to see."""

import copy

import compare
import harness
import pytest
import schema


@pytest.fixture(scope="module")
def pair():
    python = [python for python in harness.interpreters() if python.supported and not python.debug][-1]
    target = harness.start(python, "waits_tasks")
    document = schema.check(schema.parse(harness.aiotrace("pstree", "--json", target.pid).out))
    yield document, target.truth
    target.kill()


def test_nothing_differs(pair):
    assert compare.tree(*pair) == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda task: task.update(id="0x1"),
        lambda task: task.update(name=task["name"] + "!"),
        lambda task: task.update(state="running"),
        lambda task: task.update(loop="0x1"),
        lambda task: task.update(cancelling=1),
        lambda task: task.update(must_cancel=True),
        lambda task: task.update({"class": "Sub"}),
        lambda task: task["stack"].pop(),
        lambda task: task["stack"].reverse(),
        lambda task: task["stack"][-1].update(line=task["stack"][-1]["line"] + 1),
        lambda task: task["stack"][0].update(function="other"),
        lambda task: task["stack"][0].update(file="other.py"),
        lambda task: task["awaits"].update(kind="sleep"),
        lambda task: task["awaits"].update(tasks=[]),
        lambda task: task.update(awaits=None),
    ],
)
def test_each_difference_is_seen(pair, spoil):
    document, truth = copy.deepcopy(pair)
    spoil(next(task for task in document["tasks"] if task["name"] == "on-wait"))
    assert compare.tree(document, truth) != []


def test_missing_and_invented_tasks_are_seen(pair):
    for document in (copy.deepcopy(pair[0]), copy.deepcopy(pair[0])):
        extra = dict(document["tasks"].pop(), id="0x1")
        assert compare.tree(document, pair[1]) != []
        document["tasks"].append(extra)
        assert compare.tree(document, pair[1]) != []


def test_a_wrong_loop_is_seen(pair):
    document, truth = copy.deepcopy(pair)
    document["loops"][0]["tid"] += 1
    assert compare.tree(document, truth) != []
