"""Detect repetition: the same call, the same message, and agents that alternate without progress."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from evaluation_assets.core.sessions.interactions import SessionInteraction, interactions_of
from evaluation_assets.core.trajectories.calls import CallKey, call_key
from evaluation_assets.core.trajectories.model import Step, Trajectory
from evaluation_assets.core.trajectories.words import words

RepetitionKind = Literal["same_call", "duplicate_work", "retry", "same_message", "ping_pong"]

LOOP = 3
"""A call or message made so often is a loop."""

ROUNDS = 2
"""So often two agents have to pass back and forth before it is ping-pong."""

NEWS = 0.2
"""Share of new words from which a message brings something new to a conversation of two."""

_SHORTEST_MESSAGE = 24
"""Shorter messages ("TERMINATE", "Thank you.") are said again for good reasons."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Repetition:
    """Interactions that do the same. `places` are the orders of the interactions, the first time included.

    `same_call`: one agent calls again what had worked. `retry`: it had failed. `duplicate_work`: another agent calls
    it. `same_message`: an agent says the same again. `ping_pong`: two agents alternate, and neither they nor a tool
    bring anything new.
    """

    kind: RepetitionKind
    agents: tuple[str, ...]
    what: str
    places: tuple[int, ...]

    @property
    def is_loop(self) -> bool:
        """Whether it goes round in circles."""
        return self.kind == "ping_pong" or (self.kind != "retry" and len(self.places) >= LOOP)


def repetitions(trajectory: Trajectory) -> list[Repetition]:
    """Everything that is repeated in a session, in order of where it begins."""
    parts = interactions_of(trajectory)
    found = [*_calls(parts), *_messages(parts), *_ping_pongs(parts)]
    return sorted(found, key=lambda repetition: (repetition.places, repetition.kind, repetition.what))


def _calls(parts: Sequence[SessionInteraction]) -> list[Repetition]:
    made: dict[CallKey, list[tuple[SessionInteraction, Step]]] = {}
    for part in parts:
        for step in part.calls:
            made.setdefault(call_key(part.trajectory, step), []).append((part, step))
    return [_repetition(same) for same in made.values() if len(same) > 1]


def _repetition(same: Sequence[tuple[SessionInteraction, Step]]) -> Repetition:
    agents = tuple(dict.fromkeys(part.agent_id for part, _ in same))
    worked = any(step.result is not None and step.result.error is None for _, step in same[:-1])
    kind: RepetitionKind = "retry" if not worked else "same_call" if len(agents) == 1 else "duplicate_work"
    call = same[0][1].call
    return Repetition(kind, agents, call.name if call else "", tuple(part.order for part, _ in same))


def _messages(parts: Sequence[SessionInteraction]) -> list[Repetition]:
    said: dict[tuple[str, str], list[int]] = {}
    for part in parts:
        line = " ".join(part.messages.casefold().split())
        if len(line) >= _SHORTEST_MESSAGE:
            said.setdefault((part.agent_id, line), []).append(part.order)
    return [
        Repetition("same_message", (agent,), line[:80], tuple(places))
        for (agent, line), places in said.items()
        if len(places) > 1
    ]


def _ping_pongs(parts: Sequence[SessionInteraction]) -> list[Repetition]:
    """Alternation of two agents within a turn, without a result of a tool and with nothing new to say.

    Two agents that tell each other something new every time are in a conversation.
    """
    found: list[Repetition] = []
    for stretch in _stretches(parts, lambda part: None if _brought_something(part) else part.turn):
        for start, end in alternations([part.agent_id for part in stretch]):
            if end - start >= 2 * ROUNDS and not _is_conversation(stretch[start:end]):
                agents = (stretch[start].agent_id, stretch[start + 1].agent_id)
                places = tuple(part.order for part in stretch[start:end])
                found.append(Repetition("ping_pong", agents, " and ".join(agents), places))
    return found


def _is_conversation(stretch: Sequence[SessionInteraction]) -> bool:
    """Whether more than half of the messages after the first two bring new words."""
    seen: set[str] = set()
    news: list[bool] = []
    for part in stretch:
        own = words(part.messages)
        news.append(bool(own) and len(own - seen) / len(own) >= NEWS)
        seen |= own
    return sum(news[2:]) * 2 > len(news[2:])


def _brought_something(part: SessionInteraction) -> bool:
    return any(step.result is not None and step.result.error is None for step in part.steps)


def _stretches(items: Sequence[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    """Neighbours with the same key; items whose key is `None` are in none."""
    found: list[list[T]] = []
    previous: Hashable = None
    for item in items:
        own = key(item)
        if own is not None:
            if own == previous:
                found[-1].append(item)
            else:
                found.append([item])
        previous = own
    return found


def alternations(names: Sequence[str]) -> list[tuple[int, int]]:
    """Maximal stretches `[start, end)` in which two different names take turns; each has two names at least."""
    found: list[tuple[int, int]] = []
    start = 0
    for end in range(1, len(names) + 1):
        if end == len(names) or names[end] == names[end - 1]:
            if end - start > 1:
                found.append((start, end))
            start = end
        elif end - start >= 2 and names[end] != names[end - 2]:
            found.append((start, end))
            start = end - 1
    return found
