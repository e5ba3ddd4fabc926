# SPDX-License-Identifier: Apache-2.0
"""What becomes of the dashboard when its process ends, changes, or is one of many; how it ends itself; what it saves and prints."""

import json
import os
import pathlib
import re
import signal
import stat
import subprocess
import time

import harness
import pytest
import schema
from terminal import ALTERNATE, BACK, order


def ends(target, command):
    target.may_end = True
    order(target, command, wait=False)


def test_the_last_picture_stays_when_the_process_ends(moods, top):
    terminal = top(moods.pid)
    terminal.shows("first-0", "worker")
    ends(moods, "end 3")
    text = terminal.until(lambda text: "ended" in text, "word of the end")
    assert re.search(rf"^process {moods.pid} ended \(exit code 3\) at \d\d:\d\d:\d\d$", text, re.M)
    assert "first-0" in text and "worker" in text
    terminal.press("/", "worker", "enter", "2")
    terminal.shows("task worker", "ended (exit code 3)")
    terminal.press("4", "n")
    terminal.shows("the process has ended: no native stacks")
    terminal.quit()


def test_the_signal_that_ended_it_is_named(moods, top):
    terminal = top(moods.pid)
    terminal.shows("first-0")
    moods.may_end = True
    moods.process.kill()
    terminal.shows(f"process {moods.pid} ended (by signal 9, Killed) at ", "first-0")
    terminal.quit()


def test_another_program_is_picked_up(python, start, top):
    target = start(python, "moods")
    terminal = top(target.pid)
    terminal.shows("first-0", "first-2")
    order(target, "exec")
    terminal.shows(f"process {target.pid} executed another program at ", "second-0", "second-2")
    assert "first-" not in terminal.text
    terminal.quit()


def start_with_pid(pid, start, python, fixture):
    """Another process of the same number: the kernel gives out the numbers in turn."""
    deadline = time.monotonic() + harness.PATIENCE
    while time.monotonic() < deadline:
        pathlib.Path("/proc/sys/kernel/ns_last_pid").write_text(str(pid - 1))
        target = start(python, fixture, "second")
        if target.pid == pid:
            return target
        target.may_end = True
        target.kill()
    raise AssertionError(f"no process got the number {pid}")


def test_another_process_of_the_same_number_is_picked_up(some_python, start, top):
    first = start(some_python, "moods")
    terminal = top(first.pid)
    terminal.shows("first-0")
    ends(first, "end 0")
    terminal.shows("ended (exit code 0)")
    first.kill()
    second = start_with_pid(first.pid, start, some_python, "moods")
    terminal.shows(f"process {second.pid} was started again at ", "second-0")
    assert "first-" not in terminal.text and "ended" not in terminal.text
    terminal.quit()


SOCKETS = """
import asyncio, json, os, socket
async def reads(number, ports):
    reader, writer = await asyncio.open_connection("127.0.0.1", ports[0])
    await reader.read()
async def main():
    held = []
    server = await asyncio.start_server(lambda *ends: held.append(ends), "127.0.0.1", 0)
    ports = [listener.getsockname()[1] for listener in server.sockets]
    kept = [asyncio.create_task(reads(0, ports), name="early")]
    asyncio.get_running_loop().add_reader(0, lambda: (os.read(0, 1), kept.append(asyncio.create_task(reads(1, ports), name="late"))))
    await asyncio.sleep(0.1)
    print(json.dumps({"still": False}), flush=True)
    await asyncio.wait(kept)
    await asyncio.sleep(1000)
asyncio.run(main())
"""


def test_a_socket_that_was_opened_later_has_its_addresses_too(some_python, top):
    target = harness.Target([*some_python.command, "-c", SOCKETS])
    try:
        terminal = top(target.pid, columns=200)
        terminal.until(lambda text: re.search(r"early .*fd \d+, tcp 127.0.0.1:\d+ -> 127.0.0.1:", text), "the first connection")
        os.write(target.process.stdin.fileno(), b"x")
        terminal.until(lambda text: re.search(r"late .*fd \d+, tcp 127.0.0.1:\d+ -> 127.0.0.1:", text), "the later one")
        terminal.quit()
    finally:
        target.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT], ids=lambda number: number.name)
