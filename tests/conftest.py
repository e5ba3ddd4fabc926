# SPDX-License-Identifier: Apache-2.0
"""Every test runs over every interpreter at hand; after each one, every target must be as it was.

    @pytest.mark.on("waits_tasks", "ring")      the fixtures that a test (or a module, by pytestmark) looks at,
                                                each with its arguments
    @pytest.mark.since(3, 12)                   only where that minor version's feature exists
"""

import contextlib
import functools

import harness
import pytest
from terminal import Terminal

interpreters = functools.cache(harness.interpreters)


def pytest_configure(config):
    config.addinivalue_line("markers", "on(*fixtures): which fixtures the `target` of this test runs")
    config.addinivalue_line("markers", "since(major, minor): the first version that has what the fixture needs")
    config.addinivalue_line("markers", "plain_only: says nothing about the binary that the sanitizer build could tell otherwise")
    config.addinivalue_line("markers", "release: release builds alone")


def pythons(definition):
    since = max((marker.args for marker in definition.iter_markers("since")), default=(0, 0))
    release = definition.get_closest_marker("release") is not None
    return [
        python
        for python in interpreters()
        if python.supported and python.minor >= since and not (release and python.debug)
    ]


def pytest_generate_tests(metafunc):
    definition = metafunc.definition
    if "target" in metafunc.fixturenames:
        names = definition.get_closest_marker("on").args
        pairs = [(python, name) for python in pythons(definition) for name in names]
        ids = [f"{python.id}-{name.replace(' ', '-')}" for python, name in pairs]
        metafunc.parametrize("target", pairs, indirect=True, scope="module", ids=ids)
    elif "python" in metafunc.fixturenames:
        here = pythons(definition)
        metafunc.parametrize("python", here, ids=[python.id for python in here])
    if "refused_python" in metafunc.fixturenames:
        here = [python for python in interpreters() if not python.supported]
        metafunc.parametrize("refused_python", here, ids=[python.id for python in here])


@pytest.fixture(scope="module")
def target(request):
    """A process of one interpreter on one fixture, kept for all tests of the module that only look at it."""
    python, name = request.param
    process = harness.start(python, *name.split())
    process.python = python
    yield process
    process.kill()


@pytest.fixture
def start():
    """Starts targets that end with the test."""
    started = []

    def start_one(python, fixture, *arguments, **options):
        started.append(harness.start(python, fixture, *arguments, **options))
        started[-1].python = python
        return started[-1]

    yield start_one
    with contextlib.ExitStack() as ends:
        for process in started:
            ends.callback(process.kill)
        for process in started:
            if process.stopped:
                process.go_on()
        for process in started:
            process.check_unharmed()


@pytest.fixture
def top():
    """Starts dashboards, each in a terminal of its own, that end with the test."""
    started = []

    def start_one(*arguments, **options):
        started.append(Terminal(*arguments, **options))
        return started[-1]

    yield start_one
    for terminal in started:
        terminal.end()


@pytest.fixture
def moods(some_python, start):
    """A process that changes its mood by `terminal.order`."""
    return start(some_python, "moods")


@pytest.fixture
def some_python():
    """One interpreter, for tests that do not depend on the version."""
    return [python for python in interpreters() if python.supported and not python.debug][-1]


@pytest.fixture
def python_before_314():
    """One in which the loops, not the threads, keep the current task."""
    return [python for python in interpreters() if python.supported and not python.debug and python.minor < (3, 14)][-1]


@pytest.fixture(autouse=True)
def targets_unharmed():
    yield
    for process in list(harness.Target.living):
        process.check_unharmed()


def pytest_terminal_summary(terminalreporter):
    there = {python.minor for python in interpreters() if python.supported and not python.debug}
    missing = ["%d.%d" % minor for minor in harness.MINORS if minor not in there]
    terminalreporter.section("interpreters")
    terminalreporter.write_line("at hand: " + ", ".join(python.id for python in interpreters()))
    terminalreporter.write_line("not at hand: " + (", ".join(missing) or "none of 3.11 to 3.15 is missing"))
