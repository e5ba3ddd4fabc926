# SPDX-License-Identifier: Apache-2.0
"""What watching costs: `aiotrace top` at its default rates, in a terminal that is read.

Targets have tasks that rest, and four that hand a token around. The processor time of a watcher, user and system, is taken over a span
after it has warmed up. What it costs the target is how many fewer turns the token makes a second of the target's own clock: spans without
it (it is held by SIGSTOP) and with it in turn (A B A B ... A), each with it beside the mean of those before and after, so that a machine
whose speed drifts slows both.

`py-spy record` at as many samples a second is the peer for the processor time; it reads the threads' stacks alone, no tasks.
"""

import os
import pathlib
import re
import select
import signal
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import harness  # noqa: E402
from terminal import Terminal, order  # noqa: E402

PEER = pathlib.Path(sys.executable).with_name("py-spy")
GOALS = {1000: 3, 10000: 15}  # per cent of a core
GOAL_LOSS = 1  # per cent of the turns
PACES = {"busy": "as fast as the loop goes", "slow": "50 times a second"}
COLUMNS, ROWS = 132, 43
WARM, SPAN = 2, 8  # seconds, for the cost
SETTLE, TURN = 0.2, 1  # seconds, for the turns
SAMPLES = re.compile(r"([\d.]+)(?: of \d+)? samples/s")


def processor_seconds(pid):
    """User and system time of a whole process (clock_getcpuclockid(3))."""
    return time.clock_gettime((~pid << 3) | 2)


class Top:
    label = "aiotrace top"

    def __init__(self, pid):
        self.terminal = Terminal(pid, columns=COLUMNS, rows=ROWS)
        self.process = self.terminal.process
        self.drawn = []

    def read(self, seconds):
        """Takes what is drawn; samples() puts it on a screen, which costs far more than drawing it did."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if select.select([self.terminal.master], [], [], left)[0]:
                self.drawn.append(os.read(self.terminal.master, 1 << 16))

    def samples(self):
        """Median of the samples a second that the drawings said since the last call."""
        said = []
        while self.drawn:
            self.terminal.stream.feed(self.drawn.pop(0))
            said += SAMPLES.findall(self.terminal.text)
        return statistics.median(map(float, said)) if said else None

    def end(self):
        self.terminal.end()


class Peer:
    label = "py-spy record (stacks only)"

    def __init__(self, pid):
        command = [PEER, "record", "-r", "10", "-d", "3600", "--nonblocking", "-f", "raw", "-o", os.devnull, "--pid", str(pid)]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def read(self, seconds):
        time.sleep(seconds)

    def samples(self):
        return None

    def end(self):
        self.process.kill()
        self.process.wait()


def cost(watcher):
    """None: it has ended by itself."""
    pid = watcher.process.pid
    watcher.read(WARM)
    watcher.samples()
    cpu, start = processor_seconds(pid), time.monotonic()
    watcher.read(SPAN)
    share = (processor_seconds(pid) - cpu) / (time.monotonic() - start)
    if watcher.process.poll() is not None:
        return None
    resident = int(harness.status(pid, pid)["VmRSS"].split()[0])
    return {"core_percent": 100 * share, "samples_per_second": watcher.samples(), "resident_kib": resident}


def turns(target, read):
    """The target's turns a second, while the watcher is read so."""
    read(SETTLE)
    before = order(target, "tell")
    read(TURN)
    after = order(target, "tell")
    return (after["turns"] - before["turns"]) / (after["at"] - before["at"])


def changes(target, watcher, pairs):
    """(turns a second without the watcher, what became of them with it, per cent)."""
    pid = watcher.process.pid
    without, found = [], []
    for number in range(pairs + 1):
        os.kill(pid, signal.SIGSTOP)
        without.append(turns(target, time.sleep))
        if number:
            found.append(100 * (beside / statistics.mean(without[-2:]) - 1))
        os.kill(pid, signal.SIGCONT)
        beside = turns(target, watcher.read)
    return statistics.median(without), {"median": statistics.median(found), "min": min(found), "max": max(found)}


def measure(python, tasks, pace, pairs):
    target = harness.Target([*python, ROOT / "fixtures" / "steady.py", tasks, pace])
    figures = {}
    try:
        peer = Peer(target.pid)
        try:
            figures[Peer.label] = cost(peer)
        finally:
            peer.end()
        top = Top(target.pid)
        try:
            figures[Top.label] = cost(top)
            figures["turns_per_second"], figures["turns_percent"] = changes(target, top, pairs)
        finally:
            top.end()
    finally:
        target.kill()
    return figures


def show(label, row, goal=""):
    if row is None:
        return f"  {label:<28} FAILED (has ended by itself)"
    samples = f"{row['samples_per_second']:4.1f} samples/s" if row["samples_per_second"] else ""
    resident = f"resident {row['resident_kib'] / 1024:7.1f} MiB"
    return f"  {label:<28} {row['core_percent']:10.1f} % of a core{goal:<12}  {resident}  {samples}".rstrip()


def run(python, counts, pairs):
    """Prints the table; answers its figures. The goals stand beside them and decide nothing."""
    figures = {}
    print(f"watching for {SPAN} s, aiotrace top in a {COLUMNS}x{ROWS} terminal; turns without and with it, {pairs} pairs of {TURN} s")
    for tasks in counts:
        for pace, words in PACES.items():
            rows = figures[f"{tasks} {pace}"] = measure(python, tasks, pace, pairs)
            change = rows["turns_percent"]
            print(f"{tasks:,} tasks that rest, a token handed around {words}: {rows['turns_per_second']:,.1f} turns/s")
            print(show(Top.label, rows[Top.label], f" (goal < {GOALS[tasks]})"))
            spread = f"({change['min']:+.1f} .. {change['max']:+.1f})"
            print(f"  turns of the target          {change['median']:+10.1f} % (goal > -{GOAL_LOSS})  {spread}")
            print(show(Peer.label, rows[Peer.label]), flush=True)
    return figures
