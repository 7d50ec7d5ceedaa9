"""Texts in the manner of ReAct: lines that begin with `Thought:`, `Action:`, `Action Input:`, `Observation:` and
`Final Answer:`, also with a number, and `Question:` before them.

An action names its tool and has its input in a line of its own (LangChain), or both are in one: `Search[Ada Lovelace]`,
`search("Ada Lovelace")`, `go to cabinet 1`, or an object with the name and the input of a tool, which may stand in a
fence. Agents in environments of reinforcement learning write an element instead: `<action>go to cabinet 1</action>`.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import Any

from evaluation_assets.core.traces.formats.messages.bare_calls import bare_calls
from evaluation_assets.core.traces.formats.messages.call_arguments import given_in
from evaluation_assets.core.traces.formats.messages.chat import GOES_ON, role_of
from evaluation_assets.core.traces.formats.messages.contents import split_thought
from evaluation_assets.core.traces.formats.messages.elements import elements_in
from evaluation_assets.core.traces.formats.messages.function_elements import text_of
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import (
    at,
    decoded,
    first_text,
    object_in,
    printed_value,
)
from evaluation_assets.core.traces.trajectories.model import JsonObject

_HEAD = re.compile(
    r"^[ \t]*(?:\*\*)?(?=[A-Z])((?i:question|thought|action input|action|act|observation|obs|final answer))"
    r"(?:\*\*)?(?: ?\d{1,4})?"
    r"[ \t]*:(?:\*\*)?",
    re.MULTILINE,
)
_OBSERVED = re.compile(r"\A\s*(?:\*\*)?Observation(?:\*\*)?(?: ?\d{1,4})?[ \t]*:(?:\*\*)?", re.IGNORECASE)
_IN_ONE = re.compile(r"([\w.-]+)[ \t]*(?:\[(.*)\]|\((.*)\))\.?", re.DOTALL)
_ELEMENTS = {"action": None, "execute": "code", "python": "code", "search": "query"}
"""Elements that are actions, with the name of what stands in one, unless it is an action as in ReAct."""
_NAMED = re.compile(
    r"\s*(?:tool|action|name)[ \t]*:[ \t]*(\S+)\s*(?:parameters|arguments|args|input)[ \t]*:(.*)", re.DOTALL
)
"""An action in an element whose lines name its tool and arguments."""
_WORD = re.compile(r"[\w.-]+")
_OBJECT = re.compile(r"(?:```\w*\s*)?(\{.*\})", re.DOTALL)
_TOOLS = ("action", "tool", "name", "tool_name", "function")
_SHORT = {"Act": "Action", "Obs": "Observation"}
_FINISH = "finish"
_ANSWERING = (_FINISH, "answer")
"""Actions that give the answer, `ANSWER; [...]` in WebVoyager."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_ENDED = re.compile(r"^> Finished chain\.\s*$", re.MULTILINE)
"""What LangChain prints at the end of a run."""

_EXAMPLES_END = re.compile(r"\(end of examples?\)\s*\Z", re.IGNORECASE)
_BEFORE = 40
"""Characters before a question that may say that the examples end."""
_TEXTS = ("content", "value", "from", "role")


def conversations_in(text: str, question: str | None = None) -> list[list[JsonObject]]:
    """The chat messages of each question in a text, from its first line that begins so.

    Questions are left out if no action on them has an observation. One is known as `question`, if it is in the text.
    """
    text = _ENDED.sub("", _COLOUR.sub("", text))
    first = _HEAD.search(text)
    conversations: list[list[JsonObject]] = [[]]
    has_acted = False
    for message in _messages(text[first.start() :] if first is not None else "", question):
        if message["role"] == "user" and has_acted:
            conversations.append([])
            has_acted = False
        has_acted = has_acted or "tool_calls" in message
        conversations[-1].append(message)
    return [each for each in conversations if any(_follows(*pair) for pair in pairwise(each))]


