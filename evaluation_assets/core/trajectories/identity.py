"""Names for trajectories: the same in every run, whatever the order of sets or the hash seed."""

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


def task_id_of(recorded: Any, task: str, text: str) -> str:
    """What pairs runs of one task: the recorded id, else a digest of the task, else of the text."""
    if isinstance(recorded, str | int) and not isinstance(recorded, bool) and str(recorded).strip():
        return str(recorded).strip()
    return f"task-{digest(task or text)}"


class TrialCounter:
    """Numbers repeated runs of a task inside a drop, so that every trajectory id in it is unique."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._trials: Counter[str] = Counter()

    def numbered(self, trajectory: Trajectory) -> Trajectory:
        """The trajectory, renamed `<task id>#<trial>` when its id was taken."""
        trial = max(trajectory.trial, self._trials[trajectory.task_id])
        self._trials[trajectory.task_id] = trial + 1
        if trajectory.id not in self._used:
            self._used.add(trajectory.id)
            return trajectory if trial == trajectory.trial else replace(trajectory, trial=trial)
        name = f"{trajectory.task_id}#{trial}"
        while name in self._used:
            trial += 1
            name = f"{trajectory.task_id}#{trial}"
        self._trials[trajectory.task_id] = trial + 1
        self._used.add(name)
        return replace(trajectory, id=name, trial=trial)
