"""How many objects a body becomes, counted before any is made: an empty one takes two bytes in a body, and a hundred in
memory.
"""

import re
from functools import cache
from itertools import islice

from google.protobuf.descriptor import Descriptor

from evaluation_assets.core.intake.sources.otlp.parts import MalformedRequest, OversizedRequest

MOST_OBJECTS = 1_000_000
"""Messages of a protobuf body. An attribute is two of them."""

_MOST_TOKENS = 5 * MOST_OBJECTS
"""Strings, opening braces and brackets, and commas of a JSON body. An attribute has nine."""

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+\\?(?:"|\Z)|[\[{,]', re.DOTALL)
"""It matches from any quote on, also without an end, so that the time is linear in the size of the body."""


def check_messages(body: bytes, kind: Descriptor) -> None:
    """Check the number of messages in a protobuf body.

    Raises:
        OversizedRequest: there are too many.
        MalformedRequest: it is cut off.
    """
    if len(body) < 2 * MOST_OBJECTS:  # a message has at least two bytes
        return
    count = at = 0
    end, below = len(body), _messages_in(kind)
    around: list[tuple[int, dict[int, Descriptor]]] = []
    while True:
        while at >= end:
            if not around:
                return
            end, below = around.pop()
        tag, at = (body[at], at + 1) if body[at] < 128 else _varint(body, at)
        match tag & 7:
            case 2:
                length, at = _varint(body, at)
                if (inner := below.get(tag >> 3)) is None:
                    at += length
                    continue
                count += 1
                if count > MOST_OBJECTS:
                    raise OversizedRequest
                around.append((end, below))
                end, below = min(at + length, end), _messages_in(inner)
            case 0:
                _, at = _varint(body, at)
            case 1:
                at += 8
            case 5:
                at += 4
            case _:
                raise MalformedRequest("the body has groups, which OTLP has not")


def check_values(body: bytes) -> None:
    """Check the number of values in a JSON body.

    Raises:
        OversizedRequest: there are too many.
    """
    if len(body) >= _MOST_TOKENS and next(islice(_TOKEN.finditer(body), _MOST_TOKENS, None), None) is not None:
        raise OversizedRequest


def _varint(body: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(body) or shift > 63:
            raise MalformedRequest("the body is cut off")
        byte = body[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


@cache
def _messages_in(kind: Descriptor) -> dict[int, Descriptor]:
    """The fields of a message that are messages, by their numbers."""
    return {field.number: field.message_type for field in kind.fields if field.message_type is not None}
