"""Calls that are all of a message, without tags or tokens around them.

{"name": "search", "parameters": {"q": 1}}        Llama
[search(q=1), Stock Prices(of=["A"])]             Llama, ToolACE
"""

import ast
import json
import re
from collections.abc import Sequence
from itertools import islice

from evaluation_assets.core.traces.formats.files.json_values import as_json
from evaluation_assets.core.traces.formats.untyped import as_object, at, decoded, first_text, list_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_OPENS = re.compile(r"\s*([^()\[\]{},'\"=\n]+)\(")
_ENDS = re.compile(r"\)\s*([,\]])")
_MOST_ENDS = 50
"""Ends of a call that are tried: such a bracket may stand in its arguments."""


def bare_calls(text: str) -> list[JsonObject]:
    """The calls that a text consists of; empty for any other text."""
    found = as_object(text)
    if found is not None:
        is_call = first_text(found, "name") and found.keys() & {"parameters", "arguments"}
        return (
            [{"name": found["name"], "arguments": found.get("arguments", found.get("parameters"))}] if is_call else []
        )
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
        call = ast.parse(f"f({text.strip()})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or any(given.arg is None for given in call.keywords):
            return None
        return as_json({str(given.arg): ast.literal_eval(given.value) for given in call.keywords})
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
