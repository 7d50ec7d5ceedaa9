"""Buffer events until all spans are read, since the results of calls come in later spans."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evaluation_assets.core.traces.formats.transcript import Asked, Call, Result, Said, Transcript, as_text
from evaluation_assets.core.traces.formats.untyped import decoded

_KNOWN_FROM = 30
"""Minimum length of a text for a second occurrence to count as a repetition."""

Place = tuple[int, int]
"""Position of a call: the number of its event, and its index in the event."""


@dataclass(slots=True)
class Entry:
    """One event; for agent events with one result per call, `None` until it is known."""

    event: Asked | Said | Result
    results: list[Result | None] = field(default_factory=list)


class PendingEvents:
    """Events so far, in order, with calls that still lack a result, and the texts seen."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._open: list[Place] = []
        self._by_id: dict[str, Place] = {}
        self._known: list[str] = []

    def __len__(self) -> int:
        return len(self._entries)

    def since(self, first: int) -> Sequence[Entry]:
        """The events from this index on."""
        return self._entries[first:]

    def ask(self, text: str) -> None:
        """Add a user message."""
        self._entries.append(Entry(Asked(text=text)))

    @property
    def is_asked(self) -> bool:
        """Whether there is a user message."""
        return any(isinstance(entry.event, Asked) for entry in self._entries)

    def inform(self, knowledge: str) -> None:
        """Add to the last user message what was said before it."""
        entry = next((one for one in reversed(self._entries) if isinstance(one.event, Asked)), None)
        if entry is not None and isinstance(entry.event, Asked) and entry.event.knowledge is None:
            entry.event = replace(entry.event, knowledge=knowledge)

    def observe(self, result: Result) -> None:
        """Add a result without a call."""
        self._entries.append(Entry(result))

    def say(self, said: Said) -> None:
        """Add an agent event; its calls are pending until their results are added."""
        number = len(self._entries)
        self._entries.append(Entry(said, [None] * len(said.calls)))
        for index, call in enumerate(said.calls):
            self._open.append((number, index))
            if call.id is not None:
                self._by_id.setdefault(call.id, (number, index))
        for piece in (said.thought, said.message, *(as_text(call.arguments) for call in said.calls)):
            self.remember(piece or "")

    def answer(self, place: Place, result: Result) -> None:
        """Set the result of a call, in place of what a history told of it."""
        entry, call = place
        self._entries[entry].results[call] = result
        if place in self._open:
            self._open.remove(place)
        self.remember(result.content)

    def took(self, place: Place, latency_ms: float | None) -> None:
        """Set the latency of a call without a result."""
        entry = self._entries[place[0]]
        assert isinstance(entry.event, Said)
        calls = list(entry.event.calls)
        calls[place[1]] = replace(calls[place[1]], latency_ms=latency_ms)
        entry.event = replace(entry.event, calls=tuple(calls))

    def open_calls(self) -> list[tuple[Place, Call]]:
        """The pending calls with their positions."""
        return [(place, self.call_at(place)) for place in self._open]

    def answered_call(self, call_id: str) -> Place | None:
        """The position of the first call with this ID, if its result is known."""
        place = self._by_id.get(call_id)
        return place if place is not None and self.result_at(place) is not None else None

    def is_asked_of_tool(self, text: str) -> bool:
        """Whether a text is in the arguments of a pending call."""
        return any(text.strip() in value for _, call in self.open_calls() for value in _texts(call.arguments))

    def remember(self, text: str) -> None:
        """Remember a text to recognise repetitions, unless it is too short."""
        if len(text.strip()) >= _KNOWN_FROM:
            self._known.append(text.strip())

    def is_known(self, text: str) -> bool:
        """Whether most of a text was seen before: frameworks wrap repeated text in a few words."""
        rest = text
        for piece in self._known:
            if piece in rest:
                rest = rest.replace(piece, "")
        return len(rest) < len(text) and len(rest.strip()) <= max(len(text) // 4, 2 * _KNOWN_FROM)

    def speakers(self) -> set[str]:
        """The agents with at least one event."""
        named = {entry.event.agent_id for entry in self._entries if not isinstance(entry.event, Asked)}
        return {name for name in named if name is not None}

    def write(self, transcript: Transcript) -> list[int]:
        """Write all events; return the number of the first step of each."""
        steps, count = [], 0
        for entry in self._entries:
            steps.append(count)
            if isinstance(entry.event, Asked):
                transcript.asked(entry.event)
                continue
            if isinstance(entry.event, Said):
                transcript.said(entry.event, entry.results)
                count += max(1, len(entry.event.calls))
            else:
                transcript.observed(entry.event)
                count += 1
        return steps

    def result_at(self, place: Place) -> Result | None:
        """The result of the call at this position."""
        return self._entries[place[0]].results[place[1]]

    def call_at(self, place: Place) -> Call:
        """The call at this position."""
        event = self._entries[place[0]].event
        assert isinstance(event, Said)
        return event.calls[place[1]]


def _texts(arguments: Any) -> Iterator[str]:
    """The texts in the arguments of a call."""
    values = decoded(arguments)
    for value in values.values() if isinstance(values, dict) else (values,):
        if isinstance(value, str):
            yield value
