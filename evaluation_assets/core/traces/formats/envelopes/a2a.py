"""Tasks of the Agent2Agent protocol (A2A), as `tasks/get` and `message/send` answer, and the events of their streams.

    {"id": "t", "contextId": "c", "status": {"state": "completed"}, "history": [...], "artifacts": [{"parts": [...]}]}

Calls are known where an agent of Google ADK states them in parts with data. The state of a task is what the agent says
of itself, and no outcome.
"""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import PARTS, Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.envelopes.turn import Turn
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import at, first_text, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_WRAPPERS = ("result", "task", "statusUpdate", "artifactUpdate")
_READ = (
    "id", "taskId", "contextId", "sessionId", "kind", "status", "history", "artifacts", "artifact", "final", "append",
    "lastChunk",
)  # fmt: skip
_ROLES = {"user": "user", "role_user": "user", "agent": "assistant", "role_agent": "assistant"}
_DONE = "completed"


def _task_in(data: Any) -> JsonObject:
    """The task or event that a record is or wraps, as an answer of JSON-RPC does."""
    found = object_in(data)
    for _ in _WRAPPERS:
        found = next((found[name] for name in _WRAPPERS if isinstance(found.get(name), dict)), found)
    return found


def _name_of(data: Any) -> str | None:
    """The ID of the task that a record is or tells of."""
    task = _task_in(data)
    own_id = first_text(task, "taskId", "id")
    is_artifact = bool(list(objects_in(at(task.get("artifact"), "parts")))) and "taskId" in task
    is_task = first_text(task.get("status"), "state") and (
        "contextId" in task or "artifacts" in task or "taskId" in task
    )
    return own_id if is_artifact or (is_task and not _is_other(task)) else None


def _is_other(task: JsonObject) -> bool:
    return any("parts" not in each for name in ("history", "artifacts") for each in objects_in(task.get(name)))


def _conversations(data: JsonObject) -> Iterator[Chat]:
    told: dict[str, JsonObject] = {}
    artifacts: dict[str, list[JsonObject]] = {}
    task: JsonObject = {}
    for event in map(_task_in, objects_in(data[PARTS])):
        task |= event
        for message in (*objects_in(event.get("history")), at(event.get("status"), "message")):
            if isinstance(message, dict):
                told.setdefault(first_text(message, "messageId") or as_text(message), message)
        for made in (*objects_in(event.get("artifacts")), object_in(event.get("artifact"))):
            own_id, parts = first_text(made, "artifactId", "name") or "", list(objects_in(made.get("parts")))
            if made:
                artifacts[own_id] = [*artifacts.get(own_id, ()), *parts] if event.get("append") is True else parts
    messages = [each for message in told.values() for each in _messages(message)]
    shown = "\n\n".join("".join(map(_text, parts)) for parts in artifacts.values())
    if shown and (not messages or shown not in as_text(messages[-1].get("content"))):
        messages.append(plain_message("assistant", shown))
    state = (first_text(task.get("status"), "state") or "").lower().replace("_", "-").removeprefix("task-state-")
    record = {
        **without(task, *_READ),
        "id": first_text(task, "taskId", "id"),
        "final_answer": shown or None,
        "termination_reason": None if state == _DONE else state or None,
        "messages": messages,
    }
    yield Chat(record)


def _messages(message: JsonObject) -> Iterator[JsonObject]:
    parts = list(objects_in(message.get("parts")))
    role = _ROLES.get(str(message.get("role")).lower(), first_text(message, "role"))
    if role != "assistant":
        yield plain_message(role, "\n".join(map(_text, parts)))
        return
    turn = Turn()
    for part in parts:
        kind, data = _kind_of(part), object_in(part.get("data"))
        if kind == "function_call":
            turn.called(data.get("name"), data.get("args"), data.get("id"))
        elif kind == "function_response":
            turn.returned(data.get("response"), data.get("id"))
        else:
            turn.said(_text(part))
    yield from turn.messages()


def _kind_of(part: JsonObject) -> str | None:
    """What a part with data is, as ADK states in its metadata."""
    known = object_in(part.get("metadata"))
    return next((str(value) for key, value in known.items() if key.endswith(("_type", ":type"))), None)


def _text(part: JsonObject) -> str:
    text = part.get("text")
    if isinstance(text, str):
        return text
    if "data" in part:
        return as_text(part["data"])
    file = object_in(part.get("file")) or part
    name = first_text(file, "name", "filename", "uri", "url") or "file"
    return f"[file: {name}]"


A2A = Envelope(
    name="a2a",
    description="tasks of the Agent2Agent protocol, and the events of their streams",
    detection="status with a state beside contextId, history or artifacts with parts, or events with taskId",
    holds=lambda data: False,
    conversations=_conversations,
    part_of=_name_of,
)
