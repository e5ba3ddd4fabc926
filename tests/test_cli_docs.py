# SPDX-License-Identifier: Apache-2.0
"""--help, man pages and completions of three shells name the same options, and JSON's keys stand in its page."""

import re
import subprocess

import harness
import pytest
import schema

COMMANDS = ("pstree", "ps", "top", "check", "run", "doctor")
TREE = ("pstree", "ps")


def options_of_help(command):
    text = harness.aiotrace(command, "--help").text
    return {(short, long, bool(value)) for short, long, value in re.findall(r"^ +(?:-(\w), |    )--([\w-]+)(=?)", text, re.M)}


def options_of_page(name):
    """The option list's items: ".It Fl v , Fl -verbose", ".It Fl -pause Ns = Ns Ar WHEN"."""
    page = (harness.ROOT / "man" / name).read_text()
    found = re.findall(r"^\.It (?:Fl (\w) , )?Fl -([\w-]+)( Ns = Ns Ar \w+(?: Ns ,\.\.\.)?)?$", page, re.M)
    return {(short, long, bool(value)) for short, long, value in found}


def long_options(command):
    return {long for _, long, _ in options_of_help(command)}


@pytest.mark.parametrize("command", COMMANDS)
def test_man_page_has_the_options_of_the_help(command):
    options = options_of_help(command)
    assert ("v", "verbose", False) in options and (("", "json", False) in options) == (command != "run")
    assert options_of_page(f"aiotrace-{command}.1") == options


def test_every_command_has_its_page_and_is_in_the_main_one():
    listed = re.findall(r"^  (\w+) ", harness.aiotrace("--help").text, re.M)
    assert listed == list(COMMANDS)
    main = (harness.ROOT / "man" / "aiotrace.1").read_text()
    assert re.findall(r"^\.It Cm (\w+)$", main, re.M) == list(COMMANDS)


def bash_words(*typed):
    script = (
        f"source {harness.ROOT}/completions/aiotrace.bash; compopt() {{ :; }}; COMP_WORDS=(aiotrace \"$@\");"
        " COMP_CWORD=$#; _aiotrace; printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    ended = subprocess.run(["bash", "-c", script, "bash", *typed], capture_output=True, text=True, check=True)
    assert not ended.stderr, ended.stderr
    return set(ended.stdout.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_bash_completes_the_options_of_the_help(command):
    wanted = set()
    for short, long, value in options_of_help(command):
        wanted.add(f"--{long}" + ("=" if value else ""))
        wanted |= {f"-{short}"} if short else set()
    assert bash_words(command, "-") == wanted


def test_bash_completes_commands_and_values():
    assert bash_words("p") == {"pstree", "ps"}
    assert bash_words("pstree", "--pause", "=", "a") == {"auto", "always"}
    assert bash_words("ps", "--color", "") == {"auto", "always", "never"}


def test_zsh_completes_the_options_of_the_help():
    text = (harness.ROOT / "completions" / "_aiotrace").read_text()
    groups = dict(re.findall(r"^\t(\w+_options)=\((.*?)^\t\)", text, re.M | re.S))
    found = {name: set(re.findall(r"--([\w-]+)=?\[|,--([\w-]+)\}", body)) for name, body in groups.items()}
    found = {name: {a or b for a, b in pairs} for name, pairs in found.items()}
    reading = found["look_options"] | found["read_options"]
    assert reading == long_options("doctor")
    for command in TREE:
        assert reading | found["tree_options"] == long_options(command)
    assert reading | found["judge_options"] | found["sample_options"] | found["check_options"] == long_options("check")
    assert reading | found["judge_options"] | found["top_options"] == long_options("top")
    assert found["look_options"] | found["judge_options"] | found["sample_options"] | found["run_options"] == long_options("run")


def test_fish_completes_the_options_of_the_help():
    text = (harness.ROOT / "completions" / "aiotrace.fish").read_text()
    lines = [line for line in text.splitlines() if line.startswith("complete")]

    def of(*names):
        chosen = [line for line in lines if any(f'from {name}"' in line for name in names) and " -l " in line]
        return {re.search(r" -l ([\w-]+)", line)[1] for line in chosen} | {"help"}

    assert of("$looking", "$reading") == long_options("doctor")
    for command in TREE:
        assert of("$looking", "$reading", "$tree") == long_options(command)
    assert of("$looking", "$reading", "$judging", "$sampling", "check") == long_options("check")
    assert of("$looking", "$reading", "$judging", "top") == long_options("top")
    assert of("$looking", "$judging", "$sampling", "run") == long_options("run")


def findings_of_page():
    return re.findall(r"^\.It Sy ([\w-]+)$", (harness.ROOT / "man" / "aiotrace-findings.7").read_text(), re.M)


def test_findings_are_the_same_in_table_page_and_completions():
    table = (harness.ROOT / "detect" / "table.c").read_text()
    ids = re.findall(r'^\t\{"([\w-]+)"', table, re.M)
    assert ids == sorted(ids) == findings_of_page()
    bash = (harness.ROOT / "completions" / "aiotrace.bash").read_text()
    zsh = (harness.ROOT / "completions" / "_aiotrace").read_text()
    fish = (harness.ROOT / "completions" / "aiotrace.fish").read_text()
    assert re.search(r"local findings='(.*)'", bash)[1].split() == ids
    assert re.search(r"findings=\((.*)\)", zsh)[1].split() == ids
    assert re.search(r"set -l findings (.*)", fish)[1].split() == ids


@pytest.mark.on("two_loops", "loop_state debug")
def test_every_key_of_the_document_stands_in_its_page(target):
    page = (harness.ROOT / "man" / "aiotrace-json.5").read_text()
    described = set(re.findall(r"^\.(?:It )?Va (\w+)", page, re.M))

    def keys(value):
        if isinstance(value, dict):
            for key, item in value.items():
                yield key
                yield from keys(item if key != "evidence" else None)  # those differ by finding
        elif isinstance(value, list):
            for item in value:
                yield from keys(item)

    document = schema.parse(harness.aiotrace("pstree", "--json", "--threads", "--loop", "--native", target.pid).out)
    watched = schema.parse(harness.aiotrace("top", "--json", target.pid).out)
    assert "watched" in watched and set(keys(document)) | set(keys(watched)) <= described
