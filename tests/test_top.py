# SPDX-License-Identifier: Apache-2.0
"""The dashboard's screens and keys, in a terminal."""

import os
import re

import harness
import pytest
from terminal import order

SIZES = [(80, 24), (132, 43), (200, 60)]
LOCALES = ["C.UTF-8", "C"]


def names_in_table(terminal):
    """What stands in the first column, from the headings on."""
    _, y = terminal.find("WAITS ON")
    end, _ = terminal.find("STATE")
    return [row[:end].strip() for row in terminal.lines[y + 1 : -2] if row.strip()]


def test_overview(python, start, top):
    target = start(python, "moods")
    terminal = top(target.pid)
    terminal.shows(f"process {target.pid}", f"CPython {python.version}", "NAME", "STATE", "SINCE", "STEPS/s", "WHERE")
    terminal.shows("cpu ", "memory ", "threads 1", "up ", "5 tasks", "samples/s")
    terminal.shows("loop polling, thread", "_UnixSelectorEventLoop", "ready 0", "timers 0", "fds 2", "lag none", "polls ", "no findings")
    terminal.until(lambda _: names_in_table(terminal) == ["Task-1", "first-0", "first-1", "first-2", "worker"], "the tasks")
    terminal.shows("Queue.get, empty", "Event")
    terminal.quit()


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_every_screen(some_python, start, top, size, locale):
    target = start(some_python, "waits_pool")
    columns, rows = size
    terminal = top(target.pid, columns=columns, rows=rows, env={"LC_ALL": locale})
    terminal.shows("WAITS ON", "F10Quit")
    terminal.press("2")
    terminal.shows("task ", "waits on ", "await chain", "as watched")
    terminal.press("3")
    terminal.shows("ready queue", "descriptors", "default executor")
    terminal.press("4")
    terminal.shows(f"thread {target.pid}", "sleeping in", "_run_once")
    terminal.press("5")
    terminal.shows("nothing found so far")
    terminal.press("6")
    terminal.shows("no processes to choose from")
    terminal.press("f6")
    terminal.shows("sort by", "* NAME")
    terminal.press("?")
    terminal.shows("F1 ? h", "these lines", "F10Quit")
    terminal.press("1")
    terminal.shows("WAITS ON")
    assert all(len(line) <= columns for line in terminal.lines)
    assert terminal.text.isascii() or locale != "C"
    terminal.quit()


def test_the_help_names_every_key(moods, top):
    table = (harness.ROOT / "tui" / "keys.c").read_text()
    keys = [key.replace("\\\\", "\\") for key in re.findall(r'ACT_\w+,\s*"([^"]+)"', table)]
    assert len(keys) > 20
    terminal = top(moods.pid, rows=60)
    terminal.press("f1")
    for key in keys:
        terminal.shows(f"\n{key} ")
    terminal.press("f1")
    terminal.shows("WAITS ON")


def test_source_lines_of_a_task(moods, top):
    terminal = top(moods.pid)
    terminal.shows("worker")
    terminal.press("/", "worker", "enter", "2")
    terminal.shows("task worker", "await orders.get()", "as watched")
    terminal.press("escape")
    terminal.shows("WAITS ON")


def test_sources_are_read_below_the_targets_root_alone(some_python, start, top, tmp_path):
    secret = tmp_path / "secret.py"
    secret.write_text("\n" * 9 + "a line that nobody may see\n")
    script = tmp_path / "named.py"
    script.write_text(
        "import asyncio, json\n"
        "code = '\\n' * 8 + 'async def rests(event):\\n  await event.wait()\\n'\n"
        "def made(name):\n"
        "  space = {}\n"
        "  exec(compile(code, name, 'exec'), space)\n"
        "  return space['rests']\n"
        "async def main():\n"
        "  event = asyncio.Event()\n"
        "  tasks = [asyncio.create_task(made(name)(event), name=f'task-{number}') for number, name in enumerate(NAMES)]\n"
        "  await asyncio.sleep(0)\n"
        "  print(json.dumps({}), flush=True)\n"
        "  await asyncio.wait(tasks)\n"
        f"NAMES = [{str(secret)!r}, '/dev/zero', '/proc/self/environ', '{tmp_path}/pipe', '/nowhere.py', 'relative.py', '{tmp_path}']\n"
        "asyncio.run(main())\n"
    )
    os.mkfifo(tmp_path / "pipe")
    target = harness.Target([*some_python.command, script])
    try:
        terminal = top(target.pid, rows=40)
        terminal.shows("task-0", "task-6")
        terminal.press("/", "task-0", "enter", "2")
        terminal.shows("task task-0", "a line that nobody may see")
        for number in range(1, 7):
            terminal.press("1", "/", f"task-{number}", "enter", "2")
            terminal.shows(f"task task-{number}", "rests")
            terminal.hides("a line that")
        terminal.quit()
    finally:
        target.kill()


