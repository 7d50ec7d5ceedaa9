"""What is said of drops before they are read: that their files could be one drop, or belong to a suite."""

# ruff: noqa: PLC0415  (the readers are imported only where a folder is given)

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from evaluation_assets.cli.output import warn
from evaluation_assets.core.intake.drops import Drop, key_of, scan
from evaluation_assets.core.system.installation import Installation

_MANY = 3
"""Drops from which on a folder looks like one drop, if these, of those in its order, have one run each."""


def warn_of_single_runs(inputs: Iterable[Path], drops: Sequence[Drop]) -> None:
    """Say how files of one run each are evaluated together, before many of them are evaluated one by one."""
    if len(drops) < _MANY or not any(map(Path.is_dir, inputs)):
        return
    runs = list(map(_runs_in, drops[:: len(drops) // _MANY][:_MANY]))
    in_folders = len({drop.name for drop in drops}) < len(drops)
    if max(runs) == 1 and (min(runs) == 1 or in_folders):
        told = f"the {len(drops)} files seem to have one run each{'' if min(runs) else ', or none'}"
        warn(
            f"{told}; --one-drop makes one drop of all files of a folder, with the outcomes that stand beside the runs"
        )


def warn_of_no_suite(home: Installation, inputs: Iterable[Path], drops: Sequence[Drop]) -> None:
    """Say how a file gets the suite that it would have with its folder, where the installation knows that suite."""
    without = {drop.key for drop in drops if drop.sidecar().suite is None}
    named = [(key_of(path.name), path.resolve().parent.name) for path in filter(Path.is_file, inputs)]
    suites = {suite for drop, suite in named if drop in without}
    known = {suite for suite in suites if _has_suite(home, suite)}
    for drop, suite in named:
        if drop in without and suite in known:
            warn(f"{drop}: no suite; --as {suite}/{drop} puts it into suite {suite}")


def _has_suite(home: Installation, suite: str) -> bool:
    """Whether the installation has a file of a suite, or drops below its folder; only then are its drops listed."""
    if suite in home.suite_names():
        return True
    return (home.drops / suite).is_dir() and any(key.startswith(f"{suite}/") for key in scan(home.drops).drops)


def _runs_in(drop: Drop) -> int:
    """The number of its runs: 0, 1, or 2 if there are more."""
    from evaluation_assets.core.traces.formats.base import UnreadableDrop
    from evaluation_assets.core.traces.formats.registry import read_trajectories
    from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields

    try:
        return len(list(islice(read_trajectories(drop.sources, UnmappedFields(), drop.sidecar().format), 2)))
    except UnreadableDrop:
        return 0
