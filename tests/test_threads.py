# SPDX-License-Identifier: Apache-2.0
"""--threads: what each thread is blocked in and on what, who holds the GIL of which interpreter, and who waits for it."""

import re

import harness
import pytest
import schema


def picture(target, *options):
    result = harness.aiotrace("pstree", "--json", "--threads", *options, target.pid)
    assert result.code == 0, result.err
    document = schema.parse(result.out)
    return document, {thread["tid"]: thread for thread in document["threads"]}


def text_of(target, command="pstree"):
    result = harness.aiotrace(command, "--threads", target.pid)
    assert result.code == 0, result.err
    return result.text


@pytest.mark.on("threads_blocked")
def test_each_thread_has_its_name_call_and_stack(target):
    document, threads = picture(target)
    assert document["snapshot"]["consistent"]
    for wanted in target.truth["threads"]:
        thread = threads[wanted["tid"]]
        assert thread["name"] == wanted["name"]
        assert thread["state"] == "sleeping"
        assert thread["syscall"] in wanted["syscall"]
        assert thread["gil"] == "none"
        assert thread["stack"][-1]["function"] == wanted["function"]
        assert thread["stack"][-1]["line"] == wanted["line"]
    assert document["interpreters"][0]["gil"]["holder"] is None
    assert document["interpreters"][0]["gil"]["switches"] > 0


@pytest.mark.on("threads_blocked")
@pytest.mark.parametrize("command", ["pstree", "ps"])
def test_the_arguments_of_the_call_are_said(target, command):
    lines = text_of(target, command).splitlines()
    for wanted in [*target.truth["threads"], target.truth["main"]]:
        line = next(line for line in lines if line.startswith(f"thread {wanted['tid']} "))
        assert any(f" in {call}," in line for call in wanted["syscall"]), line
        for words in wanted["words"]:
            assert words in line, line


@pytest.mark.on("threads_blocked")
def test_the_same_when_all_were_stopped_for_it(target):
    document, threads = picture(target, "--pause=always", "--max-pause=5000")
    assert document["snapshot"]["method"] == "paused"
    for wanted in target.truth["threads"]:
        thread = threads[wanted["tid"]]
        assert thread["state"] == "sleeping"
        assert thread["syscall"] in [*wanted["syscall"], "restart_syscall"]
    target.rest()


@pytest.mark.on("threads_blocked")
def test_nothing_of_it_is_read_unless_asked_for(target):
    result = harness.aiotrace("pstree", "--json", target.pid)
    document = schema.parse(result.out)
    assert all(interpreter["gil"] is None for interpreter in document["interpreters"])
    assert all(thread["syscall"] is None and thread["gil"] is None for thread in document["threads"])


def gil_of(threads, tids):
    return [threads[tid]["gil"] for tid in tids]


@pytest.mark.on("gil_held")
@pytest.mark.parametrize("pause", ["auto", "always"])
def test_who_holds_the_gil_and_who_waits(target, pause):
    truth = target.truth

    def seen():
        document, threads = picture(target, f"--pause={pause}", "--max-pause=5000")
        holds = document["interpreters"][0]["gil"]["holder"] == truth["holder"] and threads[truth["holder"]]["syscall"]
        # A waiting thread looks up every few milliseconds whether it may ask for the GIL, and is on a CPU then.
        waits = gil_of(threads, truth["waiting"]) == ["waiting"] * 3
        return threads if holds and waits else None

    threads = harness.wait_until(seen, "the GIL is held and wanted")
    holder = threads[truth["holder"]]
    assert holder["gil"] == "holding"
    assert holder["syscall"] in ("clock_nanosleep", "restart_syscall")
    assert holder["stack"][-1]["function"] == truth["function"]


@pytest.mark.on("gil_held")
def test_it_is_said_in_words(target):
    def seen():
        text = text_of(target)
        holder = re.search(rf"^thread {target.truth['holder']} .*, holds the GIL$", text, re.M)
        return holder and len(re.findall(r"^thread .*, waits for the GIL", text, re.M)) == 3

    harness.wait_until(seen, "the text says who holds the GIL and who waits")


@pytest.mark.since(3, 12)
@pytest.mark.on("gil_own")
def test_a_subinterpreter_has_its_own_gil(target):
    document, threads = picture(target)
    inside = threads[target.truth["holder"]]
    rows = {interpreter["id"]: interpreter["gil"] for interpreter in document["interpreters"]}
    assert len(rows) == 2 and inside["interpreter"] != 0
    assert inside["gil"] == "holding"
    assert rows[inside["interpreter"]]["holder"] == target.truth["holder"]
    assert rows[0]["holder"] is None
    assert threads[target.truth["main"]]["gil"] == "none"


@pytest.mark.on("running")
def test_a_spinning_thread_holds_the_gil(target):
    def seen():
        document, threads = picture(target)
        gil = document["interpreters"][0]["gil"]
        return gil and gil["holder"] == target.pid and threads[target.pid]

    thread = harness.wait_until(seen, "the truth is written and the thread spins")
    assert thread["gil"] == "holding"
    assert thread["state"] == "running"
    assert thread["syscall"] is None
