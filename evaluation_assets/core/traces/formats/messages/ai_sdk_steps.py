"""Steps of a generation of the Vercel AI SDK: what tells them, and records that have a list of them.

The shapes are those that `JSON.stringify` makes of results and events of versions 4.3, 5.0 and 7.0 of the package `ai`.
"""

from typing import Any

from evaluation_assets.core.traces.formats.conversation import goes_on
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in

REPEATED = (
    "text", "reasoning", "reasoningText", "reasoningDetails", "files", "sources", "toolCalls", "staticToolCalls",
    "dynamicToolCalls", "toolResults", "staticToolResults", "dynamicToolResults",
)  # fmt: skip
"""Fields of a step, and of the event at the end, that repeat its content."""

_OF_THE_WHOLE = (
    *REPEATED, "steps", "messages", "prompt", "content", "usage", "responseMessages", "initialResponseMessages",
    "finalStep", "response", "callId", "stepNumber", "model", "rawFinishReason", "experimental_output", "_output",
    "resolvedOutput",
)  # fmt: skip
"""Fields of a result or an event that its steps have, or that come before them."""

_NO_STEP = ("role", "messages", "prompt", "steps")


def is_step(data: Any) -> bool:
    """Whether a value is a step: what one request to a model gave, with the results of its calls."""
    return (
        isinstance(data, dict)
        and isinstance(data.get("finishReason"), str)
        and data.keys().isdisjoint(_NO_STEP)
        and (_has_parts(data) or any(first_text(call, "toolCallId") for call in objects_in(data.get("toolCalls"))))
    )


def unwrapped(data: Any) -> Any:
    """A result or an event as a record whose messages are its steps, after the messages of its prompt."""
    steps = list(objects_in(at(data, "steps")))
    if not steps or not _are_steps(steps):
        return data
    prompt = data.get("prompt")
    given = list_in(data.get("messages")) or (
        [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list_in(prompt)
    )
    before = [*given, *list_in(data.get("initialResponseMessages"))]
    response = object_in(steps[-1].get("response"))
    about = {
        "id": first_text(data, "id", "callId") or first_text(response, "id"),
        "timestamp": first_text(object_in(steps[0].get("response")), "timestamp"),
        "finishReason": steps[-1].get("finishReason"),
    }
    kept = {key: value for key, value in data.items() if key not in _OF_THE_WHOLE}
    return {**about, **kept, "messages": before if _is_told_by(before) else [*before, *steps]}


def goes_on_with(earlier: Any, later: Any) -> bool:
    """Whether the second of two steps is of the same generation; other messages go on, unless their threads differ."""
    if at(earlier, "threadId") != at(later, "threadId"):
        return False
    if not is_step(earlier) or not is_step(later):
        return True
    if "callId" in earlier or "callId" in later:
        return earlier.get("callId") == later.get("callId")
    told = list_in(at(later.get("response"), "messages"))
    return goes_on(list_in(at(earlier.get("response"), "messages")), told)


def _are_steps(steps: list[Any]) -> bool:
    """Whether these are steps; one without calls and details of its response may be anything that finished."""
    return all("finishReason" in step and step.keys().isdisjoint(_NO_STEP) for step in steps) and any(
        map(is_step, steps)
    )


def _has_parts(data: Any) -> bool:
    """Whether a step has the parts of its content, or the answer of a model, as the SDK has them."""
    parts = [part.get("type") for part in objects_in(data.get("content"))]
    response = object_in(data.get("response"))
    calls_or_parts = bool(parts) or isinstance(data.get("toolCalls"), list)
    return "tool-call" in parts or (calls_or_parts and "modelId" in response and "timestamp" in response)


def _is_told_by(messages: list[Any]) -> bool:
    """Whether the messages of a record go on to the answer, and so repeat what the steps have."""
    return first_text(messages[-1] if messages else None, "role") in ("assistant", "tool")
