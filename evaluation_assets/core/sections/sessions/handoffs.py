"""Completeness of hand-offs: which particulars the receiver needed and was given."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evaluation_assets.core.sections.sessions.flow import Handoff
from evaluation_assets.core.sections.sessions.interactions import SessionInteraction
from evaluation_assets.core.text.pattern_sets import PatternSet
from evaluation_assets.core.traces.trajectories.model import Step

_UNQUOTED = re.compile(
    r"https?://[^\s\"'<>)\]}]+"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?<![\w.])[A-Za-z]*[-_#/]?\d[\w-]*(?:[.,:/]\d+)*"
)
_QUOTED = re.compile(r"[\"“「]([^\"”」\n]{3,60})[\"”」]")
_PARTICULAR = re.compile(f"{_UNQUOTED.pattern}|{_QUOTED.pattern}")
"""What cannot be guessed: addresses, numbers, codes with digits, quoted names."""

_MAY_BE_PARTICULAR = re.compile(r"[\d@]|://")

_QUESTION = PatternSet(
    (
        r"\b(?:could you|can you|please|would you)\b[^.?!\n]{0,60}"
        r"\b(?:provide|tell|share|send|specify|clarify|confirm)\b",
        r"\b(?:what|which) (?:is|are|was|were) the\b[^.!\n]{1,80}\?",
        r"\bI (?:need|am missing|don['’]t have|do not have)\b",
        *(r"请(?:提供|告诉|说明)", r"könn(?:en|test) (?:Sie|du)", r"pouvez-vous", r"podría[s]?", r"vui lòng cung cấp"),
    ),
    re.IGNORECASE,
)
_TRAILING_ZEROS = re.compile(r"(?<=\d)\.0+$|(?<=\.\d)0+$|(?<=\.\d\d)0+$")
_SHORTEST = 2
_READ = 40_000
"""Maximum characters of a text in which particulars are looked for."""


@dataclass(frozen=True, slots=True)
class HandoffFinding:
    """One hand-off.

    `needed` are the particulars that the receiver used or asked for and that only the giver knew. `given` are those
    contained in the giver's message or delegating call. `asked` is whether the receiver asked a question back, and
    `added` what the giver then added: what the receiver uses without asking, it may know from elsewhere, such as a
    conversation of all agents.
    """

    handoff: Handoff
    needed: tuple[str, ...]
    given: tuple[str, ...]
    asked: bool
    added: tuple[str, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """Needed particulars that were not given."""
        return tuple(value for value in self.needed if value not in self.given)

    @property
    def completeness(self) -> float | None:
        """Share of the needed particulars that were given; `None` if none were needed."""
        return len(self.given) / len(self.needed) if self.needed else None


def findings(task: str, parts: Sequence[SessionInteraction], handed_over: Sequence[Handoff]) -> list[HandoffFinding]:
    """Findings for each hand-off of a session, in order.

    An agent knows what it wrote, what its tools returned, what was handed to it, and, if it acts first in a turn, what
    the user said.
    """
    by_target = {handoff.target.order: handoff for handoff in handed_over}
    named = [_Named(part) for part in parts]
    knows: dict[str, set[str]] = {}
    listed: list[HandoffFinding] = []
    turn = -1
    for part in parts[: max(by_target, default=-1) + 1]:
        own = knows.setdefault(part.agent_id, set())
        if part.turn != turn:
            turn = part.turn
            own |= particulars(task) | particulars(part.trajectory.turns[turn].user_message or "")
        if part.order in by_target:
            handoff = by_target[part.order]
            listed.append(_finding(handoff, knows[handoff.source.agent_id], own, named))
            own |= named[handoff.source.order].handed_over
        own |= named[part.order].written | named[part.order].results
    return listed


class _Named:
    """The particulars that an interaction names; each of its texts is read once, if at all."""

    def __init__(self, part: SessionInteraction) -> None:
        self.part = part

    @cached_property
    def messages(self) -> frozenset[str]:
        return particulars(self.part.messages)

    @cached_property
    def handed_over(self) -> frozenset[str]:
        """What reaches the agent that acts next: also the arguments of a call that the interaction ends with, as agents
        delegate by calls such as `transfer_to_billing`.
        """
        last = self.part.steps[-1:] if self.part.interaction.response is None else ()
        return self.messages | particulars(argument_values(self.part, last))

    @cached_property
    def results(self) -> frozenset[str]:
        return particulars(self.part.results)

    @cached_property
    def written(self) -> frozenset[str]:
        if len(self.part.written) > _READ:
            return particulars(self.part.written)
        return particulars(self.part.thoughts) | particulars(self.part.arguments) | self.messages


def _finding(
    handoff: Handoff, giver_knows: AbstractSet[str], receiver_knows: AbstractSet[str], named: Sequence[_Named]
) -> HandoffFinding:
    source, target = handoff.source, handoff.target
    said = named[target.order]
    used = particulars(argument_values(target, target.calls)) | (said.messages - said.results)
    asked = _QUESTION.matches(target.messages[:2000])
    answered = frozenset[str]()
    if asked and target.order + 1 < len(named):
        # What the giver adds was needed, where the receiver asked for it.
        answer = named[target.order + 1]
        if (answer.part.turn, answer.part.agent_id) == (source.turn, source.agent_id):
            answered = answer.messages - said.written
    needed = sorted(((used | answered) & giver_knows) - receiver_knows)
    handed = named[source.order].handed_over
    return HandoffFinding(
        handoff,
        tuple(needed),
        given=tuple(value for value in needed if value in handed),
        asked=asked,
        added=tuple(value for value in needed if value in answered and value not in handed),
    )


def argument_values(part: SessionInteraction, steps: Sequence[Step]) -> str:
    """The values in the arguments of the calls of an interaction's steps, one per line, without parameter names."""
    lines: list[str] = []
    for step in steps:
        if step.call is None:
            continue
        pending: list[Any] = [part.trajectory.arguments(step.call) or part.trajectory.piece(step.call.raw)]
        while pending:
            value = pending.pop()
            if isinstance(value, dict):
                pending += value.values()
            elif isinstance(value, list):
                pending += value
            elif value is not None:
                lines.append(str(value))
    return "\n".join(lines)


def particulars(text: str) -> frozenset[str]:
    """The particulars in a text, in lower case; numbers are normalised, so that 89.50 becomes 89.5."""
    plain = {value.strip(".,:;/#").casefold() for value in _as_written(text[:_READ])}
    return frozenset(
        _TRAILING_ZEROS.sub("", value) if "." in value else value for value in plain if len(value) >= _SHORTEST
    )


def _as_written(text: str) -> set[str]:
    """What `_PARTICULAR` finds in a text, a word with white space around it only once: most of them have none."""
    if "“" in text or "「" in text:  # addresses may contain these, and whether they do decides what is quoted
        return {match.group(1) or match.group() for match in _PARTICULAR.finditer(text)}
    words = filter(_MAY_BE_PARTICULAR.search, set(_QUOTED.sub(" ", text).split()))
    return {*_QUOTED.findall(text), *_UNQUOTED.findall(" ".join(words))}
