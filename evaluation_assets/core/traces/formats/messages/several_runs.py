"""Messages of several runs in one list, as rows of a table."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.context import RUN_FACTS
from evaluation_assets.core.traces.formats.messages.chat import role_of
from evaluation_assets.core.traces.formats.run_names import own_run_of, run_of
from evaluation_assets.core.traces.formats.untyped import at, objects_in
from evaluation_assets.core.traces.trajectories.identity import recorded_id
from evaluation_assets.core.traces.trajectories.model import JsonObject

_OF_PARTS = re.compile(
    "turn|message|msg|step|request|response|exchange|round|span|event|parent|user|customer|agent|author|speaker|sender"
    "|role|type|kind|name|model|content|text|time|date|status|version|language|locale|tenant|org|project|account|index",
    re.IGNORECASE,
)
"""Names of fields that several messages of one conversation have in common, and others not."""


def runs_in(messages: Sequence[Any]) -> list[tuple[str, list[Any]]]:
    """The messages of each run, if they are whole conversations of several that each message names; else none."""
    return _whole_ones([(run_of(message), message) for message in messages])


def record_of_rows(rows: Sequence[Any]) -> JsonObject:
    """A record with these messages, and with what their rows say of the run: its task, its trial and its outcome.

    All rows say it, or only the last: a result of a call may have an outcome of its own.
    """
    objects = list(objects_in(rows))
    last = objects[-1] if len(objects) == len(rows) > 1 else {}
    facts = {
        key: value
        for key, value in last.items()
        if key in RUN_FACTS
        and isinstance(value, str | int | float)
        and (all(row.get(key) == value for row in objects) or all(row.get(key) is None for row in objects[:-1]))
        and role_of(last) != "tool"
    }
    if not facts:
        return {"messages": list(rows)}
    return {**facts, "messages": [{key: row[key] for key in row if key not in facts} for row in objects]}


def runs_told(messages: Sequence[Any]) -> Iterator[list[str]]:
    """The values of each field, whatever its name, by which the messages are several whole conversations.

    There are none where the messages name their run: others are those of its turns.
    """
    first = next(objects_in(messages), {})
    for field in first if own_run_of(first) is None else ():
        if recorded_id(first[field]) is None or _OF_PARTS.search(field):
            continue
        yield [name for name, _ in _whole_ones([(recorded_id(at(message, field)), message) for message in messages])]


def _whole_ones(named: Sequence[tuple[str | None, Any]]) -> list[tuple[str, list[Any]]]:
    """Messages by these names, if each has one, and those of each are a conversation from its beginning."""
    runs: dict[tuple[type[str], str], list[Any]] = {}
    for name, message in named:
        if name is None:
            return []
        runs.setdefault((type(name), name), []).append(message)
    roles = [[role_of(message) for message in run] for run in runs.values()]
    are_whole = all(each[0] in ("user", "system") and "assistant" in each for each in roles)
    return [(name, run) for (_, name), run in runs.items()] if len(runs) > 1 and are_whole else []
