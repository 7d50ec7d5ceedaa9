"""The trajectories that are judged, and every record that is not with the reason."""

from collections.abc import Iterator

import pyarrow as pa

from evaluation_assets.core.intake.preprocessing.preprocess import Preprocessor, Removal, Statistics
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.lake.spool import Spool
from evaluation_assets.core.lake.stored import Stored, revised
from evaluation_assets.core.lake.tables import PREPROCESSED_TRAJECTORIES
from evaluation_assets.core.traces.trajectories.trajectory_rows import Row, trajectory_of, trajectory_row


class PreprocessedDrop:
    """The trajectories of a drop after rules and repairs; what is taken out goes to the spool `rejected`."""

    def __init__(self, drop: str, settings: Settings, rejected: Spool) -> None:
        self._drop = drop
        self._preprocessor = Preprocessor(settings)
        self._rejected = rejected

    def add_unreadable(self, unreadable: Stored) -> None:
        """Records that could not be read are rejected too."""
        for row in unreadable.rows():
            self._preprocessor.statistics.unreadable[row["reason"]] += 1
            self._rejected.add(row)

    def batches(self, trajectories: Stored) -> Iterator[pa.RecordBatch]:
        """The batches of `preprocessed_trajectories`; rows that stay as they are never become objects and back."""
        return revised(trajectories, ["trajectory", "text"], self._processed, PREPROCESSED_TRAJECTORIES)

    def _processed(self, row: Row) -> Row | None:
        trajectory = trajectory_of(row)
        item = self._preprocessor.process(trajectory)
        if isinstance(item, Removal):
            self._rejected.add(_removal_row(self._drop, item))
            return None
        return row if item is trajectory else trajectory_row(self._drop, item)

    def metadata(self) -> dict[str, int | float]:
        """The figures of preprocessing, once all trajectories have passed."""
        return figures(self._preprocessor.statistics)


def _removal_row(drop: str, removal: Removal) -> Row:
    """A row of `rejected_records` for a trajectory that a rule removed; `source` is its id, `raw` its text."""
    return {
        "drop": drop,
        "source": removal.trajectory.id,
        "line": None,
        "stage": "preprocess",
        "reason": removal.reason,
        "detail": removal.detail,
        "raw": removal.trajectory.text,
    }


def figures(statistics: Statistics) -> dict[str, int | float]:
    """Statistics as numeric metadata, which the UI plots over drops."""
    counts: dict[str, int | float] = {
        "records_total": statistics.total,
        "records_kept": statistics.kept,
        "removed_frequency": statistics.removed["frequency"],
        "removed_duplicates": statistics.removed["duplicates"],
        "unreadable": statistics.unreadable.total(),
        "flagged": statistics.flagged.total(),
        "repaired": statistics.repaired,
        "duplicate_calls": statistics.duplicates,
        "retries": statistics.retries,
    }
    if statistics.kept_rate is not None:
        counts["kept_rate"] = statistics.kept_rate
    return counts