def _follows(act: JsonObject, shown: JsonObject) -> bool:
    return "tool_calls" in act and shown["role"] == "tool"


def with_actions(messages: Sequence[Any]) -> list[Any] | None:
    """Chat messages with the actions in their texts as calls, and observations as results.

    An observation is in the text of the model, in a message of a tool, or in one of the user that names it so, or all
    of them if most messages of the model end with an action. `None` if no action has one.
    """
    if not any("Act" in said or "ACT" in said or _has_element(said) for said in map(_said, messages)):
        return None  # as in most conversations
    messages_with_actions: list[Any] = []
    is_waiting = is_observed = False
    are_told = _are_told(messages)
    for message in messages:
        role, said = role_of(message), _said(message)
        pieces = _pieces(said) if role == "assistant" else []
        if pieces and any("tool_calls" in each or is_observed for each in pieces):
            rest = {key: value for key, value in message.items() if key not in _TEXTS}
            more = {GOES_ON: True}
            messages_with_actions += [{**each, **piece} for piece, each in zip_longest(pieces, [rest], fillvalue=more)]
            is_observed = is_observed or any(each["role"] == "tool" for each in pieces)
        elif is_waiting and role == "user" and (are_told or _OBSERVED.match(said) is not None):
            messages_with_actions.append({"role": "tool", "content": _OBSERVED.sub("", said, count=1).strip()})
            is_observed = True
        else:
            messages_with_actions.append(message)
            is_observed = is_observed or (is_waiting and role == "tool")
        is_waiting = bool(pieces) and "tool_calls" in pieces[-1]
    return messages_with_actions if is_observed else None


def _are_told(messages: Sequence[Any]) -> bool:
    """Whether the user says what came of the actions: of one in an element, or of most that a model ends with."""
    pairs = zip(messages, [*messages[1:], None], strict=False)
    said = [(_said(message), role_of(after)) for message, after in pairs if role_of(message) == "assistant"]
    acted = [
        (_has_element(text), after) for text, after in said if any("tool_calls" in each for each in _pieces(text)[-1:])
    ]
    told = [is_element for is_element, after in acted if after == "user"]
    return any(told) or (bool(told) and len(acted) > 1 and 2 * len(acted) > len(said))


def _pieces(text: str) -> list[JsonObject]:
    """The messages of a text of a model; none if it has no action, and no line of it begins like one of ReAct."""
    thought, said = split_thought(text)
    name = next((name for name in _ELEMENTS if f"<{name}>" in said), None)
    elements, words = ([], "") if name is None else elements_in(said, name)
    if name is None or not elements:
        return list(_messages(text))
    reasoning = "\n\n".join(filter(None, (thought, words.strip())))
    calls = [_call_in(name, element.content.strip()) for element in elements]
    return [{"role": "assistant", "content": "", "reasoning": reasoning, "tool_calls": calls}]


def _has_element(text: str) -> bool:
    return any(f"<{name}>" in text for name in _ELEMENTS)


def _call_in(element: str, text: str) -> JsonObject:
    """The call in an element: what its name says, JSON, lines with its tool and arguments, or as ReAct has it."""
    if (argument := _ELEMENTS[element]) is not None:
        return {"name": element, "arguments": {argument: text}}
    if made := bare_calls(text):
        return made[0]
    named = _NAMED.fullmatch(text)
    return _call(text, None) if named is None else {"name": named[1], "arguments": decoded(named[2].strip())}


def _said(message: Any) -> str:
    """The text of a message without calls."""
    return text_of({**object_in(message), "content": at(message, "content") or at(message, "value")})


