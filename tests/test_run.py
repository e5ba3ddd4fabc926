# SPDX-License-Identifier: Apache-2.0
"""run: the command's exit code, its signals, its streams; and that nothing is left of it."""

import signal
import subprocess
import sys
import time

import harness
import pytest
from running import Running, run

SIGNALS = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGWINCH", "SIGCONT")


def shell(script, *arguments):
    return ["sh", "-c", script, "sh", *map(str, arguments)]


def speaker(*arguments):
    return [sys.executable, harness.FIXTURES / "signals.py", *arguments]


@pytest.mark.parametrize("code", [0, 1, 7, 124, 255])
def test_exit_code_is_the_commands(code):
    result = run(command=shell(f"exit {code}"))
    assert (result.code, result.out, result.err) == (code, b"", "")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGPIPE])
def test_exit_code_tells_the_signal(number):
    assert run(command=shell(f"ulimit -c 0; kill -{int(number)} $$")).code == 128 + number


def test_no_such_command(tmp_path):
    result = run(command=[tmp_path / "nothing"])
    assert result.code == 127
    assert result.err.startswith("aiotrace: ") and "nothing" in result.err and len(result.err.splitlines()) == 1
    (tmp_path / "plain").write_text("no program")
    assert run(command=[tmp_path / "plain"]).code == 126
    assert run(command=[tmp_path]).code == 126


def test_options_end_at_the_command():
    result = harness.aiotrace("run", "--timeout", "60", "echo", "--timeout", "--json", "-v")
    assert (result.code, result.text) == (0, "--timeout --json -v\n")


@pytest.mark.parametrize(
    "options",
    [[], ["--"], ["--timeout=soon", "true"], ["--timeout=-1", "true"], ["--stall=0", "true"], ["--grace=x", "true"],
     ["--report=", "true"], ["--only=nothing", "true"], ["--json", "true"], ["--children", "true"], ["--timeout"]],
)  # fmt: skip
def test_wrong_usage(options):
    result = harness.aiotrace("run", *options)
    assert result.code == 2 and result.out == b"", result.err
    assert result.err.startswith("aiotrace: ") and len(result.err.splitlines()) == 1


def test_streams_are_the_commands():
    hostile = bytes(range(256)) * 100
    command = [harness.BINARY, "run", "--timeout=60", "--", "sh", "-c", "cat; echo said >&2"]
    ended = subprocess.run(command, input=hostile, capture_output=True, timeout=harness.PATIENCE)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, hostile, b"said\n")


@pytest.mark.parametrize("before", [[], ["--ignore-signal=HUP,INT,PIPE,CHLD"], ["--block-signal=USR1,TERM"]])
def test_the_command_inherits_signals_as_they_were(before):
    command = ["grep", "^Sig[BI]", "/proc/self/status"]
    direct, below = (
        subprocess.run(["env", *before, *prefix, *command], capture_output=True, check=True).stdout
        for prefix in ([], [harness.BINARY, "run", "--timeout=60", "--"])
    )
    assert direct == below and direct.count(b"\n") == 2


def test_the_command_is_a_child_in_our_group():
    with Running(command=speaker()) as running:
        said = running.says()
        assert said["parent"] == said["group"] == running.process.pid
        assert said["files"] == [0, 1, 2]
        running.tell("end 3")
        assert running.end() == (3, "")


def test_signals_go_on_to_the_command_once():
    with Running(command=speaker()) as running:
        running.says()
        for name in SIGNALS:
            running.process.send_signal(getattr(signal, name))
            assert running.says() == {"signal": name}
        running.tell("still there")
        assert running.says() == {"line": ["still", "there"]}
        running.tell("end 0")
        assert running.end() == (0, "")


def test_a_signal_that_ends_the_command_ends_us():
    with Running("--timeout=600", command=shell("sleep 600 & echo '{}'; wait")) as running:
        running.says()
        running.process.terminate()
        code, err = running.end()
    assert code == 128 + signal.SIGTERM
    assert err == "aiotrace: the command has ended, but left 1 process: ended too\n"


def test_killed_we_take_the_command_along():
    with Running(command=speaker()) as running:
        running.says()
        running.process.kill()
        harness.wait_until(lambda: running.marked.living() == [], "the command has ended")


def test_time_limit():
    started = time.monotonic()
    result = run("--timeout=1.5", command=shell("echo begun; sleep 600"))
    took = time.monotonic() - started
    assert (result.code, result.text) == (124, "begun\n")
    assert 1.5 <= took < 30
    assert result.err.startswith("aiotrace: no end after 1.5 s; 2 processes, ended now\n")
    assert "process" in result.err and "sleep 600" in result.err and "clock_nanosleep" in result.err


STAYS = {
    "a child": "sleep 600 & echo '{}'; wait",
    "another session": "setsid sleep 600 & echo '{}'; wait",
    "a daemon": "(setsid sh -c 'sleep 600 & sleep 600' &) ; echo '{}'; sleep 600",
    "stopped": "sh -c 'kill -STOP $$' & echo '{}'; wait",
    "deaf": "trap '' TERM INT HUP; setsid sleep 600 & echo '{}'; while :; do sleep 600; done",
    "breeds": "f() { trap 'f & f &' TERM; echo '{}'; while :; do sleep 600 & wait; done; }; f",
}


@pytest.mark.parametrize("kind", STAYS)
def test_nothing_is_left_after_the_limit(kind):
    result = run("--timeout=1", "--grace=0.3", command=shell(STAYS[kind]))
    assert result.code == 124 and result.text.startswith("{}\n")


def test_term_first_then_kill(tmp_path):
    result = run("--timeout=1", command=shell('trap "echo ended; exit 0" TERM; echo begun; sleep 600 & wait'))
    assert (result.code, result.text) == (124, "begun\nended\n")


def test_asked_again_the_grace_is_over():
    script = "trap '' TERM; echo '{}'; while :; do sleep 600; done"
    with Running("--timeout=0.5", "--grace=600", command=shell(script)) as running:
        running.says()
        for _ in iter(running.process.stderr.readline, b""):
            if b"sleeping in wait4" in _:
                break
        running.process.terminate()
        code, _ = running.end()
    assert code == 124


def test_what_the_command_leaves_is_ended_and_said():
    result = run(command=shell("setsid sleep 600 & (sleep 600 & exec sleep 600) & exit 5"))
    assert result.code == 5
    assert result.err == "aiotrace: the command has ended, but left 3 processes: ended too\n"


def test_helpers_that_end_by_themselves_are_not_mentioned():
    result = run(command=[sys.executable, "-c", "import subprocess; subprocess.Popen(['cat'], stdin=subprocess.PIPE); print('bye')"])
    assert (result.code, result.text, result.err) == (0, "bye\n", "")


def test_an_ordinary_user_may_run_it(tmp_path):
    """All that it looks at are descendants."""
    script = "import asyncio; asyncio.run(asyncio.Event().wait())"
    result = harness.aiotrace_as_nobody("run", "--stall=2", "--timeout=60", "--", "/usr/bin/python3", "-c", script)
    assert result.code == 124, result.err
    assert "Event, not set" in result.err
