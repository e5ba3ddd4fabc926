# SPDX-License-Identifier: Apache-2.0
"""`aiotrace run` as a child of the test, and what is left of it: every process below it carries a mark in its environment."""

import contextlib
import json
import os
import pathlib
import select
import subprocess
import time
import uuid

import harness


class Marked:
    """An environment by which all processes that it is handed down to can be found."""

    def __init__(self):
        self.mark = f"AIOTRACE_TEST_MARK={uuid.uuid4()}"
        name, _, value = self.mark.partition("=")
        self.env = {name: value}

    def living(self):
        found = []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if self.mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
        return found


def run(*arguments, command, env=None, **options):
    """To its end, and nothing of it is left."""
    marked = Marked()
    result = harness.aiotrace("run", *arguments, "--", *command, env={**marked.env, **(env or {})}, **options)
    assert marked.living() == []
    return result


class Running:
    """`aiotrace run` at work; its command speaks JSON, a line each."""

    def __init__(self, *arguments, command, prefix=(), **options):
        self.marked = Marked()
        self.process = subprocess.Popen(
            [*prefix, harness.BINARY, "run", *map(str, arguments), "--", *map(str, command)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **self.marked.env},
            start_new_session=True,
            **options,
        )
        self.rest = b""

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.process.kill()
        self.process.communicate()
        harness.wait_until(lambda: self.marked.living() == [], "all processes below have ended")

    def says(self):
        """The next line of the command."""
        deadline = time.monotonic() + harness.PATIENCE
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            chunk = os.read(self.process.stdout.fileno(), 65536) if ready else b""
            assert chunk, f"the command says nothing more: {self.process.poll()}"
            self.rest += chunk
        line, _, self.rest = self.rest.partition(b"\n")
        return json.loads(line)

    def tell(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def end(self):
        """(exit code, the rest of standard error), and nothing is left."""
        out, err = self.process.communicate(timeout=harness.PATIENCE)
        result = harness.checked(harness.Result(self.process.returncode, out, err.decode("utf-8", "replace"), ["run"]))
        assert self.marked.living() == []
        return result.code, result.err
