"""Stable IDs of trajectories, independent of the order of sets and the hash seed."""

import hashlib
import re
from collections import Counter
from dataclasses import replace
from typing import Any

from evaluation_assets.core.traces.trajectories.model import NumberId, Trajectory


def digest(*parts: str) -> str:
    """A short name for content: 16 hexadecimal digits of SHA-256."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part.encode("utf-8", "surrogatepass"))
        whole.update(b"\0")
    return whole.hexdigest()[:16]


def fraction_of(text: str) -> float:
    """A number from 0 to below 1 drawn by a text alone, spread evenly: what is below a share of 1 is a sample of it."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:6]) / 2**48


_UNNAMED = re.compile("task-[0-9a-f]{16}")
"""A task that has no recorded ID."""

LONGEST_FILE_NAME = 221
"""Bytes of UTF-8. File systems take 255; a file that is being written has a name 34 bytes longer, see `publish`."""


def file_name(stem: str, ending: str) -> str:
    """A file's name of a stem and an ending: as it is where it fits, else cut, with a digest that keeps it unique."""
    if len((stem + ending).encode()) <= LONGEST_FILE_NAME:
        return stem + ending
    mark = f"-{digest(stem)[:12]}{ending}"
    kept = stem.encode()[: LONGEST_FILE_NAME - len(mark.encode())].decode("utf-8", "ignore")
    return kept + mark


def within(group: str | None, recorded: str | None) -> str | None:
    """A recorded ID in a group of its source, such as a benchmark."""
    if group is None or recorded is None:
        return recorded
    return type(recorded)(f"{group}/{recorded}")


def recorded_id(value: Any) -> str | None:
    """An ID as a text, since sources have texts and integers; `None` if the value is neither, or blank."""
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        return None
    return NumberId(value) if isinstance(value, int | NumberId) else value


def task_id_of(recorded: Any, task: str, text: str) -> str:
    """What pairs runs of one task: the recorded id, else a digest of the task, else of the text."""
    name = recorded_id(recorded)
    if name is None:
        return f"task-{digest(task or text)}"
    return name if isinstance(name, NumberId) else name.strip()


_SETS = ("domain", "domain_name", "dataset", "data_source")
"""What a run may state of the set that its task is in."""


class TrialCounter:
    """Numbers repeated runs of a task inside a drop, so that every trajectory id in it is unique.

    A recorded trial keeps its number, whatever the order of the runs, unless an earlier run of the task has it. Where
    one drop has an ID as a number and as a text, these are two tasks, and the later one is named after its type. A
    number in several domains or data sets is a task of each, and the later ones are named after those.
    """

    def __init__(self) -> None:
        self._is_number: dict[str, bool] = {}
        self._set_of: dict[str, str] = {}
        self._task_of: dict[str, str] = {}
        self._trials: set[tuple[str, int]] = set()
        self._next: Counter[str] = Counter()

    def numbered(self, trajectory: Trajectory) -> Trajectory:
        """The trajectory, renamed `<task id>#<trial>` when its id was taken.

        Where the task has no recorded ID and the run with this ID was of the same task, it is renamed `<id>#<trial>`.
        """
        trajectory = self._told_apart(trajectory)
        task_id, trial = trajectory.task_id, trajectory.trial
        if (task_id, trial) in self._trials:
            trial = self._free(task_id)
        if trajectory.id in self._task_of:
            is_same = self._task_of[trajectory.id] == task_id
            name = trajectory.id if is_same and _UNNAMED.fullmatch(task_id) else task_id
            while f"{name}#{trial}" in self._task_of:
                trial = self._free(task_id, trial + 1)
            trajectory = replace(trajectory, id=f"{name}#{trial}")
        self._task_of[trajectory.id] = task_id
        self._trials.add((task_id, trial))
        return trajectory if trial == trajectory.trial else replace(trajectory, trial=trial)

    def _told_apart(self, trajectory: Trajectory) -> Trajectory:
        recorded, is_number = str(trajectory.task_id), isinstance(trajectory.task_id, NumberId)
        is_known = self._is_number.setdefault(recorded, is_number) == is_number
        task_id = recorded if is_known else f"{recorded} ({'number' if is_number else 'text'})"
        own_set = next((name for key in _SETS if isinstance(name := trajectory.extra.get(key), str) and name), None)
        if own_set is not None and recorded.isdecimal() and self._set_of.setdefault(task_id, own_set) != own_set:
            task_id = f"{task_id} ({own_set})"
        own = task_id if trajectory.id == trajectory.task_id else str(trajectory.id)
        return replace(trajectory, id=own, task_id=task_id)

    def _free(self, task_id: str, start: int = 0) -> int:
        """The lowest number from `start` on that no run of the task has."""
        trial = max(start, self._next[task_id])
        while (task_id, trial) in self._trials:
            trial += 1
        self._next[task_id] = trial
        return trial
