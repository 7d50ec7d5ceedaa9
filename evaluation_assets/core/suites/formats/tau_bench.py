"""tau-bench: recorded runs that carry the gold actions of their task.

What counts in the benchmark is the state at the end, so that a case asks for the same effects: the gold actions that
change something, and no other; where there is none, nothing may be changed. What the agent has to tell the user becomes
keywords, each of which is required.
"""

from typing import Any

from evaluation_assets.core.suites.formats.base import Draft, Item, Source
from evaluation_assets.core.suites.recorded_expectations import gold_call
from evaluation_assets.core.suites.suite import Case

NAME = "tau-bench"
DESCRIPTION = "tau-bench: the gold actions in a file of recorded runs."
DETECTION = "objects with `task_id` and `info.task.actions`"


def detect(source: Source) -> bool:
    """Whether the file is one."""
    return bool(source.records) and all(_task(record) is not None for record in source.records[:5])


def read(source: Source) -> Draft:
    """A case for every task, whatever the number of its trials."""
    draft = Draft(fields={"min_score": 1.0})
    seen: dict[str, dict[str, Any]] = {}
    for item in source.items:
        task = _task(item.data)
        if task is None:
            draft.leave_out(source, item.line, f"line {item.line}", "it has no task_id or no info.task.actions")
            continue
        name = str(item.data["task_id"])
        if name not in seen:
            seen[name] = task
            _read_task(source, item, name, task, draft)
        elif seen[name] != task:
            draft.leave_out(source, item.line, name, "another run of the task has other gold actions")
    return draft


def _read_task(source: Source, item: Item, name: str, task: dict[str, Any], draft: Draft) -> None:
    try:
        case = Case(
            id=name,
            message=task["instruction"],
            expected_calls=tuple(gold_call(action["name"], action["kwargs"]) for action in task["actions"]),
            match="same_effects",
            keywords=tuple(task.get("outputs") or ()),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        draft.leave_out(source, item.line, name, f"it is not as expected: {problem!r}")
    else:
        draft.add(source, item.line, case)


def _task(record: Any) -> dict[str, Any] | None:
    if not isinstance(record, dict) or "task_id" not in record or not isinstance(record.get("info"), dict):
        return None
    task = record["info"].get("task")
    return task if isinstance(task, dict) and isinstance(task.get("actions"), list) else None
