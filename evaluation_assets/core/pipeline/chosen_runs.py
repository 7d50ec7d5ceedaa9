"""Some of the trajectories of an evaluated drop."""

from collections.abc import Collection, Iterator
from typing import Literal

from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets.core.traces.trajectories.trajectory_rows import TREE_AND_TEXT, trajectory_of


def trajectories_of(
    home: Installation,
    drop: str,
    chosen: Collection[str],
    table: Literal["raw_trajectories", "preprocessed_trajectories"] = "preprocessed_trajectories",
) -> Iterator[Trajectory]:
    """The chosen trajectories of a drop; only these are decoded."""
    for row in home.table(drop, table).rows(["trajectory_id", *TREE_AND_TEXT]):
        if row["trajectory_id"] in chosen:
            yield trajectory_of(row)
