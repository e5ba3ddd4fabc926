# SPDX-License-Identifier: Apache-2.0
"""gil-starved: a thread that keeps the GIL while the loop's thread waits for it."""

import finding
import pytest


@pytest.mark.on("gil_held")
def test_the_holder_and_its_frame_are_named(target):
    # The process speaks just before the GIL is taken: the window begins before and is long enough.
    found, document = finding.the_finding(target, "gil-starved", "--sample=1000")
    evidence = found["evidence"]
    assert found["severity"] == "warning"
    assert found["thread"] in target.truth["waiting"]
    assert evidence["holder_tid"] == target.truth["holder"]
    assert evidence["holder_frame"]["function"] == target.truth["function"]
    assert evidence["holder_frame"]["file"].endswith("gil_held.py")
    assert evidence["waited_for_s"] >= 0.1
    assert str(target.truth["holder"]) in found["summary"]
    assert [other["id"] for other in document["findings"]] == ["gil-starved"]


@pytest.mark.on("healthy threads", "blocks native", "blocks sleep")
def test_threads_that_share_it_and_a_loop_that_has_it_are_not_starved(target):
    for _ in range(5):
        assert finding.findings(target, "gil-starved") == []


@pytest.mark.since(3, 12)
@pytest.mark.on("gil_own")
def test_the_gil_of_another_interpreter_is_none_of_the_loops(target):
    assert finding.findings(target, "gil-starved") == []


def test_a_stopped_holder_is_no_fault(python, start):
    process = start(python, "gil_held")
    process.stop()
    assert finding.findings(process, "gil-starved") == []
