# SPDX-License-Identifier: Apache-2.0
"""The command line: help, usage errors with exit code 2, and options in any place."""

import harness
import pytest

COMMANDS = ("pstree", "ps", "doctor")


def wrong_usage(*arguments):
    result = harness.aiotrace(*arguments)
    assert result.code == 2, (result.code, result.err)
    assert result.out == b""
    lines = result.err.splitlines()
    assert len(lines) == 1 and lines[0].startswith("aiotrace: "), result.err
    return lines[0]


def test_help_names_every_command():
    for arguments in (["--help"], ["-h"], ["help"]):
        result = harness.aiotrace(*arguments)
        assert result.code == 0 and result.err == ""
        for command in COMMANDS:
            assert command in result.text


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(command):
    result = harness.aiotrace(command, "--help")
    assert result.code == 0 and result.err == ""
    assert f"aiotrace {command}" in result.text
    assert "--json" in result.text


def test_version():
    result = harness.aiotrace("--version")
    assert result.code == 0 and result.text.startswith("aiotrace ")


def test_no_command():
    wrong_usage()


def test_unknown_command():
    assert "pstre" in wrong_usage("pstre", 1)


@pytest.mark.parametrize("command", COMMANDS)
def test_missing_target(command):
    wrong_usage(command)


@pytest.mark.parametrize("command", COMMANDS)
def test_unknown_option(command):
    assert "--colour" in wrong_usage(command, "--colour", 1)


@pytest.mark.parametrize(
    "word", ["0", "-1", "abc", "", "1x", " 1", "0x10", "99999999999999999999", "4294967297", "1.5", "１", "1\n"]
)
def test_bad_process_id(word):
    wrong_usage("pstree", "--", word)


@pytest.mark.parametrize(
    "options",
    [
        ["--pause=perhaps"],
        ["--pause"],
        ["--pause="],
        ["--max-pause=-1"],
        ["--max-pause=ten"],
        ["--max-pause=1e99"],
        ["--max-depth", "x"],
        ["--color=blue"],
        ["--json=yes"],
        ["-Z"],
        ["--max-pause"],
    ],
)
def test_bad_option_values(options):
    wrong_usage("pstree", *options, *([1] if options not in (["--pause"], ["--max-pause"]) else []))


def test_two_targets():
    wrong_usage("pstree", 1, 2)


def test_options_stand_anywhere(some_python, start):
    target = start(some_python, "waits_sync")
    for arguments in (
        ["pstree", "--json", target.pid],
        ["pstree", target.pid, "--json"],
        ["pstree", "--json", "--", target.pid],
        ["pstree", "--max-pause", "10", "--json", target.pid],
    ):
        result = harness.aiotrace(*arguments)
        assert result.code == 0 and result.out.startswith(b"{"), result.err
