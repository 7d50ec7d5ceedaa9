"""Replace values in the texts of one trajectory, the same value by the same placeholder."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile

import regex

from evaluation_assets.core.models.redaction.kinds import Span, is_mixed
from evaluation_assets.core.models.redaction.presidio import PresidioSettings, UnknownEntities, spans_of
from evaluation_assets.core.models.redaction.settings import Redaction
from evaluation_assets.core.text.plain_text import Visible

PATTERN_SECONDS = 1.0
"""The time that an own pattern has for a text."""

_BLOCK = "\u2588"

_HEAD = 8
"""Characters of the shortest value that is looked for everywhere; shorter ones may be ordinary words."""

_PART = 12
"""Characters at the beginning of a value that tell it. The first of them say what kind of value it is."""

_LONGEST = 200
_ALIKE = 50
"""How many values that begin alike are looked for everywhere: hostile texts must not take for ever."""

_PLACEHOLDER = re.compile(r"\[REDACTED:([a-z][a-z0-9_]*):(\d{1,9})\]")


class NotRedacted(ValueError):
    """A text could not be searched, and must not leave. The message says why, without the text."""


class Redactor:
    """Replaces values by `[REDACTED:kind:number]`.

    Values are numbered in the order of `texts`, so that the numbers of a trajectory are the same in each run, whatever
    is decided first. A value that is in none of them gets the next number when it is seen.
    What only its surroundings tell, such as the password in a setting, is from then on replaced wherever it stands.
    With `also_parts` this holds for all values, and for what is left of one at the end of a text that was cut.
    """

    def __init__(self, settings: Redaction, texts: Iterable[str] = (), *, also_parts: bool = False) -> None:
        self._also_parts = also_parts
        self._shapes = settings.shapes
        self._patterns = {name: regex.compile(pattern) for name, pattern in settings.patterns.items()}
        self._presidio = settings.presidio
        self._numbers: dict[str, dict[str, int]] = {}
        self._everywhere: dict[str, dict[str, str]] = {}
        for text in texts:
            self(text)

    def __call__(self, text: str) -> str:
        """The text without values.

        Raises:
            NotRedacted: an own pattern takes too long on it.
        """
        return self._replaced(text, lambda kind, value, _: f"[REDACTED:{kind}:{self._number(kind, value)}]")

    def covered(self, text: str) -> str:
        """The text with a block in place of each character of a value, so that it is as long as before.

        Raises:
            NotRedacted: an own pattern takes too long on it.
        """
        return self._replaced(text, lambda _, __, size: _BLOCK * size)

    def _replaced(self, text: str, by: Callable[[str, str, int], str]) -> str:
        """The text with values replaced, by kind, value and size. Characters that are not seen hide no value."""
        seen = Visible(text)
        spans = self._found(seen.text)
        if not spans:
            return text
        pieces, end = [], 0
        for span, kind in spans:
            start, stop = seen.span(*span)
            pieces += [text[end:start], by(kind, seen.text[slice(*span)], stop - start)]
            end = stop
        return "".join([*pieces, text[end:]])

    def counts(self, text: str) -> Counter[str]:
        """How many placeholders of each kind a text has."""
        return Counter(
            kind for kind, number in _PLACEHOLDER.findall(text) if int(number) <= len(self._numbers.get(kind, ()))
        )

    def _number(self, kind: str, value: str) -> int:
        numbers = self._numbers.setdefault(kind, {})
        return numbers.setdefault(value, len(numbers) + 1)

    def _found(self, text: str) -> list[tuple[Span, str]]:
        """Values in order. Of those that overlap the first and longest stands for all of them."""
        spans = sorted(self._all(text), key=lambda each: (each[0][0], -each[0][1]))
        merged: list[tuple[Span, str]] = []
        for (start, end), kind in spans:
            if merged and start < merged[-1][0][1]:
                (first, last), known = merged[-1]
                merged[-1] = ((first, max(last, end)), known)
            else:
                merged.append(((start, end), kind))
        return merged

    def _remember(self, value: str, kind: str) -> None:
        if _HEAD <= len(value) <= _LONGEST and is_mixed(value):
            alike = self._everywhere.setdefault(value[:_HEAD], {})
            if len(alike) < _ALIKE:
                alike[value] = kind

    def _repeated(self, text: str) -> Iterator[tuple[Span, str]]:
        """Values that are known from elsewhere."""
        if not self._everywhere:
            return
        for start in range(len(text) - _HEAD + 1):
            for value, kind in self._everywhere.get(text[start : start + _HEAD], {}).items():
                if text.startswith(value, start):
                    yield (start, start + len(value)), kind
                elif self._also_parts and text.startswith(value[:_PART], start):
                    alike = takewhile(
                        lambda pair: pair[0] == pair[1], zip(value, text[start : start + len(value)], strict=False)
                    )
                    yield (start, start + len(list(alike))), kind

    def _all(self, text: str) -> Iterator[tuple[Span, str]]:
        for kind, shapes in self._shapes:
            for shape, span in shapes.found_in(text):
                if shape.needs_surroundings or self._also_parts:
                    self._remember(text[slice(*span)], kind)
                yield span, kind
        yield from self._repeated(text)
        for name, pattern in self._patterns.items():
            try:
                for match in pattern.finditer(text, timeout=PATTERN_SECONDS):
                    if match.end() > match.start():
                        yield match.span(), name
            except TimeoutError:
                raise NotRedacted(
                    f"the redaction pattern {name} takes longer than {PATTERN_SECONDS:g} s on a text, which was not "
                    "sent or shown"
                ) from None
        if self._presidio is not None:
            yield from self._recognised(text, self._presidio)

    def _recognised(self, text: str, settings: PresidioSettings) -> Iterator[tuple[Span, str]]:
        """What Presidio finds. It and its models fail in ways of their own; then the text must not leave."""
        try:
            spans = list(spans_of(text, settings))
        except UnknownEntities as problem:
            raise NotRedacted(str(problem)) from None
        except Exception as problem:  # noqa: BLE001
            raise NotRedacted(f"Presidio could not search a text: {type(problem).__name__}; it was not sent") from None
        for span, kind in spans:
            self._remember(text[slice(*span)], kind)
            yield span, kind
