"""Events on their way into a transcript: the results of calls come later, with the spans that hold them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from evaluation_assets.core.formats.transcript import Asked, Call, Result, Said, Transcript, as_text

_KNOWN_FROM = 30
"""A piece of text of this length that occurs again is a repetition."""

Place = tuple[int, int]
"""Where a call stands: the number of its event, and its number in that."""


@dataclass(slots=True)
class Entry:
    """One event; of what an agent said, with a result for each of its calls, `None` as long as there is none."""

    event: Asked | Said | Result
    results: list[Result | None] = field(default_factory=list)


class PendingEvents:
    """What happened so far, in order, the calls that still wait for their results, and the texts that are known."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._open: list[Place] = []
        self._known: list[str] = []
        self.made: set[str] = set()
        """The ids of all calls so far."""

    def __len__(self) -> int:
        return len(self._entries)

    def since(self, first: int) -> Sequence[Entry]:
        """The events from this number on."""
        return self._entries[first:]

    def ask(self, text: str) -> None:
        """Add what the user said."""
        self._entries.append(Entry(Asked(text=text)))

    def observe(self, result: Result) -> None:
        """Add a result that answers no call."""
        self._entries.append(Entry(result))

    def say(self, said: Said) -> None:
        """Add what an agent said; its calls wait for their results."""
        number = len(self._entries)
        self._entries.append(Entry(said, [None] * len(said.calls)))
        self._open += [(number, index) for index in range(len(said.calls))]
        self.made.update(call.id for call in said.calls if call.id)
        for piece in (said.thought, said.message, *(as_text(call.arguments) for call in said.calls)):
            self.remember(piece or "")

    def answer(self, place: Place, result: Result) -> None:
        """Give a call that waits its result."""
        entry, call = place
        self._entries[entry].results[call] = result
        self._open.remove(place)
        self.remember(result.content)

    def took(self, place: Place, latency_ms: float | None) -> None:
        """Keep what a call took that has no result."""
        entry = self._entries[place[0]]
        assert isinstance(entry.event, Said)
        calls = list(entry.event.calls)
        calls[place[1]] = replace(calls[place[1]], latency_ms=latency_ms)
        entry.event = replace(entry.event, calls=tuple(calls))

    def open_calls(self) -> list[tuple[Place, Call]]:
        """The calls that wait for a result, each with its place."""
        return [(place, self._call_at(place)) for place in self._open]

    def remember(self, text: str) -> None:
        """Know a text from now on, if it is not too short to be told apart."""
        if len(text.strip()) >= _KNOWN_FROM:
            self._known.append(text.strip())

    def is_known(self, text: str) -> bool:
        """Whether most of a text was said before: frameworks wrap what they repeat in a few words of their own."""
        rest = text
        for piece in self._known:
            if piece in rest:
                rest = rest.replace(piece, "")
        return len(rest) < len(text) and len(rest.strip()) <= max(len(text) // 4, 2 * _KNOWN_FROM)

    def speakers(self) -> set[str]:
        """The agents that said or saw something."""
        return {entry.event.agent_id for entry in self._entries if not isinstance(entry.event, Asked)}

    def write(self, transcript: Transcript) -> list[int]:
        """Write everything, and give the number of the first step of every event."""
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

    def _call_at(self, place: Place) -> Call:
        event = self._entries[place[0]].event
        assert isinstance(event, Said)
        return event.calls[place[1]]
