"""Calls of gptme: code in fences, or `@tool(id): {...}`, that is run, with what it shows in a system message; and code
in fences that AutoGen or mini-SWE-agent runs, or a program of one's own, with what it shows in a message of the user.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from evaluation_assets.core.traces.formats.messages.bare_calls import is_result_told, told_result
from evaluation_assets.core.traces.formats.messages.chat import role_of
from evaluation_assets.core.traces.formats.messages.function_elements import text_of
from evaluation_assets.core.traces.formats.untyped import as_object, object_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_CALL = re.compile(
    r"^```(?P<tool>\w[\w.-]*)(?:[ \t]+(?P<about>[^\n]*))?\n(?P<code>.*?)^```[ \t]*$"
    r"|^@(?P<name>\w+)\((?P<id>[\w-]+)\):[ \t]*(?P<given>\{.*?\})[ \t]*$",
    re.MULTILINE | re.DOTALL,
)

_FENCED = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
_ENDED = re.compile(
    r"\s*(?:exitcode: (?=-?\d{1,9} \(execution (?:succeeded|failed)\))|<returncode>(?=-?\d{1,9}</returncode>))(-?\d+)"
)
"""How AutoGen and mini-SWE-agent begin to tell what code has shown."""


def with_fenced_code(messages: Sequence[Any]) -> list[Any] | None:
    """The messages with code that was run as calls; `None` where no system message follows such code.

    A system message shows what one block has done, in their order; more of them belong to the last one. A block that
    none follows was not run, and stays text.
    """
    messages = _as_the_agent_has_them(messages)
    converted: list[Any] = []
    position, has_run = 0, False
    are_told = sum(role_of(each) == "user" and is_result_told(text_of(each)) for each in messages) > 1
    while position < len(messages):
        message = messages[position]
        written = list(_CALL.finditer(text_of(message))) if role_of(message) == "assistant" else []
        shown = list(takewhile(_is_of_system, _from(messages, position + 1))) if written else []
        if shown:
            converted += _ran(message, written[: len(shown)], shown)
            position, has_run = position + len(shown), True
        elif (told := _told(message, messages[position + 1 : position + 2], are_told=are_told)) is not None:
            converted += told
            position, has_run = position + 1, True
        else:
            converted.append(message)
        position += 1
    return [{**_metadata(each), **each} for each in converted] if has_run else None


def _is_of_system(message: Any) -> bool:
    return role_of(message) == "system"


def _from(messages: Sequence[Any], position: int) -> Iterator[Any]:
    """The messages from a position on, without a copy of them."""
    return map(messages.__getitem__, range(position, len(messages)))


def _as_the_agent_has_them(messages: Sequence[Any]) -> Sequence[Any]:
    """The messages; those of the one that runs the code for AutoGen, who is the assistant in them, the other way."""
    if not any(role_of(each) == "assistant" and _ENDED.match(text_of(each)) for each in messages):
        return messages
    others = {"assistant": "user", "user": "assistant"}
    return [{**each, "role": others[role]} if (role := role_of(each)) in others else each for each in messages]


def _told(message: Any, after: Sequence[Any], *, are_told: bool) -> list[Any] | None:
    """A message and the one after it, where that of a user says what its code has shown; `None` for others."""
    if not after or (role_of(message), role_of(after[0])) != ("assistant", "user"):
        return None
    said, shown = text_of(message), text_of(after[0])
    ended, written = _ENDED.match(shown), list(_FENCED.finditer(said))
    if not written or (ended is None and not (are_told and is_result_told(shown))):
        return None
    code = "\n".join(each[2].rstrip("\n") for each in written)
    call = {"name": written[0][1] or "code", "arguments": {"code": code}}
    failed = {"error": f"exit code {ended[1]}"} if ended is not None and int(ended[1]) else {}
    words = {"content": _FENCED.sub("", said).strip(), "tool_calls": [call]}
    return [{**message, **words}, {"role": "tool", "content": told_result(shown), **failed}]


def _ran(message: JsonObject, written: Sequence[re.Match[str]], shown: Sequence[JsonObject]) -> Iterator[JsonObject]:
    said, last = text_of(message), len(written) - 1
    for each in reversed(written):
        said = said[: each.start()] + said[each.end() :]
    yield {**message, "content": said.strip(), "tool_calls": [_call(each) for each in written]}
    yield from ({**each, "role": "tool"} for each in shown[:last])
    yield {**shown[last], "role": "tool", "content": "\n\n".join(map(text_of, shown[last:]))}


def _metadata(message: JsonObject) -> JsonObject:
    """The model and the usage of a message."""
    metadata = object_in(message.get("metadata"))
    return {name: metadata[name] for name in ("model", "usage") if name in metadata}


def _call(match: re.Match[str]) -> JsonObject:
    if match["name"] is not None:
        given = as_object(match["given"])
        return {"name": match["name"], "arguments": match["given"] if given is None else given}
    about = {"about": match["about"].strip()} if match["about"] else {}
    return {"name": match["tool"], "arguments": {**about, "code": match["code"].rstrip("\n")}}
