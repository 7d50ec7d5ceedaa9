"""Was enough handed over? What the receiver needed, against what it was given."""

import re
from dataclasses import dataclass

from evaluation_assets.core.sessions.contributions import Contribution
from evaluation_assets.core.sessions.flow import Handoff

_PARTICULAR = re.compile(
    r"https?://[^\s\"'<>)\]}]+"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?<![\w.])[A-Za-z]*[-_#/]?\d[\w-]*(?:[.,:/]\d+)*"
    r"|[\"“「]([^\"”」\n]{3,60})[\"”」]"
)
"""What cannot be guessed: addresses, numbers, codes with digits, quoted names."""

_QUESTION = re.compile(
    r"\b(?:could you|can you|please|would you)\b[^.?!\n]{0,60}\b(?:provide|tell|share|send|specify|clarify|confirm)\b"
    r"|\b(?:what|which) (?:is|are|was|were) the\b[^.!\n]{1,80}\?"
    r"|\bI (?:need|am missing|don['’]t have|do not have)\b"
    r"|请(?:提供|告诉|说明)|könn(?:en|test) (?:Sie|du)|pouvez-vous|podría[s]?|vui lòng cung cấp",
    re.IGNORECASE,
)
_SHORTEST = 2


@dataclass(frozen=True, slots=True)
class HandoffFinding:
    """One hand-off. `needed` are particulars the receiver used that the session knew before, `given` those of them
    that the giver's message held; `asked` is whether the receiver asked back for something.
    """

    handoff: Handoff
    needed: tuple[str, ...]
    given: tuple[str, ...]
    asked: bool

    @property
    def missing(self) -> tuple[str, ...]:
        """What the receiver had to find elsewhere."""
        return tuple(value for value in self.needed if value not in self.given)

    @property
    def completeness(self) -> float | None:
        """Share of what was needed that was given; `None` where nothing in particular was needed."""
        return len(self.given) / len(self.needed) if self.needed else None


def completeness_of(handoff: Handoff, before: frozenset[str]) -> HandoffFinding:
    """How complete a hand-off was; `before` are the particulars the session had brought up until then."""
    source, target = handoff.source, handoff.target
    used = particulars(target.arguments) | (particulars(target.messages) - particulars(target.results))
    needed = sorted(used & before)
    handed = particulars(source.messages) | particulars(source.arguments if not source.messages else "")
    return HandoffFinding(
        handoff,
        tuple(needed),
        tuple(value for value in needed if value in handed),
        _QUESTION.search(target.messages[:2000]) is not None,
    )


def findings(task: str, parts: list[Contribution], handed_over: tuple[Handoff, ...]) -> list[HandoffFinding]:
    """The findings on all hand-offs of a session, in order."""
    by_target = {handoff.target.order: handoff for handoff in handed_over}
    before: set[str] = set(particulars(task))
    found: list[HandoffFinding] = []
    turn = -1
    for part in parts:
        if part.turn != turn:
            turn = part.turn
            before |= particulars(part.trajectory.turns[turn].user_message or "")
        if part.order in by_target:
            found.append(completeness_of(by_target[part.order], frozenset(before)))
        before |= particulars(part.written) | particulars(part.results)
    return found


def particulars(text: str) -> frozenset[str]:
    """The values in a text that cannot be guessed, in lower case."""
    values = (found.group(1) or found.group() for found in _PARTICULAR.finditer(text[:40_000]))
    return frozenset(value.strip(".,:;/").casefold() for value in values if len(value) >= _SHORTEST)
