# SPDX-License-Identifier: Apache-2.0
"""Each finding on the dashboard: on the first screen and on its own, at every size; how it comes, stands, goes and is counted."""

import re

import pytest
from terminal import order

SIZES = [(80, 24), (132, 43), (200, 60)]
# The state, what its line on the first screen says, and a piece of its evidence.
STATES = {
    "await-cycle": ("ring", "wait for each other in a ring", "ring"),
    "blocked-loop": ("blocks sleep", "has held the loop's thread", "blocked for"),
    "cancelled-timer-leak": ("timers_cancelled leaks", "timers are cancelled", "lasting"),
    "dead-loop": ("dead event", "nothing can ever", "excluded"),
    "enter-task-window": ("window enters", "is entered", "samples with it"),
    "executor-saturated": ("pools sleeps 4 10", "all 4 workers", "queued"),
    "gil-starved": ("gil_held", "has waited for the GIL", "holder tid"),
    "lost-wakeup": ("free_locks", "nobody", "waits on"),
    "never-retrieved": ("leftovers", "nobody has looked at", "exception"),
    "ready-backlog": ("backlog steady", "callbacks are ready", "most frequent"),
    "shared-loop": ("window enters", "as its running loop", "samples with it"),
    "stalled-loop": ("stalls call-soon", "nothing woke", "system call"),
    "swallowed-cancel": ("cancels", "was asked to cancel", "asked"),
}


def words(terminal):
    """The screen as one line: a sentence may be broken anywhere between words."""
    return re.sub(r"\s+", " ", terminal.text)


@pytest.mark.parametrize("locale", ["C.UTF-8", "C"])
@pytest.mark.parametrize("finding", STATES)
def test_each_finding_on_both_screens(finding, locale, some_python, python_before_314, start, top):
    state, sentence, evidence = STATES[finding]
    target = start(python_before_314 if finding == "enter-task-window" else some_python, *state.split())
    terminal = top(f"--only={finding}", target.pid, env={"LC_ALL": locale})
    for columns, rows in SIZES:
        terminal.resize(columns, rows)
        terminal.press("1")
        terminal.until(lambda _: f"{finding}: " in words(terminal) and sentence in words(terminal), f"{finding} and the tasks below")
        terminal.shows("for ", "WAITS ON", "F10Quit")
        terminal.press("5")
        terminal.until(lambda _: evidence in words(terminal), f"its evidence: {evidence}")
        terminal.shows(f"{finding}: ", "stands for", "came 1 time", "F10Quit")
        assert max(map(len, terminal.lines)) <= columns
        assert terminal.text.isascii() or locale != "C"
    terminal.quit()


def test_a_finding_comes_stands_and_goes(python, start, top):
    target = start(python, "moods")
    terminal = top(target.pid, columns=120)
    terminal.shows("no findings")
    order(target, "ring")
    terminal.until(lambda text: re.search(r"for \d+ ms  critical\s+await-cycle|for \d.* critical +await-cycle", text), "the ring")
    terminal.press("5")
    terminal.shows("await-cycle", "stands for", "came 1 time", "what to do")
    order(target, "unring")
    terminal.shows("gone since", "came 1 time")
    terminal.press("1")
    terminal.until(lambda text: re.search(r"gone .* ago, (stood|seen once).*await-cycle", text), "it is kept, greyed")
    order(target, "ring")
    terminal.until(lambda text: text.count("await-cycle") == 2, "the other ring beside the one that is gone")
    terminal.quit()


def test_the_same_finding_again_is_counted(some_python, start, top):
    target = start(some_python, "moods")
    terminal = top(target.pid, columns=120)
    terminal.shows("no findings")
    terminal.press("5")
    for times in ("came 1 time", "came 2 times"):
        order(target, "block")
        terminal.shows("blocked-loop", "stands for", times)
        order(target, "on")
        terminal.shows("gone since", times)
    terminal.quit()


WATCHED = re.compile(r"watched: ([\d,]+) windows?, (?:longest .*?|(?:each )?seen but once), in ([\d,]+) of ([\d,]+) samples of the watch")


def watched(text):
    """Windows, samples of the watch with one, all its samples; None: not on the screen."""
    found = WATCHED.search(text)
    return found and [int(number.replace(",", "")) for number in found.groups()]


def test_windows_of_a_millisecond_are_counted_and_kept(python, start, top):
    target = start(python, "window", "brief")
    finding = "shared-loop" if target.truth["thread_tasks"] else "enter-task-window"
    terminal = top(target.pid, columns=160, rows=50)
    terminal.press("5")
    terminal.until(lambda text: finding in text and (watched(text) or [0])[0] >= 3, "windows seen between the samples")
    terminal.press("1")
    terminal.until(lambda text: re.search(r"[\d,]+ windows  critical +" + finding, text), "how many, on the first screen")
    target.process.stdin.write(b"\n")
    target.process.stdin.flush()
    target.first_line()
    terminal.press("5")
    begun = {}

    def rests(text):
        """None is counted any more while the watch goes on. The last ones may come after the finding was gone for a moment."""
        if not (counts := watched(text)) or "gone since" not in text:
            return False
        return counts[2] > begun.setdefault(tuple(counts[:2]), counts[2]) + 100

    windows, with_one, samples = watched(terminal.until(rests, "the watch to go on and see none"))
    assert 3 <= windows <= with_one < samples
    terminal.quit()