def test_arrows_pages_home_and_end(some_python, start, top):
    target = start(some_python, "fold", "50")
    terminal = top(target.pid)
    terminal.press("f")

    def selects(name):
        terminal.until(lambda _: (terminal.selected() or "").split()[:1] == [name], f"{name} to be selected")

    selects("Task-1")
    terminal.press("down", "down")
    selects("alike-1")
    terminal.press("up")
    selects("alike-0")
    terminal.press("end")
    selects("unlike")
    terminal.press("page up")
    page = len(names_in_table(terminal))
    selects(f"alike-{51 - page}")
    terminal.press("page down", "page down")
    selects("unlike")
    terminal.press("home")
    selects("Task-1")
    terminal.press("k")
    selects("Task-1")


def test_filter_and_search(moods, top):
    terminal = top(moods.pid)
    terminal.shows("first-0", "first-1", "worker", "Task-1")
    terminal.press("\\", "FIRST")
    terminal.hides("worker ")
    terminal.shows("filter: FIRST", "first-0", "first-2")
    terminal.press("backspace", "backspace", "backspace", "backspace", "backspace", "worker", "enter")
    terminal.shows('tasks with "worker"', "Queue.get")
    terminal.hides("first-0")
    terminal.press("escape")
    terminal.shows("first-0", "Task-1")
    terminal.press("f4", "nobody")
    terminal.shows("no task has these letters")
    terminal.press("escape")
    terminal.press("f3", "queue")
    terminal.until(lambda _: "worker" in (terminal.selected() or ""), "the worker, by what it waits on")
    terminal.press("enter", "/", "moods.py", "enter")
    terminal.until(lambda _: (terminal.selected() or "").startswith("worker"), "the same one, by where it is")
    terminal.press("n")
    terminal.until(lambda _: "worker" not in (terminal.selected() or "worker"), "the next one")
    terminal.press("/", "nothing-like-this")
    terminal.shows('nothing has "nothing-like-this"'[:30])


def test_tree(some_python, start, top):
    target = start(some_python, "tree_314")
    terminal = top(target.pid)
    terminal.shows("station")
    terminal.press("t")
    terminal.shows("├─evening", "│ ├─evening/")
    terminal.press("\\", "concert", "enter")
    terminal.hides("morning")
    terminal.shows("station", "evening", "evening/con")
    terminal.press("f5", "escape")
    terminal.hides("├─")


def test_sort(moods, top):
    terminal = top(moods.pid, columns=120)
    terminal.shows("worker", "NAME▽")
    terminal.until(lambda _: names_in_table(terminal) == ["Task-1", "first-0", "first-1", "first-2", "worker"], "sorted by name")
    terminal.press("I")
    terminal.until(lambda text: "NAME△" in text and names_in_table(terminal)[0] == "worker", "the other way round")
    terminal.press("I", ">", "down", "down", "enter")
    terminal.shows("WAITS ON▽")
    x, y = terminal.find("STATE")
    terminal.click(x, y)
    terminal.shows("STATE▽")
    terminal.click(x, y)
    terminal.shows("STATE△")


def test_fold(some_python, start, top):
    target = start(some_python, "fold", "50")
    terminal = top(target.pid, columns=120)
    terminal.shows("+ ×50 alike-0 … alike-49", "unlike")
    terminal.press("/", "alike", "enter", "enter")
    terminal.shows("- ×50", "  alike-0", "  alike-1")
    terminal.press("enter")
    terminal.shows("+ ×50")
    terminal.press("f")
    terminal.shows("alike-1 ", "alike-7 ")
    terminal.hides("×50")


def test_mouse(moods, top):
    terminal = top(moods.pid)
    terminal.shows("first-1")
    x, y = terminal.find("first-1")
    terminal.click(x, y)
    terminal.until(lambda _: "first-1" in (terminal.selected() or ""), "the clicked line")
    terminal.click(x, y, times=2)
    terminal.shows("task first-1", "await event.wait()")
    terminal.press("escape")
    terminal.shows("F10Quit")
    terminal.click(*terminal.find("Help"))
    terminal.shows("these lines")
    terminal.click(0, 5, button=65)
    terminal.hides("these lines")
    terminal.press("1")
    terminal.shows("F10Quit")
    terminal.click(*terminal.find("Quit"))
    assert terminal.ended() == 0


def test_pause_and_rate(moods, top):
    terminal = top(moods.pid)
    terminal.shows("first-0")
    terminal.press(" ")
    terminal.shows("PAUSED")
    held = terminal.lines[0]
    order(moods, "block")
    terminal.press("down")
    terminal.until(lambda _: "first-0" in (terminal.selected() or ""), "keys work on the picture that stands")
    assert terminal.lines[0] == held and "blocked" not in terminal.text
    terminal.press(" ")
    terminal.hides("PAUSED")
    terminal.shows("loop blocked for")
    terminal.press("+")
    terminal.shows("4 pictures a second")
    terminal.press("-", "-")
    terminal.shows("1 pictures a second")
    order(moods, "on")


