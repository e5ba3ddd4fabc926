# SPDX-License-Identifier: Apache-2.0
"""A minute of use: every key, every screen, other sizes, while the process changes; the sanitizers watch, and memory must not grow for ever."""

import random
import time

import harness
from terminal import KEYS, order

SECONDS = 60
# Quits, leaves the terminal, or writes files.
LEFT_OUT = ("f9", "f10", "escape")
TYPED = ["1", "2", "3", "4", "5", "6", "t", "f", "I", "n", "+", "-", " ", " ", "?", "?", "\t", "j", "k", "g", "G", ">", "/", "\\", "worker", "任务", "\x1b"]
SIZES = [(80, 24), (132, 43), (200, 60), (40, 12), (20, 5)]


def resident(pid):
    return int(harness.status(pid, pid)["VmRSS"].split()[0])


def test_a_minute_of_use(some_python, start, top):
    target = start(some_python, "moods")
    terminal = top(target.pid)
    terminal.shows("first-0")
    dice = random.Random(17)
    keys = [key for key in KEYS if key not in LEFT_OUT] + TYPED
    moods = ["ring", "unring", "block", "on", "exec"]
    half = None
    begin = time.monotonic()
    turn = 0
    while (passed := time.monotonic() - begin) < SECONDS:
        turn += 1
        for _ in range(8):
            terminal.press(dice.choice(keys))
        terminal.click(dice.randrange(terminal.screen.columns), dice.randrange(terminal.screen.lines), times=dice.choice([1, 2]))
        if turn % 10 == 0:
            terminal.resize(*dice.choice(SIZES))
        if turn % 15 == 0:
            order(target, moods[(turn // 15 - 1) % len(moods)])
        terminal.pump(0.2)
        assert terminal.process.poll() is None, terminal.text
        if half is None and passed > SECONDS / 2:
            half = resident(terminal.process.pid)
    assert resident(terminal.process.pid) < 2 * half + 65536, "kibibytes; a sanitizer keeps what was freed for a while"
    terminal.press("\x1b", "\x1b")
    terminal.resize(80, 24)
    terminal.press("1")
    terminal.shows("F10Quit")
    terminal.quit()
