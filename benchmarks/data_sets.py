"""Recorded runs that benchmarks measure on."""

import sys
from collections.abc import Iterator
from pathlib import Path

from upath import UPath

from evaluation_assets.core.traces.formats.base import DropFile
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory

DATA = Path(__file__).parents[2] / "shared" / "data"
"""The folder with data sets that the tests use."""


def given_folder() -> Path:
    """The folder that the command line names, or else the one that the tests use."""
    return Path(sys.argv[1]) if len(sys.argv) > 1 else DATA


def trajectories(path: Path) -> Iterator[Trajectory]:
    """What is readable of a file."""
    items = read_trajectories([DropFile(UPath(path), path.name)], UnmappedFields())
    return (item for item in items if isinstance(item, Trajectory))
