"""Interactions of the Gemini API: responses with their steps or outputs, alone or with their requests.

The server keeps what was said before: an interaction that names the previous one goes on with it. A client that keeps
it itself repeats it as input.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Rejection, Sample
from evaluation_assets.core.traces.formats.context import Context
from evaluation_assets.core.traces.formats.conversation import each_conversation, goes_on
from evaluation_assets.core.traces.formats.envelopes.envelope import plain_message, without
from evaluation_assets.core.traces.formats.envelopes.turn import Turn
from evaluation_assets.core.traces.formats.readers.openai_messages import trajectory_of
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.formats.untyped import (
    as_number,
    at,
    first_text,
    list_in,
    listed,
    object_in,
    objects_in,
    without_none,
)
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

NAME = "gemini_interactions"
DESCRIPTION = "interactions of the Gemini API: responses with steps or outputs, with or without their requests"
DETECTION = "objects of the kind interaction, or with steps of types such as user_input and model_output"

_SAID = ("steps", "outputs")
_TYPICAL = ("user_input", "model_output")
_COUNTS = ("total_input_tokens", "total_output_tokens")
_PREVIOUS = "previous_interaction_id"
_CALL, _RESULT = "_call", "_result"
_FAILED, _CUT = ("failed", "cancelled"), ("incomplete", "budget_exceeded")
_READ = (
    *_SAID, _PREVIOUS, "input", "request", "response", "usage", "object", "role", "status", "updated", "store",
    "stream", "background", "generation_config", "response_modalities", "service_tier", "system_instruction",
)  # fmt: skip


def detect(sample: Sample) -> bool:
    """Whether a record is an interaction, or has one as its response."""
    return any(map(_is_interaction, sample.records))


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per chain of interactions."""
    return each_conversation(files, _belongs, partial(_trajectory, unmapped), in_turn=_is_interaction)


def _is_interaction(data: Any) -> bool:
    response = _response_in(data)
    if not any(isinstance(response.get(name), list) for name in _SAID):
        return False
    steps = objects_in(response.get(_SAID[0]))
    is_typical = "status" in response and any(step.get("type") in _TYPICAL for step in steps)
    is_counted = any(name in object_in(response.get("usage")) for name in _COUNTS)
    return response.get("object") == "interaction" or is_typical or (is_counted and _SAID[1] in response)


def _response_in(data: Any) -> JsonObject:
    return object_in(at(data, "response")) or object_in(data)


def _request_in(data: Any) -> JsonObject:
    return object_in(at(data, "request")) or object_in(data)


def _belongs(earlier: Any, later: Any) -> bool:
    """Whether an interaction names the earlier one as the previous, or its input repeats that and goes on."""
    before = _previous(later)
    if before is not None:
        return before == _response_in(earlier).get("id")
    return goes_on(_input_of(earlier), _input_of(later))


def _previous(data: Any) -> str | None:
    return next((name for each in (_response_in, _request_in) if (name := first_text(each(data), _PREVIOUS))), None)


def _input_of(data: Any) -> list[Any]:
    """What an interaction was given, as steps; none where these are among its own."""
    given = _request_in(data).get("input")
    has_own = any(step.get("type") == _TYPICAL[0] for step in objects_in(_response_in(data).get(_SAID[0])))
    return [] if given is None or has_own else listed(given)


def _trajectory(unmapped: UnmappedFields, records: Sequence[Any]) -> Trajectory:
    messages: list[JsonObject] = []
    before: list[Any] = []
    for data in records:
        given, response = _input_of(data), _response_in(data)
        messages += _messages(given[len(before) :] if goes_on(before, given) else given, is_echo=bool(before))
        before = given if _previous(data) is None else []
        said = next((response[name] for name in _SAID if isinstance(response.get(name), list)), [])
        messages += _messages(said, _usage(object_in(response.get("usage"))), is_own=True)
    request, first, last = _request_in(records[0]), _response_in(records[0]), _response_in(records[-1])
    system = as_text(system) if (system := request.get("system_instruction")) else None
    record = {
        **without(object_in(records[0]), *_READ),
        **without(request, *_READ),
        **without(first, *_READ),
        "messages": [*([plain_message("system", system)] if system else []), *messages],
    }
    status = last.get("status")
    known = Context(failure=status if status in _FAILED else None, cut_off=status in _CUT)
    return replace(trajectory_of(unmapped, [without_none(record)], known, by_turn=True), format=NAME)


def _messages(
    steps: Iterable[Any], used: JsonObject | None = None, *, is_own: bool = False, is_echo: bool = False
) -> Iterator[JsonObject]:
    """Steps, or the contents that clients may give and get instead of them, as chat messages.

    `is_own` says that they are the model's unless they say otherwise, `is_echo` that those of the model are known.
    """
    turn, asked = Turn(), list[str]()
    for step in steps:
        kind = first_text(step, "type") or ""
        is_turn = kind in ("", *_TYPICAL)
        by_model = kind == _TYPICAL[1] or at(step, "role") == "model" or (is_own and kind != _TYPICAL[0])
        is_made = kind == "thought" or kind.endswith((_CALL, _RESULT))
        if not by_model and not is_made:
            yield from turn.messages()
            turn = Turn()
            asked.append(_text(_content(step, is_turn=is_turn)))
            continue
        if asked:
            yield plain_message("user", "\n".join(asked))
            asked = []
        if kind.endswith(_RESULT):
            turn.returned(_shown(at(step, "result")), at(step, "call_id"), failed=at(step, "is_error") is True)
        elif is_echo:
            continue
        elif kind.endswith(_CALL):
            turn.called(at(step, "name") or kind.removesuffix(_CALL), at(step, "arguments"), at(step, "id"))
        elif kind == "thought":
            turn.thought(_text(at(step, "summary")))
        else:
            turn.said(_text(_content(step, is_turn=is_turn)))
    if asked:
        yield plain_message("user", "\n".join(asked))
    yield from turn.messages(**({"usage": used} if used else {}))


def _content(step: Any, *, is_turn: bool) -> Any:
    return at(step, "content") if isinstance(step, dict) and is_turn else step


def _text(content: Any) -> str:
    """The text of contents; others are named."""
    parts = [content] if isinstance(content, str | dict) else list_in(content)
    texts = (part if isinstance(part, str) else first_text(part, "text") or _named(part) for part in parts)
    return "\n".join(filter(None, texts))


def _named(part: Any) -> str:
    kind = first_text(part, "type")
    return "" if kind in (None, "text") else f"[{kind}]"


def _shown(result: Any) -> Any:
    """What a tool gave back: its text, if it has nothing else."""
    parts = list_in(result)
    is_text = bool(parts) and all(at(part, "type") == "text" for part in parts)
    return _text(parts) if is_text else result


def _usage(counts: JsonObject) -> JsonObject | None:
    """The tokens under the names of OpenAI's API. Thoughts are written, and what tools gave is given."""
    given, written = (
        [count for name in names if (count := as_number(counts.get(f"total_{name}_tokens"))) is not None]
        for names in (("input", "tool_use"), ("output", "thought"))
    )
    cached = counts.get("total_cached_tokens")
    used = {
        "prompt_tokens": int(sum(given)) if given else None,
        "completion_tokens": int(sum(written)) if written else None,
        "total_tokens": counts.get("total_tokens"),
        "prompt_tokens_details": {"cached_tokens": cached} if cached else None,
    }
    return without_none(used) or None
