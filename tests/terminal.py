# SPDX-License-Identifier: Apache-2.0
"""The dashboard in a pseudo-terminal with a terminal emulator behind it: keys go in, the screen comes out."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import harness
import pyte

KEYS = {
    "up": "\x1bOA", "down": "\x1bOB", "right": "\x1bOC", "left": "\x1bOD", "home": "\x1bOH", "end": "\x1bOF", "page up": "\x1b[5~",
    "page down": "\x1b[6~", "enter": "\r", "escape": "\x1b", "backspace": "\x7f", "tab": "\t", "f1": "\x1bOP", "f3": "\x1bOR",
    "f4": "\x1bOS", "f5": "\x1b[15~", "f6": "\x1b[17~", "f7": "\x1b[18~", "f8": "\x1b[19~", "f9": "\x1b[20~", "f10": "\x1b[21~",
}  # fmt: skip
ALTERNATE, BACK = b"\x1b[?1049h", b"\x1b[?1049l"


def order(target, command, wait=True):
    """Tells fixtures/moods.py what to do; answers its answer."""
    os.write(target.process.stdin.fileno(), command.encode() + b"\n")
    return target.first_line() if wait else None


class Screen(pyte.Screen):
    """With what pyte lacks and ncurses uses: the last character again, and scrolling."""

    last = " "

    def draw(self, data):
        super().draw(data)
        self.last = data[-1]

    def repeat(self, count=1):
        self.draw(self.last * max(count, 1))

    def at_top(self, change, count):
        x, y = self.cursor.x, self.cursor.y
        self.cursor.y = self.margins.top if self.margins else 0
        change(count)
        self.cursor.x, self.cursor.y = x, y

    def scroll_up(self, count=1):
        self.at_top(self.delete_lines, count)

    def scroll_down(self, count=1):
        self.at_top(self.insert_lines, count)


class Stream(pyte.ByteStream):
    csi = {**pyte.ByteStream.csi, "b": "repeat", "S": "scroll_up", "T": "scroll_down"}
    events = pyte.ByteStream.events | {"repeat", "scroll_up", "scroll_down"}


class Terminal:
    """`top` with its arguments; ends with `end`, which no test may forget (the fixture `top` does it)."""

    def __init__(self, *arguments, columns=80, rows=24, env=None, cwd=None):
        self.screen = Screen(columns, rows)
        self.stream = Stream(self.screen)
        self.raw = b""
        self.master, self.slave = pty.openpty()
        self.set_size(columns, rows)
        self.modes = termios.tcgetattr(self.slave)
        environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "LINES", "COLORTERM")}
        environment.update({"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **(env or {})})
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", str(harness.BINARY), "top", *map(str, arguments)],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            env=environment,
            cwd=cwd,
            preexec_fn=self.own_terminal,
        )

    def own_terminal(self):
        os.setsid()
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)

    def set_size(self, columns, rows):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        self.screen.resize(rows, columns)
        self.set_size(columns, rows)

    def pump(self, seconds=0.05):
        """Takes what was written, for no longer than that."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return False
        chunk = os.read(self.master, 1 << 16)
        self.raw += chunk
        self.stream.feed(chunk)
        return True

    @property
    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self):
        return "\n".join(self.lines)

    def until(self, condition, what):
        """Waits until the screen is so; the condition sees whole drawings or parts of them."""
        deadline = time.monotonic() + harness.PATIENCE
        while not condition(self.text):
            assert time.monotonic() < deadline, f"waited in vain for {what}:\n{self.text}"
            assert self.process.poll() is None or self.pump(0), f"ended before {what}:\n{self.text}"
            self.pump()
        return self.text

    def shows(self, *parts):
        return self.until(lambda text: all(part in text for part in parts), f"{parts}")

    def hides(self, part):
        return self.until(lambda text: part not in text, f"no {part!r}")

    def press(self, *keys):
        for key in keys:
            os.write(self.master, KEYS.get(key, key).encode())

    def click(self, x, y, button=0, times=1):
        """With xterm's reports, one-based; the wheel is buttons 64 and 65."""
        for _ in range(times):
            os.write(self.master, f"\x1b[<{button};{x + 1};{y + 1}M\x1b[<{button};{x + 1};{y + 1}m".encode())

    def find(self, part):
        """(x, y) of the part on the screen."""
        for y, line in enumerate(self.screen.display):
            if part in line:
                return line.index(part), y
        raise AssertionError(f"{part!r} is not on the screen:\n{self.text}")

    def selected(self):
        """The line that is drawn in reverse in the table: headings, selection, footer may be; the first below the headings is it."""
        for y in range(self.screen.lines):
            cells = self.screen.buffer[y]
            if all(cells[x].reverse for x in range(self.screen.columns)):
                if not any(word in self.screen.display[y] for word in ("WAITS ON", "F10Quit")):
                    return self.screen.display[y].rstrip()
        return None

    def ended(self):
        """Takes all that is left; answers the exit code."""
        deadline = time.monotonic() + harness.PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"does not end:\n{self.text}"
            self.pump()
        while self.pump(0):
            pass
        for word in harness.SANITIZERS:
            assert word.encode() not in self.raw, self.raw[-4000:].decode("utf-8", "replace")
        return self.process.returncode

    def restored(self):
        """The terminal is as it was: its modes, its first screen, its cursor."""
        assert termios.tcgetattr(self.slave) == self.modes
        assert self.raw.count(ALTERNATE) == 1 and self.raw.count(BACK) >= 1
        assert self.raw.rindex(BACK) > self.raw.rindex(ALTERNATE)
        assert not self.screen.cursor.hidden and not {1000 << 5, 1006 << 5} & self.screen.mode
        return True

    def quit(self):
        self.press("q")
        assert self.ended() == 0
        return self.restored()

    def end(self):
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)
