r"""Conversations of Glaive's data set of function calls: a system prompt with functions, and one text for the rest.

    {"system": "SYSTEM: You ... -\n{...}", "chat": "USER: ...\n\n\nASSISTANT: <functioncall> {...} <|endoftext|>..."}

`token_calls` reads its calls.
"""

import re
from typing import Any

from evaluation_assets.core.traces.formats.untyped import at
from evaluation_assets.core.traces.trajectories.model import JsonObject, json_objects

_SPEAKERS = {"USER": "user", "ASSISTANT": "assistant", "FUNCTION RESPONSE": "tool"}
_TURN = re.compile(rf"^({'|'.join(_SPEAKERS)}):[ \t]*", re.MULTILINE)
_PROMPT, _END = "SYSTEM:", "<|endoftext|>"


def is_of_glaive(data: Any) -> bool:
    """Whether a record has a conversation as one text."""
    prompt, chat = at(data, "system"), at(data, "chat")
    return isinstance(prompt, str) and isinstance(chat, str) and _TURN.match(chat.lstrip()) is not None


def glaive_record(data: JsonObject) -> JsonObject:
    """The record with its messages and tools."""
    chat = data["chat"].lstrip()
    turns = list(_TURN.finditer(chat))
    ends = [turn.start() for turn in turns[1:]] + [len(chat)]
    messages = [
        {"role": _SPEAKERS[turn[1]], "content": chat[turn.end() : end].replace(_END, "").strip()}
        for turn, end in zip(turns, ends, strict=True)
    ]
    prompt = data["system"].strip().removeprefix(_PROMPT).strip()
    tools = [one for one in json_objects(prompt) if isinstance(one.get("name"), str)]
    others = {key: value for key, value in data.items() if key not in ("system", "chat")}
    messages = [{"role": "system", "content": prompt}, *messages]
    return {**others, "messages": messages, **({"tools": tools} if tools else {})}
