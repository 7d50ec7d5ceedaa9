"""Calls that are all of a message, without tags or tokens around them.

{"name": "search", "parameters": {"q": 1}}        Llama
{"tool": "search", "args": {"q": 1}}              prompts of one's own, whose results the user says
{"thoughts": {...}, "command": {"name": "search", "args": {"q": 1}}}    AutoGPT
{"state": {...}, "actions": [{"goto": {"url": "https://example.org"}}]}    browser-use, Notte
[search(q=1), Stock Prices(of=["A"])]             Llama, ToolACE
GET http://localhost/orders?id=17                 MedAgentBench
"""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from evaluation_assets.core.text.python_source import parsed_expression
from evaluation_assets.core.traces.formats.files.json_values import as_json
from evaluation_assets.core.traces.formats.untyped import as_object, at, decoded, first_text, list_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_NAMES = ("name", "tool_name", "tool", "function_name", "action")
_HOLDERS = ("action", "tool", "tool_call", "function_call", "function", "command")
"""Names of a call inside an object, which has a thought beside it."""
_SEVERAL = ("actions", "action", "tool_calls", "calls")
"""Names of a list of calls in an object. Each may have its arguments under its own name."""
_ARGUMENTS = ("arguments", "parameters", "args", "tool_input", "tool_args", "action_input", "params")
_THOUGHTS = ("thought", "thoughts", "reasoning")
_FENCE = re.compile(r"\A\s*```(?:json)?\s*(.*?)\s*```\s*\Z", re.DOTALL)
_LABEL = re.compile(
    r"\A\s*(?:(?:tool )?(?:results?|observation|output|response)(?: (?:of|from) [\w.-]+)?"
    r"|here is the (?:result|output|response) (?:of|from) [\w. -]{1,40}|command [\w.-]+ returned):\s*",
    re.IGNORECASE,
)
_REQUEST = re.compile(r"\s*(GET|POST|PUT|PATCH|DELETE)\s+(https?://\S+)(?:\s+([{\[].*?))?\s*", re.DOTALL)
_ANSWER = re.compile(r"final[ _]answer", re.IGNORECASE)
_OPENS = re.compile(r"\s*([^()\[\]{},'\"=\n]+)\(")
_ENDS = re.compile(r"\)\s*([,\]])")
_MOST_ENDS = 50
"""Ends of a call that are tried: such a bracket may stand in its arguments."""


def bare_calls(text: str) -> list[JsonObject]:
    """The calls that a text consists of; empty for any other text."""
    if alone := _calls_alone(text):
        return alone
    calls: list[JsonObject] = []
    text = text.strip()
    position, goes_on = 1, text.startswith("[")
    while goes_on and (opened := _OPENS.match(text, position)) is not None:
        ends = islice(_ENDS.finditer(text, opened.end()), _MOST_ENDS)
        tried = ((end, _arguments(text[opened.end() : end.start()])) for end in ends)
        end, arguments = next(((end, given) for end, given in tried if given is not None), (None, None))
        if end is None:
            return []
        calls.append({"name": opened[1].strip(), "arguments": arguments})
        position, goes_on = end.end(), end[1] == ","
    return calls if not goes_on and position == len(text) else []


def is_call_alone(text: str) -> bool:
    """Whether a text is an object with the names and the arguments of calls, or a request of HTTP."""
    return bool(_calls_alone(text))


def is_request(text: str) -> bool:
    """Whether a text is a request of HTTP."""
    return _REQUEST.fullmatch(text) is not None


def thought_beside(text: str) -> str | None:
    """What a model says in an object of why it makes the call."""
    whole = _object(text)
    thought = first_text(whole, *_THOUGHTS) or first_text(at(whole, "thoughts"), "text", "reasoning")
    if whole is None or thought is not None or not _listed(whole):
        return thought
    return "\n".join(_texts_in({key: value for key, value in whole.items() if key not in _SEVERAL})) or None


def _texts_in(value: Any) -> Iterator[str]:
    """The texts in the fields of an object, also one inside it."""
    for inner in value.values():
        if isinstance(inner, str) and inner.strip():
            yield inner
        elif isinstance(inner, dict):
            yield from _texts_in(inner)


def is_result_told(text: str) -> bool:
    """Whether a text begins with a word for a result."""
    return _LABEL.match(text) is not None


def told_result(text: str) -> str:
    """A result that the user says, without the word for it."""
    return _LABEL.sub("", text, count=1)


def unfenced(text: str) -> str:
    """What a text says without blanks, and without the fence that it may stand in."""
    fenced = _FENCE.match(text)
    return text.strip() if fenced is None else fenced[1]


def _object(text: str) -> JsonObject | None:
    return as_object(unfenced(text))


def _calls_alone(text: str) -> list[JsonObject]:
    if (request := _REQUEST.fullmatch(text)) is not None:
        body = {} if request[3] is None else {"body": decoded(request[3])}
        return [{"name": request[1], "arguments": {"url": request[2], **body}}]
    if (whole := _object(text)) is None:
        return []
    return _listed(whole) or ([] if (call := _call(whole)) is None else [call])


def _listed(whole: JsonObject) -> list[JsonObject]:
    """The calls in the list of an object, if all its items are some."""
    items = next((items for name in _SEVERAL if (items := list_in(whole.get(name)))), [])
    calls = [(_call(item) or _under_own_name(item)) if isinstance(item, dict) else None for item in items]
    return [call for call in calls if call is not None] if all(calls) else []


def _under_own_name(item: JsonObject) -> JsonObject | None:
    """A call whose arguments are an object under its name; other names may be there without any."""
    given = [(name, value) for name, value in item.items() if value is not None]
    is_call = len(given) == 1 and isinstance(given[0][1], dict) and given[0][0] not in _NAMES
    return {"name": given[0][0], "arguments": given[0][1]} if is_call else None


def _call(whole: JsonObject) -> JsonObject | None:
    whole = next((value for name in _HOLDERS if isinstance(value := whole.get(name), dict)), whole)
    name, key = first_text(whole, *_NAMES), next((key for key in _ARGUMENTS if key in whole), None)
    if name is None or key is None or _ANSWER.fullmatch(name):
        return None
    is_plain = "name" in whole and key in ("arguments", "parameters")  # any value, as models are trained to write it
    return {"name": name, "arguments": whole[key]} if is_plain or isinstance(whole[key], dict) else None


def results_of(calls: Sequence[JsonObject], content: str) -> list[JsonObject]:
    """A message of a tool for each call, if the text of one is a list with the results of all; else an empty list."""
    results = list_in(decoded(content))
    if len(calls) < 2 or [at(result, "name") for result in results] != [call["name"] for call in calls]:
        return []
    told = [result.get("results", result) for result in results]
    return [{"role": "tool", "content": one if isinstance(one, str) else json.dumps(one)} for one in told]


def _arguments(text: str) -> JsonObject | None:
    """Arguments with names, as Python writes them; `None` for anything else. Only literals are parsed."""
    try:
        call = parsed_expression(f"f({text.strip()})")
        if not isinstance(call, ast.Call) or call.args or any(given.arg is None for given in call.keywords):
            return None
        return as_json({str(given.arg): ast.literal_eval(given.value) for given in call.keywords})
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