def _messages(text: str, question: str | None = None) -> Iterator[JsonObject]:
    """The messages of a text; none if no line of it begins like one of ReAct."""
    parts = list(_parts(text, question))
    thoughts: list[str] = []

    def said(content: str) -> JsonObject:
        reasoning = "\n".join(filter(None, thoughts))
        thoughts.clear()
        return {"role": "assistant", "content": content, **({"reasoning": reasoning} if reasoning else {})}

    for (kind, body), (after, following) in zip_longest(parts, parts[1:], fillvalue=("", "")):
        if kind in ("", "Thought"):
            thoughts.append(body)
        elif kind == "Action":
            call = _call(body, following if after == "Action Input" else None)
            answer = call["arguments"].get("input") if call["name"].title() == "Final Answer" else None
            yield {**said(""), "tool_calls": [call]} if answer is None else said(as_text(answer))
        elif kind == "Final Answer":
            yield said(body)
        elif kind == "Observation":
            yield {"role": "tool", "content": body}
        elif kind == "Question":
            yield from [said("")] if any(thoughts) else []
            yield {"role": "user", "content": body}
    if any(thoughts):
        yield {"role": "assistant", "content": "\n".join(filter(None, thoughts))}


def _parts(text: str, question: str | None) -> Iterator[tuple[str, str]]:
    """What each part of a text begins with, and the rest of it; nothing for what is before the first one.

    A question has a blank line before it, the end of the examples or a run that has finished, or is known: observations
    quote questions.
    """
    heads: list[re.Match[str]] = []
    is_finished = False
    for head in _HEAD.finditer(text):
        kind = head[1].title()
        if kind != "Question" or is_finished or _begins(text, head, question):
            heads.append(head)
            is_act = _SHORT.get(kind, kind) == "Action"
            is_finished = _is_finish(text, head) if is_act else is_finished and kind != "Question"
    if heads:
        yield "", text[: heads[0].start()].strip()
    for head, end in zip_longest(heads, (head.start() for head in heads[1:])):
        kind = head[1].title()
        yield _SHORT.get(kind, kind), text[head.end() : end].strip()


def _is_finish(text: str, head: re.Match[str]) -> bool:
    return text[head.end() : head.end() + _BEFORE].lstrip().lower().startswith(_FINISH)


def _begins(text: str, head: re.Match[str], question: str | None) -> bool:
    before = text[max(0, head.start() - _BEFORE) : head.start()]
    after = text[head.end() : head.end() + len(question or "") + _BEFORE].lstrip()
    is_known = bool(question) and after.startswith(question or "")
    return is_known or head.start() == 0 or before.endswith("\n\n") or _EXAMPLES_END.search(before) is not None


def _call(action: str, given: str | None) -> JsonObject:
    """The call of an action: with the input of the next line, or with what is in brackets or behind the first word."""
    if given is not None:
        found = _object_in(given)
        return {"name": action, "arguments": {"input": given} if found is None else found}
    if (call := _call_of(_object_in(action))) is not None:
        return call
    written = _IN_ONE.fullmatch(action)
    if written is not None:
        name, text = written[1], written[2] if written[2] is not None else written[3]
        arguments = decoded(text)
        if not isinstance(arguments, dict):
            arguments = {_given_as(name): text.strip("\"'")}
        return {"name": name, "arguments": arguments}
    word = _WORD.match(action)
    name = action if word is None else word[0]
    return {
        "name": name or "action",
        "arguments": {_given_as(name): rest} if (rest := action[len(name) :].strip(" \n;")) else {},
    }


def _object_in(text: str) -> JsonObject | None:
    """The object that a text begins with, as JSON or as Python prints it, also in a fence."""
    if (written := _OBJECT.match(text)) is None:
        return None
    found = decoded(written[1])
    found = printed_value(found) if isinstance(found, str) else found
    return found if isinstance(found, dict) else None


def _call_of(whole: JsonObject | None) -> JsonObject | None:
    """The call that an object is: it names a tool."""
    name = first_text(whole, *_TOOLS)
    if whole is None or name is None:
        return None
    given = given_in(whole)
    if given is None:
        return {"name": name, "arguments": {}}
    return {"name": name, "arguments": given if isinstance(given, dict) else {_given_as(name): given}}


def _given_as(name: str) -> str:
    """The name of what an action is given as a text."""
    return "answer" if name.lower() in _ANSWERING else "input"
