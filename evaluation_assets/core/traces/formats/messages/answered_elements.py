"""Calls as elements in the text of a model, each with an element of what came back behind it, as models write them that
are trained to search: Search-R1, ReSearch, ZeroSearch, ReTool.

    <think>I look.</think><search>author of Dune</search><information>By Herbert.</information><answer>Herbert</answer>
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.messages.chat import role_of
from evaluation_assets.core.traces.formats.messages.contents import split_thought
from evaluation_assets.core.traces.formats.messages.elements import element_in
from evaluation_assets.core.traces.formats.messages.function_elements import text_of
from evaluation_assets.core.traces.formats.untyped import as_object
from evaluation_assets.core.traces.trajectories.model import JsonObject

_ARGUMENTS = {
    **dict.fromkeys(("search", "web_search", "query", "retrieve", "browse"), "query"),
    **dict.fromkeys(("python", "code", "execute", "sql", "bash"), "code"),
    **dict.fromkeys(("tool", "action", "calculator", "calculate"), "input"),
}
"""Names of elements that are calls, and what their text is called among the arguments."""
_RETURNED = (
    "information", "result", "results", "output", "observation", "interpreter", "documents", "search_results",
    "search_result", "execution_result", "execution_results", "evidence",
)  # fmt: skip
_OPENED = re.compile(rf"<({'|'.join(_ARGUMENTS)})>")
_ANSWERED = re.compile(rf"\s*<({'|'.join(_RETURNED)})>")
_ANSWER = "answer"


def with_answered_elements(messages: Sequence[Any]) -> Iterator[Any]:
    """The messages, of which those with such calls become several: of calls, of tools, and of the answer."""
    for number, message in enumerate(messages):
        pairs = list(_pairs(text_of(message))) if role_of(message) == "assistant" else []
        yield from _pieces(message, number, pairs) if pairs else [message]


_Pair = tuple[int, int, str, str, str]
"""Where a call begins and where its result ends, its name, its text, and the result."""


def _pairs(text: str) -> Iterator[_Pair]:
    """The calls in a text, in linear time: what was searched for an end is not searched again."""
    position, unended = 0, set[str]()
    while (opened := _OPENED.search(text, position)) is not None:
        name, position = opened[1], opened.end()
        closed = -1 if name in unended else text.find(f"</{name}>", position)
        if closed < 0:
            unended.add(name)
            continue
        start = max(opened.start(), text.rfind(f"<{name}>", position, closed))
        given, position = text[start + len(name) + 2 : closed], closed + len(name) + 3
        answered = _ANSWERED.match(text, position)
        if answered is None or answered[1] in unended:
            continue
        end = text.find(f"</{answered[1]}>", answered.end())
        if end < 0:
            unended.add(answered[1])
            continue
        position = end + len(answered[1]) + 3
        yield start, position, name, given.strip(), text[answered.end() : end].strip()


def _pieces(message: Any, number: int, pairs: list[_Pair]) -> Iterator[JsonObject]:
    text, position = text_of(message), 0
    other = {key: value for key, value in message.items() if key not in ("content", "value")}
    for place, (start, end, name, given, returned) in enumerate(pairs):
        called = {
            "id": f"call {number} {place}",
            "name": name,
            "arguments": as_object(given) or {_ARGUMENTS[name]: given},
        }
        reasoning = "\n\n".join(filter(None, (part and part.strip() for part in split_thought(text[position:start]))))
        yield {**other, "role": "assistant", "content": "", "reasoning_content": reasoning, "tool_calls": [called]}
        yield {"role": "tool", "tool_call_id": called["id"], "content": returned}
        position, other = end, {}
    thought, said = split_thought(text[position:])
    if rest := (element_in(said, _ANSWER) or said).strip():
        yield {"role": "assistant", "content": rest, **({"reasoning_content": thought} if thought else {})}
