"""Stable IDs of trajectories, independent of the order of sets and the hash seed."""

import hashlib
from collections import Counter
from dataclasses import replace
from typing import Any

from evaluation_assets.core.trajectories.model import Trajectory


def digest(*parts: str) -> str:
    """A short name for content: 16 hexadecimal digits of SHA-256."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part.encode("utf-8", "surrogatepass"))
        whole.update(b"\0")
    return whole.hexdigest()[:16]


LONGEST_FILE_NAME = 221
"""Bytes of UTF-8. File systems take 255; a file that is being written has a name 34 bytes longer, see `publish`."""


def file_name(stem: str, ending: str) -> str:
    """A file's name of a stem and an ending: as it is where it fits, else cut, with a digest that keeps it unique."""
    if len((stem + ending).encode()) <= LONGEST_FILE_NAME:
        return stem + ending
    mark = f"-{digest(stem)[:12]}{ending}"
    kept = stem.encode()[: LONGEST_FILE_NAME - len(mark.encode())].decode("utf-8", "ignore")
    return kept + mark


def task_id_of(recorded: Any, task: str, text: str) -> str:
    """What pairs runs of one task: the recorded id, else a digest of the task, else of the text."""
    if isinstance(recorded, str | int) and not isinstance(recorded, bool) and str(recorded).strip():
        return str(recorded).strip()
    return f"task-{digest(task or text)}"


class TrialCounter:
    """Numbers repeated runs of a task inside a drop, so that every trajectory id in it is unique.

    A recorded trial keeps its number, whatever the order of the runs, unless an earlier run of the task has it.
    """

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._trials: set[tuple[str, int]] = set()
        self._next: Counter[str] = Counter()

    def numbered(self, trajectory: Trajectory) -> Trajectory:
        """The trajectory, renamed `<task id>#<trial>` when its id was taken."""
        task_id, trial = trajectory.task_id, trajectory.trial
        if (task_id, trial) in self._trials:
            trial = self._free(task_id)
        if trajectory.id in self._used:
            while f"{task_id}#{trial}" in self._used:
                trial = self._free(task_id, trial + 1)
            trajectory = replace(trajectory, id=f"{task_id}#{trial}")
        self._used.add(trajectory.id)
        self._trials.add((task_id, trial))
        return trajectory if trial == trajectory.trial else replace(trajectory, trial=trial)

    def _free(self, task_id: str, start: int = 0) -> int:
        """The lowest number from `start` on that no run of the task has."""
        trial = max(start, self._next[task_id])
        while (task_id, trial) in self._trials:
            trial += 1
        self._next[task_id] = trial
        return trial
