"""Outputs of CrewAI (`CrewOutput.model_dump()`): the tasks of a crew, each with the messages of the agent that did it.
Logs of a crew (`output_log_file`) have the tasks only.

An agent that has no native calls writes them, and what a tool returned is appended to its message. After each result
the agent is told how to go on, in messages that no user wrote.
"""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import PARTS, Chat, Envelope, without
from evaluation_assets.core.traces.formats.untyped import at, first_text, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_TASKS, _TOKENS = "tasks_output", "token_usage"
_OBSERVED = "\nObservation: "
_FEEDBACK = "User feedback:"


def _holds(data: Any) -> bool:
    return _TOKENS in object_in(data) and any("agent" in task for task in objects_in(at(data, _TASKS)))


def _logged(data: Any) -> str | None:
    """The run of an entry of a log, which has one."""
    is_entry = isinstance(data, dict) and {"timestamp", "task_name", "task", "agent", "status"} <= data.keys()
    return "" if is_entry else None


def _of_log(entries: list[JsonObject]) -> Iterator[Chat]:
    """The tasks of a log: what was asked for, and what came out of it."""
    done = [entry for entry in entries if entry.get("status") != "started"]
    failed = [entry for entry in done if entry.get("status") != "completed"]
    tasks = [{"agent": entry["agent"], "description": entry["task"], "raw": entry.get("output")} for entry in done]
    record = {
        "task": first_text(entries[0], "task"),
        "started_at": first_text(entries[0], "timestamp"),
        "final_answer": first_text(done[-1], "output") if done else None,
        "messages": [message for task in tasks for message in _messages(task)],
    }
    begun = sum(entry.get("status") == "started" for entry in entries)
    failure = first_text(failed[0], "output", "status") if failed else None
    yield Chat(record, failure, stated={"task": (max(begun, len(done)), len(done))})


def _conversations(data: JsonObject) -> Iterator[Chat]:
    if PARTS in data:
        yield from _of_log(data[PARTS])
        return
    tasks = list(objects_in(data[_TASKS]))
    tokens = object_in(data[_TOKENS])
    messages = [message for task in tasks for message in _messages(task)]
    prompts = [message for message in messages if message.get("role") == "system"]
    record = {
        **without(data, _TASKS, _TOKENS, "raw", "pydantic", "json_dict"),
        "task": next((first_text(task, "description") for task in tasks), None),
        "final_answer": first_text(data, "raw"),
        "usage": _usage(tokens),
        "messages": [message for message in messages if message.get("role") != "system" or message is prompts[0]],
        "tasks_output[].messages[] (system)": prompts[1:],
    }
    is_told = all(task.get("messages") for task in tasks)
    yield Chat(record, requests=None if is_told else tokens.get("successful_requests") or None)


def _messages(task: JsonObject) -> Iterator[JsonObject]:
    """The messages of a task; of one without messages, what it asked for and what came out of it."""
    agent = first_text(task, "agent") or "agent"
    given = list(objects_in(task.get("messages")))
    asked = False
    for message in given:
        role, content = message.get("role"), message.get("content")
        if role == "assistant":
            yield from _said(message, agent)
        elif role != "user" or not asked or str(content).startswith(_FEEDBACK):
            yield message
        asked = asked or role == "user"
    if not given:
        yield {"role": "user", "content": first_text(task, "description") or ""}
        yield {"role": "assistant", "name": agent, "content": first_text(task, "raw") or ""}


def _said(message: JsonObject, agent: str) -> Iterator[JsonObject]:
    text = first_text(message, "content") or ""
    said, is_observed, shown = text.partition(_OBSERVED)
    yield {**message, "name": agent, "content": said}
    if is_observed:
        yield {"role": "tool", "content": shown}


def _usage(tokens: JsonObject) -> JsonObject | None:
    """The tokens of a crew, which writes 0 where it counted none."""
    if not tokens.get("total_tokens"):
        return None
    names = {"cached_prompt_tokens": "cached_tokens"}
    counted = ("prompt_tokens", "completion_tokens", "cached_prompt_tokens", "total_tokens")
    return {names.get(name, name): tokens[name] for name in counted if tokens.get(name) is not None}


CREWAI = Envelope(
    name="crewai",
    description="outputs of CrewAI crews, with the messages of their tasks",
    detection="tasks_output with agents, and token_usage",
    holds=_holds,
    part_of=_logged,
    conversations=_conversations,
)
