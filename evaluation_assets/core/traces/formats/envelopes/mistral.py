"""Conversations of Mistral's API for agents: their histories, and requests with responses or these alone."""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in, without_none
from evaluation_assets.core.traces.trajectories.model import JsonObject

_ENTRIES = ("entries", "inputs", "outputs", "messages")
_KINDS = ("message.input", "message.output", "function.call", "function.result", "tool.execution", "agent.handoff")
_PLACE = ("object", "type", "id", "created_at", "completed_at", "role", "model", "agent_id", "prefix")


def _holds(data: Any) -> bool:
    return any(at(entry, "type") in _KINDS for name in _ENTRIES for entry in list_in(at(data, name)))


def _conversations(data: JsonObject) -> Iterator[Chat]:
    asked = first_text(data, "inputs")
    entries = [entry for name in _ENTRIES for entry in objects_in(data.get(name))]
    used = object_in(data.get("usage"))
    messages = _messages(entries, first_text(data, "agent_id"))
    record = {
        **without(data, "object", *_ENTRIES, "usage"),
        "started_at": next((time for entry in entries if (time := first_text(entry, "created_at"))), None),
        "model": next((model for entry in entries if (model := first_text(entry, "model"))), first_text(data, "model")),
        "usage": _usage(used),
        "messages": [*([plain_message("user", asked)] if asked else []), *messages],
    }
    yield Chat(record)


def _messages(entries: list[JsonObject], agent: str | None) -> Iterator[JsonObject]:
    """The entries as chat messages. A tool that Mistral runs has its result, if it is told, in `info`."""
    agent = agent or next((name for entry in entries if (name := first_text(entry, "agent_id"))), None)
    for entry in entries:
        kind, agent = entry.get("type"), first_text(entry, "agent_id", "next_agent_id") or agent
        call_id = first_text(entry, "tool_call_id", "id")
        if kind in ("function.call", "tool.execution"):
            call = {"id": call_id, "name": entry.get("name"), "arguments": entry.get("arguments")}
            info = object_in(entry.get("info"))
            if "code" in info:
                call["arguments"] = {"code": info["code"]}
            yield {**plain_message("assistant", None, name=agent), "tool_calls": [call]}
            if kind == "tool.execution" and info:
                yield plain_message("tool", as_text(info.get("code_output", info)), tool_call_id=call_id)
        elif kind == "function.result":
            yield plain_message("tool", as_text(entry.get("result")), tool_call_id=call_id)
        elif kind == "agent.handoff":
            continue
        elif kind in _KINDS:
            role = "assistant" if kind == "message.output" else entry.get("role") or "user"
            chunks = entry.get("content")
            said = chunks if isinstance(chunks, str) else [one for one in list_in(chunks) if not _is_reference(one)]
            more = {"references": references} if (references := list(filter(_is_reference, list_in(chunks)))) else {}
            yield {**without(entry, *_PLACE), **more, **plain_message(role, said, name=agent)}
        else:
            yield entry


def _is_reference(chunk: Any) -> bool:
    return at(chunk, "type") in ("tool_reference", "reference")


def _usage(used: JsonObject) -> JsonObject | None:
    """The tokens; what tools gave back to the model is counted beside the prompt."""
    given = [count for name in ("prompt_tokens", "connector_tokens") if isinstance(count := used.get(name), int)]
    counts = {"prompt_tokens": sum(given) if given else None, "completion_tokens": used.get("completion_tokens")}
    return without_none({**counts, "total_tokens": used.get("total_tokens")}) or None


MISTRAL = Envelope(
    name="mistral",
    description="conversations of Mistral's API for agents: histories, responses",
    detection="entries, inputs or outputs of types such as message.output, function.call and tool.execution",
    holds=_holds,
    conversations=_conversations,
)
