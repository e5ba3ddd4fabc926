# SPDX-License-Identifier: Apache-2.0
"""Where CPython can be hidden: in libpython, in another namespace, in a file that is gone, under a strange name."""

import os
import pathlib
import shutil
import subprocess

import compare
import harness
import pytest
import schema

EMBEDS = "int Py_BytesMain(int, char **);\nint main(int argc, char **argv)\n{\n\treturn Py_BytesMain(argc, argv);\n}\n"


def read(pid):
    result = harness.aiotrace("pstree", "--json", pid)
    assert result.code == 0, result.err
    return schema.check(schema.parse(result.out))


def outer(python):
    """The folder that is / for this interpreter."""
    return pathlib.Path(python.command[1] if python.command[0].endswith("in-root") else "/")


def library(python):
    name = "libpython%d.%d%s.so.1.0" % (*python.minor, "d" if python.debug else "")
    found = outer(python) / "usr/lib" / f"{os.uname().machine}-linux-gnu" / name
    return found if python.command[-1].startswith("/usr/") and found.exists() else None


@pytest.fixture
def workshop():
    """A folder that is at the same path in every root."""
    folder = pathlib.Path("/tmp") / f"aiotrace-reach-{os.getpid()}"
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


def test_embedded_in_another_program(python, start, workshop):
    """A C program that runs Python from libpython, and is not called python."""
    shared = library(python)
    if shared is None:
        maps = start(python, "no_loop")
        assert "libpython" in pathlib.Path(f"/proc/{maps.pid}/maps").read_text() or python.command[-1].startswith("/usr/")
        return
    source, program = workshop / "server.c", workshop / "server"
    source.write_text(EMBEDS)
    link = [f"-L{shared.parent}", f"-l:{shared.name}", "-Wl,--allow-shlib-undefined"]
    subprocess.run(["cc", "-o", program, source, *link], check=True)
    own = harness.Python("server", python.version, python.flags, (*python.command[:-1], str(program)))
    target = start(own, "waits_tasks")
    differences = compare.tree(read(target.pid), target.truth)
    assert not differences, "\n".join(differences)


def test_its_file_is_gone(python, start, workshop):
    """An upgrade replaced the executable under the running process."""
    first = start(python, "no_loop")
    copy = workshop / "python-that-goes"
    shutil.copy(f"/proc/{first.pid}/exe", copy)
    home = subprocess.run(
        [*python.command, "-c", "import sys; print(sys.prefix)"], capture_output=True, text=True, check=True, cwd=harness.ROOT
    ).stdout.strip()
    own = harness.Python("gone", python.version, python.flags, (*python.command[:-1], str(copy)))
    libraries = {"LD_LIBRARY_PATH": f"{home}/lib"} if home != "/usr" else {}
    target = start(own, "waits_tasks", env={"PYTHONHOME": home, **libraries})
    copy.unlink()
    differences = compare.tree(read(target.pid), target.truth)
    assert not differences, "\n".join(differences)


def inner_process(pid):
    """The first process below `pid` that runs Python."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0])


def outside_tid(pid, inside):
    """The thread id that we know, of a thread that has the id `inside` in its own namespace."""
    for tid in os.listdir(f"/proc/{pid}/task"):
        if harness.status(pid, tid)["NSpid"].split()[-1] == str(inside):
            return int(tid)
    raise AssertionError(f"no thread {inside} in {pid}")


def test_in_a_container(python, start):
    """Process ids of its own, mounts of its own, a network and a host name of its own."""
    spaces = ("unshare", "--fork", "--pid", "--mount-proc", "--kill-child", "--net", "--uts", "--ipc")
    own = harness.Python("contained", python.version, python.flags, (*spaces, *python.command))
    target = start(own, "two_loops")
    pid = inner_process(target.pid)
    truth = dict(target.truth)
    assert truth["pid"] == 1
    truth["loops"] = [dict(loop, tid=outside_tid(pid, loop["tid"])) for loop in truth["loops"]]
    document = read(pid)
    assert document["target"]["pid"] == pid
    assert document["target"]["container"] is True
    differences = compare.tree(document, truth)
    assert not differences, "\n".join(differences)


def test_a_forked_child_that_goes_on(python, start):
    """A child made by os.fork() while the parent ran no loop, with a loop of its own."""
    code = (
        "import os, sys, runpy\n"
        "if os.fork():\n"
        "    os.wait()\n"
        f"sys.path.insert(0, {str(harness.FIXTURES)!r})\n"
        f"runpy.run_path({str(harness.FIXTURES / 'waits_sync.py')!r}, run_name='__main__')\n"
    )
    target = harness.Target([*python.command, "-c", code], cwd=harness.ROOT)
    pid = target.truth["pid"]
    try:
        assert pid != target.pid
        harness.wait_until(lambda: harness.resting(pid), "the child rests")
        differences = compare.tree(read(pid), target.truth)
        assert not differences, "\n".join(differences)
    finally:
        os.kill(pid, 9)
        target.may_end = True
        target.kill()
