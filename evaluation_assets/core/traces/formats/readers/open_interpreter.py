"""Conversations of Open Interpreter: messages, the code that the agent ran, and what the computer showed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.conversation import Gathered
from evaluation_assets.core.traces.formats.messages.lists import MessageShape
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Event, Result, as_text
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import at
from evaluation_assets.core.traces.trajectories.model import Usage

NAME = "open_interpreter"
DESCRIPTION = "conversations of Open Interpreter: messages, code and what the computer showed"
DETECTION = "messages of the role computer, or of the type code, with a type and content"

_ROLES = ("user", "assistant", "computer")
_CODE, _SHOWN = "code", "console"
_TYPES = ("message", _CODE, _SHOWN, "image", "file", "confirmation")
_MARKS = ("active_line", "execution")
"""Formats of what is not shown: the line that runs, and code that waits for the user."""


def _is_message(data: Any) -> bool:
    return at(data, "role") in _ROLES and at(data, "type") in _TYPES and "content" in data


def _is_typical(data: Any) -> bool:
    return data["role"] == _ROLES[-1] or data["type"] == _CODE


def _events(messages: Sequence[Fields], _: Mapping[int, Usage]) -> Iterator[Event]:
    gathered, shown, calls = Gathered(), list[str](), 0
    for message in messages:
        role, kind, form = message.text("role"), message.text("type") or "message", message.text("format")
        content = as_text(message.value("content")) if kind in ("message", _CODE, _SHOWN) else f"[{kind}]"
        message.set_aside("recipient", "start", "end")
        if kind == "confirmation" or form in _MARKS:
            continue
        if role == _ROLES[-1]:
            yield from gathered.told()
            shown.append(content)
            continue
        if shown:
            yield _result(shown, calls)
            shown = []
        if role == "user":
            yield from gathered.told()
            yield Asked(text=content)
        elif kind == _CODE:
            calls += 1
            gathered.calls.append(Call(name=form or _CODE, arguments={_CODE: content}, id=f"{_CODE} {calls}"))
            yield from gathered.told()
        else:
            gathered.texts.append(content)
    yield from gathered.told()
    if shown:
        yield _result(shown, calls)


def _result(shown: list[str], calls: int) -> Result:
    return Result(content="\n".join(shown), call_id=f"{_CODE} {calls}")


_SHAPE = MessageShape(name=NAME, is_message=_is_message, is_typical=_is_typical, events=_events, system=lambda *_: None)
is_of_interpreter = _SHAPE.recognises
detect, read = _SHAPE.detects, _SHAPE.read
