# SPDX-License-Identifier: Apache-2.0
"""executor-saturated: what fills the default executor; and pools that are as full and healthy."""

import finding
import pytest


def check_saturated(target, *options, certain=True):
    truth = target.truth
    found, document = finding.the_finding(target, "executor-saturated", *options)
    evidence = found["evidence"]
    assert found["severity"] == "warning"
    assert found["loop"] == truth["loop"]
    assert found["thread"] in truth["threads"]
    assert found.get("certain", True) or not certain
    assert evidence["workers"] == truth["workers"]
    assert evidence["queued"] == truth["queued"]
    assert evidence["unmoved_for_s"] > 0
    assert f"{truth['call']} at pools.py:" in evidence["running"]
    assert evidence["running"] in found["summary"]
    assert any(frame["function"] == truth["call"] for frame in evidence["stack"])
    return evidence


@pytest.mark.on("pools sleeps 6 3", "pools sleeps 1 1")
def test_calls_that_sleep_for_ever(target):
    evidence = check_saturated(target)
    assert "sleep" in evidence["system_call"]


@pytest.mark.on("pools spins 4 1")
def test_calls_that_compute_for_ever(target):
    # Long enough that they get their share of a CPU that is not theirs alone.
    check_saturated(target, "--sample=3000", certain=False)


@pytest.mark.on("pools short-sleep 1 1", "pools short-work 1 1", "pools short-sleep 2 1", "pools short-work 4 4", "pools sleeps 2 0")
def test_calls_that_move_and_a_pool_without_a_queue_are_healthy(target):
    for _ in range(10):
        assert finding.findings(target, "executor-saturated") == []
