"""[scores] What the panel's verdicts average to."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import dagster as dg

from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.scorers import Scorers
from evaluation_assets.core.judging.selection import selections_of
from evaluation_assets.core.judging.stored_chains import JUDGED_TABLES, JudgedTable
from evaluation_assets.core.lake import tables
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Stored, Stream
from evaluation_assets.core.lake.tables import Table
from evaluation_assets.core.pipeline.checks.finding import Finding
from evaluation_assets.core.pipeline.checks.judging import MIN_ALPHA, panel_agreement
from evaluation_assets.core.scoring import panel_scores
from evaluation_assets.core.scoring.averages import described
from evaluation_assets.core.scoring.panel_reliability import largest_retest_std, reliability_rows
from evaluation_assets.core.scoring.panel_scores import SCORING_VERSION, PanelVerdicts
from evaluation_assets.core.scoring.score_summary import ScoreSummary
from evaluation_assets.defs import groups
from evaluation_assets.defs.drop_run import DropRun
from evaluation_assets.defs.names import PANEL_AGREEMENT
from evaluation_assets.defs.partitions import check_of_drops
from evaluation_assets.defs.per_judge import by_judge, judge_keys
from evaluation_assets.defs.results import check_result
from evaluation_assets.defs.stage import Result, Stage, stage
from evaluation_assets.defs.table_assets import table_spec
from evaluation_assets.resources.asset_keys import prefixed

_STATISTICS = ("mean", "adjusted_mean", "median", "min", "max", "std", "n_scored")


def scores_assets(scorers: Scorers) -> list[Stage]:
    """Scores of clips, categories and trajectories, and how far the judges agree."""
    judges, rubrics, quorum = scorers.judges, scorers.rubrics, scorers.quorum
    own = selections_of(judges)
    asked = "".join(f"|{judge.name}: {said}" for judge in judges if (said := judge.selection.described()))
    asked += described(scorers.stages)

    def asset(
        table: Table,
        inputs: Sequence[str],
        judged: JudgedTable,
        rows_of: Callable[..., Iterator[Row]],
        checks: Mapping[str, tuple[str, Callable[[Stored], Finding]]],
    ) -> Stage:
        verdicts, majorities = judged.table, rubrics.majorities(*judged.levels)

        @stage(
            table_spec(
                table,
                groups.group_of_verdicts(verdicts),
                "|".join([SCORING_VERSION, f"quorum {quorum}{asked}", *(f"majority {name}" for name in majorities)]),
                [*inputs, *judge_keys([verdicts], judges)],
                f"Each row is {table.row}. Every mean states how many judges it is based on.",
            ),
            checks=[
                check_of_drops(name, asset=table.name, description=description)
                for name, (description, _) in checks.items()
            ],
        )
        def panel_scores(drop: DropRun) -> Iterator[Result]:
            summary = ScoreSummary()
            said = PanelVerdicts(by_judge(drop, verdicts, judges), quorum, own, majorities, scorers.stages)
            rows = rows_of(drop.key, *drop.tables(*inputs), said)
            lineage = _columns_of(table, inputs, judge_keys([verdicts], judges), drop.key_prefix)
            yield Stream.of(
                table,
                summary.over(rows),
                lambda: {
                    "scores": dg.MetadataValue.md(summary.markdown()),
                    "dagster/column_lineage": lineage,
                    **summary.figures(),
                },
            )
            for name, (_description, found_in) in checks.items():
                yield check_result(found_in(drop.table(table.name)), name)

        return panel_scores

    by_majority = {
        criterion.key
        for rubric in rubrics.of_level("clip")
        if rubric.scale.aggregate == "majority"
        for criterion in rubric.criteria
    }
    agreement = {
        PANEL_AGREEMENT: (
            f"Where several judges score, Krippendorff's alpha of no criterion is below {MIN_ALPHA}.",
            partial(panel_agreement, by_majority=by_majority),
        )
    }
    clips, categories, whole = (JUDGED_TABLES[level] for level in ("clip", "category", "trajectory"))
    both = ["preprocessed_trajectories", "clip_scores"]
    return [
        asset(tables.CLIP_SCORES, ["clips"], clips, panel_scores.clip_scores, agreement),
        asset(tables.CATEGORY_ASSESSMENTS, ["clips"], categories, panel_scores.category_assessments, {}),
        asset(tables.TRAJECTORY_SCORES, both, whole, _trajectory_scores, {}),
        _panel_reliability(judges),
    ]


def _trajectory_scores(drop: str, trajectories: Stored, clip_scores: Stored, said: PanelVerdicts) -> Iterator[Row]:
    return panel_scores.trajectory_scores(drop, trajectories, clip_scores.rows(), said)


def _columns_of(
    table: Table, inputs: Sequence[str], verdicts: Sequence[dg.AssetKey], prefix: Sequence[str]
) -> dg.TableColumnLineage:
    """Where the columns come from: statistics from scores, the others from those of the same name in the inputs."""
    scores = [dg.TableColumnDep(prefixed(key, prefix), "scores") for key in verdicts]
    if tables.CLIP_SCORES.name in inputs:
        scores.append(dg.TableColumnDep(prefixed(dg.AssetKey(tables.CLIP_SCORES.name), prefix), "mean"))
    own = [
        (prefixed(dg.AssetKey(name), prefix), {column.name for column in tables.TABLES[name].columns})
        for name in inputs
    ]
    return dg.TableColumnLineage(
        {
            column.name: scores
            if column.name in _STATISTICS
            else [dg.TableColumnDep(key, column.name) for key, columns in own if column.name in columns]
            for column in table.columns
        }
    )


def _panel_reliability(judges: Sequence[Judge]) -> Stage:
    levels = {"clip": tables.CLIP_VERDICTS, "trajectory": tables.TRAJECTORY_VERDICTS}

    @stage(
        table_spec(
            tables.PANEL_RELIABILITY,
            groups.TRAJECTORIES,
            f"{SCORING_VERSION}|effective judges",
            judge_keys(list(levels.values()), judges),
            "Inter-rater agreement and reliability of the panel. Agreement is not validity.",
        )
    )
    def panel_reliability(drop: DropRun) -> Stream:
        verdicts = {level: by_judge(drop, table, judges) for level, table in levels.items()}
        rows = list(reliability_rows(drop.key, verdicts))
        return Stream.of(tables.PANEL_RELIABILITY, rows, lambda: largest_retest_std(rows))

    return panel_reliability
