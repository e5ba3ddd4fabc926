# SPDX-License-Identifier: Apache-2.0
"""The whole tree against what the process says of itself: ids, names, states, stacks with lines, waits."""

import compare
import harness
import pytest
import schema

EVERYWHERE = (
    "waits_tasks",
    "waits_sync",
    "waits_io",
    "waits_pool",
    "waits_chain",
    "waits_more",
    "waits_anyio",
    "anyio_returned",
    "tree_314",
    "deep_chain",
    "names",
    "lazy_names",
    "pytask",
    "two_loops",
    "ring",
    "shared_child",
    "states",
    "blocked",
    "running",
    "sync_only",
    "no_loop",
)


def read(target, *options, command="pstree"):
    result = harness.aiotrace(command, "--json", *options, target.pid)
    assert result.code == 0, result.err
    return schema.check(schema.parse(result.out))


def check_target(document, target):
    described, python = document["target"], target.python
    assert described["pid"] == target.pid
    assert described["python"] == python.version
    assert described["debug_build"] == python.debug
    assert described["free_threaded"] is False
    assert any(part.endswith(target.truth["fixture"]) for part in described["command"])


def check_tree(document, target):
    differences = compare.tree(document, target.truth)
    assert not differences, "\n".join(differences)


@pytest.mark.on(*EVERYWHERE)
def test_tree_is_what_the_process_says(target):
    document = read(target)
    check_target(document, target)
    check_tree(document, target)


@pytest.mark.since(3, 12)
@pytest.mark.on("eager", "subinterp")
def test_tree_of_what_came_with_312(target):
    document = read(target)
    check_target(document, target)
    check_tree(document, target)


@pytest.mark.on(*EVERYWHERE)
def test_ps_knows_the_same(target):
    check_tree(read(target, command="ps"), target)


@pytest.mark.on("waits_tasks", "waits_sync", "two_loops", "blocked", "states")
def test_a_process_that_does_not_run_is_proven_still(target):
    target.rest()
    for pause in ("auto", "never"):
        snapshot = read(target, f"--pause={pause}")["snapshot"]
        assert snapshot["method"] == "still" and snapshot["consistent"] and snapshot["paused_us"] == 0


@pytest.mark.on("waits_tasks", "two_loops", "running")
def test_tree_read_from_a_stopped_process(target):
    document = read(target, "--pause=always", "--max-pause=5000")
    assert document["snapshot"]["method"] == "paused"
    assert document["snapshot"]["paused_us"] > 0
    check_tree(document, target)


@pytest.mark.on("running")
def test_a_spinning_task_is_the_loops_current_one(target):
    document = read(target)
    busy = next(task for task in document["tasks"] if task["state"] == "running")
    assert busy["name"] == "busy"
    assert [loop["current_task"] for loop in document["loops"]] == [busy["id"]]


@pytest.mark.on("sync_only", "no_loop")
def test_a_process_without_a_loop_is_no_error(target):
    document = read(target)
    assert [task for task in document["tasks"] if task["state"] in compare.LIVING] == []
    assert harness.aiotrace("pstree", target.pid).code == 0
    assert harness.aiotrace("ps", target.pid).code == 0


@pytest.mark.on("two_loops")
def test_threads_and_their_loops(target):
    document = read(target, "--threads")
    told = {loop["tid"]: loop["id"] for loop in target.truth["loops"]}
    seen = {thread["tid"]: thread["loop"] for thread in document["threads"]}
    assert set(seen) == {tid for tid, _, _ in harness.threads(target.pid)}
    assert {tid: loop for tid, loop in seen.items() if loop} == told
    assert {thread["state"] for thread in document["threads"]} == {"sleeping"}
