# SPDX-License-Identifier: Apache-2.0
"""The JSON schema "aiotrace/1", by hand: exact keys, their types, and what refers to what."""

import json
import re

ADDRESS = re.compile(r"0x[0-9a-f]+\Z")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)\Z")

METHODS = {"still", "validated", "paused", "torn"}
TASK_STATES = {"pending", "running", "done", "cancelled"}
LOOP_STATES = {"polling", "running", "blocked", "stalled", "stopped", "closed"}
THREAD_STATES = {"running", "sleeping", "disk", "stopped", "zombie"}
AWAITS = {
    "task", "gather", "wait", "sleep", "lock", "event", "condition", "semaphore", "queue", "barrier", "stream", "fd",
    "executor", "process", "future", "yield", "running", "not-started", "other",
}  # fmt: skip


class Invalid(AssertionError):
    pass


def need(condition, where, what):
    if not condition:
        raise Invalid(f"{where}: {what}")


def text(value, where):
    need(isinstance(value, str), where, f"not a text: {value!r}")


def address(value, where):
    need(isinstance(value, str) and ADDRESS.match(value), where, f"not an address: {value!r}")


def count(value, where):
    need(isinstance(value, int) and not isinstance(value, bool) and value >= 0, where, f"not a count: {value!r}")


def seconds(value, where):
    need(isinstance(value, (int, float)) and not isinstance(value, bool), where, f"not a number: {value!r}")


def boolean(value, where):
    need(isinstance(value, bool), where, f"not true or false: {value!r}")


def time(value, where):
    need(isinstance(value, str) and TIME.match(value), where, f"not an RFC 3339 time: {value!r}")


def interpreter_id(value, where):
    need(isinstance(value, (int, str)) and not isinstance(value, bool), where, f"not an interpreter id: {value!r}")


def one_of(words):
    def check(value, where):
        need(value in words, where, f"{value!r} is none of {sorted(words)}")

    return check


def maybe(check):
    return lambda value, where: value is None or check(value, where)


def listed(check):
    def check_list(value, where):
        need(isinstance(value, list), where, f"not a list: {value!r}")
        for index, item in enumerate(value):
            check(item, f"{where}[{index}]")

    return check_list


def record(optional=(), **keys):
    """Exactly these keys, but for KEY_truncated beside a key that is a list."""

    def check(value, where):
        need(isinstance(value, dict), where, f"not an object: {value!r}")
        for key, item in value.items():
            cut = key.removesuffix("_truncated")
            if cut != key and isinstance(value.get(cut), list):
                need(item is True, f"{where}.{key}", "is only there when true")
                continue
            need(key in keys, where, f"unknown key {key!r}")
            keys[key](item, f"{where}.{key}")
        missing = set(keys) - set(value) - set(optional)
        need(not missing, where, f"missing keys {sorted(missing)}")

    return check


def anything(value, where):
    need(isinstance(value, dict), where, f"not an object: {value!r}")


FRAME = record(function=maybe(text), file=maybe(text), line=maybe(count))
STACK = listed(FRAME)
# Native frames have the image that they are in; the others are Python's.
NATIVE = listed(record(optional={"image"}, function=maybe(text), file=maybe(text), line=maybe(count), image=text))

HANDLE = record(
    id=address,
    kind=one_of({"task-step", "task-wakeup", "callback", "reader", "writer"}),
    callback=maybe(text),
    task=maybe(address),
    cancelled=boolean,
    source=maybe(FRAME),
    **{"in": maybe(seconds)},
)

AWAITING = record(kind=one_of(AWAITS), id=maybe(address), tasks=listed(address), detail=maybe(text))

WATCHED = record(
    seconds=seconds,
    samples=count,
    samples_per_second=maybe(seconds),
    process=record(
        cpu=maybe(seconds), resident_bytes=maybe(seconds), threads=maybe(seconds), age=maybe(seconds), ended=maybe(text)
    ),
    loops=listed(
        record(
            id=address,
            held=maybe(seconds),
            lag=seconds,
            polling=maybe(seconds),
            running=maybe(seconds),
            stalled=maybe(seconds),
            gil_waiting=maybe(seconds),
            gil_switches_per_second=maybe(seconds),
            ready_history=listed(maybe(seconds)),
            lag_history=listed(maybe(seconds)),
        )
    ),
    tasks=listed(
        record(
            id=address,
            since=seconds,
            since_known=boolean,
            steps=count,
            steps_per_second=maybe(seconds),
            history=listed(
                record(ago=seconds, state=maybe(one_of(TASK_STATES)), awaits=maybe(one_of(AWAITS)), place=maybe(FRAME))
            ),
        )
    ),
    threads=listed(record(tid=count, cpu=maybe(seconds))),
    findings=listed(
        record(
            id=text,
            loop=maybe(address),
            task=maybe(address),
            thread=maybe(count),
            severity=one_of({"info", "warning", "critical"}),
            standing=boolean,
            stood=seconds,
            gone_since=maybe(seconds),
            longest=seconds,
            times=count,
            samples=count,
            windows=maybe(record(count=count, longest=seconds, samples=count, of_samples=count)),
            certain=boolean,
            headline=text,
            details=text,
        )
    ),
    sources=listed(record(file=text, line=count, text=text)),
)

