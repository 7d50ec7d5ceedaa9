"""What coding agents did in the sessions of a drop, as rows with a summary."""

from collections import Counter
from collections.abc import Iterator

from evaluation_assets.core.lake.stored import Stored, Stream
from evaluation_assets.core.lake.tables import CODING_WORK
from evaluation_assets.core.sections.coding_work.work import FORMATS, Row, coding_work_of, work_row
from evaluation_assets.core.traces.trajectories.trajectory_rows import trajectory_of

_SUMMED = CODING_WORK.totalled("sum")


def coding_sessions(drop: str, trajectories: Stored) -> Stream:
    """Rows of `coding_work`: one per trajectory of a coding agent, none for other drops."""
    sums: Counter[str] = Counter()

    def rows() -> Iterator[Row]:
        if not any(name in FORMATS for name in trajectories.values("format")):
            return
        for stored in trajectories.rows(["format", "trajectory", "text"]):
            if stored["format"] in FORMATS:
                trajectory = trajectory_of(stored)
                row = work_row(drop, trajectory, coding_work_of(trajectory))
                sums["sessions"] += 1
                sums.update({name: row[name] for name in _SUMMED})
                sums[f"tests_{row['last_test_result']}"] += row["last_test_result"] is not None
                yield row

    def metadata() -> dict[str, int | str]:
        if not sums["sessions"]:
            return {"sessions": 0, "note": "the drop has no sessions of coding agents"}
        results = ("passing", "failing", "unknown")
        return {
            "sessions": sums["sessions"],
            **{name: sums[name] for name in _SUMMED},
            **{f"sessions_ending_with_tests_{result}": sums[f"tests_{result}"] for result in results},
        }

    return Stream.of(CODING_WORK, rows(), metadata)
