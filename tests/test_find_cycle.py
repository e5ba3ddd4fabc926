# SPDX-License-Identifier: Apache-2.0
"""await-cycle: rings that nothing ends, each named once; none where a time limit or another task still can."""

import finding
import pytest


def rings(document):
    names = {task["id"]: task["name"] for task in document["tasks"]}
    found = [one for one in document["findings"] if one["id"] == "await-cycle"]
    return sorted(sorted(names[task] for task in one["evidence"]["ring"]) for one in found), found


def edges(document):
    return {task["id"]: task["awaits"]["tasks"] for task in document["tasks"] if task["awaits"]}


@pytest.mark.on("ring")
def test_rings_of_tasks(target):
    document = finding.check(target)
    members, found = rings(document)
    assert members == [["a", "b"], ["c", "d", "e"]]
    assert all(one["severity"] == "critical" for one in found)
    awaited = edges(document)
    for one in found:
        ring = one["evidence"]["ring"]
        assert one["task"] == ring[0] and one["evidence"]["stack"][-1]["function"] == "awaits"
        for task, following in zip(ring, ring[1:] + ring[:1]):
            assert following in awaited[task]
    assert "2 tasks wait for each other in a ring, beginning with " in found[0]["summary"] + found[1]["summary"]


@pytest.mark.on("ring_groups")
def test_rings_through_groups(target):
    members, _ = rings(finding.check(target))
    first = [ring for ring in members if "first" in ring]
    assert len(members) == len(target.truth["rings"])
    assert first in ([["first", "of-first"]], [["first", "of-first-too"]])
    assert [ring for ring in members if ring not in first] == sorted(target.truth["rings"])[:1] + sorted(target.truth["rings"])[2:]


@pytest.mark.on("ring_groups ends")
def test_rings_that_something_ends(target):
    finding.none(target)
