"""What a request to the receiver has of each trace."""

from dataclasses import dataclass, field
from typing import Literal

Signal = Literal["traces", "logs"]


class MalformedRequest(Exception):
    """A body that cannot be read; the message says why, without its content."""


class OversizedRequest(Exception):
    """A body that would take too much memory or time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The spans or log records that a request has of one trace.

    `content` is OTLP JSON of these items alone, and `items` their number. `has_root` is whether one is a span without a
    parent, which ends last.
    """

    trace: str
    signal: Signal
    items: int
    has_root: bool
    content: bytes


@dataclass(slots=True)
class Parts:
    """A request by traces: its parts, and how many of its items were refused and ignored.

    Log records that are not events of generative AI are ignored: no reader reads them.
    """

    parts: list[Part] = field(default_factory=list)
    rejected: int = 0
    reason: str = ""
    ignored: int = 0

    def reject(self, items: int, reason: str) -> None:
        """Refuse items of the request. The first reason is the one that the sender is told."""
        self.rejected += items
        self.reason = self.reason or reason
