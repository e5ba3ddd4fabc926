# SPDX-License-Identifier: Apache-2.0
"""What run says of a stuck command: on standard error, in files, and to GitHub."""

import json
import re
import sys
import xml.etree.ElementTree

import harness
import pytest
import schema
from running import run

HANGING = harness.FIXTURES / "hanging_tests.py"

INDEX = schema.record(
    schema=schema.one_of({"aiotrace/1"}),
    aiotrace=schema.text,
    run=schema.record(
        command=schema.listed(schema.text),
        reason=schema.one_of({"timeout", "stall"}),
        limit=schema.seconds,
        ran=schema.seconds,
        processes=schema.listed(
            schema.record(
                pid=schema.count,
                parent=schema.count,
                command=schema.listed(schema.text),
                python=schema.maybe(schema.text),
                findings=schema.maybe(schema.count),
                document=schema.maybe(schema.text),
                problem=schema.maybe(schema.text),
            )
        ),
    ),
)


class Report:
    """All files of a report, each as its schema has it, and each one there that the index names, and no other."""

    def __init__(self, folder):
        self.index = schema.parse((folder / "index.json").read_bytes())
        INDEX(self.index, "index")
        self.processes = self.index["run"]["processes"]
        self.documents = {}
        for row in self.processes:
            assert (row["document"] is None) == (row["python"] is None) == (row["problem"] is not None)
            if row["document"]:
                document = schema.check(schema.parse((folder / row["document"]).read_bytes()))
                assert document["target"]["pid"] == row["pid"]
                self.documents[row["pid"]] = document
        assert {path.name for path in folder.iterdir()} == {
            "index.json",
            "junit.xml",
            *(row["document"] for row in self.processes if row["document"]),
        }
        suites = xml.etree.ElementTree.parse(folder / "junit.xml").getroot()
        assert suites.tag == "testsuites"
        self.suite = suites.find("testsuite")
        self.cases = self.suite.findall("testcase")
        assert len(self.cases) == len(self.processes)
        assert self.suite.get("tests") == self.suite.get("failures") == str(len(self.cases))
        self.failures = {}
        for row, case in zip(self.processes, self.cases, strict=True):
            assert case.get("name").startswith(f"process {row['pid']}: ")
            failure = case.find("failure")
            assert failure.get("type") == self.index["run"]["reason"]
            assert f"process {row['pid']}" in failure.text
            self.failures[row["pid"]] = failure


def marked(path):
    """The line of each mark of a source file."""
    found = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if mark := re.search(r"  # (\w+)$", line):
            found[mark[1]] = number
    return found


@pytest.fixture(scope="module")
def xdist(tmp_path_factory):
    """Four tests that hang in the four workers of one run."""
    folder = tmp_path_factory.mktemp("report") / "new" / "folder"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", "4", str(HANGING)]
    env = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(harness.ROOT)}
    result = run("--stall=3", "--timeout=120", f"--report={folder}", command=command, env=env)
    assert result.code == 124, result.err
    return result, Report(folder)


def test_every_process_of_a_test_run_is_there(xdist):
    result, report = xdist
    assert result.err.startswith("aiotrace: nothing has moved for 3.0 s; 5 processes, ended now\n")
    assert b"test session starts" in result.out and b"aiotrace: " not in result.out
    assert len(report.documents) == 5
    assert report.index["run"]["reason"] == "stall" and report.index["run"]["limit"] == 3
    assert len({row["parent"] for row in report.processes}) == 2
    for pid in report.documents:
        assert f"\nprocess {pid}: " in result.err


def worker(report, mark):
    """(document, failure) of the worker in which a test hangs at that mark."""
    line = marked(HANGING)[mark]
    here = [
        pid
        for pid, document in report.documents.items()
        for task in document["tasks"]
        if {"file": str(HANGING), "line": line} in [{"file": frame["file"], "line": frame["line"]} for frame in task["stack"]]
    ]
    assert len(here) == 1, (mark, here)
    case = next(case for case in report.cases if case.get("name").startswith(f"process {here[0]}: "))
    assert (case.get("file"), case.get("line")) == (str(HANGING), str(line))
    return report.documents[here[0]], report.failures[here[0]]


def test_an_event_that_nobody_sets(xdist):
    document, failure = worker(xdist[1], "event")
    assert document["tasks"][0]["awaits"]["kind"] == "event"
    assert "Event, not set" in failure.text and "test_waits_for_an_event" in failure.get("message")


def test_a_sleep_that_blocks_the_loop(xdist):
    document, failure = worker(xdist[1], "blocked")
    assert [finding["id"] for finding in document["findings"]] == ["blocked-loop"]
    assert "blocked-loop" in failure.get("message")
    assert "clock_nanosleep" in failure.text and "test_sleeps_on_the_loop" in failure.text


