# SPDX-License-Identifier: Apache-2.0
"""The judge of JSON documents is itself judged: it takes a right document and refuses each spoiled one."""

import copy
import json

import pytest
import schema

pytestmark = pytest.mark.plain_only

TASK = {
    "id": "0x10",
    "name": "a",
    "class": "Task",
    "loop": "0x1",
    "state": "pending",
    "cancelling": 0,
    "must_cancel": False,
    "stack": [{"function": "f", "file": "f.py", "line": 3}],
    "awaits": {"kind": "task", "id": "0x20", "tasks": ["0x20"], "detail": ""},
    "awaited_by": [],
}
OTHER = dict(TASK, id="0x20", name="b", awaits={"kind": "future", "id": None, "tasks": [], "detail": ""}, awaited_by=["0x10"])
RIGHT = {
    "schema": "aiotrace/1",
    "aiotrace": "1",
    "target": {
        "pid": 1,
        "command": ["python"],
        "python": "3.12.1",
        "free_threaded": False,
        "debug_build": False,
        "layout": "table",
        "container": False,
    },
    "snapshot": {
        "time": "2026-12-01T03:13:00Z",
        "consistent": True,
        "method": "still",
        "paused_us": 0,
        "duration_us": 10,
        "bytes_read": 10,
        "read_calls": 1,
    },
    "interpreters": [{"id": 0, "gil": None}],
    "threads": [],
    "loops": [
        {
            "id": "0x1",
            "class": "L",
            "interpreter": 0,
            "tid": None,
            "state": "polling",
            "debug": False,
            "time": 1.5,
            "current_task": None,
            "ready_count": 0,
            "ready": [],
            "timers": None,
            "fds": [],
            "executor": None,
        }
    ],
    "tasks": [TASK, OTHER],
    "findings": [],
}


def spoil(path, value):
    document = copy.deepcopy(RIGHT)
    *way, last = path
    place = document
    for step in way:
        place = place[step]
    if value is spoil:
        del place[last]
    else:
        place[last] = value
    return document


def test_a_right_document_passes():
    schema.check(schema.parse((json.dumps(RIGHT) + "\n").encode()))


@pytest.mark.parametrize(
    "path, value",
    [
        (["extra"], 1),
        (["findings"], spoil),
        (["schema"], "aiotrace/2"),
        (["tasks", 0, "state"], "ready"),
        (["tasks", 0, "id"], 16),
        (["tasks", 0, "id"], "0x20"),
        (["tasks", 0, "awaited_by"], ["0x20"]),
        (["tasks", 1, "awaited_by"], []),
        (["tasks", 0, "awaits", "kind"], "waiting"),
        (["tasks", 0, "awaits", "tasks"], ["0x30"]),
        (["tasks", 0, "stack", 0, "column"], 3),
        (["tasks", 0, "stack_truncated"], False),
        (["tasks", 0, "loop"], "0x2"),
        (["tasks", 0, "must_cancel"], 0),
        (["snapshot", "time"], "yesterday"),
        (["snapshot", "consistent"], False),
        (["snapshot", "paused_us"], 5),
        (["loops", 0, "current_task"], "0x30"),
        (["loops", 0, "tid"], 7),
        (["target", "layout"], "guess"),
        (["interpreters", 0, "gil"], {"holder": None}),
    ],
)
def test_a_spoiled_document_is_refused(path, value):
    with pytest.raises(schema.Invalid):
        schema.check(spoil(path, value))


@pytest.mark.parametrize("raw", [b"{}", b'{"a": 1, "a": 2}\n', b'{"a": NaN}\n', b'{"a": "\x01"}\n', b'{"a": "\xff"}\n', b"{} {}\n"])
def test_json_is_strict(raw):
    with pytest.raises((schema.Invalid, ValueError)):
        schema.parse(raw)


def test_a_list_cut_short_may_say_so():
    schema.check(spoil(["tasks", 0, "stack_truncated"], True))
