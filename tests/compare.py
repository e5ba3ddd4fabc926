# SPDX-License-Identifier: Apache-2.0
"""Compares a document with what the process said of itself; all differences at once, in words."""

import re

LIVING = ("pending", "running")


def shown(name):
    """A name as JSON can hold it: lone surrogates are no characters."""
    return re.sub("[\ud800-\udfff]", "\ufffd", name)


def last_part(name):
    return name.rpartition(".")[2]


def in_words(stack):
    frames = [f"{frame['function']} ({frame['file'].rpartition('/')[2]}:{frame['line']})" for frame in stack]
    return " > ".join(frames if len(frames) < 12 else [*frames[:4], "…", *frames[-4:]])


def frame_like(frame):
    return {**frame, "function": shown(frame["function"]), "file": shown(frame["file"])}


class Differences(list):
    def __init__(self, names):
        super().__init__()
        self.names = names

    def unless(self, condition, task, what):
        if not condition:
            self.append(f"{self.names.get(task, task)[:60]!r}: {what}")


def stacks(differences, told, seen, spin):
    expected, id = [frame_like(frame) for frame in told["stack"]], told["id"]
    stack = seen["stack"]
    if "stack_from" in told:
        ok = stack and stack[0]["function"] == told["stack_from"]
        differences.unless(ok, id, f"stack begins elsewhere: {in_words(stack)}")
        return
    if spin and "running" in told["state"]:
        innermost = stack[-1] if stack else {}
        ok = innermost.get("function") == spin["function"] and spin["lines"][0] <= innermost["line"] <= spin["lines"][1]
        differences.unless(ok, id, f"spins elsewhere: {in_words(stack)}")
        expected, stack = expected[:-1], stack[:-1]
    differences.unless(stack == expected, id, f"stack\n    is   {in_words(stack)}\n    not  {in_words(expected)}")


def waits(differences, told, seen):
    id, wait, awaits = told["id"], told["awaits"], seen["awaits"]
    if awaits is None:
        differences.append(f"{seen['name'][:60]!r}: awaits nothing, yet lives")
        return
    if wait is None:
        return
    differences.unless(awaits["kind"] in wait["kinds"], id, f"awaits a {awaits['kind']} ({awaits['detail']}), not {wait['kinds']}")
    names = [sorted(differences.names.get(task, task) for task in tasks) for tasks in (awaits["tasks"], wait["tasks"])]
    differences.unless(names[0] == names[1], id, f"awaits {awaits['kind']} of {names[0]}, not of {names[1]}")
    if awaits["kind"] == "task":
        differences.unless(awaits["id"] in wait["tasks"], id, f"awaits.id {awaits['id']} is not the task's")
    if "id" in wait:
        differences.unless(awaits["id"] == wait["id"], id, f"awaits.id {awaits['id']}, not {wait['id']}")
    for word in wait["detail"]:
        differences.unless(word in (awaits["detail"] or ""), id, f"detail {awaits['detail']!r} does not say {word!r}")


def loops(differences, document, truth):
    seen = {loop["id"]: loop for loop in document["loops"]}
    told = {loop["id"]: loop for loop in truth["loops"]}
    differences.unless(set(told) <= set(seen), "loops", f"{set(told) - set(seen)} missing")
    for id in set(told) & set(seen):
        for key in ("tid", "debug"):
            differences.unless(seen[id][key] == told[id][key], id, f"{key} {seen[id][key]}, not {told[id][key]}")
        differences.unless(last_part(seen[id]["class"]) == told[id]["class"], id, f"class {seen[id]['class']}")
    for id in set(seen) - set(told):
        differences.unless(seen[id]["tid"] is None, id, "a loop that runs but that nobody made")


def tree(document, truth):
    """Every difference between the document and the truth, as a list of words."""
    seen = {task["id"]: task for task in document["tasks"]}
    told = {task["id"]: task for task in truth["tasks"]}
    finished = {task["id"]: task for task in truth["finished"]}
    names = {id: shown(task["name"]) for id, task in {**finished, **told}.items()}
    differences = Differences(names)
    living = {id for id, task in seen.items() if task["state"] in LIVING}
    differences.unless(not told.keys() - living, "tasks", f"missing {[names[id][:40] for id in told.keys() - living]}")
    differences.unless(not living - told.keys(), "tasks", f"invented {[seen[id]['name'] for id in living - told.keys()]}")
    for id in seen.keys() & told.keys():
        task, truly = seen[id], told[id]
        differences.unless(task["name"] == names[id], id, f"is called {task['name'] and task['name'][:60]!r}")
        differences.unless(last_part(task["class"]) == truly["class"], id, f"class {task['class']}, not {truly['class']}")
        differences.unless(task["state"] in truly["state"], id, f"state {task['state']}, not {truly['state']}")
        for key in ("loop", "cancelling", "must_cancel"):
            differences.unless(task[key] == truly[key], id, f"{key} is {task[key]}, not {truly[key]}")
        stacks(differences, truly, task, truth.get("spin"))
        waits(differences, truly, task)
    for id in seen.keys() - living:
        differences.unless(seen[id]["stack"] == [], id, "finished, yet has a stack")
        differences.unless(seen[id]["awaits"] is None, id, "finished, yet awaits")
        if id in finished:
            differences.unless(seen[id]["state"] in finished[id]["state"], id, f"state {seen[id]['state']}")
            differences.unless(seen[id]["name"] == names[id], id, f"is called {seen[id]['name']!r}")
    loops(differences, document, truth)
    return differences