DOCUMENT = record(
    optional={"watched"},
    watched=WATCHED,
    schema=one_of({"aiotrace/1"}),
    aiotrace=text,
    target=record(
        pid=count,
        command=listed(text),
        python=text,
        free_threaded=boolean,
        debug_build=boolean,
        layout=one_of({"debug-offsets", "table", "dwarf"}),
        container=boolean,
    ),
    snapshot=record(
        optional={"native_note"},
        native_note=text,
        time=time,
        consistent=boolean,
        method=one_of(METHODS),
        paused_us=count,
        duration_us=count,
        bytes_read=count,
        read_calls=count,
    ),
    interpreters=listed(record(id=interpreter_id, gil=maybe(record(holder=maybe(count), switches=maybe(count))))),
    threads=listed(
        record(
            tid=count,
            name=maybe(text),
            interpreter=maybe(interpreter_id),
            state=maybe(one_of(THREAD_STATES)),
            syscall=maybe(text),
            gil=maybe(one_of({"holding", "waiting", "none"})),
            loop=maybe(address),
            stack=maybe(STACK),
            native=maybe(NATIVE),
        )
    ),
    loops=listed(
        record(
            id=address,
            interpreter=maybe(interpreter_id),
            tid=maybe(count),
            state=maybe(one_of(LOOP_STATES)),
            debug=maybe(boolean),
            time=maybe(seconds),
            current_task=maybe(address),
            ready_count=maybe(count),
            ready=maybe(listed(HANDLE)),
            timers=maybe(
                record(
                    count=maybe(count),
                    cancelled=maybe(count),
                    next_in=maybe(seconds),
                    last_in=maybe(seconds),
                    items=maybe(listed(HANDLE)),
                )
            ),
            fds=maybe(
                listed(
                    record(
                        fd=count,
                        events=one_of({"r", "w", "rw"}),
                        target=maybe(text),
                        reader=maybe(HANDLE),
                        writer=maybe(HANDLE),
                    )
                )
            ),
            executor=maybe(
                record(
                    workers=maybe(count),
                    max_workers=maybe(count),
                    idle=maybe(count),
                    queued=maybe(count),
                    calls=listed(record(thread=maybe(count), callable=maybe(text), stack=STACK)),
                )
            ),
            **{"class": text},
        )
    ),
    tasks=listed(
        record(
            id=address,
            name=maybe(text),
            loop=maybe(address),
            state=maybe(one_of(TASK_STATES)),
            cancelling=maybe(count),
            must_cancel=maybe(boolean),
            stack=STACK,
            awaits=maybe(AWAITING),
            awaited_by=listed(address),
            **{"class": text},
        )
    ),
    findings=listed(
        record(
            optional={"certain"},
            id=text,
            certain=one_of({False}),
            severity=one_of({"info", "warning", "critical"}),
            loop=maybe(address),
            task=maybe(address),
            thread=maybe(count),
            summary=text,
            evidence=anything,
            advice=text,
        )
    ),
)


def unique_keys(pairs):
    keys = [key for key, _ in pairs]
    need(len(keys) == len(set(keys)), "JSON", f"a key stands twice in {keys}")
    return dict(pairs)


def no_constants(word):
    raise Invalid(f"JSON: {word} is not a JSON number")


def parse(raw):
    """One document, nothing else, in strict JSON and strict UTF-8."""
    need(raw.endswith(b"\n"), "JSON", "does not end with a newline")
    return json.loads(raw.decode("utf-8"), object_pairs_hook=unique_keys, parse_constant=no_constants)


def handles(loop):
    """All that a loop holds, in the ready queue, among the timers, and of descriptors."""
    yield from loop["ready"] or []
    yield from (loop["timers"] or {}).get("items", [])
    for row in loop["fds"] or []:
        yield from (side for side in (row["reader"], row["writer"]) if side)


def check(document):
    """Raises Invalid unless the document is as contract.md has it, and its parts refer to each other rightly."""
    DOCUMENT(document, "document")
    interpreters = {row["id"] for row in document["interpreters"]}
    threads = {row["tid"] for row in document["threads"]}
    loops = {row["id"] for row in document["loops"]}
    tasks = {row["id"]: row for row in document["tasks"]}
    need(len(tasks) == len(document["tasks"]), "tasks", "an id stands twice")
    need(len(loops) == len(document["loops"]), "loops", "an id stands twice")
    need(len(threads) == len(document["threads"]), "threads", "a tid stands twice")
    for loop in document["loops"]:
        need(loop["interpreter"] in interpreters | {None}, loop["id"], "of no interpreter")
        need(loop["tid"] in threads | {None}, loop["id"], "runs in no thread")
        need(loop["current_task"] in tasks.keys() | {None}, loop["id"], "current task is not listed")
        for handle in handles(loop):
            need(handle["task"] in tasks.keys() | {None}, handle["id"], "its task is not listed")
    for thread in document["threads"]:
        need(thread["loop"] in loops | {None}, str(thread["tid"]), "its loop is not listed")
    awaited_by = {id: set() for id in tasks}
    for id, task in tasks.items():
        need(task["loop"] in loops | {None}, id, "its loop is not listed")
        for awaited in task["awaits"]["tasks"] if task["awaits"] else []:
            need(awaited in tasks, id, f"awaits {awaited}, which is not listed")
            awaited_by[awaited].add(id)
    for id, task in tasks.items():
        need(len(set(task["awaited_by"])) == len(task["awaited_by"]), id, "awaited_by has one twice")
        need(set(task["awaited_by"]) == awaited_by[id], id, "awaited_by is not the inverse of awaits")
    snapshot = document["snapshot"]
    need(snapshot["method"] == "paused" or snapshot["paused_us"] == 0 or not snapshot["consistent"], "snapshot", "paused_us")
    need(snapshot["consistent"] == (snapshot["method"] != "torn"), "snapshot", "consistent and method disagree")
    return document
