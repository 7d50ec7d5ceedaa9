"""[scores] What the panel's verdicts average to."""

from collections.abc import Callable, Iterator, Sequence

import dagster as dg

from evaluation_assets.core import tables
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.lake import Stored, Stream, batched
from evaluation_assets.core.scoring import panel_scores
from evaluation_assets.core.scoring.panel_reliability import largest_retest_std, reliability_rows
from evaluation_assets.core.scoring.score_summary import ScoreSummary
from evaluation_assets.core.tables import Table
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.defs.per_judge import by_judge, judge_inputs

SCORING_VERSION = "1"
"""Increment when the same verdicts would give different scores."""


def scores_assets(judges: Sequence[Judge], quorum: int) -> list[dg.AssetsDefinition]:
    """Scores of clips, categories and trajectories, and how far the judges agree."""

    def asset(
        table: Table, inputs: Sequence[str], verdicts: Table, rows_of: Callable[..., Iterator[panel_scores.Row]]
    ) -> dg.AssetsDefinition:
        @dg.asset(
            name=table.name,
            partitions_def=DROPS,
            group_name="scores",
            code_version=f"{SCORING_VERSION}|quorum {quorum}",
            ins={name: dg.AssetIn(name) for name in inputs} | judge_inputs([verdicts], judges),
            kinds={"parquet"},
            description=f"Each row is {table.row}. Every mean states how many judges it is based on.",
        )
        def panel_scores(context: dg.AssetExecutionContext, **stored: Stored) -> dg.MaterializeResult[Stream]:
            summary = ScoreSummary()
            given = [stored[name] for name in inputs]
            rows = rows_of(context.partition_key, *given, by_judge(stored, verdicts, judges), quorum)
            return dg.MaterializeResult(
                value=Stream(
                    table,
                    batched(summary.over(rows), table),
                    lambda: {"scores": dg.MetadataValue.md(summary.markdown()), **summary.figures()},
                )
            )

        return panel_scores

    return [
        asset(tables.CLIP_SCORES, ["clips"], tables.CLIP_VERDICTS, panel_scores.clip_scores),
        asset(tables.CATEGORY_ASSESSMENTS, ["clips"], tables.CATEGORY_VERDICTS, panel_scores.category_assessments),
        asset(
            tables.TRAJECTORY_SCORES,
            ["preprocessed_trajectories", "clip_scores"],
            tables.TRAJECTORY_VERDICTS,
            lambda drop, trajectories, clip_scores, verdicts, quorum: panel_scores.trajectory_scores(
                drop, trajectories, clip_scores.rows(), verdicts, quorum
            ),
        ),
        _panel_reliability(judges),
    ]


def _panel_reliability(judges: Sequence[Judge]) -> dg.AssetsDefinition:
    levels = {"clip": tables.CLIP_VERDICTS, "trajectory": tables.TRAJECTORY_VERDICTS}

    @dg.asset(
        partitions_def=DROPS,
        group_name="scores",
        code_version=SCORING_VERSION,
        ins=judge_inputs(list(levels.values()), judges),
        kinds={"parquet"},
        description="Inter-rater agreement and reliability of the panel. Agreement is not validity.",
    )
    def panel_reliability(context: dg.AssetExecutionContext, **stored: Stored) -> dg.MaterializeResult[Stream]:
        verdicts = {level: by_judge(stored, table, judges) for level, table in levels.items()}
        table = tables.PANEL_RELIABILITY
        rows = list(reliability_rows(context.partition_key, verdicts))
        return dg.MaterializeResult(value=Stream(table, batched(rows, table), lambda: largest_retest_std(rows)))

    return panel_reliability
