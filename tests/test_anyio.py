# SPDX-License-Identifier: Apache-2.0
"""What tasks of anyio wait for, beyond the tree: when a cancel scope ends the wait, and what a worker thread runs."""

import re

import harness
import pytest
import schema

pytestmark = pytest.mark.on("waits_anyio")


@pytest.fixture
def details(target):
    result = harness.aiotrace("pstree", "--json", target.pid)
    assert result.code == 0, result.err
    document = schema.check(schema.parse(result.out))
    return {task["name"]: task["awaits"] and task["awaits"]["detail"] for task in document["tasks"]}


def seconds(words):
    """What is left by the end of a detail: "8 h 19 m left"."""
    hours, minutes = re.search(r"(\d+) h (\d\d) m left$", words).groups()
    return 3600 * int(hours) + 60 * int(minutes)


def test_the_first_deadline_around_a_task_counts(target, details):
    for name, deadline in target.truth["deadlines"].items():
        assert deadline - harness.PATIENCE - 60 <= seconds(details[name]) <= deadline, (name, details[name])


def test_a_shield_keeps_deadlines_out(details):
    assert "left" not in details["shielded"] and "timeout" not in details["shielded"]


def test_the_worker_thread_is_told_down_to_its_line(target):
    lines = harness.aiotrace("pstree", "--task", "to-thread", target.pid).text.splitlines()
    head = next(number for number, line in enumerate(lines) if "to-thread → " in line)
    worker = next(line.strip() for line in lines[head:] if "the worker: " in line)
    assert re.search(r"the worker: digs +waits_anyio\.py:\d+$", worker), worker
    line = int(worker.rpartition(":")[2])
    assert (harness.FIXTURES / "waits_anyio.py").read_text().splitlines()[line - 1].strip() == "time.sleep(1e6)"
