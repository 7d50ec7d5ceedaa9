"""Events from the pieces of a message: text, reasoning, calls and results, in whatever shape a source has them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from evaluation_assets.core.traces.formats.conversation import Gathered
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Event, Result, Said
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.trajectories.model import Usage


@dataclass(frozen=True, slots=True)
class Thought:
    """Reasoning."""

    text: str


Piece = str | Thought | Call | Result
"""A piece of a message; empty texts are pieces that are not for reading."""


def call_in(fields: Fields, name: str, arguments: str, *ids: str) -> Call:
    """The call that an object is, by the names of its fields."""
    return Call(name=fields.text(name) or "unnamed", arguments=fields.value(arguments), id=fields.name(*ids))


def user_events(pieces: Iterable[Piece]) -> Iterator[Event]:
    """Events of a message to the agent: results of its calls, then what the user said."""
    said: list[str] = []
    for piece in pieces:
        if isinstance(piece, Result):
            yield piece
        elif isinstance(piece, str):
            said.append(piece)
    text = "\n".join(piece for piece in said if piece)
    if text.strip():
        yield Asked(text=text)


def agent_events(pieces: Iterable[Piece], agent: str = "agent", usage: Usage | None = None) -> Iterator[Event]:
    """Events of a message of the agent. Text after a call starts a new step; results follow the calls they answer."""
    gathered = Gathered(usage)
    results: list[Result] = []
    for piece in pieces:
        if isinstance(piece, Result):
            results.append(piece)
            continue
        if isinstance(piece, Call):
            gathered.calls.append(piece)
            continue
        if (gathered.calls or results) and (piece if isinstance(piece, str) else piece.text).strip():
            yield from _told(gathered, results, agent)
        if isinstance(piece, Thought):
            gathered.thoughts += [piece.text] if piece.text.strip() else []
        elif piece:
            gathered.texts.append(piece)
    yield from _told(gathered, results, agent)


def _told(gathered: Gathered, results: list[Result], agent: str) -> Iterator[Said | Result]:
    for said in gathered.told():
        yield replace(said, agent_id=agent)
    yield from results
    results.clear()