def test_a_signal_ends_it_and_the_terminal_is_as_it_was(moods, top, number):
    terminal = top(moods.pid)
    terminal.shows("first-0")
    terminal.process.send_signal(number)
    assert terminal.ended() == 0
    assert terminal.restored()


def test_ctrl_c_ends_it(moods, top):
    terminal = top(moods.pid)
    terminal.shows("first-0")
    terminal.press("\x03")
    assert terminal.ended() == 0
    assert terminal.restored()


@pytest.mark.plain_only
@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS], ids=lambda number: number.name)
def test_the_terminal_is_restored_after_a_crash(moods, top, number):
    """The sanitizers have handlers of their own for these."""
    terminal = top(moods.pid)
    terminal.shows("first-0")
    terminal.process.send_signal(number)
    assert terminal.ended() == -number
    assert terminal.restored()


def test_ctrl_z_gives_the_terminal_back_until_it_goes_on(moods, top):
    terminal = top(moods.pid)
    terminal.shows("first-0")
    terminal.process.send_signal(signal.SIGTSTP)
    terminal.until(lambda _: harness.status(terminal.process.pid, terminal.process.pid)["State"][0] == "T", "it stands")
    while terminal.pump():
        pass
    assert not terminal.screen.cursor.hidden and terminal.raw.rindex(BACK) > terminal.raw.rindex(ALTERNATE)
    terminal.process.send_signal(signal.SIGCONT)
    terminal.until(lambda _: terminal.raw.rindex(BACK) < terminal.raw.rindex(ALTERNATE), "it draws again")
    terminal.press("q")
    assert terminal.ended() == 0


def test_saves_the_picture_as_json(moods, top, tmp_path):
    terminal = top(moods.pid, cwd=tmp_path, columns=120)
    terminal.shows("first-0")
    terminal.press("s")
    terminal.shows("saved to ")
    name = re.search(r"^saved to (\S+)$", terminal.text, re.M)[1]
    assert re.fullmatch(rf"aiotrace-{moods.pid}-\d{{8}}T\d{{6}}\.json", name)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    document = schema.parse((tmp_path / name).read_bytes())
    schema.check(document)
    assert {"first-0", "first-1", "first-2", "worker"} <= {task["name"] for task in document["tasks"]}
    assert document["target"]["pid"] == moods.pid and document["watched"]["samples"] >= 1
    terminal.press("s")
    terminal.until(lambda _: len(list(tmp_path.iterdir())) == 2, "the second one beside the first")
    terminal.quit()


def test_a_picture_that_cannot_be_saved_is_said(moods, top, tmp_path):
    (tmp_path / "gone").mkdir()
    terminal = top(moods.pid, cwd=tmp_path / "gone")
    terminal.shows("first-0")
    (tmp_path / "gone").rmdir()
    terminal.press("s")
    terminal.shows("can't save to aiotrace-", "No such file or directory")
    terminal.quit()


def test_batch_prints_pictures_and_needs_no_terminal(python, start):
    target = start(python, "moods")
    # The command's folder may be long or short: what does not fit goes on below, and nothing is lost.
    for columns in (60, 100):
        result = harness.aiotrace("top", "--batch=3", "--rate=10", target.pid, env={"COLUMNS": str(columns)})
        assert result.code == 0 and result.err == "" and "\x1b" not in result.text
        pictures = result.text.split("\n\n")
        assert pictures.pop() == "" and len(pictures) == 3
        for picture in pictures:
            for part in (f"process {target.pid}", "loop polling", "no findings", "first-0", "worker"):
                assert part in picture
            assert max(map(len, picture.splitlines())) <= columns
            assert str(harness.FIXTURES / "moods.py") in re.sub(r"\n {8}", "", picture)


