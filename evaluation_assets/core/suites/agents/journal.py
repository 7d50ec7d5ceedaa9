"""The journal of an agent run: finished attempts and tool results, in a file that survives a crash.

A killed run resumes where it stopped. Model replies come from the ledger, tool results from the journal, so that the
conversation stays the same and side effects do not happen twice. The journal of a finished run is kept: running it
again does nothing. Attempts that failed because of the infrastructure are repeated.
"""

import fcntl
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, Self

import orjson

from evaluation_assets.core.suites.agents.tools import CallOutcome
from evaluation_assets.core.suites.calls import FAILED
from evaluation_assets.core.traces.formats.readers.canonical import trajectory_of
from evaluation_assets.core.traces.trajectories.model import Trajectory

AttemptKey = tuple[str, int]
"""Case id and trial."""


class JournalInUse(RuntimeError):
    """Another process is executing this run."""


class Journal:
    """One run of one agent on one suite. `series` distinguishes runs of the same agent on the same suite."""

    def __init__(self, file: BinaryIO, series: str) -> None:
        self._file = file
        self._places: dict[AttemptKey, int] = {}
        self._results: defaultdict[AttemptKey, dict[int, list[CallOutcome]]] = defaultdict(dict)
        self.series = series
        self._read()

    @classmethod
    @contextmanager
    def opened(cls, path: Path, series: str) -> Iterator[Self]:
        """Create or continue the journal at a path. An existing journal keeps its series.

        Raises:
            JournalInUse: another process has it open.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                busy = "another process is running this agent on this suite; run this again when it has ended"
                raise JournalInUse(f"{busy} ({path})") from None
            yield cls(file, series)

    def has(self, key: AttemptKey) -> bool:
        """Whether an attempt is finished."""
        return key in self._places

    def results(self, key: AttemptKey) -> Mapping[int, Sequence[CallOutcome]]:
        """Tool results of an unfinished attempt, by step."""
        return self._results[key]

    def keep(self, key: AttemptKey, step: int, outcomes: Sequence[CallOutcome]) -> None:
        """Store the tool results of a step."""
        self._append({"case": key[0], "trial": key[1], "step": step, "outcomes": [asdict(each) for each in outcomes]})

    def finish(self, key: AttemptKey, trajectory: Trajectory) -> None:
        """Store a finished attempt."""
        place = self._append({"case": key[0], "trial": key[1], "trajectory": trajectory})
        self._places[key] = place
        self._results.pop(key, None)

    def trajectory(self, key: AttemptKey) -> Trajectory:
        """A finished attempt."""
        self._file.seek(self._places[key])
        return trajectory_of(orjson.dumps(orjson.loads(self._file.readline())["trajectory"]))

    def _append(self, entry: Mapping[str, Any]) -> int:
        self._file.seek(0, 2)
        place = self._file.tell()
        self._file.write(orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE))
        self._file.flush()
        return place

    def _read(self) -> None:
        """Read the existing entries. A last line that was truncated by a crash is removed.

        What a damaged entry, or one of another version, holds is done again.
        """
        self._file.seek(0)
        place = 0
        for line in self._file:
            if not line.endswith(b"\n"):
                break
            with suppress(ValueError, LookupError, TypeError):
                self._take(orjson.loads(line), place)
            place += len(line)
        self._file.truncate(place)
        if place == 0:
            self._append({"series": self.series})

    def _take(self, entry: Mapping[str, Any], place: int) -> None:
        if "series" in entry:
            self.series = entry["series"]
        elif "trajectory" in entry:
            if FAILED not in entry["trajectory"]["flags"]:
                self._places[entry["case"], entry["trial"]] = place
            self._results.pop((entry["case"], entry["trial"]), None)
        else:
            outcomes = [CallOutcome(**outcome) for outcome in entry["outcomes"]]
            self._results[entry["case"], entry["trial"]][entry["step"]] = outcomes
