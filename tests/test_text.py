# SPDX-License-Identifier: Apache-2.0
"""What people read: every task by name, what its leaf waits on, folding, and the last line's account of the read."""

import re

import harness
import pytest

LEAVES = ("waits_tasks", "waits_sync", "waits_pool", "tree_314")


def lines_of(command, *options):
    result = harness.aiotrace(command, *options)
    assert result.code == 0, result.err
    assert result.err == ""
    return result.text.splitlines()


def check_last_line(lines, method):
    assert re.search(rf"\b{method}\b", lines[-1]), lines[-1]
    assert re.search(r"\d", lines[-1]), lines[-1]


@pytest.mark.on(*LEAVES)
def test_pstree_names_every_task_and_its_leaf(target):
    text = "\n".join(lines_of("pstree", "--no-fold", target.pid))
    for task in target.truth["tasks"]:
        assert task["name"] in text
        assert task["stack"][-1]["function"] in text
        for frame in task["stack"]:
            if "asyncio/" not in frame["file"]:
                assert f"{frame['file'].rpartition('/')[2]}:{frame['line']}" in text
    assert str(target.pid) in text and target.python.version in text


@pytest.mark.on(*LEAVES)
def test_ps_has_a_row_for_every_task(target):
    lines = lines_of("ps", "--no-fold", target.pid)
    for task in target.truth["tasks"]:
        rows = [line for line in lines if re.match(rf"0x[0-9a-f]+  {re.escape(task['name'])}  ", line)]
        assert len(rows) == 1, f"{task['name']}: {rows}"
        wait = task["awaits"]
        if wait and len(wait["kinds"]) == 1:
            word = {"fd": "fd", "task": "task"}.get(wait["kinds"][0], wait["kinds"][0])
            assert word.lower() in rows[0].lower(), rows[0]


@pytest.mark.on("waits_tasks", "two_loops")
def test_last_line_says_how_it_was_read(target):
    for command in ("pstree", "ps"):
        target.rest()
        check_last_line(lines_of(command, target.pid), "still")
        check_last_line(lines_of(command, "--pause=always", "--max-pause=5000", target.pid), "paused")


@pytest.mark.on("ring")
def test_a_ring_is_shown_as_a_ring_and_ends(target):
    lines = lines_of("pstree", target.pid)
    assert len(lines) < 60
    for name in "abcde":
        assert any(re.search(rf"\b{name}\b", line) for line in lines)
    assert any("ring" in line.lower() or "cycle" in line.lower() for line in lines)


@pytest.mark.on("shared_child")
def test_a_task_awaited_by_several_stands_under_each(target):
    lines = lines_of("pstree", "--no-fold", target.pid)
    assert sum(bool(re.search(r"\bshared\b", line)) for line in lines) >= 4


@pytest.mark.on("names")
def test_hostile_names_do_no_harm_to_the_terminal(target):
    for command in ("pstree", "ps"):
        for locale in ("C.UTF-8", "C"):
            result = harness.aiotrace(command, "--no-fold", target.pid, env={"LC_ALL": locale})
            assert result.code == 0, result.err
            text = result.text
            unprintable = [c for c in text if c != "\n" and (ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u2028\u200b\ufeff")]
            assert not unprintable
            assert max(map(len, text.splitlines())) < 2000
            if locale == "C":
                assert text.isascii()


@pytest.mark.on("deep_chain")
def test_depth_can_be_limited(target):
    short = lines_of("pstree", "--max-depth", 5, target.pid)
    assert len(short) < 60
    assert len(lines_of("pstree", target.pid)) >= len(short)


@pytest.mark.on("waits_tasks")
def test_one_task_by_pattern(target):
    """Those that match, with those that wait for them and those that they wait for; nobody else."""
    for command in ("pstree", "ps"):
        text = "\n".join(lines_of(command, "--no-fold", "--task=on-g*", target.pid))
        for name in ("on-gather", "on-gathers", "on-group", "g1", "g2", "g3", "gg1", "gg2", "gg3", "in-group-1", "in-group-2"):
            assert re.search(rf"(^|\s){name}\b", text, re.MULTILINE), name
        for name in ("on-wait", "on-shield", "s1", "single"):
            assert not re.search(rf"(^|\s){name}\b", text, re.MULTILINE), name


@pytest.mark.on("waits_sync")
def test_colours_only_when_asked(target):
    assert b"\x1b[" not in harness.aiotrace("pstree", target.pid).out
    assert b"\x1b[" in harness.aiotrace("pstree", "--color=always", target.pid).out
    assert b"\x1b[" not in harness.aiotrace("pstree", "--color=never", target.pid).out


@pytest.mark.on("waits_sync")
def test_verbose_speaks_on_standard_error_alone(target):
    quiet, loud = harness.aiotrace("ps", target.pid), harness.aiotrace("ps", "-v", target.pid)
    assert quiet.err == "" and loud.err != ""
    assert all(line.startswith("aiotrace: ") for line in loud.err.splitlines())
    assert len(loud.out.splitlines()) == len(quiet.out.splitlines())


@pytest.mark.release
def test_alike_tasks_are_folded(python, start):
    target = start(python, "fold", 10_000)
    folded = harness.aiotrace("pstree", target.pid)
    assert folded.code == 0, folded.err
    lines = folded.text.splitlines()
    assert len(lines) < 60
    assert re.search(r"× (9,99[89]|10,000)\b", folded.text)
    assert "unlike" in folded.text
    unfolded = harness.aiotrace("pstree", "--no-fold", target.pid).text
    assert not re.search(r"× \d", unfolded)
    for number in (0, 1, 4_711, 9_999):
        assert re.search(rf"\balike-{number}\b", unfolded)
    assert len(harness.aiotrace("ps", target.pid).text.splitlines()) >= 3


@pytest.mark.release
def test_a_hundred_thousand_tasks(some_python, start):
    target = start(some_python, "fold", 100_000)
    document = harness.aiotrace("pstree", "--json", target.pid)
    assert document.code == 0, document.err
    assert document.out.count(b'"name":"alike-') == 100_000
    assert re.search(r"× (99,99[89]|100,000)\b", harness.aiotrace("pstree", target.pid).text)