def test_healthy_blocked_healthy(python, start, top):
    target = start(python, "moods")
    terminal = top(target.pid)
    terminal.shows("loop polling", "lag none", "no findings")
    order(target, "block")
    terminal.until(lambda text: re.search(r"loop blocked for [1-9]\.\d s, runs worker in hold_the_loop moods.py:19", text), "blocked")
    terminal.until(lambda text: re.search(r"lag [1-9]\.\d s", text), "what comes now waits for so long")
    terminal.shows("critical  blocked-loop: task worker has held")
    terminal.press("4")
    terminal.shows("sleeping in read, fd 0", "hold_the_loop")
    terminal.press("1")
    order(target, "on")
    terminal.shows("loop polling", "lag none", "blocked-loop")
    terminal.shows("gone ")
    terminal.hides("loop blocked")
    terminal.quit()


def test_native_stacks_are_one_picture_that_is_held(some_python, start, top):
    target = start(some_python, "waits_pool")
    terminal = top(target.pid, columns=120, rows=60)
    terminal.press("n")
    terminal.shows("nothing to search for yet")
    terminal.press("4")
    terminal.shows("n: native stacks too", "sleeping in epoll_wait")
    assert "[libc" not in terminal.text
    terminal.press("n")
    text = terminal.until(lambda text: all(part in text for part in ("PAUSED", "[libc", "Space goes on")), "native frames")
    stopped = re.search(r"^all threads were stopped for ([\d.]+) ms; Space goes on", text, re.M)
    assert stopped and f"for which all threads were stopped for {stopped[1]} ms" in text
    assert 0 < float(stopped[1]) <= 50
    assert "_run_once" in text, "Python frames are in their places"
    assert not {state for _, state, _ in harness.threads(target.pid)} & {"t", "T"}, "nothing is left stopped"
    terminal.press(" ")
    terminal.hides("[libc")
    terminal.shows("n: native stacks too")
    terminal.quit()


def test_no_native_stacks_where_nothing_may_be_stopped(moods, top):
    terminal = top("--pause=never", moods.pid)
    terminal.press("4", "n")
    terminal.shows("no thread may be stopped (--pause=never)")
    assert "PAUSED" not in terminal.text
    terminal.quit()


def test_another_size(moods, top):
    terminal = top(moods.pid)
    terminal.shows("first-0")
    for columns, rows in [(132, 43), (40, 10), (20, 5), (300, 80), (8, 2), (80, 24)]:
        terminal.resize(columns, rows)
        terminal.press("4", "1")
        terminal.until(lambda _: terminal.lines[-1].startswith("F1Help"[: min(columns, 6)]), "keys at the bottom")
    terminal.shows("first-0", "F10Quit")
    terminal.quit()


def test_hostile_names(some_python, start, top):
    target = start(some_python, "names")
    terminal = top(target.pid, columns=200, rows=60)
    terminal.press("f")
    terminal.shows(r"escape \x1b[31mred\x1b[0m bell \x07", r"new\nline, tab\t", "задача 任务 משימה", "combining \u00e9\u0302\u0303", "rocket")
    # What stands right of a name stands where it does in all rows, whatever the name's width: pyte counts columns as a terminal does.
    column, y = terminal.find("STATE")
    rows = [row for row in range(y + 1, 58) if "".join(cell.data for cell in (terminal.screen.buffer[row][x] for x in range(200))).strip()]
    for row in rows[:15]:
        assert "".join(terminal.screen.buffer[row][x].data for x in range(column, column + 7)) == "pending", terminal.lines[row]
    assert b"\x07" not in terminal.raw and b"\x1b[31mred" not in terminal.raw
    terminal.quit()


COLOUR = re.compile(rb"\x1b\[[\d;]*\b(3[0-7]|4[0-7]|38;5;\d+|48;5;\d+)[;m]")


def test_colours_unless_they_are_not_wanted(moods, top):
    terminal = top(moods.pid)
    terminal.shows("first-0")
    terminal.quit()
    assert COLOUR.search(terminal.raw)
    for arguments, env in [([], {"NO_COLOR": "1"}), (["--color=never"], {}), ([], {"TERM": "vt100"})]:
        terminal = top(*arguments, moods.pid, env=env)
        terminal.shows("first-0")
        terminal.press("q")
        assert terminal.ended() == 0
        assert not COLOUR.search(terminal.raw)


def test_a_terminal_that_cannot_place_its_cursor(moods, top):
    terminal = top(moods.pid, columns=120, rows=200, env={"TERM": "dumb"})
    terminal.shows("first-0", "can't place its cursor")
    assert b"\x1b" not in terminal.raw
    terminal.process.terminate()
    assert terminal.ended() == 0
