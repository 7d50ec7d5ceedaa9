"""Calls and results in `<tool_call>` and `<tool_response>` elements, in the forms that models write them.

{"name": "search", "arguments": {"q": 1}}         Hermes, Qwen; several in a row or in a list, and in a fence
{'name': 'search', 'arguments': {'q': 1}}         as Python prints it: what Hermes' prompt shows, and its data set has
<function=search><parameter=q>1</parameter>...    Qwen's coding models
search<arg_key>q</arg_key><arg_value>1...         GLM

In JSON of a model, texts may have line breaks, and there may be brackets too many at its end.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.text.well_formed import well_formed_json
from evaluation_assets.core.traces.formats.messages.bare_calls import unfenced
from evaluation_assets.core.traces.formats.messages.elements import elements_in
from evaluation_assets.core.traces.formats.messages.function_elements import function_in
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import at, decoded, first_text, listed, object_in, printed_value
from evaluation_assets.core.traces.trajectories.model import JsonObject

CALL, RESPONSE = "tool_call", "tool_response"

_KEYED = re.compile(r"\s*([\w.:/-]+)\s*(<arg_key>.*)", re.DOTALL)
_ARGUMENT = re.compile(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_RETURNED = {"content", "name", "tool_call_id", "result", "response"}
_OPENED = re.compile(rf"^[ \t]*<{CALL}>", re.MULTILINE)
_WRITTEN = json.JSONDecoder(strict=False)
_BETWEEN = re.compile(r"[\s,;]*")
_TOO_MANY = re.compile(r"[\s}\]]*\Z")


def call_elements(text: str) -> tuple[list[str], str]:
    """The contents of the elements with calls in a text, and the rest. The last one may lack its end.

    Models stop at the closing tag, which some servers leave out; what then follows has to be calls.
    """
    elements, rest = elements_in(text, CALL)
    contents = [element.content.strip() for element in elements]
    opened = list(_OPENED.finditer(rest))
    if len(opened) == 1 and calls_in(last := rest[opened[0].end() :].strip()):
        return [*contents, last], rest[: opened[0].start()]
    return contents, rest


def calls_in(text: str) -> list[JsonObject]:
    """The calls that the content of an element consists of; empty if it is anything else."""
    content = unfenced(text)
    for values in (_in_a_row(content), _printed(content)):
        calls = [call for value in values for call in listed(value)]
        if calls and all(map(_is_call, calls)):
            return calls
    if functions := elements_in(text, "function")[0]:
        return [function_in(function) for function in functions]
    if (keyed := _KEYED.fullmatch(text)) is None:
        return []
    arguments = {key.strip(): decoded(value) for key, value in _ARGUMENT.findall(keyed[2])}
    return [{"name": keyed[1], "arguments": arguments}]


def response_in(text: str) -> JsonObject:
    """The fields of a tool message in an element, whose object may name the tool around what it returned."""
    response = next((value for value in (decoded(text), printed_value(text)) if isinstance(value, dict)), {})
    content = next((response[key] for key in ("content", "result", "response") if key in response), None)
    if "name" not in response or content is None or not response.keys() <= _RETURNED:
        return {"content": text}
    named = {key: response[key] for key in ("name", "tool_call_id") if isinstance(response.get(key), str)}
    return {**named, "content": as_text(content)}


def _is_call(value: Any) -> bool:
    return first_text(value, "name") is not None or first_text(object_in(at(value, "function")), "name") is not None


def _in_a_row(text: str) -> list[Any]:
    """The JSON values that a text consists of; empty for any other text."""
    if not text.startswith(("{", "[")):
        return []
    if not isinstance(whole := decoded(text), str):
        return [whole]
    try:
        return list(_values_in(text))
    except (ValueError, RecursionError):
        return []


def _values_in(text: str) -> Iterator[Any]:
    position = 0
    while position < len(text) and (position == 0 or _TOO_MANY.match(text, position) is None):
        value, end = _WRITTEN.raw_decode(text, position)
        yield well_formed_json(value)
        between = _BETWEEN.match(text, end)
        position = end if between is None else between.end()


def _printed(text: str) -> list[Any]:
    """The values that Python printed, all in one or each in a line; empty for any other text."""
    if not text.startswith(("{", "[")):
        return []
    whole = printed_value(text)
    return [whole] if whole is not text else [printed_value(line) for line in text.splitlines() if line.strip()]
