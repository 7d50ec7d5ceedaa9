"""Traces of Meta's Agents Research Environments, which run Gaia2: what each agent logged, and the verdict.

    {"metadata": {"definition": {"scenario_id": "s-1"}, "annotation": {"validation_decision": "Valid"}},
     "world_logs": ['{"log_type": "tool_call", "tool_name": "look_up", ...}', ...]}

Of a model's answer, the thought and the call in it are logged once more, and only those are read. Sub-agents are not
read. A `lite` trace has the conversation of each agent instead.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.untyped import (
    as_number,
    at,
    decoded,
    first_text,
    list_in,
    object_in,
    objects_in,
    without_none,
)
from evaluation_assets.core.traces.trajectories.model import JsonObject

_LOGS, _HISTORIES = "world_logs", "per_agent_interaction_histories"
_READ_HERE = (
    _HISTORIES, "per_agent_llm_usage_stats", "scenario_id", "model_id", "main_agent_type", "validation_decision",
    "run_duration",
)  # fmt: skip
_VERDICTS = {"valid": True, "invalid": False}
_ASKED = ("task", "agent_user_interface", "environment_notifications", "hint", "task_reminder")
_THOUGHTS = ("thought", "rationale")
_PLANS = ("plan", "facts", "replan", "refacts")
_ANSWERS = ("llm_output", "llm_output_thought_action", "llm_output_plan", "llm_output_facts", "raw_plan", "raw_facts")
_SUB_AGENT = "subagent"


def _conversations(data: JsonObject) -> Iterator[Chat]:
    if _HISTORIES in data:
        yield from _of_histories(data)
        return
    logs = _logs_in(data)
    about = object_in(data.get("metadata"))
    defined, ran = object_in(about.get("definition")), object_in(about.get("simulation"))
    verdict = first_text(about.get("annotation"), "validation_decision") or ""
    record = {
        **without(data, _LOGS, "metadata"),
        "task_id": defined.get("scenario_id"),
        "trial": defined.get("run_number"),
        "task": next((log["content"] for log in logs if _kind(log) == "task"), None),
        "model": ran.get("model_id"),
        "agent": ran.get("agent_id"),
        "success": _VERDICTS.get(verdict.lower()),
        "final_answer": next((first_text(log, "content") for log in logs[::-1] if _kind(log) == "final_answer"), None),
        "messages": list(_messages(logs)),
    }
    subs = sum(_kind(log) == _SUB_AGENT for log in logs)
    stated = {"sub-agent session": (subs, 0)} if subs else {}
    failure = first_text(defined, "exception_message", "exception_type") if defined.get("has_exception") else None
    yield Chat(without_none(record), failure, stated=stated)


def _messages(logs: Sequence[JsonObject]) -> Iterator[JsonObject]:
    """The logs of the main agent as chat messages. Tokens are those of the answer that a log is of."""
    thoughts: list[str] = []
    used: JsonObject | None = None
    waiting: str | None = None
    for number, log in enumerate(logs):
        kind, content = _kind(log), first_text(log, "content")
        if kind in _ANSWERS:
            if used is not None:  # nothing of the answer before was logged once more
                yield _said(first_text(logs[number - 1], "content"), thoughts, used)
            thoughts, used = [], _usage(log)
        elif kind == "system_prompt":
            yield plain_message("system", content)
        elif kind in _ASKED and content is not None:
            yield plain_message("user", content)
        elif kind in _THOUGHTS:
            thoughts += [content] if content and content not in thoughts else []
        elif kind in _PLANS or (kind == "final_answer" and used is not None):
            yield _said(content, thoughts, used)
            thoughts, used = [], None
        elif kind == "tool_call":
            waiting = first_text(log, "id") or f"log {number}"
            call = {"id": waiting, "name": log.get("tool_name"), "arguments": decoded(log.get("tool_arguments"))}
            yield {**_said(None, thoughts, used), "tool_calls": [call]}
            thoughts, used = [], None
        elif kind == "observation" and waiting is not None:
            yield plain_message("tool", content or "", tool_call_id=waiting)
            waiting = None
        elif kind == "error":
            error = first_text(log, "error", "exception") or "error"
            if waiting is not None:
                yield plain_message("tool", error, tool_call_id=waiting, error=error)
                waiting = None
            else:
                yield _said(None, [*thoughts, error], used)
                thoughts, used = [], None


def _said(content: str | None, thoughts: Sequence[str], used: JsonObject | None) -> JsonObject:
    thought = "\n".join(thoughts) or None
    return plain_message("assistant", content, reasoning_content=thought, usage=used)


def _usage(log: JsonObject) -> JsonObject | None:
    """The tokens of an answer, where 0 is unknown."""
    return {key: log[key] for key in ("prompt_tokens", "completion_tokens") if log.get(key)} or None


def _of_histories(data: JsonObject) -> Iterator[Chat]:
    """The conversation of the first agent, which is the main one."""
    histories = {name: list(objects_in(history)) for name, history in object_in(data[_HISTORIES]).items()}
    (name, messages), *others = histories.items()
    stats = object_in(at(data.get("per_agent_llm_usage_stats"), name))
    given, written = (_sum(stats.get(key)) for key in ("prompt_tokens", "completion_tokens"))
    record = {
        **without(data, *_READ_HERE),
        "task_id": data.get("scenario_id"),
        "model": data.get("model_id"),
        "agent": data.get("main_agent_type"),
        "success": _VERDICTS.get(str(data.get("validation_decision")).lower()),
        "duration_s": data.get("run_duration"),
        "usage": {"prompt_tokens": given, "completion_tokens": written} if given or written else None,
        "messages": [without(message, "timestamp", "attachments") for message in messages],
    }
    stated = {"sub-agent session": (len(others), 0)} if others else {}
    yield Chat(without_none(record), stated=stated)


def _sum(counts: Any) -> float:
    return sum(as_number(count) or 0 for count in list_in(counts))


def _logs_in(data: Any) -> list[JsonObject]:
    logs = (decoded(log) for log in list_in(at(data, _LOGS)))
    return [log for log in logs if isinstance(log, dict) and _kind(log) is not None]


def _kind(log: JsonObject) -> str | None:
    return first_text(log, "log_type")


def _holds(data: Any) -> bool:
    histories = object_in(at(data, _HISTORIES))
    return bool(_logs_in(data)) or (bool(histories) and all(list_in(history) for history in histories.values()))


META_ARE = Envelope(
    name="meta_are",
    description="traces of Meta's Agents Research Environments (Gaia2), of the main agent",
    detection=f"{_LOGS} that each have a log_type, or {_HISTORIES}",
    holds=_holds,
    conversations=_conversations,
)
