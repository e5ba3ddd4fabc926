# SPDX-License-Identifier: Apache-2.0
"""ready-backlog: a loop with more to do than it gets done."""

import finding
import pytest


def check_backlog(target):
    found, _ = finding.the_finding(target, "ready-backlog")
    assert found["severity"] == "warning"
    assert found["loop"] == target.truth["loop"]
    return found


@pytest.mark.on("backlog steady")
def test_thousands_that_never_get_fewer(target):
    found = check_backlog(target)
    assert 4000 < found["evidence"]["ready"] < 6000
    assert found["evidence"]["most_frequent"] == "yields"
    assert found["evidence"]["most_frequent_percent"] > 90
    assert "yields" in found["summary"]


@pytest.mark.on("backlog held")
def test_what_waits_behind_a_callback_that_holds_the_loop(target):
    found = check_backlog(target)
    assert found["evidence"]["ready"] == target.truth["ready"]
    assert found["evidence"]["ready_before"] == target.truth["ready"]
    assert found["evidence"]["most_frequent"] == "nothing"


@pytest.mark.on("backlog bursts", "backlog few", "churn 8", "works woken")
def test_bursts_and_busy_loops_have_no_backlog(target):
    for _ in range(5):
        assert finding.findings(target, "ready-backlog") == []


def test_a_stopped_process_has_no_backlog(python, start):
    process = start(python, "backlog", "steady")
    process.stop()
    assert finding.findings(process, "ready-backlog") == []
