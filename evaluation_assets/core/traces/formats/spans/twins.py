"""Recognise work that two instrumentations recorded, e.g. that of a framework and that of a provider's client."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from evaluation_assets.core.traces.formats.spans.history import call_key
from evaluation_assets.core.traces.formats.spans.messages import Message
from evaluation_assets.core.traces.formats.spans.pending import Place
from evaluation_assets.core.traces.formats.spans.tree import Span


@dataclass(frozen=True, slots=True)
class _Recorded:
    """When a piece of work was recorded, and the place of its call if it is a tool's."""

    start_s: float
    end_s: float
    place: Place | None = None


@dataclass(slots=True)
class Twins:
    """The work recorded so far. Two spans of different libraries that overlap and say the same are one piece of work.

    Each has at most one twin, so that parallel calls of a tool stay as many as they are.
    """

    _known: dict[str, dict[str, list[_Recorded]]] = field(default_factory=dict)
    """What has no twin yet, by what it says and its library."""

    def of_model(self, span: Span, outputs: Iterable[Message]) -> bool:
        """Whether another library recorded this answer of a model. If not, it is recorded now."""
        said = [
            piece for message in outputs for piece in (message.text.strip(), *map(call_key, message.calls)) if piece
        ]
        return bool(said) and self._twin("\0".join(["model", *said]), span, None) is not None

    def of_tool(self, span: Span, name: str, place: Place | None) -> Place | None:
        """The place of the call that another library recorded, if there is one. If not, `place` is recorded now."""
        twin = self._twin(f"tool\0{name}", span, place)
        return None if twin is None else twin.place

    def _twin(self, key: str, span: Span, place: Place | None) -> _Recorded | None:
        if span.start_s is None or span.duration_ms is None:
            return None
        one = _Recorded(span.start_s, span.start_s + span.duration_ms / 1000, place)
        known = self._known.setdefault(key, {})
        for scope, recorded in known.items():
            twin = None if scope == span.scope else next((each for each in recorded if _are_one(one, each)), None)
            if twin is not None:
                recorded.remove(twin)
                return twin
        if place is not None or key.startswith("model"):
            known.setdefault(span.scope, []).append(one)
        return None


def _are_one(one: _Recorded, other: _Recorded) -> bool:
    """Whether two spans are at the same time: the shorter lies at least half in the longer."""
    common = min(one.end_s, other.end_s) - max(one.start_s, other.start_s)
    shorter = min(one.end_s - one.start_s, other.end_s - other.start_s)
    return common >= shorter / 2 and (common > 0 or shorter == 0)
