"""Requests to a model in the steps of a run, each with its answer, as one list of chat messages.

{"task": "...", "steps": [{"llm_request": {"messages": [...]}, "llm_response": {"content": "..."}}]}

A program may put together again what it asks at each step: new in a request is what comes after the last answer
in it, without what stood in the one before, unless it goes on with that.
"""

from typing import Any

from evaluation_assets.core.traces.formats.messages.asked_beside import GIVEN
from evaluation_assets.core.traces.formats.messages.bare_calls import is_call_alone
from evaluation_assets.core.traces.formats.messages.chat import role_of
from evaluation_assets.core.traces.formats.messages.function_elements import text_of
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_STEPS = ("steps", "turns", "iterations", "rounds", "interactions", "trajectory", "history", "trace")
_REQUESTS = ("llm_calls", "model_calls", "llm_requests", "requests", "calls")
_ASKED = (*GIVEN[:3], "llm_request", "request", "messages", *GIVEN[3:])
_ANSWERED = ("message_out", "output_message", "llm_response", "response", "completion", "output")
_COUNTS = ("usage", "input_tokens", "output_tokens", "prompt_tokens", "completion_tokens", "cost", "cost_usd")
_ACTED = frozenset(("action", "actions", "observation", "tool", "tool_name", "tool_calls", "tool_results"))
"""What steps have that say more than their requests."""


def with_requests(data: JsonObject) -> JsonObject | None:
    """A record with the messages of the requests in its steps; `None` for any other record."""
    for name in (*_REQUESTS, *_STEPS):
        steps = list(objects_in(data.get(name)))
        requests = [_requests_in(step) for step in steps]
        silent = (step for step, made in zip(steps, requests, strict=True) if not made)
        if any(requests) and not any(_ACTED & step.keys() for step in steps) and not any(map(_is_asked, silent)):
            messages = _joined([request for made in requests for request in made])
            return {**{key: value for key, value in data.items() if key != name}, "messages": messages}
    return None


def _requests_in(step: JsonObject) -> list[tuple[list[JsonObject], JsonObject]]:
    """What was asked and answered in a step: the step itself, or each request in a list of it."""
    for calls in ([step], *(list(objects_in(step.get(key))) for key in _REQUESTS)):
        made = [(_asked_in(call), _answer_in(call)) for call in calls]
        if made and all(asked and answer for asked, answer in made):
            return made
    return []


def _is_asked(step: JsonObject) -> bool:
    return any(map(step.get, (*_ASKED, *_ANSWERED, *_REQUESTS)))


def _asked_in(call: JsonObject) -> list[JsonObject]:
    given = (call.get(key) for key in _ASKED)
    lists = (list(objects_in(value if isinstance(value, list) else at(value, "messages"))) for value in given)
    return next((messages for messages in lists if messages and all(map(role_of, messages))), [])


def _answer_in(call: JsonObject) -> JsonObject:
    """The answer as a message, which may be calls alone, with its tokens."""
    said = next((value for value in map(call.get, _ANSWERED) if value), None)
    whole, choices = object_in(said), list_in(at(said, "choices"))
    said = {"content": said} if isinstance(said, str) else object_in(at(choices[0], "message") if choices else said)
    if not said.keys() & {"content", "tool_calls"}:
        return {}
    counts = {key: each[key] for each in (whole if choices else {}, call) for key in _COUNTS if key in each}
    return {**counts, "role": "assistant", **said}


def _joined(requests: list[tuple[list[JsonObject], JsonObject]]) -> list[JsonObject]:
    messages: list[JsonObject] = []
    before: list[JsonObject] = []
    for asked, answer in requests:
        last = max((place for place, one in enumerate(asked) if role_of(one) == "assistant"), default=-1)
        has_grown = last >= len(before) and asked[: len(before)] == before
        new = [one for one in asked[last + 1 :] if has_grown or one not in before]
        messages += _as_results(new, messages[-1]) if messages else asked
        messages.append(answer)
        before = asked
    return messages


def _as_results(new: list[JsonObject], answer: JsonObject) -> list[JsonObject]:
    """What came after an answer. If it made calls, it is what they gave back, whatever their IDs and who tells it."""
    names = [at(call, "id") for call in list_in(answer.get("tool_calls"))]
    told = [one for one in new if role_of(one) == "tool"]
    is_written = not names and is_call_alone(text_of(answer))
    if (not names and not is_written) or {at(one, "tool_call_id") for one in told} & set(names):
        return new
    shown = "\n".join(filter(None, (_words(one.get("content")) for one in new)))
    result = {"role": "user"} if is_written else {"role": "tool", "tool_call_id": names[-1]}
    return [{**result, "content": shown}] if new else []


def _words(content: Any) -> str:
    """The text of a message, with the kinds of its parts that have none."""
    parts = list_in(content)
    if not parts or not all(first_text(part, "type") for part in parts):
        return as_text(content)
    return "\n".join(first_text(part, "text") or f"[{first_text(part, 'type')}]" for part in parts)
