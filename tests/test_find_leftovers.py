# SPDX-License-Identifier: Apache-2.0
"""never-retrieved: exceptions of finished tasks and futures that nobody has looked at, and no others."""

import finding
import harness
import pytest


def by_type(document):
    return {one["evidence"]["exception"]: one for one in document["findings"] if one["id"] == "never-retrieved"}


@pytest.mark.on("leftovers")
def test_exceptions_that_nobody_has_looked_at(target):
    document = finding.none(target)
    found = by_type(document)
    assert {kind: one["evidence"]["count"] for kind, one in found.items()} == target.truth["unseen"]
    assert all(one["severity"] == "info" for one in found.values())
    early = found["TypeError"]
    assert early["summary"] == "task early ended with TypeError: too early, and nobody has looked at it"
    assert early["evidence"]["message"] == "too early"
    assert found["OSError"]["summary"] == "a future ended with OSError: of a future, and nobody has looked at it"
    if "Unlucky" in found:
        assert "2 ended with Unlucky" in found["Unlucky"]["summary"]
        assert target.truth["forgotten"] in found["Unlucky"]["evidence"]["tasks"]
        assert found["Unlucky"]["evidence"].get("message") in (None, "nobody \N{SNOWMAN} cares")


@pytest.mark.on("leftovers")
def test_they_fail_a_check_that_asks_for_them(target):
    assert harness.aiotrace("check", "--fail-on=info", target.pid).code == 1
    assert harness.aiotrace("check", "--ignore=never-retrieved", "--fail-on=info", target.pid).code == 0