def test_json_has_what_the_screens_show(some_python, start):
    target = start(some_python, "ring")
    result = harness.aiotrace("top", "--json", "--batch=2", "--rate=2", target.pid)
    assert result.code == 0 and result.err == ""
    documents = [json.loads(line) for line in result.text.splitlines()]
    assert len(documents) == 2
    for document in documents:
        schema.check(document)
    watched = documents[-1]["watched"]
    assert {loop["id"] for loop in watched["loops"]} == {loop["id"] for loop in documents[-1]["loops"]}
    assert {task["id"] for task in watched["tasks"]} == {task["id"] for task in documents[-1]["tasks"]}
    assert {finding["id"] for finding in watched["findings"]} == {finding["id"] for finding in documents[-1]["findings"]}
    assert watched["samples"] > documents[0]["watched"]["samples"] >= 1
    assert all(finding["standing"] for finding in watched["findings"])


def test_json_has_the_lines_of_source(python, start):
    target = start(python, "moods")
    document = schema.parse(harness.aiotrace("top", "--json", target.pid).out)
    sources = {(line["file"], line["line"]): line["text"] for line in document["watched"]["sources"]}
    assert len(sources) == len(document["watched"]["sources"])
    script = str(harness.FIXTURES / "moods.py")
    lines = pathlib.Path(script).read_text().splitlines()
    # Python's own library may be an archive or not be there at all.
    numbers = {frame["line"] for task in document["tasks"] for frame in task["stack"] if frame["file"] == script}
    assert lines.index("        await orders.get()") + 1 in numbers
    assert {number: sources.get((script, number)) for number in numbers} == {number: lines[number - 1] for number in numbers}


def test_json_has_the_lines_of_a_hundred_files(some_python, tmp_path):
    for number in range(100):
        (tmp_path / f"part_{number}.py").write_text(f"async def rests(event):\n    await event.wait()  # {number}\n")
    script = tmp_path / "many.py"
    script.write_text(
        "import asyncio, importlib, json\n"
        "async def main():\n"
        "  event = asyncio.Event()\n"
        "  tasks = [asyncio.create_task(importlib.import_module(f'part_{n}').rests(event)) for n in range(100)]\n"
        "  await asyncio.sleep(0)\n"
        "  print(json.dumps({}), flush=True)\n"
        "  await asyncio.wait(tasks)\n"
        "asyncio.run(main())\n"
    )
    target = harness.Target([*some_python.command, script])
    try:
        document = schema.parse(harness.aiotrace("top", "--json", target.pid).out)
    finally:
        target.kill()
    texts = {line["text"] for line in document["watched"]["sources"] if "part_" in line["file"]}
    assert texts == {f"    await event.wait()  # {number}" for number in range(100)}


def test_json_of_a_source_file_that_is_no_text(some_python, tmp_path):
    (tmp_path / "odd.py").write_bytes(b"\n" * 9 + b"  \xff\xed\xa0\x80\0\x1b[31m " + "é".encode() + b"x" * 3000 + b"\n")
    script = tmp_path / "named.py"
    script.write_text(
        "import asyncio, json\n"
        "space = {}\n"
        f"exec(compile('\\n' * 8 + 'async def rests(event):\\n  await event.wait()', '{tmp_path}/odd.py', 'exec'), space)\n"
        "async def main():\n"
        "  print(json.dumps({}), flush=True)\n"
        "  await space['rests'](asyncio.Event())\n"
        "asyncio.run(main())\n"
    )
    target = harness.Target([*some_python.command, script])
    try:
        document = schema.parse(harness.aiotrace("top", "--json", target.pid).out)
    finally:
        target.kill()
    (line,) = [line for line in document["watched"]["sources"] if line["file"].endswith("odd.py")]
    assert line["line"] == 10 and line["text"].startswith("  ����\0\x1b[31m éxxx") and len(line["text"].encode()) == 1000


