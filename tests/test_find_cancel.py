# SPDX-License-Identifier: Apache-2.0
"""swallowed-cancel: tasks that ignored a request to cancel, told from those that clean up, passed it on, or end a group."""

import finding
import pytest


@pytest.mark.on("cancels")
def test_who_ignored_it(target):
    document = finding.check(target)
    names = {task["id"]: task["name"] for task in document["tasks"]}
    found = {names[one["task"]]: one for one in document["findings"]}
    truth = target.truth["swallowed"]
    assert set(found) == set(truth) and len(found) == len(document["findings"])
    for name, (asked, line) in truth.items():
        one = found[name]
        assert (one["id"], one["severity"]) == ("swallowed-cancel", "warning")
        assert one["evidence"]["asked"] == asked
        assert one["evidence"]["stack"][0]["line"] == line
        assert f"task {name} was asked to cancel {asked} time" in one["summary"]


@pytest.mark.on("shutdown")
def test_none_in_a_shutdown_that_takes_its_time(target):
    finding.none(target)


@pytest.mark.on("shutdown swallows")
def test_a_shutdown_that_never_ends(target):
    document = finding.check(target)
    (found,) = document["findings"]
    assert found["id"] == "swallowed-cancel"
    assert found["summary"].startswith("task swallows was asked to cancel 1 time and went on to wait for sleep at shutdown.py:")
