"""Lists of messages in fields that no reader took: what was asked or said, and is missing in the run.

A list that repeats what was read, or the beginning of it, is not missing.
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from evaluation_assets.core.traces.formats.untyped import decoded, list_in, object_in, objects_in

_DEEPEST = 2
_NOT_SAID = re.compile(
    "example|shot|demo|icl|expect|refer|gold|truth|target|template|chosen|reject|schema|tool|config|setting"
    "|judg|grad|eval|score|reward|critic|verif|review|feedback|simulat|raw",
    re.I,
)
"""In names of messages that were not exchanged in the run: examples, what is compared with it, what judges said."""
_SYSTEM = ("system", "developer")


def unread_messages(unread: Iterable[tuple[str, Any]], read: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The paths of lists of messages that have more than the objects that were read.

    `unread` are the fields that were not taken, with their paths.
    """
    unread = list(unread)
    found = [place for path, value in unread for place in _lists_in(path, value, _DEEPEST)]
    if not found:
        return
    written = [value for _, value in unread if isinstance(value, str) and decoded(value) is not value]
    values = (value for one in read for value in one.values() if value not in written)
    known = [text.strip() for value in values for text in _texts_of(value)]
    whole, joined = frozenset(known), "\n".join(known)
    for path, messages in found:
        told = [text for one in messages if one["role"] not in _SYSTEM for text in _texts_of(one["content"])]
        if not _repeats([text.strip() for text in told], whole, joined):
            yield path


def _repeats(told: Iterable[str], whole: Container[str], joined: str) -> bool:
    """Whether all texts were read: as they are, or inside others, one after the other."""
    start = 0
    return all(text in whole or (start := joined.find(text, start)) >= 0 for text in told)


def _lists_in(path: str, value: Any, depth: int) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    if _NOT_SAID.search(path) or (isinstance(value, str) and "role" not in value):
        return
    value = decoded(value)
    messages = list_in(value)
    if messages and all(map(is_message, messages)):
        yield path, messages
    elif depth:
        holders = [(path, object_in(value)), *((f"{path}[]", one) for one in objects_in(value))]
        for place, holder in holders:
            for key, inner in holder.items():
                yield from _lists_in(f"{place}.{key}", inner, depth - 1)


def is_message(value: Any) -> bool:
    """Whether a value has a role and a content."""
    return isinstance(value, dict) and isinstance(value.get("role"), str) and "content" in value


def _texts_of(value: Any) -> Iterator[str]:
    """The texts in a value: itself, or those of its parts."""
    if isinstance(value, str):
        yield value
    for part in list_in(value):
        text = part if isinstance(part, str) else object_in(part).get("text")
        if isinstance(text, str):
            yield text