def test_native_stacks_of_all_pictures(some_python, start):
    target = start(some_python, "waits_pool")
    document = schema.parse(harness.aiotrace("top", "--json", "--native", target.pid).out)
    assert all(thread["native"] for thread in document["threads"])
    document = schema.parse(harness.aiotrace("top", "--json", "--native", "--pause=never", target.pid).out)
    assert not any(thread["native"] for thread in document["threads"])


def test_without_a_terminal_it_says_what_to_do(moods):
    result = harness.aiotrace("top", moods.pid)
    assert result.code == 2 and result.out == b""
    assert result.err.startswith("aiotrace: top needs a terminal") and "--batch" in result.err and result.err.count("\n") == 1


@pytest.mark.parametrize("options", [["--batch=1"], ["--json"], []], ids=lambda options: " ".join(options) or "terminal")
def test_what_cannot_be_looked_at_is_refused_before_anything_is_drawn(options, top):
    nobody = subprocess.Popen(["true"])
    nobody.wait()
    sleeper = subprocess.Popen(["sleep", "1000"])
    try:
        for pid, code, words in [(nobody.pid, 4, "no process"), (sleeper.pid, 3, "CPython")]:
            terminal = top(*options, pid)
            assert terminal.ended() == code
            text = terminal.raw.decode()
            assert text.startswith("aiotrace: ") and words in text and text.count("\n") == 1 and "\x1b" not in text
    finally:
        sleeper.kill()
        sleeper.wait()


def running(pid):
    return os.path.exists(f"/proc/{pid}") and harness.status(pid, pid)["State"][0] != "Z"


def test_a_command_is_started_watched_and_ended(python, top):
    terminal = top("--", *python.command, harness.FIXTURES / "tree_314.py", columns=120, rows=50)
    terminal.shows("station", "morning")
    pid = int(re.search(r"process (\d+)", terminal.text)[1])
    assert running(pid)
    terminal.press("q")
    assert terminal.ended() == 0
    harness.wait_until(lambda: not running(pid), "the command has ended too")
    assert terminal.restored()
    assert b'"fixture": "tree_314.py"' in terminal.raw.rpartition(b"\x1b[?1049l")[2], "what it said comes once the screen is free"


def test_a_command_that_ends_by_itself(some_python, top):
    terminal = top("--", *some_python.command, "-c", "import asyncio; asyncio.run(asyncio.sleep(2)); raise SystemExit(7)", columns=120)
    terminal.shows("sleep")
    terminal.shows("ended (exit code 7) at ")
    terminal.quit()


def test_a_command_that_is_not_there(top):
    terminal = top("--", "/nowhere/at/all")
    assert terminal.ended() == 2
    assert terminal.raw.decode().strip() == "aiotrace: can't run /nowhere/at/all: No such file or directory"


def test_one_of_several_processes_is_chosen(some_python, top):
    moods, tree = (" ".join(map(str, [*some_python.command, harness.FIXTURES / f"{name}.py"])) for name in ("moods", "tree_314"))
    family = harness.Target(["sh", "-c", f"sleep 1000 | {moods} & {tree} >&2 & wait"])
    family.may_end = True
    try:
        harness.wait_until(lambda: "tree_314" in family.said(), "both are there")
        terminal = top("--children", family.pid, columns=120)
        terminal.shows("WAITS ON")
        terminal.press("6")
        terminal.shows("moods.py", "tree_314.py", "Enter: look at it")
        assert "sleep 1000" not in terminal.text
        names = {"moods": "first-0", "tree_314": "station"}
        rows = [re.search(r"(moods|tree_314)\.py", line)[1] for line in terminal.lines[3:5]]
        for row, name in [(1, rows[1]), (0, rows[0])]:
            terminal.press("6")
            terminal.shows("Enter: look at it")
            terminal.press("home", *["down"] * row, "enter")
            terminal.shows("WAITS ON", names[name])
        terminal.quit()
    finally:
        family.kill()
