# SPDX-License-Identifier: Apache-2.0
"""The house's own rules: who may include whom, how long a file may be, what each file must begin with."""

import re

import harness
import pytest

pytestmark = pytest.mark.plain_only

ALLOWED = {
    "base": {"base"},
    "attach": {"base", "attach"},
    "model": {"base", "model"},
    "unwind": {"base", "attach", "model", "unwind"},
    "detect": {"base", "model", "detect"},
    "report": {"base", "model", "detect", "report"},
    "tui": {"base", "model", "detect", "report", "tui"},
    "cmd": {"base", "attach", "model", "unwind", "detect", "report", "tui", "cmd"},
}
LONGEST = 500
GENERATED = re.compile(r"unwind/layout/table_\d+_\d+\.h\Z")
SOURCES = sorted(path for folder in ALLOWED for path in (harness.ROOT / folder).rglob("*.[ch]"))
SCRIPTS = sorted(path for folder in ("tests", "fixtures", "tools") for path in (harness.ROOT / folder).rglob("*.py"))
ALL = SOURCES + SCRIPTS + sorted((harness.ROOT / "tests" / "unit").glob("*.[ch]"))


def name(path):
    return str(path.relative_to(harness.ROOT))


def includes(path):
    return re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.MULTILINE)


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_includes_follow_the_layers(path):
    layer = path.relative_to(harness.ROOT).parts[0]
    for included in includes(path):
        first = included.partition("/")[0]
        if first not in ALLOWED and (path.parent / included).exists():
            first = layer
        assert first in ALLOWED[layer], f"{name(path)} includes {included}"
    if "curses" in path.read_text():
        assert name(path) == "tui/screen.c"


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_version_knowledge_stays_in_the_layout(path):
    if not name(path).startswith("unwind/layout/"):
        assert not re.search(r"\b(version|minor)\s*[<>]=?\s*(0x)?\d", path.read_text()), name(path)


@pytest.mark.parametrize("path", ALL, ids=name)
def test_files_are_short_and_begin_with_their_licence(path):
    text = path.read_text()
    lines = text.splitlines()
    assert GENERATED.search(name(path)) or len(lines) <= LONGEST, len(lines)
    assert any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:2])
    assert text.endswith("\n") and not text.endswith("\n\n")


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_nothing_below_cmd_prints_or_exits(path):
    layer = path.relative_to(harness.ROOT).parts[0]
    if layer in ("cmd", "report", "tui"):
        return
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.DOTALL)
    found = re.findall(r"\b(printf|puts|putchar|perror|abort|exit|_exit|tgkill|process_vm_writev|PTRACE_POKE\w+)\s*\(", code)
    assert not found, f"{name(path)}: {found}"
    assert all(signal == "0" for signal in re.findall(r"\bkill\s*\([^,;]*,\s*([^)]*)\)", code)), "only asks whether it is there"
