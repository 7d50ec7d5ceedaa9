"""Detect repetition: the same call, the same message, and agents that alternate without progress."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from evaluation_assets.core.sections.sessions.interactions import SessionInteraction, interactions_of
from evaluation_assets.core.suites.courtesies import without_courtesies
from evaluation_assets.core.traces.trajectories.calls import CallKey, call_key
from evaluation_assets.core.traces.trajectories.model import Step, Trajectory
from evaluation_assets.core.traces.trajectories.words import words
from evaluation_assets.core.traces.trajectories.wrapped_results import said_by

RepetitionKind = Literal["same_call", "duplicate_work", "retry", "same_message", "ping_pong"]

LOOP = 3
"""Number of identical calls or messages that make a loop."""

ROUNDS = 3
"""Number of alternations of two agents that make ping-pong, all but the first without news."""

NEWS = 0.2
"""Minimum share of new words of a message that adds something new to a conversation of two agents."""

NEW_WORDS = 5
"""As many new words are something new in a text of any length: the same page with another result, the next draft."""

SHORTEST_MESSAGE = 24
"""Shorter messages ("TERMINATE", "Thank you.") may be repeated for good reasons."""

_LONGEST_ACTION = 400
"""Characters of a paragraph that says what was done; names of fields may be long."""

_NUMBERS = re.compile(r"\b\d+(?:[.:,]\d+)*\b")


@dataclass(frozen=True, slots=True)
class Repetition:
    """Interactions that repeat work. `places` are the `order`s of the interactions, including the first one.

    `same_call`: an agent repeats a call that had worked, with the same result. `retry`: it repeats a call that had
    failed. `duplicate_work`: another agent repeats the call; `step` is the position of the second call in its
    interaction. `same_message`: an agent repeats a message. `ping_pong`: two agents alternate, and neither
    messages nor results bring anything new.
    """

    kind: RepetitionKind
    agents: tuple[str, ...]
    what: str
    places: tuple[int, ...]
    step: int | None = None

    @property
    def is_loop(self) -> bool:
        """Whether the repetition is a loop."""
        return self.kind == "ping_pong" or (self.kind != "retry" and len(self.places) >= LOOP)


def repetitions(trajectory: Trajectory) -> list[Repetition]:
    """All repetitions in a session, ordered by their first interaction."""
    parts = interactions_of(trajectory)
    every = [*_calls(parts), *_messages(parts), *_ping_pongs(parts)]
    return sorted(every, key=lambda repetition: (repetition.places, repetition.kind, repetition.what))


def _calls(parts: Sequence[SessionInteraction]) -> list[Repetition]:
    made: dict[CallKey, list[tuple[SessionInteraction, int, Step]]] = {}
    for part in parts:
        for number, step in enumerate(part.steps):
            if step.call is not None:
                made.setdefault(call_key(part.trajectory, step), []).append((part, number, step))
    repeated = map(_without_news_of_results, made.values())
    return [_repetition(same) for same in repeated if len(same) > 1]


def _without_news_of_results(
    same: Sequence[tuple[SessionInteraction, int, Step]],
) -> list[tuple[SessionInteraction, int, Step]]:
    """The calls but for those of an agent that worked, as all before them had, and gave another result."""
    kept: list[tuple[SessionInteraction, int, Step]] = []
    results: set[tuple[str, ...] | None] = set()
    for part, number, step in same:
        result = None if step.result is None else tuple(said_by(part.trajectory, step).split())
        is_news = step.has_succeeded and result is not None and result not in results and None not in results
        if not results or not is_news or part.agent_id != same[0][0].agent_id:
            kept.append((part, number, step))
        results.add(result if step.has_succeeded else None)
    return kept


def _repetition(same: Sequence[tuple[SessionInteraction, int, Step]]) -> Repetition:
    agents = tuple(dict.fromkeys(part.agent_id for part, _, _ in same))
    worked = any(step.has_succeeded for _, _, step in same[:-1])
    kind: RepetitionKind = "retry" if not worked else "same_call" if len(agents) == 1 else "duplicate_work"
    (_, _, first), (_, again, _), *_ = same
    tool = first.call.name if first.call else ""
    return Repetition(kind, agents, tool, tuple(part.order for part, _, _ in same), again)


def _messages(parts: Sequence[SessionInteraction]) -> list[Repetition]:
    said: dict[tuple[str, str], list[int]] = {}
    for part in parts:
        line = " ".join(without_courtesies(part.messages).casefold().split())
        if len(line) >= SHORTEST_MESSAGE:
            said.setdefault((part.agent_id, line), []).append(part.order)
    return [
        Repetition("same_message", (agent,), line[:80], tuple(places))
        for (agent, line), places in said.items()
        if len(places) > 1
    ]


def _ping_pongs(parts: Sequence[SessionInteraction]) -> list[Repetition]:
    """Alternations of two agents within a turn without tool results and without new words.

    Two agents that exchange something new each time are in a conversation, which is not ping-pong.
    """
    ping_pongs: list[Repetition] = []
    for turn, run in groupby(parts, lambda part: None if _brought_something(part) else part.turn):
        stretch = [] if turn is None else list(run)
        for start, end in alternations([part.agent_id for part in stretch]):
            for first, last in _without_news(stretch[start:end]):
                again = stretch[start + first : start + last]
                agents = (again[0].agent_id, again[1].agent_id)
                ping_pongs.append(
                    Repetition("ping_pong", agents, " and ".join(agents), tuple(part.order for part in again))
                )
    return ping_pongs


def _without_news(stretch: Sequence[SessionInteraction]) -> list[tuple[int, int]]:
    """Ranges of messages that bring no new words, with the round before them, which they repeat.

    A message that reports another action than before is progress, though the same page be shown: the next field of a
    form is filled in.
    """
    seen: set[str] = set()
    done: set[tuple[str, str]] = set()
    still: list[tuple[int, bool]] = []
    for index, part in enumerate(stretch):
        own = words(without_courtesies(part.messages))
        action = _reported_action(part)
        is_progress = action is not None and (part.agent_id, action) not in done
        still.append((index, not is_progress and not brings_news(own, seen, NEWS)))
        seen |= own
        if action is not None:
            done.add((part.agent_id, action))
    runs = ([index for index, _ in run] for is_still, run in groupby(still, lambda at: at[1]) if is_still)
    return [(max(0, run[0] - 2), run[-1] + 1) for run in runs if len(run) >= 2 * (ROUNDS - 1)]


def _reported_action(part: SessionInteraction) -> str | None:
    """The sentence before what a message shows, which says what was done. Numbers may be those of a clock."""
    said, _, shown = part.messages.strip().partition("\n\n")
    if not shown or len(said) > _LONGEST_ACTION or not said.endswith((".", "。")):
        return None
    return " ".join(_NUMBERS.sub("", said).casefold().split())


def brings_news(own: AbstractSet[str], seen: AbstractSet[str], least: float) -> bool:
    """Whether the words of a text have at least a share, or enough of them, that are new."""
    new = len(own - seen)
    return bool(own) and (new >= NEW_WORDS or new / len(own) >= least)


def _brought_something(part: SessionInteraction) -> bool:
    return any(step.has_succeeded for step in part.steps)


def alternations(names: Sequence[str]) -> list[tuple[int, int]]:
    """Maximal ranges `[start, end)` in which two different names alternate; each has at least two names."""
    spans: list[tuple[int, int]] = []
    start = 0
    for end in range(1, len(names) + 1):
        if end == len(names) or names[end] == names[end - 1]:
            if end - start > 1:
                spans.append((start, end))
            start = end
        elif end - start >= 2 and names[end] != names[end - 2]:
            spans.append((start, end))
            start = end - 1
    return spans
