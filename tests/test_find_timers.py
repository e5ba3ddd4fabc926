# SPDX-License-Identifier: Apache-2.0
"""cancelled-timer-leak: how many cancelled timers stay, for how long, and whether asyncio's own pruning reaches them."""

import finding
import pytest


def check_timers(target, severity):
    truth = target.truth
    found, _ = finding.the_finding(target, "cancelled-timer-leak")
    evidence = found["evidence"]
    assert found["severity"] == severity, found
    assert found["loop"] == truth["loop"]
    assert evidence["cancelled"] == truth["cancelled"]
    assert evidence["timers"] == truth["timers"]
    assert evidence["own_count"] == truth["own_count"]
    assert evidence["share_percent"] == 100 * truth["cancelled"] // truth["timers"]
    assert truth["latest"] - 60 < evidence["latest_deadline_s"] <= truth["latest"]
    # By the types' own sizes; getsizeof counts what the collector keeps before an object too.
    assert 0.6 * truth["size"] * truth["cancelled"] < evidence["held_bytes"] < 1.2 * truth["size"] * truth["cancelled"]
    return found, evidence


@pytest.mark.on("timers_cancelled leaks")
def test_a_leak_that_pruning_does_not_reach(target):
    found, evidence = check_timers(target, "warning")
    assert evidence["lasting"] == target.truth["cancelled"]
    assert evidence["pruning_reaches_them"] is False
    assert "pruned_in_s" not in evidence
    assert "20000 of 40010 timers are cancelled" in found["summary"]


@pytest.mark.on("timers_cancelled short")
def test_what_goes_within_a_minute_is_no_leak(target):
    _, evidence = check_timers(target, "info")
    assert evidence["lasting"] == 0


@pytest.mark.on("timers_cancelled undercounted")
def test_a_count_that_is_too_low_is_a_fault(target):
    found, evidence = check_timers(target, "warning")
    assert evidence["pruning_reaches_them"] is False
    assert "the loop counts 7" in found["summary"]


@pytest.mark.on("timers_cancelled grows")
def test_what_is_pruned_as_it_grows_is_no_leak(target):
    for _ in range(10):
        found = finding.findings(target, "cancelled-timer-leak")
        assert [finding["severity"] for finding in found] in ([], ["info"]), found


@pytest.mark.on("timers_cancelled overcounted", "timers_cancelled underway", "timers_cancelled few")
def test_a_healthy_heap_is_no_finding(target):
    assert finding.findings(target, "cancelled-timer-leak") == []
