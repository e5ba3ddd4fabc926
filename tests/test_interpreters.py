# SPDX-License-Identifier: Apache-2.0
"""The suite stands on real interpreters: in CI each of 3.11 to 3.15 must be there."""

import os

import harness
import pytest

pytestmark = pytest.mark.plain_only


def test_ci_has_every_minor_version():
    there = {python.minor for python in harness.interpreters() if python.supported and not python.debug}
    missing = [minor for minor in harness.MINORS if minor not in there]
    assert os.environ.get("CI") != "true" or not missing, f"not at hand: {missing}"
    assert there, "no supported interpreter at all"


def test_interpreters_are_what_they_say(python, start):
    target = start(python, "no_loop")
    assert target.truth["python"].rstrip("+") == python.version
    assert target.truth["pid"] == target.pid