def test_a_retry_that_sleeps(xdist):
    document, failure = worker(xdist[1], "retry")
    assert document["findings"] == []
    assert document["tasks"][0]["awaits"]["kind"] == "sleep"
    assert re.search(r"sleep, 59 m \d\d s left", failure.get("message"))


def test_a_loop_and_a_thread_that_wait_for_each_other(xdist):
    document, failure = worker(xdist[1], "deadlock")
    assert "blocked-loop" in [finding["id"] for finding in document["findings"]]
    lines = marked(HANGING)
    for mark in ("deadlock", "thread"):
        assert re.search(rf"hanging_tests\.py:{lines[mark]}\b", failure.text), mark


def test_github_shows_each_line(xdist):
    errors = [line for line in xdist[0].err.splitlines() if line.startswith("::error ")]
    lines = marked(HANGING)
    places = {re.search(r",file=([^,:]+),line=(\d+)::", line).groups() for line in errors}
    assert places == {("fixtures/hanging_tests.py", str(lines[mark])) for mark in ("event", "blocked", "retry", "deadlock")}
    assert all(re.match(r"::error title=nothing has moved for 3.0 s,file=", line) for line in errors)


def test_without_github_no_such_lines():
    result = run("--timeout=0.3", command=["sleep", "600"], env={"GITHUB_ACTIONS": ""})
    assert result.code == 124 and "::error" not in result.err


def test_no_python_is_an_error_without_a_place():
    result = run("--timeout=0.3", command=["sleep", "600"], env={"GITHUB_ACTIONS": "1"})
    errors = [line for line in result.err.splitlines() if line.startswith("::error ")]
    assert len(errors) == 1
    assert re.match(r"::error title=no end after 300 ms::thread \d+ \"sleep\", sleeping in clock_nanosleep.* \(process \d+: sleep 600\)", errors[0])


def stuck(python, fixture, *options, command=()):
    return run(*options, "--stall=1", "--timeout=60", command=[*python.command, str(harness.FIXTURES / f"{fixture}.py"), *command])


def test_files_are_valid_whatever_the_names(python, tmp_path):
    result = stuck(python, "names", f"--report={tmp_path}", command=[b"\xff\xfe\x1b[31m", "]]>&<\"'\n\r\t\x01\x7f", "\ufffe\U0001f600"])
    assert result.code == 124, result.err
    report = Report(tmp_path)
    assert report.index["run"]["limit"] == 1
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", result.err)
    for failure in report.failures.values():
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", failure.text + failure.get("message"))


def test_a_ring_is_found(python, tmp_path):
    stuck(python, "ring", f"--report={tmp_path}")
    report = Report(tmp_path)
    (document,) = report.documents.values()
    assert "await-cycle" in [finding["id"] for finding in document["findings"]]
    assert report.processes[0]["findings"] == len(document["findings"])
    assert "await-cycle" in next(iter(report.failures.values())).get("message")


def test_only_what_is_asked_for(some_python):
    assert "await-cycle:" in stuck(some_python, "ring").err
    assert "await-cycle:" not in stuck(some_python, "ring", "--ignore=await-cycle").err


def test_processes_that_are_no_python_or_too_old(refused_python, tmp_path):
    script = "import time; time.sleep(600)"
    result = run("--timeout=2", f"--report={tmp_path}", command=[*refused_python.command, "-c", script])
    report = Report(tmp_path)
    assert result.code == 124 and report.documents == {}
    assert report.processes[-1]["problem"] in result.err
    assert "sleeping in" in result.err


def test_a_folder_that_can_not_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    result = harness.aiotrace("run", f"--report={tmp_path}/file/below", "--", "touch", tmp_path / "ran")
    assert result.code == 3 and result.err.startswith("aiotrace: can't make ")
    result = harness.aiotrace("run", f"--report={tmp_path}/file", "--", "touch", tmp_path / "ran")
    assert result.code == 3 and len(result.err.splitlines()) == 1
    assert not (tmp_path / "ran").exists()


def test_nothing_is_written_when_the_command_ends(tmp_path):
    result = harness.aiotrace("run", "--timeout=60", f"--report={tmp_path}/report", "--", "true")
    assert (result.code, result.err) == (0, "")
    assert list((tmp_path / "report").iterdir()) == []


def test_index_keys_stand_in_the_page(tmp_path):
    run("--timeout=0.3", f"--report={tmp_path}", command=["sleep", "600"])
    page = (harness.ROOT / "man" / "aiotrace-json.5").read_text()
    described = set(re.findall(r"^\.(?:It )?Va (\w+)", page, re.M))
    index = json.loads((tmp_path / "index.json").read_text())
    assert {*index, *index["run"], *index["run"]["processes"][0]} <= described
