# SPDX-License-Identifier: Apache-2.0
"""Whole-process times, processor times and peak memory of `aiotrace pstree` beside CPython's own `python -m asyncio pstree`; then what
`aiotrace top` costs itself and its target (dashboard.py).

Both read the same live target in the same run, in turn (A B A B ...), so that a machine whose speed drifts slows both. Times are wall-clock
seconds from start to exit with the output thrown away; processor time (user and system) is less moved by what else the machine does; memory is the peak resident size that the kernel accounts to the process (KiB).

    tests/bench/bench.py [--runs N] [--pairs N] [--tasks 1000,10000,100000] [--python ID] [--json FILE]
"""

import argparse
import json
import os
import pathlib
import resource
import shlex
import statistics
import subprocess
import sys
import time

import dashboard

ROOT = pathlib.Path(__file__).resolve().parents[2]
AIOTRACE = os.environ.get("AIOTRACE_BINARY", str(ROOT / "build" / "aiotrace"))


def interpreters():
    """(id, version tuple, command words) of every interpreter that tools/interpreters finds."""
    out = subprocess.run([ROOT / "tools" / "interpreters"], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        name, version, flags, command = line.split("\t")
        if flags == "release":
            yield name, tuple(int(p) for p in version.split(".")[:2]), shlex.split(command)


def run_once(command):
    """(seconds, peak KiB, exit code, bytes printed, processor seconds) of one whole process."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    printed = 0
    while chunk := os.read(child.stdout.fileno(), 1 << 20):
        printed += len(chunk)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    child.stdout.close()
    return seconds, usage.ru_maxrss, child.returncode, printed, usage.ru_utime + usage.ru_stime


def pairs(ours, theirs, runs):
    """Runs of both commands in turn, the first of each not counted."""
    results = {"ours": [], "theirs": []}
    for i in range(runs + 1):
        for key, command in (("ours", ours), ("theirs", theirs)):
            if command is None:
                continue
            row = run_once(command)
            if i:
                results[key].append(row)
    return results


def summary(rows):
    if not rows:
        return None
    return {
        "median_s": statistics.median(r[0] for r in rows),
        "min_s": min(r[0] for r in rows),
        "max_s": max(r[0] for r in rows),
        "cpu_median_s": statistics.median(r[4] for r in rows),
        "peak_kib": max(r[1] for r in rows),
        "exit": sorted({r[2] for r in rows}),
        "bytes": rows[0][3],
    }


def let_peer_find_files(python):
    """Inside a folder made by debootstrap the peer opens its target's files by their names outside: make those lead inside."""
    if python[0].endswith("/in-root"):
        name = pathlib.Path(python[1] + python[1])
        name.parent.mkdir(parents=True, exist_ok=True)
        if not name.is_symlink():
            name.symlink_to("/")


def start_target(python, tasks):
    child = subprocess.Popen([*python, str(ROOT / "fixtures" / "fold.py"), str(tasks)], stdout=subprocess.PIPE, text=True,
                             env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    line = child.stdout.readline()
    if not line.strip():
        child.kill()
        raise SystemExit(f"bench: the target with {tasks} tasks did not start")
    return child


def show(label, s):
    if s is None:
        return f"  {label:<28} -"
    state = "" if s["exit"] == [0] else f"  FAILED (exit {s['exit']})"
    return (f"  {label:<28} {s['median_s'] * 1e3:10.1f} ms  ({s['min_s'] * 1e3:.1f} .. {s['max_s'] * 1e3:.1f})"
            f"  cpu {s['cpu_median_s'] * 1e3:8.1f} ms  peak {s['peak_kib'] / 1024:7.1f} MiB  {s['bytes']:>10} bytes{state}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--pairs", type=int, default=12, help="spans without and with the dashboard (default: 12)")
    parser.add_argument("--tasks", default="1000,10000,100000")
    parser.add_argument("--python", help="id of an interpreter (default: the first release build of 3.14)")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures here too")
    args = parser.parse_args()
    found = [i for i in interpreters() if (i[0] == args.python if args.python else i[1] == (3, 14))]
    if not found:
        sys.exit("bench: no such interpreter (see tools/interpreters)")
    name, version, python = found[0]
    let_peer_find_files(python)
    print(f"target: {name}, {args.runs} counted runs of each, in turn; {os.cpu_count()} processors")
    figures = {}
    counts = [int(n) for n in args.tasks.split(",")]
    for tasks in counts:
        target = start_target(python, tasks)
        try:
            pid = str(target.pid)
            peer = [*python, "-m", "asyncio", "pstree", pid] if version >= (3, 14) else None
            runs = args.runs if tasks < 50000 else min(args.runs, 3)
            rows = {key: summary(value) for key, value in pairs([AIOTRACE, "pstree", pid], peer, runs).items()}
            rows["json"] = summary([run_once([AIOTRACE, "pstree", "--json", pid]) for _ in range(runs)])
            rows["ps"] = summary([run_once([AIOTRACE, "ps", pid]) for _ in range(runs)])
        finally:
            target.kill()
            target.wait()
        figures[tasks] = rows
        print(f"{tasks:,} tasks, chains of depth 3")
        print(show("aiotrace pstree", rows["ours"]))
        print(show("aiotrace pstree --json", rows["json"]))
        print(show("aiotrace ps", rows["ps"]))
        print(show("python -m asyncio pstree", rows["theirs"]))
        if rows["theirs"]:
            ratio = {key: rows["theirs"][key] / rows["ours"][key] for key in ("median_s", "cpu_median_s")}
            print(f"  ratio of the medians         {ratio['median_s']:10.1f} x   of processor time {ratio['cpu_median_s']:.1f} x")
    figures["top"] = dashboard.run(python, [n for n in counts if n in dashboard.GOALS], args.pairs)
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1))
    return 0


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.exit(main())
