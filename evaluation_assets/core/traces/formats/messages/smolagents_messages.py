r"""Messages as smolagents writes its memory for models: calls and what they returned are texts with roles of their own.

{"role": "tool-call", "content": [{"type": "text", "text": "Calling tools:\n[{'id': 'call_1', ...}]"}]}
{"role": "tool-response", "content": [{"type": "text", "text": "Call id: call_1\nObservation:\n..."}]}
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.messages.function_elements import text_of
from evaluation_assets.core.traces.formats.untyped import at, objects_in, printed_value
from evaluation_assets.core.traces.trajectories.model import JsonObject

_CALL, _RESPONSE = "tool-call", "tool-response"
_CALLING = "Calling tools:"
_TASK = "New task:\n"
_SHOWN = re.compile(r"\A(?:Call id: (\S+)\s+)?(Observation|Error):\s*", re.MULTILINE)


def is_of_smolagents(messages: Sequence[Any]) -> bool:
    """Whether a message has a role that only smolagents gives."""
    return any(at(message, "role") in (_CALL, _RESPONSE) for message in messages)


def with_calls(messages: Sequence[Any]) -> Iterator[Any]:
    """The messages, with texts that are calls or results as such. The words before a call are its reasoning."""
    said: JsonObject | None = None
    for message in messages:
        role, text = at(message, "role"), text_of(message)
        if role == _CALL and (calls := list(objects_in(printed_value(text.removeprefix(_CALLING).strip())))):
            thought = text_of(said).strip().removeprefix("Thought:").strip()
            yield {"role": "assistant", "content": "", "reasoning": thought, "tool_calls": calls}
            said = None
            continue
        if said is not None:
            yield said
        said = message if role == "assistant" else None
        if role == _RESPONSE:
            yield _result(text)
        elif said is None:
            yield {**message, "content": text.removeprefix(_TASK)} if text.startswith(_TASK) else message
    if said is not None:
        yield said


def _result(text: str) -> JsonObject:
    match = _SHOWN.match(text)
    if match is None:
        return {"role": "tool", "content": text}
    content = text[match.end() :]
    named = {} if match[1] is None else {"tool_call_id": match[1]}
    return {"role": "tool", "content": content, **named, **({"is_error": True} if match[2] == "Error" else {})}
