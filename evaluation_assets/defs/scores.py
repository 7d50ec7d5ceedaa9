"""[scores] What the panel's verdicts average to."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean

import dagster as dg

from evaluation_assets.core import tables
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.lake import Stored, Stream, batched
from evaluation_assets.core.plain_text import markdown_cell
from evaluation_assets.core.scoring import panel_scores
from evaluation_assets.core.tables import Table
from evaluation_assets.defs.partitions import DROPS

SCORING_VERSION = "1"
"""Increment when the same verdicts would give different scores."""


def scores_assets(judges: Sequence[Judge], quorum: int) -> list[dg.AssetsDefinition]:
    """Scores of clips, categories and trajectories."""

    def verdicts_of(table: Table) -> dict[str, dg.AssetIn]:
        return {f"verdicts_{judge.name}": dg.AssetIn([table.name, judge.name]) for judge in judges}

    def by_judge(inputs: Mapping[str, Stored]) -> dict[str, Stored]:
        return {judge.name: inputs[f"verdicts_{judge.name}"] for judge in judges}

    def asset(
        table: Table, inputs: Sequence[str], verdicts: Table, rows_of: Callable[..., Iterator[panel_scores.Row]]
    ) -> dg.AssetsDefinition:
        @dg.asset(
            name=table.name,
            partitions_def=DROPS,
            group_name="scores",
            code_version=f"{SCORING_VERSION}|quorum {quorum}",
            ins={name: dg.AssetIn(name) for name in inputs} | verdicts_of(verdicts),
            kinds={"parquet"},
            description=f"Each row is {table.row}. Every mean states how many judges it is based on.",
        )
        def panel_scores(context: dg.AssetExecutionContext, **stored: Stored) -> dg.MaterializeResult[Stream]:
            summary = Summary()
            given = [stored[name] for name in inputs]
            rows = rows_of(context.partition_key, *given, by_judge(stored), quorum)
            return dg.MaterializeResult(value=Stream(table, batched(summary.over(rows), table), summary.metadata))

        return panel_scores

    return [
        asset(tables.CLIP_SCORES, ["clips"], tables.CLIP_VERDICTS, panel_scores.clip_scores),
        asset(tables.CATEGORY_ASSESSMENTS, ["clips"], tables.CATEGORY_VERDICTS, panel_scores.category_assessments),
        asset(
            tables.TRAJECTORY_SCORES,
            ["preprocessed_trajectories", "clip_scores"],
            tables.TRAJECTORY_VERDICTS,
            _trajectory_scores,
        ),
    ]


def _trajectory_scores(
    drop: str, trajectories: Stored, clip_scores: Stored, verdicts: Mapping[str, Stored], quorum: int
) -> Iterator[panel_scores.Row]:
    return panel_scores.trajectory_scores(drop, trajectories, clip_scores.rows(), verdicts, quorum)


class Summary:
    """Means by criterion over rows that pass, for the UI."""

    def __init__(self) -> None:
        self._means: dict[str, list[float]] = {}
        self._open = 0

    def over(self, rows: Iterator[panel_scores.Row]) -> Iterator[panel_scores.Row]:
        """Pass the rows on."""
        for row in rows:
            if row["mean"] is None:
                self._open += 1
            else:
                self._means.setdefault(row["criterion"], []).append(row["mean"])
            yield row

    def metadata(self) -> dict[str, float | int | dg.MetadataValue]:
        """The mean of each criterion as a number (plotted over drops), and all of them as a table."""
        figures: dict[str, float | int | dg.MetadataValue] = {
            f"mean_{criterion}": fmean(values) for criterion, values in sorted(self._means.items())
        }
        lines = [
            f"| {markdown_cell(criterion)} | {fmean(values):.3f} | {len(values)} |"
            for criterion, values in sorted(self._means.items())
        ]
        table = "\n".join(["| criterion | mean | subjects |", "| --- | ---: | ---: |", *lines])
        return {"scores": dg.MetadataValue.md(table), "not_scored": self._open, **figures}
