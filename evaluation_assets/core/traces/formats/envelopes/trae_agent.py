"""Trajectories of Trae Agent: requests with their new messages and the response, and the steps made of them.

`success` is what the agent says of itself when it ends its task, and no outcome.
"""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import at, first_text, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_REQUESTS, _STEPS = "llm_interactions", "agent_steps"
_READ = (
    _REQUESTS, _STEPS, "task", "start_time", "end_time", "provider", "max_steps", "success", "final_result",
    "execution_time",
)  # fmt: skip
_STEPS_SPENT = "Task execution exceeded maximum steps"
_BESIDE = ("anthropic",)
"""Providers that count cached tokens beside the input."""


def _holds(data: Any) -> bool:
    return isinstance(at(data, _STEPS), list) and any(
        "input_messages" in request and "response" in request for request in objects_in(at(data, _REQUESTS))
    )


def _conversations(data: JsonObject) -> Iterator[Chat]:
    steps = list(objects_in(data[_STEPS]))
    result, error = first_text(data, "final_result"), first_text(steps[-1] if steps else None, "error")
    is_spent = result is not None and result.startswith(_STEPS_SPENT)
    record = {
        **without(data, *_READ),
        "task": first_text(data, "task"),
        "model": first_text(data, "model"),
        "started_at": first_text(data, "start_time"),
        "duration_s": data.get("execution_time") if first_text(data, "end_time") else None,
        "termination_reason": "max_steps" if is_spent else None,
        "final_answer": None if is_spent or error == result else result,
        "messages": list(_messages(list(objects_in(data[_REQUESTS])), steps)),
    }
    answered = sum(bool(object_in(step.get("llm_response"))) for step in steps)
    yield Chat(record, None if is_spent else error, requests=answered or None)


def _messages(requests: list[JsonObject], steps: list[JsonObject]) -> Iterator[JsonObject]:
    """What is new in each request, its response, and the results that no later request has."""
    answered: set[Any] = set()
    first = next((message for request in requests for message in objects_in(request.get("input_messages"))), None)
    for place, request in enumerate(requests):
        given = list(objects_in(request.get("input_messages")))
        is_all = place > 0 and given[:1] == [first]  # a client that sends the conversation anew
        for message in given:
            result = object_in(message.get("tool_result"))
            if result:
                yield from _result(result, answered)
            elif not is_all:
                yield plain_message(message.get("role"), message.get("content"))
        yield _said(request)
    for step in steps:
        for result in objects_in(step.get("tool_results")):
            yield from _result(result, answered)


def _result(result: JsonObject, answered: set[Any]) -> Iterator[JsonObject]:
    call_id, error = first_text(result, "call_id"), first_text(result, "error")
    if call_id not in answered:
        answered.add(call_id)
        failed = True if result.get("success") is False else None
        shown = "\n".join(filter(None, (as_text(result.get("result") or ""), error)))
        yield plain_message("tool", shown, tool_call_id=call_id, is_error=failed)


def _said(request: JsonObject) -> JsonObject:
    response = object_in(request.get("response"))
    calls = [
        {"id": call.get("call_id"), "name": call.get("name"), "arguments": call.get("arguments")}
        for call in objects_in(response.get("tool_calls"))
    ]
    usage = _usage(object_in(response.get("usage")), first_text(request, "provider"))
    said = plain_message("assistant", response.get("content") or "", usage=usage)
    return {**said, "tool_calls": calls, "finish_reason": response.get("finish_reason")}


def _usage(usage: JsonObject, provider: str | None) -> JsonObject | None:
    """The tokens of a request; 0 of everything is written where they are unknown."""
    if not usage.get("input_tokens") and not usage.get("output_tokens"):
        return None
    cached = usage.get("cache_read_input_tokens")
    if provider in _BESIDE or cached is None:
        return without(usage, "reasoning_tokens")
    return {
        "input_tokens": usage.get("input_tokens"),
        "output_tokens": usage.get("output_tokens"),
        "input_tokens_details": {"cached_tokens": cached},
    }


TRAE_AGENT = Envelope(
    name="trae_agent",
    description="trajectories of Trae Agent (trajectory_*.json)",
    detection="agent_steps beside llm_interactions with input_messages and response",
    holds=_holds,
    conversations=_conversations,
)
