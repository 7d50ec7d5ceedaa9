"""Detect ungrounded values: identifiers in arguments that do not occur in any earlier text.

Only identifiers are checked: codes, order and account numbers, e-mail addresses, telephone numbers, and codes in paths
and URLs. Names, dates, amounts, searches, text and code are not checked: they may be known, derived, or rephrased.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from evaluation_assets.core.sections.sessions.interactions import SessionInteraction
from evaluation_assets.core.sections.sessions.tool_validation import Severity
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

_LONGEST = 200
"""Longer values are text."""

_FEWEST_DIGITS = 3
"""Codes with fewer digits (years excluded) may be words (utf-8, mp3, q3-2024), unless the parameter is an ID."""

_PIECE = re.compile(r"[^\W_]+")
_CODE = re.compile(r"#?[^\W_]+(?:[-_.:#][^\W_]+)*")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PHONE = re.compile(r"\+\d[\d ().-]{6,}|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?:[01]\d[0-3]\d)?(?!\d)")
_NUMBERED = re.compile(
    r"(?:^|_)(?:ids?|uuid|sku|iban|isbn|phone|zip|account|tracking|order|reservation|booking|ticket|invoice|card"
    r"|passport|serial)(?:_?(?:number|no|code|id)s?)?$"
)
"""Names of parameters whose plain numbers are identifiers; other numbers may have been computed."""

_DERIVED = re.compile(
    r"[+-]?\d+(?:[.,:]\d+)*(?:%|[ap]m|[a-z]?hz|[kmgt]?b|[kmc]?m|[mk]?g|m?l|m?s|min|h|d|px?|k?w|k|v|x|st|nd|rd|th)?"
    r"|\d{1,4}[-/.]\d{1,2}(?:[-/.]\d{1,4})?(?:[t ]\d.*)?|\d{8}t\d+z?"
    r"|\d{1,2}-?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*-?\d{2,4}"
    r"|#(?=\w*[a-f])[0-9a-f]{6}"
    r"|(?-i:(?:(?:Al|Br|Ca|Cl|Cu|Fe|Mg|Na|Si|Zn|[BCFHIKNOPS])\d*){2,})",
    re.IGNORECASE,
)
"""Amounts, versions, dates, times, colours and chemical formulas: computed, converted, chosen, or known."""


_LOCAL = 9
"""Digits at the end of a telephone number that it has with or without the code of a country."""

_NAME = re.compile(r"[a-z]+(?:_[a-z]+)*_\d+(?:_[a-z]+)+")
"""Names with a number in them, such as `http_500_rate`."""

_TOGETHER = 1 << 16
"""Characters of source texts that are searched together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UngroundedValue:
    """A value in an argument that occurs nowhere before the call; `step` is its position in the interaction.

    `refused` is whether the call failed, which is further evidence against the value.
    """

    interaction: SessionInteraction
    step: int
    tool: str
    parameter: str
    value: str
    refused: bool

    @property
    def severity(self) -> Severity:
        """MEDIUM if the call failed, otherwise LOW: the agent may know the value, or name something new."""
        return "MEDIUM" if self.refused else "LOW"


def ungrounded_values(trajectory: Trajectory, parts: list[SessionInteraction]) -> list[UngroundedValue]:
    """The first use of every identifier that no agent could have seen, in order.

    Sources are the task, users' messages and knowledge so far, tool results, agents' messages, and the definitions of
    agents and tools. An agent's reasoning and its earlier arguments are not sources.
    """
    seen = _Seen()
    seen.add(trajectory.task)
    seen.add(orjson.dumps(trajectory.agents).decode())
    ungrounded: dict[str, UngroundedValue] = {}
    turn, read = -1, 0
    for part in parts:
        while turn < part.turn:
            turn += 1
            asked = trajectory.turns[turn]
            seen.add(asked.user_message or "")
            seen.add(asked.knowledge or "")
        for number, step in enumerate(part.steps):
            own = [span for span in (step.thought, step.call and step.call.raw) if span is not None]
            for start, end in sorted(own):
                seen.add(trajectory.text[read:start])
                read = max(read, end)
            if step.call is None:
                continue
            for parameter, value, identifiers in identifiers_in(trajectory.arguments(step.call)):
                if value not in ungrounded and not all(map(seen.holds, identifiers)):
                    ungrounded[value] = UngroundedValue(
                        interaction=part,
                        step=number,
                        tool=step.call.name,
                        parameter=parameter,
                        value=value,
                        refused=step.has_failed,
                    )
        seen.add(part.interaction.response or "")
    return list(ungrounded.values())


def identifiers_in(arguments: JsonObject | None) -> Iterator[tuple[str, str, list[str]]]:
    """The values in a call's arguments that contain identifiers: parameter, value, and the identifiers in it."""
    for parameter, value in _leaves("", arguments):
        if identifiers := _identifiers(parameter, value):
            yield parameter, value, identifiers


class _Seen:
    """Index of source texts for identifiers; case, spaces and separators are ignored."""

    def __init__(self) -> None:
        self._unread: list[str] = []
        self._joined: list[str] = []
        self._pieces: set[str] = set()

    def add(self, text: str) -> None:
        """Add a text; it is indexed at the next lookup."""
        self._unread.append(text)

    def holds(self, identifier: str) -> bool:
        """Whether the identifier, or each of its components, occurs in a text."""
        for text in self._unread:
            pieces = _PIECE.findall(text.casefold())
            self._pieces.update(pieces)
            self._join("".join(pieces))
        self._unread.clear()
        pieces = _PIECE.findall(identifier.casefold())
        joined = "".join(pieces)
        if joined.isdecimal() and len(joined) >= _LOCAL:
            joined = joined[-_LOCAL:]
        return self._pieces.issuperset(pieces) or any(joined in text for text in self._joined)

    def _join(self, text: str) -> None:
        """Short texts are kept together, so that a lookup is a search in a few long ones; a line break parts them."""
        if self._joined and len(self._joined[-1]) < _TOGETHER:
            self._joined[-1] += f"\n{text}"
        else:
            self._joined.append(text)


def _leaves(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """All leaf values of the arguments with their parameter names; integers as text."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(str(key), item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(name, item)
    elif isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        yield name, str(value).strip()


def _identifiers(parameter: str, value: str) -> list[str]:
    """The identifiers in a value: the value itself, or the codes in a path or URL."""
    if not value or len(value) > _LONGEST:
        return []
    if _EMAIL.fullmatch(value):
        return [value]
    if _PHONE.fullmatch(value):
        return [value[1:] if value[0] == "+" else value]
    is_named = _NUMBERED.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", parameter).lower()) is not None
    if value.isdecimal():
        return [value] if is_named and len(value) >= _FEWEST_DIGITS else []
    if any(character.isspace() for character in value):
        return []
    fewest = 1 if is_named else _FEWEST_DIGITS
    return [part for part in re.split(r"[/\\?&=]", value) if _is_code(part, fewest)]


def _is_code(text: str, fewest_digits: int) -> bool:
    if _CODE.fullmatch(text) is None or _DERIVED.fullmatch(text):
        return False
    if fewest_digits > 1 and _NAME.fullmatch(text) is not None:
        return False
    return sum(map(str.isdecimal, _YEAR.sub("", text))) >= fewest_digits and any(map(str.isalpha, text))
