"""The process score in reports."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from upath import UPath

from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.lake.tables import PROCESS_SCORES, RAW_TRAJECTORIES
from evaluation_assets.core.report.findings.process_summary import process_summary


def scores(tmp_path: Path, *values: float | None) -> Stored:
    rows: list[dict[str, Any]] = [
        dict.fromkeys(PROCESS_SCORES.schema.names)
        | {"drop": "d", "trajectory_id": str(number), "task_id": f"task {number}", "score": value}
        for number, value in enumerate(values)
    ]
    path = tmp_path / "scores.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=PROCESS_SCORES.schema), path)
    return Stored(PROCESS_SCORES, UPath(path))


def outcomes(tmp_path: Path, *values: bool | None) -> Stored:
    rows: list[dict[str, Any]] = [
        dict.fromkeys(RAW_TRAJECTORIES.schema.names) | {"trajectory_id": str(number), "success": value}
        for number, value in enumerate(values)
    ]
    path = tmp_path / "raw.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=RAW_TRAJECTORIES.schema), path)
    return Stored(RAW_TRAJECTORIES, UPath(path))


def test_runs_without_a_score_are_counted_and_left_out_of_the_mean(tmp_path: Path) -> None:
    found = process_summary(scores(tmp_path, 1.0, 0.5, None), outcomes(tmp_path, None, None, None))
    assert found is not None
    assert found.text == "process score 0.750 over 2 runs (1 run without a score)"
    none = process_summary(scores(tmp_path, None, None), outcomes(tmp_path, None, None))
    assert none is not None
    assert none.text == "no process score: nothing could be checked in 2 runs"
    assert process_summary(scores(tmp_path), outcomes(tmp_path)) is None


def test_its_relation_to_success_stands_beside_it(tmp_path: Path) -> None:
    values = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5] * 2
    by_chance = process_summary(scores(tmp_path, *values), outcomes(tmp_path, *[True] * 6, *[False] * 6))
    assert by_chance is not None
    assert "; AUROC against recorded success 0.50 (95% CI " in by_chance.text
    assert by_chance.text.endswith("), not shown to be better than chance")
    related = process_summary(scores(tmp_path, *sorted(values)), outcomes(tmp_path, *[False] * 6, *[True] * 6))
    assert related is not None
    assert related.success is not None
    assert related.success.auroc == 1
    assert "chance" not in related.text
