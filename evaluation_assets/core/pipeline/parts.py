"""Parts of a big drop: contiguous shares of its trajectories, which several runs judge, each in a lake of its own."""

import math
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

import pyarrow as pa
from pydantic import BaseModel
from upath import UPath

from evaluation_assets.core.intake.facts import VerdictFacts
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.tally import COUNTED, Tally
from evaluation_assets.core.lake.spool import Joined
from evaluation_assets.core.lake.stored import Stored, Stream, publish_bytes, write
from evaluation_assets.core.lake.tables import Table
from evaluation_assets.core.pipeline.verdicts import JudgedTable, noted_facts
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.system.regular_files import is_local
from evaluation_assets.core.traces.trajectories.identity import digest

_FOLDER = ".parts"
_ANNOUNCEMENT = "announcement.json"
_JUDGED = "judged"
_ID = "trajectory_id"

Path = tuple[str, ...]
"""Where a table is in the lake: its name, then the judge where each has its own."""


class Announcement(BaseModel):
    """Parts that other runs may judge.

    Attributes:
        drop: The divided drop.
        run: ID of the run that divided it.
        count: Number of its parts.
        versions: What is judged: the code version of each verdict table, by the key of its asset.
    """

    drop: str
    run: str
    count: int
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a drop as one run divided it, numbered from 1.

    Each part is a lake that holds the ingested tables of its trajectories, and the verdicts on them once it is judged.
    So the steps that judge a drop judge a part as they are.
    """

    home: Installation
    drop: str
    run: str
    count: int

    @property
    def numbers(self) -> range:
        """The numbers of all parts."""
        return range(1, self.count + 1)

    def of(self, number: int) -> Installation:
        """The installation with a part's lake."""
        return replace(self.home, lake=self._folder / str(number))

    def name(self, number: int) -> str:
        """The name of a part; no drop has it, since no part of a drop's name starts with a dot."""
        return f"{self.drop}/{_FOLDER}/{number}"

    def is_judged(self, number: int) -> bool:
        """Whether all verdicts on a part are written."""
        return _exists(self.of(number).lake / _JUDGED)

    def set_judged(self, number: int, run: str) -> None:
        """Note which run has written all verdicts on a part."""
        publish_bytes(self.of(number).lake / _JUDGED, run.encode())

    def announce(self, versions: Mapping[str, str]) -> None:
        """Let other runs judge parts, in the `versions` of this one: the code version of each table to write."""
        said = Announcement(drop=self.drop, run=self.run, count=self.count, versions=versions)
        publish_bytes(self._folder / _ANNOUNCEMENT, said.model_dump_json().encode())

    async def judged(self, table: Table, judges: Sequence[Judge]) -> AsyncIterator[JudgedTable]:
        """The verdicts of each judge at a level, of all parts in their order."""
        for judge in judges:
            stored = [self.of(number).table(self.drop, table.name, judge.name) for number in self.numbers]
            tally, cascade = Tally(), ""
            for each in stored:
                for row in each.rows(COUNTED):
                    tally.add(row)
                facts = VerdictFacts.of(each)
                tally.redacted.update(facts.redacted)
                cascade = cascade or facts.cascade
            yield JudgedTable(judge, Joined(stored), tally, noted_facts(cascade, tally))

    def remove(self) -> None:
        """Delete the parts of the drop, those of earlier runs too."""
        folder = self._folder.parent
        if _exists(folder):
            with suppress(OSError):  # a run that was killed left a late one, which still writes there
                folder.fs.rm(folder.path, recursive=True)

    @property
    def _folder(self) -> UPath:
        return _folder_of(self.home, self.drop) / self.run


def divide(home: Installation, drop: str, run: str, clips_per_part: int, tables: Iterable[Path]) -> Parts | None:
    """Divide a drop into parts with about the same number of clips each; `None` where it has few enough for one.

    Args:
        home: The installation.
        drop: Its trajectories and clips are in the lake.
        run: ID of the run that divides it.
        clips_per_part: Most clips of a part that has more than one trajectory.
        tables: What judging a part reads; the rows of each are in the order of the trajectories.
    """
    clips = home.table(drop, "clips")
    if clips.count <= clips_per_part:
        return None
    parts = Parts(home, drop, run, math.ceil(clips.count / clips_per_part))
    parts.remove()
    trajectories = home.table(drop, "preprocessed_trajectories").values(_ID)
    numbers = dict(_numbered(trajectories, Counter(clips.values(_ID)), parts.count))
    for path in tables:
        stored = home.table(drop, *path)
        for number, pieces in groupby(_pieces(stored, numbers), key=itemgetter(0)):
            write(parts.of(number).table(drop, *path).path, Stream(stored.table, (piece for _, piece in pieces)))
    return parts


def announced(home: Installation) -> list[Announcement]:
    """What runs have announced, those that have ended since too."""
    folder = home.lake / _FOLDER
    if not _exists(folder):
        return []
    return [Announcement.model_validate_json(file.read_bytes()) for file in folder.glob(f"*/*/{_ANNOUNCEMENT}")]


def announcement(home: Installation, drop: str, run: str) -> Announcement | None:
    """What a run has announced of a drop, as long as it needs it."""
    file = _folder_of(home, drop) / run / _ANNOUNCEMENT
    return Announcement.model_validate_json(file.read_bytes()) if _exists(file) else None


def divided_by(home: Installation) -> list[str]:
    """IDs of the runs that left parts, those that are at work too."""
    folder = home.lake / _FOLDER
    return sorted({path.name for path in folder.glob("*/*")}) if _exists(folder) else []


def remove_parts_of(home: Installation, run: str) -> None:
    """Delete the parts of a run that has ended, and the folder of its drop if it is empty then."""
    for folder in (home.lake / _FOLDER).glob(f"*/{run}"):
        with suppress(OSError):
            folder.fs.rm(folder.path, recursive=True)
            folder.parent.rmdir()


def _numbered(trajectories: Iterable[str], clips: Counter[str], count: int) -> Iterator[tuple[str, int]]:
    """The part of each trajectory: the one in which the middle of its clips lies."""
    before, clips_per_part = 0, clips.total() / count
    for trajectory in trajectories:
        yield trajectory, min(int((before + clips[trajectory] / 2) // clips_per_part) + 1, count)
        before += clips[trajectory]


def _pieces(stored: Stored, numbers: Mapping[str, int]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The rows of a table with the number of their part, without those of trajectories that the drop no longer has."""
    for batch in stored.batches():
        begin = 0
        for number, rows in groupby(numbers.get(key) for key in batch.column(_ID).to_pylist()):
            length = sum(1 for _ in rows)
            if number is not None:
                yield number, batch.slice(begin, length)
            begin += length


def _folder_of(home: Installation, drop: str) -> UPath:
    return home.lake / _FOLDER / digest(drop)


def _exists(file: UPath) -> bool:
    """Whether a file is there that another process may have written a moment ago: listings of stores are cached."""
    if not is_local(file):
        file.fs.invalidate_cache(file.parent.path)
    return file.exists()
