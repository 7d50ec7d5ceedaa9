"""Which runs of the past can be forgotten: old ones that no drop's state depends on."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from pydantic import Field

from evaluation_assets.core.system.configuration import Section


class RetentionSettings(Section):
    """How long Dagster remembers runs. Tables, reports and the ledger are not touched.

    Attributes:
        run_days: Days after which a run is deleted, unless it is the newest of its job on a drop, or a current table
            comes from it.
    """

    run_days: int | None = Field(default=90, ge=7, le=36_500)


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run as Dagster knows it; times are seconds since 1970.

    `partitions` are its drops; a run without one has the partition `None`. `ended` is `None` while it is waiting or at
    work. `root` is the run that it repeats, where it is a retry.
    """

    run_id: str
    job: str
    partitions: tuple[str | None, ...]
    began: float
    ended: float | None
    root: str | None = None


def outdated(runs: Iterable[PastRun], before: float) -> list[PastRun]:
    """The runs that ended before a time and were followed by others of the same job on each of their partitions.

    The oldest come first.
    """
    newest: dict[tuple[str, str | None], PastRun] = {}
    for run in (ordered := sorted(runs, key=lambda each: (each.began, each.run_id))):
        newest |= {(run.job, partition): run for partition in run.partitions}
    return [
        run
        for run in ordered
        if run.ended is not None
        and run.ended < before
        and all(newest[run.job, partition] is not run for partition in run.partitions)
    ]


def forgettable(old: Sequence[PastRun], runs: Iterable[PastRun], current: Set[str]) -> list[str]:
    """The ids of those of the `old` runs that nothing refers to.

    Args:
        old: the outdated ones of `runs`.
        runs: all runs.
        current: ids of runs that hold the newest materialisation of an asset or of a partition.
    """
    candidates = {run.run_id for run in old} - current
    roots = {run.root for run in runs if run.run_id not in candidates}
    return [run.run_id for run in old if run.run_id in candidates - roots]
