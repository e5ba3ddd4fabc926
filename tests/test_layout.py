# SPDX-License-Identifier: Apache-2.0
"""Where CPython's fields are: each source of that knowledge says the same, on each interpreter."""

import subprocess

import harness
import pytest

FOLDER = harness.BINARY.parent


def look(target, *source):
    return subprocess.run(
        [f"{FOLDER}/layoutcheck", str(target.pid), *source], capture_output=True, text=True, timeout=harness.PATIENCE
    )


@pytest.mark.on("no_loop", "ring")
def test_source_wins_by_version(target):
    result = look(target)
    assert result.returncode == 0, result.stderr
    first, *differences = result.stdout.splitlines()
    version, source = first.split(", ")[:2]
    assert version.split()[0] == target.python.version
    assert ("debug" in version) == target.python.debug
    assert source == ("debug-offsets" if target.python.minor >= (3, 13) else "table")
    # All that a bug-fix release may change: PyThreadState grows at its end, and what comes after it moves.
    assert all(line.split(".")[0].strip() == "thread" for line in differences), differences


@pytest.mark.on("ring")
def test_asyncio_offsets_are_found_where_they_exist(target):
    found = "asyncio offsets found" in look(target).stdout
    assert found == (target.python.minor >= (3, 14))


@pytest.mark.on("ring")
@pytest.mark.parametrize("source", ["table", "dwarf"])
def test_other_sources_agree(target, source):
    result = look(target, source)
    if result.returncode == 0:
        first, *differences = result.stdout.splitlines()
        assert first.split(", ")[1] == source
        assert all(line.split(".")[0].strip() == "thread" for line in differences), differences
    else:
        assert source == "dwarf" and "there is no debug information of it" in result.stderr
