"""Trajectories that begin with all of another one: a conversation that was recorded several times while it grew."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

from evaluation_assets.core.traces.formats.untyped import at, in_both_cases
from evaluation_assets.core.traces.trajectories.identity import recorded_id
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets.core.traces.trajectories.recorded_spans import trace_of

_CONVERSATIONS = in_both_cases("conversation_id", "session_id", "thread_id", "chat_id")

Names = frozenset[str | None]
"""The conversations that have a text; `None` where the source does not name it."""


@dataclass(slots=True)
class Beginnings:
    """The texts of a drop's trajectories and those that they begin with, as digests, with their conversations."""

    _wholes: dict[bytes, Names] = field(default_factory=dict)
    _parts: dict[bytes, Names] = field(default_factory=dict)

    def repeat(self, trajectory: Trajectory, trial: int) -> bool:
        """Note a trajectory, and say whether it begins like another one that ends there, or the other way round.

        Different conversations, traces or trials are no versions of one conversation, however alike: of two runs of a
        task, one may have broken off. `trial` is 0 where the source names none.
        """
        *parts, whole = _digests(trajectory, trial)
        own: Names = frozenset((_conversation_of(trajectory),))
        repeats = _is_in(self._parts, whole, own) or any(_is_in(self._wholes, each, own) for each in parts)
        for known, texts in ((self._wholes, [whole]), (self._parts, parts)):
            known.update({text: known.get(text, own) | own for text in texts})
        return repeats


def _is_in(known: Mapping[bytes, Names], text: bytes, own: Names) -> bool:
    """Whether a text is known of the same conversation. One without a name may be any."""
    names = known.get(text)
    return names is not None and (None in names or None in own or not names.isdisjoint(own))


def _conversation_of(trajectory: Trajectory) -> str | None:
    """The conversation that the source says a trajectory is of, else its trace."""
    about = (trajectory.extra, trajectory.extra.get("metadata"), trajectory.extra.get("meta"))
    named = (recorded_id(at(each, name)) for each in about for name in _CONVERSATIONS)
    return next(filter(None, named), None) or trace_of(trajectory)


def _digests(trajectory: Trajectory, trial: int) -> Iterator[bytes]:
    """The digests of a trajectory's text up to each call and each result within it, and of the whole."""
    digest, position, text = blake2b(b"%d " % trial, digest_size=12), 0, trajectory.text
    ends = {step.end for step in trajectory.steps}
    ends |= {
        text.rfind("<result", step.start, step.result.content[0])
        for step in trajectory.steps
        if step.call is not None and step.result is not None
    }
    for end in (*sorted(ends - {-1, len(text)}), len(text)):
        digest.update(text[position:end].encode("utf-8", "surrogatepass"))
        position = end
        yield digest.digest()
