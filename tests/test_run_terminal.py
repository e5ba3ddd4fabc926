# SPDX-License-Identifier: Apache-2.0
"""run on a terminal: keys reach the command once, job control works, and what is left of the terminal is in order."""

import json
import os
import signal
import sys
import termios

import harness
import pexpect
import pytest

SPEAKER = f"{sys.executable} {harness.FIXTURES / 'signals.py'}"


@pytest.fixture
def terminal():
    """Starts programs under a terminal of their own."""
    started = []

    def spawn(command, *arguments):
        child = pexpect.spawn(command, list(map(str, arguments)), timeout=harness.PATIENCE, echo=False, encoding="utf-8")
        started.append(child)
        return child

    yield spawn
    for child in started:
        child.close(force=True)


@pytest.fixture
def bash(terminal):
    child = terminal("bash", "--norc", "--noediting", "-i")
    child.sendline("PS1='>''>'; bind 'set enable-bracketed-paste off' 2>/dev/null")
    child.expect(">>")
    return child


def says(child):
    child.expect(r"(\{[^\r\n]*\})\r\n")
    return json.loads(child.match[1])


def test_a_key_reaches_the_command_once(terminal):
    child = terminal(str(harness.BINARY), "run", "--timeout=600", "--", *SPEAKER.split())
    assert says(child)["parent"] == child.pid
    for key, name in (("\x03", "SIGINT"), ("\x1c", "SIGQUIT"), ("\x1a", "SIGTSTP")):
        child.send(key)
        assert says(child) == {"signal": name}
        # It comes to us after that key's signal, and is passed on after whatever we made of it.
        os.kill(child.pid, signal.SIGUSR2)
        assert says(child) == {"signal": "SIGUSR2"}
    child.setwinsize(33, 99)
    assert says(child) == {"signal": "SIGWINCH"}
    child.sendline("end 9")
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 9


def test_job_control_stops_and_goes_on(bash):
    bash.sendline(f"{harness.BINARY} run --timeout=600 -- {SPEAKER} SIGTSTP")
    said = says(bash)
    bash.send("\x1a")
    bash.expect("Stopped")
    bash.expect(">>")
    for pid in (said["pid"], said["parent"]):
        harness.wait_until(lambda pid=pid: harness.threads(pid)[0][1] == "T", "both are stopped")
    bash.sendline("fg")
    while says(bash) != {"signal": "SIGCONT"}:
        pass
    bash.sendline("hello")
    heard = says(bash)
    while heard == {"signal": "SIGCONT"}:
        heard = says(bash)
    assert heard == {"line": ["hello"]}
    bash.sendline("end 4")
    bash.expect(">>")
    bash.sendline("echo code=$?")
    bash.expect("code=4\r\n")


def test_time_stopped_does_not_count(bash):
    bash.sendline(f"{harness.BINARY} run --timeout=4 -- {SPEAKER} SIGTSTP")
    said = says(bash)
    bash.send("\x1a")
    bash.expect("Stopped")
    bash.expect(">>")
    bash.sendline("sleep 4.5; fg")
    while says(bash) != {"signal": "SIGCONT"}:
        pass
    os.kill(said["parent"], signal.SIGUSR1)
    heard = says(bash)
    while heard == {"signal": "SIGCONT"}:
        heard = says(bash)
    assert heard == {"signal": "SIGUSR1"}
    bash.sendline("end 0")
    bash.expect(">>")
    bash.sendline("echo code=$?")
    bash.expect("code=0\r\n")


def test_the_terminal_is_given_back(bash):
    """The command made the terminal raw and took its foreground; both are mended when it is ended."""
    script = "stty raw -echo; set -m; sleep 600 & fg"
    bash.sendline(f"stty echo; {harness.BINARY} run --timeout=1.5 --grace=0.5 -- bash -c '{script}'; echo code=$?")
    bash.expect("code=124\r\n")
    modes = termios.tcgetattr(bash.child_fd)
    assert modes[3] & termios.ICANON and modes[3] & termios.ECHO and modes[1] & termios.OPOST
    bash.sendline("echo alive")
    bash.expect("alive\r\n")
