# SPDX-License-Identifier: Apache-2.0
"""--native: the C frames of each thread with the Python frames in their places, whatever the thread does when it is stopped."""

import pathlib
import re
import subprocess

import harness
import pytest
import schema

PATIENT = "--max-pause=5000"
SOURCE = harness.ROOT / "tests" / "native" / "blocks.c"


def picture(target, *options):
    result = harness.aiotrace("pstree", "--json", "--native", *options, target.pid)
    assert result.code == 0, result.err
    document = schema.parse(result.out)
    schema.check(document)
    return document, {thread["tid"]: thread for thread in document["threads"]}


def native_picture(target, *options):
    """Of a snapshot in which all threads stood; each has its native stack, and the Python frames are in it in their order."""
    document, threads = picture(target, PATIENT, *options)
    assert document["snapshot"]["method"] == "paused", document["snapshot"]
    assert "native_note" not in document["snapshot"]
    for thread in threads.values():
        assert thread["native"], thread
        assert [frame for frame in thread["native"] if "image" not in frame] == thread["stack"]
    return threads


def c_frames(frames):
    return [frame for frame in frames if "image" in frame]


def inside_of_python(native):
    """The C frames below the innermost Python frame."""
    last = max(index for index, frame in enumerate(native) if "image" not in frame)
    return native[last + 1 :]


def runs_of(native):
    """The stack as alternating stretches: (in C?, the functions)."""
    runs = []
    for frame in native:
        if not runs or runs[-1][0] != ("image" in frame):
            runs.append(("image" in frame, []))
        runs[-1][1].append(frame["function"])
    return runs


@pytest.mark.on("native_calls")
def test_python_frames_stand_where_the_evaluation_loop_runs_them(target):
    threads = native_picture(target)
    for wanted in target.truth["threads"]:
        thread = threads[wanted["tid"]]
        assert thread["stack"] == wanted["stack"]
        assert "native_truncated" not in thread
        functions = {frame["function"] for frame in inside_of_python(thread["native"])}
        assert functions & set(wanted["inside"]), thread["native"]
        assert not any("_PyEval_EvalFrameDefault" in frame["function"] for frame in thread["native"])
        pythons = [functions for in_c, functions in runs_of(thread["native"]) if not in_c]
        crossings = [[outer[-1], inner[0]] for outer, inner in zip(pythons, pythons[1:])]
        for pair in wanted["through"]:
            assert pair in crossings, runs_of(thread["native"])
    target.rest()


@pytest.mark.on("native_calls")
def test_each_call_from_c_begins_a_stretch_of_its_own(target):
    threads = native_picture(target)
    nested = next(row for row in target.truth["threads"] if row["stack"][-1]["function"] == "descends")
    pythons = [functions for in_c, functions in runs_of(threads[nested["tid"]]["native"]) if not in_c]
    # `descends` reaches itself through getattr and __getattr__: C code lies outside of each __getattr__, at least in versions that do not inline it.
    assert sum(functions[0] == "Attributes.__getattr__" for functions in pythons) == 20, pythons
    target.rest()


@pytest.mark.on("native_calls")
def test_the_loop_rests_in_its_selector(target):
    main = native_picture(target)[target.truth["main"]]
    assert "epoll_wait" in {frame["function"] for frame in inside_of_python(main["native"])}
    outermost = main["native"][0]
    assert outermost["function"] == "_start" and "python" in pathlib.Path(outermost["image"]).name
    target.rest()


@pytest.mark.on("native_calls")
def test_what_has_no_symbol_is_a_place_in_its_image(target):
    for thread in native_picture(target).values():
        for frame in c_frames(thread["native"]):
            place = re.fullmatch(r"(.+)\+0x[0-9a-f]+", frame["function"])
            assert (place is None) or place[1] == pathlib.Path(frame["image"]).name, frame
            assert frame["file"] == frame["image"] or frame["line"] is None or frame["line"] > 0
    target.rest()


@pytest.mark.parametrize("kind, tries", [("python", 20), ("re", 20), ("json", 8), ("sum", 8), ("sort", 8)])
def test_a_thread_that_spins_has_its_stack_at_every_try(python, start, kind, tries):
    target = start(python, "native_spin", kind)
    wanted = target.truth["function"]
    harness.wait_until(lambda: wanted in {f["function"] for f in native_picture(target)[target.pid]["stack"]}, "it spins")
    for _ in range(tries):
        thread = native_picture(target)[target.pid]
        assert wanted in {frame["function"] for frame in thread["native"]}
        assert "native_truncated" not in thread, thread["native"]
        assert thread["native"][0]["function"] == "_start"
        if kind == "re":
            assert inside_of_python(thread["native"]), thread["native"]


def library(tmp_path, *options):
    built = tmp_path / "libblocks.so.1"
    command = ["cc", "-O2", "-fno-optimize-sibling-calls", "-shared", "-fPIC", *options, "-o", built, SOURCE]
    subprocess.run(command, check=True, capture_output=True)
    tmp_path.chmod(0o755)
    return built


def blocked_thread(target):
    def seen():
        thread = native_picture(target)[target.truth["tid"]]
        return thread["stack"][-1]["function"] == "calls" and thread["syscall"] in ("read", "restart_syscall") and thread

    return harness.wait_until(seen, "the library waits")


