"""Read the sessions of a drop in which sub-agents have sessions of their own, in other records or files.

A first pass notes the ID of each session and that of the session that started it, a second one spools the sessions of
sub-agents, a third one reads. One trajectory is in memory at a time, however many sessions share a file.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Rejection, Sample
from evaluation_assets.core.traces.formats.coding.session import CodingSession
from evaluation_assets.core.traces.formats.coding.session_spool import Place, SessionSpool, Unit, place_of
from evaluation_assets.core.traces.formats.files.samples import own_files
from evaluation_assets.core.traces.formats.isolation import attempted, usable
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory

_DEEPEST = 20
"""Maximum nesting of sub-agents."""


@dataclass(frozen=True, slots=True)
class Link:
    """The ID of a session, that of the session that started it, and the calls that started others, by their IDs.

    `forked_from` is the ID of the session whose history it begins with, or the name of that history where the source
    does not say whose it is. `history` is then that name for the session that a fork may come from.
    """

    id: str | None = None
    parent: str | None = None
    started: Mapping[str, str] = field(default_factory=dict[str, str])
    forked_from: str | None = None
    history: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedFormat:
    """How sessions are found and read.

    `is_own` says whether a record tells that a file is in the format, `units_of` splits a file into sessions. `link_of`
    looks at the records of a session without trusting them, `session_of` reads them; it is told how many of the first
    are copies of another session's, or of the messages of a record. `copied` counts these, by the digests of the other
    session.
    """

    name: str
    is_own: Callable[[Any], bool]
    units_of: Callable[[DropFile], Iterator[Unit | Rejection]]
    link_of: Callable[[Sequence[Any]], Link]
    session_of: Callable[[UnmappedFields, Sequence[Any], int], CodingSession]
    digests_of: Callable[[Sequence[Any]], frozenset[str]] = lambda _: frozenset()
    copied: Callable[[Sequence[Any], frozenset[str]], int] = lambda *_: 0

    def detects(self, sample: Sample) -> bool:
        """Whether a sample of records is in this format."""
        return any(self.is_own(record) for record in sample.records)

    def read(self, files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
        """Yield one trajectory per session that no other session of the drop started, with its sub-agents."""
        own: list[DropFile] = []
        for file in own_files(files, self.detects, self.name):
            if isinstance(file, Rejection):
                yield file
            else:
                own.append(file)
        with closing(SessionSpool()) as spool:
            yield from _Reading(own, self, unmapped, spool).trajectories()


class _Reading:
    """Which sessions belong together, and which are read already."""

    def __init__(
        self, files: Sequence[DropFile], format_: LinkedFormat, unmapped: UnmappedFields, spool: SessionSpool
    ) -> None:
        self._files = files
        self._watches = {file.source: file.watch for file in files}
        self._format = format_
        self._unmapped = unmapped
        self._spool = spool
        self._links = {
            place_of(unit): format_.link_of([record.data for record in unit]) for unit in _units(files, format_)
        }
        callers = {child: link.id for link in self._links.values() for child in link.started if link.id}
        known = {link.id for link in self._links.values() if link.id is not None}
        self._children: dict[str, list[Place]] = defaultdict(list)
        for place, link in self._links.items():
            parent = link.parent or callers.get(link.id or "")
            if parent in known and parent is not None and parent != link.id:
                self._children[parent].append(place)
        self._inside = {place for places in self._children.values() for place in places}
        self._seen: set[Place] = set()
        forked = {link.forked_from for link in self._links.values()}
        named = ((link.history or link.id, place) for place, link in self._links.items())
        self._origins = {name: place for name, place in named if name and name in forked}
        self._origin_now: tuple[Place, frozenset[str]] | None = None
        spooled = {*self._inside, *self._origins.values()}
        sources = {source for source, _ in spooled}
        for unit in _units([file for file in files if file.source in sources], format_):
            if place_of(unit) in spooled:
                spool.add(unit)

    def trajectories(self) -> Iterator[Trajectory | Rejection]:
        """Yield one trajectory per session that no other session started."""
        for only_roots in (True, False):  # sessions that started each other have no root
            for unit in (unit for file in self._files for unit in self._format.units_of(file.unwatched)):
                if isinstance(unit, Rejection):
                    if only_roots:
                        yield unit
                elif self._is_next(place_of(unit), only_roots=only_roots):
                    yield from self._trajectory(unit)
            if self._seen >= self._links.keys():
                return

    def _is_next(self, place: Place, *, only_roots: bool) -> bool:
        """Whether a session starts a trajectory."""
        return place not in self._seen and not (only_roots and place in self._inside)

    def _trajectory(self, unit: Unit) -> Iterator[Trajectory | Rejection]:
        """Yield the trajectory of a session with its sub-agents, and what had to be left out."""
        left_out: list[Rejection] = []
        parent = self._links.get(place_of(unit), Link()).parent
        if parent is not None and place_of(unit) not in self._inside:
            self._unmapped.note("orphan_session", parent)
        self._seen.add(place_of(unit))
        yield usable(
            unit[0],
            lambda _: self._session(unit, 0, left_out).trajectory(self._format.name, self._unmapped),
            goes_on=True,
        )
        yield from left_out

    def _session(self, unit: Unit, depth: int, left_out: list[Rejection]) -> CodingSession:
        link = self._links.get(place_of(unit), Link())
        records = [record.data for record in unit]
        copied = self._copied(link, records)
        for _ in self._watches[unit[0].source].over(unit[copied:]):  # counted here: with its trajectory, and once
            pass
        session = self._format.session_of(self._unmapped, records, copied)
        for place in self._children.get(link.id or "", ()) if depth < _DEEPEST else ():
            if place in self._seen:
                continue
            self._seen.add(place)
            child = self._child(self._spool.unit(place), depth, left_out)
            if isinstance(child, Rejection):
                left_out.append(child)
            else:
                session.join(child, link.started.get(self._links[place].id or ""))
        return session

    def _copied(self, link: Link, records: Sequence[Any]) -> int:
        """How many of the first records of a session were copied from another one."""
        if link.forked_from is None or link.forked_from == link.id:
            return 0
        origin = self._origins.get(link.forked_from)
        if origin is None:
            self._unmapped.note("copied_history", link.forked_from)
            return 0
        if self._origin_now is None or self._origin_now[0] != origin:
            history = self._format.digests_of([record.data for record in self._spool.unit(origin)])
            self._origin_now = origin, history
        return self._format.copied(records, self._origin_now[1])

    def _child(self, unit: Unit, depth: int, left_out: list[Rejection]) -> CodingSession | Rejection:
        return attempted(unit[0], lambda _: self._session(unit, depth + 1, left_out))


def _units(files: Sequence[DropFile], format_: LinkedFormat) -> Iterator[Unit]:
    """All sessions; rejections come with the trajectories."""
    for file in files:
        for unit in format_.units_of(file.unwatched):
            if not isinstance(unit, Rejection):
                yield unit
