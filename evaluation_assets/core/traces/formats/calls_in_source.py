"""How many calls, or results, a source holds: counted record by record, without what stands in several records."""

from collections import Counter, deque
from collections.abc import Set
from dataclasses import dataclass, field

from evaluation_assets.core.traces.formats.call_census import is_unique
from evaluation_assets.core.traces.formats.conversation import IN_TURN

_REMEMBERED = 2 * IN_TURN
"""Conversations, or records, whose calls are remembered: those of a log go on in turn."""


@dataclass(slots=True)
class InSource:
    """Counts the calls in the source, or their results, a conversation at a time.

    One that stands in two records of a conversation, or of two that follow each other, counts once; so does any with an
    ID that no other call has. Of records that each are a run, those with the short IDs of others count if they differ.
    """

    _times: int = 0
    _told: int = 0
    _now: set[str] = field(default_factory=set)
    _before: set[str] = field(default_factory=set)
    _named: deque[set[str]] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    _records: deque[Set[str]] = field(default_factory=deque)
    _in_records: Counter[str] = field(default_factory=Counter)

    def times(self, is_by_record: bool) -> int:
        """How many there are, if each record is a run or none; else at least so many."""
        return max(self._times, self._told if is_by_record else 0)

    def add(self, calls: Set[str], told: Set[str]) -> None:
        """Count those of a record that were not counted before; `told` are the same with what they say."""
        fresh = calls - self._now - self._before
        self._times += sum(not any(call in named for named in self._named) for call in fresh)
        self._now |= calls
        self._told += sum(not self._in_records[call] for call in told)
        self._records.append(told)
        self._in_records.update(told)
        if len(self._records) > _REMEMBERED:
            for call in self._records.popleft():
                self._in_records[call] -= 1
                if not self._in_records[call]:
                    del self._in_records[call]

    def known(self, calls: Set[str]) -> int:
        """How many of these were counted lately."""
        return len(calls & (self._now | self._before))

    def conversation_ended(self) -> None:
        """Begin with the next conversation."""
        self._named.append({call for call in self._before if is_unique(call) and "\0" not in call})
        self._before, self._now = self._now, set()