def of_library(thread):
    return [frame for frame in thread["native"] if pathlib.Path(frame.get("image", "")).name == "libblocks.so.1"]


def test_the_library_that_blocks_the_loop_is_named(python, start, tmp_path):
    target = start(python, "native_library", library(tmp_path, "-g"))
    frames = of_library(blocked_thread(target))
    lines = SOURCE.read_text().splitlines()
    assert [frame["function"] for frame in frames] == ["library_waits_below", "library_waits", "hidden_wait"]
    for frame, words in zip(frames, ["return library_waits(", "return hidden_wait(", "read(fd"]):
        assert frame["file"] == str(SOURCE)
        assert words in lines[frame["line"] - 1], (frame, lines[frame["line"] - 1])


def offsets_of(unstripped, function):
    rows = [line.split() for line in subprocess.run(["nm", "-S", unstripped], check=True, capture_output=True, text=True).stdout.splitlines()]
    start, size = next((int(row[0], 16), int(row[1], 16)) for row in rows if row[-1] == function)
    return range(start, start + size)


def test_without_symbols_the_dynamic_ones_and_offsets_are_left(python, start, tmp_path):
    (tmp_path / "with_symbols").mkdir()
    known = library(tmp_path / "with_symbols")
    stripped = library(tmp_path)
    subprocess.run(["strip", stripped], check=True)
    frames = of_library(blocked_thread(start(python, "native_library", stripped)))
    assert [frame["function"] for frame in frames[:2]] == ["library_waits_below", "library_waits"]
    place = re.fullmatch(r"libblocks\.so\.1\+(0x[0-9a-f]+)", frames[2]["function"])
    assert int(place[1], 16) in offsets_of(known, "hidden_wait")
    # In another root the path is the one outside.
    assert all(frame["file"].endswith(str(stripped)) and frame["line"] is None for frame in frames)


def test_a_library_whose_file_is_gone_is_named_all_the_same(python, start, tmp_path):
    frames = of_library(blocked_thread(start(python, "native_library", library(tmp_path, "-g"), "unlink")))
    assert [frame["function"] for frame in frames[:2]] == ["library_waits_below", "library_waits"]
    # What only the file's own table names needs the file, which /proc/PID/map_files keeps for the privileged.
    assert re.fullmatch(r"hidden_wait|libblocks\.so\.1\+0x[0-9a-f]+", frames[2]["function"])


@pytest.mark.on("native_calls")
@pytest.mark.parametrize("options", [["--pause=never"], ["--max-pause=0"]])
def test_without_a_stop_there_are_none_and_it_is_said(target, options):
    document, threads = picture(target, *options)
    assert document["snapshot"]["method"] in ("still", "validated")
    assert document["snapshot"]["paused_us"] == 0
    assert "--pause=never" in document["snapshot"]["native_note"]
    assert all(thread["native"] is None for thread in threads.values())
    assert threads[target.truth["main"]]["stack"]
    text = harness.aiotrace("pstree", "--native", *options, target.pid).text
    assert "no native stacks: no thread may be stopped" in text


def test_another_tracer_leaves_a_picture_without(some_python, start):
    target = start(some_python, "native_calls")
    tracer = subprocess.Popen(["strace", "-qq", "-o", "/dev/null", "-f", "-p", str(target.pid)], stderr=subprocess.DEVNULL)
    try:
        harness.wait_until(lambda: all(by == tracer.pid for _, _, by in harness.threads(target.pid)), "strace has them all")
        target.rest()
        document, threads = picture(target, PATIENT)
        assert "can't be stopped" in document["snapshot"]["native_note"]
        assert document["snapshot"]["consistent"]
        assert all(thread["native"] is None for thread in threads.values())
    finally:
        tracer.terminate()
        tracer.wait()


@pytest.mark.on("native_calls")
def test_no_stop_is_longer_than_allowed(target):
    for allowed in (50, 500):
        result = harness.aiotrace("pstree", "--json", "--native", "-v", f"--max-pause={allowed}", target.pid)
        stops = [int(us) for us in re.findall(r"threads stopped for (\d+) us", result.err)]
        assert stops and all(us <= 1000 * allowed for us in stops), result.err
        assert sum(stops) == schema.parse(result.out)["snapshot"]["paused_us"]
    target.rest()


@pytest.mark.on("native_calls")
@pytest.mark.parametrize("command", ["pstree", "ps"])
def test_in_text_native_frames_are_told_apart(target, command):
    result = harness.aiotrace(command, "--native", PATIENT, "--color=always", target.pid)
    lines = result.text.splitlines()
    python_line = next(line for line in lines if re.search(r" sleeps +\x1b.*native_calls\.py:\d+", line))
    native_line = next(line for line in lines if "clock_nanosleep" in line and "[libc" in line)
    # Of Python's frames the place alone is dim, of native ones the whole line.
    assert re.match(r" *sleeps", python_line) and re.match(r" *\x1b\[2mclock_nanosleep", native_line)
    assert "_PyEval_EvalFrameDefault" not in result.text
    target.rest()


@pytest.mark.on("native_calls")
def test_only_asked_for_are_they_read(target):
    document = schema.parse(harness.aiotrace("pstree", "--json", "--threads", target.pid).out)
    assert all(thread["native"] is None for thread in document["threads"])
    assert document["snapshot"]["paused_us"] == 0
