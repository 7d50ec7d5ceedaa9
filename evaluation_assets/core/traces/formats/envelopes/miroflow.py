"""Logs of tasks of MiroFlow and MiroThinker: the messages of the main agent. Those of its sub-agents are not read."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.messages.chat import role_of
from evaluation_assets.core.traces.formats.untyped import at, decoded, first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_MAIN, _MESSAGES = "main_agent_message_history", "message_history"
_SUB = "sub_agent_message_history_sessions"
_CALL = re.compile(
    r"<use_mcp_tool>\s*<server_name>.*?</server_name>\s*<tool_name>(.*?)</tool_name>\s*"
    r"<arguments>(.*?)</arguments>\s*</use_mcp_tool>",
    re.DOTALL,
)
_READ = (_MAIN, _SUB, "input", "status", "judge_result", "final_boxed_answer", "step_logs", "log_path", "env_info")
_VERDICTS = {"correct": True, "incorrect": False}


def _conversations(data: JsonObject) -> Iterator[Chat]:
    history = object_in(data[_MAIN])
    given = data.get("input")
    subs = object_in(data.get(_SUB))
    record = {
        **without(data, *_READ),
        "task": first_text(given, "task_description") or (given if isinstance(given, str) else None),
        "final_answer": data.get("final_boxed_answer"),
        "success": _VERDICTS.get(str(data.get("judge_result")).lower()),
        "messages": [
            plain_message("system", history.get("system_prompt") or ""),
            *_messages(list(objects_in(history.get(_MESSAGES)))),
        ],
    }
    failure = "interrupted" if data.get("status") == "interrupted" else first_text(data, "error")
    stated = {"sub-agent session": (len(subs), 0)} if subs else {}
    yield Chat({key: value for key, value in record.items() if value not in (None, "")}, failure, stated=stated)


def _messages(messages: list[JsonObject]) -> Iterator[JsonObject]:
    """The messages with the calls that the agent wrote, whose results a user tells."""
    for number, (before, message) in enumerate(pairwise([{}, *messages])):
        calls = _CALL.findall(_text(message)) if role_of(message) == "assistant" else []
        told = role_of(before) == "assistant" and _CALL.search(_text(before)) is not None
        if calls:
            made = [
                {"id": f"{number} {place}", "name": tool.strip(), "arguments": decoded(given)}
                for place, (tool, given) in enumerate(calls)
            ]
            yield {**message, "content": _CALL.sub("", _text(message)).strip(), "tool_calls": made}
        elif told and role_of(message) == "user":
            yield plain_message("tool", message.get("content"), tool_call_id=f"{number - 1} 0")
        else:
            yield message


def _text(message: JsonObject) -> str:
    content = message.get("content")
    texts = (first_text(part, "text") for part in list_in(content))
    return content if isinstance(content, str) else "\n".join(filter(None, texts))


def _holds(data: Any) -> bool:
    return bool(list_in(at(at(data, _MAIN), _MESSAGES)))


MIROFLOW = Envelope(
    name="miroflow",
    description="logs of tasks of MiroFlow and MiroThinker, of the main agent",
    detection=f"a {_MAIN} with its {_MESSAGES}",
    holds=_holds,
    conversations=_conversations,
)
