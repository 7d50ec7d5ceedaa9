"""[reviewing] What people look at, what they said, and what that says about the judges."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import IO

import dagster as dg

from evaluation_assets.core import tables
from evaluation_assets.core.gating.settings import ReviewSettings
from evaluation_assets.core.human_review import judged_labels
from evaluation_assets.core.human_review.labels import Label, UnreadableLabel, read_labels
from evaluation_assets.core.human_review.queue import as_csv, as_json_lines, queue_rows
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.lake import Stored, Stream, batched, publish
from evaluation_assets.core.scoring.panel_reliability import reliability_rows
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.resources.installation import HomeResource

REVIEWING_VERSION = "1"
"""Increment when the same scores and labels would give different results."""

MAX_SHOWN = 20


def reviewing_assets(judges: Sequence[Judge], settings: ReviewSettings) -> list[dg.AssetsDefinition]:
    """The review queue of a drop; labels, judge cards and corrected pass rates over all drops."""
    names = [judge.name for judge in judges]
    return [
        _review_queue(settings),
        _panel_reliability(names),
        labels,
        _judge_cards(names, settings),
        _pass_rates(names, settings),
    ]


def _review_queue(settings: ReviewSettings) -> dg.AssetsDefinition:
    @dg.asset(
        partitions_def=DROPS,
        group_name="reviewing",
        code_version=f"{REVIEWING_VERSION}|{settings.model_dump_json()}",
        kinds={"parquet", "csv"},
        description="Each row is a trajectory to review, and why. Written to reports/ as review.csv and review.jsonl.",
    )
    def review_queue(
        context: dg.AssetExecutionContext,
        home: HomeResource,
        preprocessed_trajectories: Stored,
        trajectory_scores: Stored,
    ) -> dg.MaterializeResult[Stream]:
        name = context.partition_key
        rows = list(queue_rows(name, preprocessed_trajectories, trajectory_scores.rows(), settings))
        folder = home.home.reports(name)
        for file, content in (("review.csv", as_csv(rows)), ("review.jsonl", as_json_lines(rows))):

            def pour(sink: IO[bytes], content: bytes = content) -> None:
                sink.write(content)

            publish(folder / file, pour)
        table = tables.REVIEW_QUEUE
        figures: dict[str, int | str] = {"path": str(folder / "review.csv")}
        for row in rows:
            figures[row["reason"]] = int(figures.get(row["reason"], 0)) + 1
        return dg.MaterializeResult(value=Stream(table, batched(rows, table), lambda: figures))

    return review_queue


def _panel_reliability(judges: Sequence[str]) -> dg.AssetsDefinition:
    levels = {"clip": tables.CLIP_VERDICTS, "trajectory": tables.TRAJECTORY_VERDICTS}

    @dg.asset(
        partitions_def=DROPS,
        group_name="scores",
        code_version=REVIEWING_VERSION,
        ins={f"{table.name}_{judge}": dg.AssetIn([table.name, judge]) for table in levels.values() for judge in judges},
        kinds={"parquet"},
        description="Inter-rater agreement and reliability of the panel. Agreement is not validity.",
    )
    def panel_reliability(context: dg.AssetExecutionContext, **stored: Stored) -> dg.MaterializeResult[Stream]:
        verdicts = {
            level: {judge: stored[f"{table.name}_{judge}"] for judge in judges} for level, table in levels.items()
        }
        table = tables.PANEL_RELIABILITY
        rows = list(reliability_rows(context.partition_key, verdicts))
        figures: dict[str, float] = {}
        for row in rows:
            if row["retest_std"] is not None:
                name = f"largest_retest_std_{row['judge']}"
                figures[name] = max(figures.get(name, 0.0), row["retest_std"])
        return dg.MaterializeResult(value=Stream(table, batched(rows, table), lambda: figures))

    return panel_reliability


@dg.asset(
    group_name="reviewing",
    code_version=REVIEWING_VERSION,
    kinds={"parquet"},
    check_specs=[
        dg.AssetCheckSpec("readable", asset="labels", description="Every line of the files in labels/ is a label.")
    ],
    description="Human labels of trajectories, from the completed files in labels/.",
)
def labels(home: HomeResource):  # Dagster refuses an annotation beside check_specs
    """Read the files in `labels/`; invalid lines are reported and skipped."""
    found = list(read_labels(home.home.labels))
    unreadable = [each for each in found if isinstance(each, UnreadableLabel)]
    rows = [asdict(each) for each in found if isinstance(each, Label)]
    table = tables.LABELS
    return dg.MaterializeResult(
        value=Stream(table, batched(rows, table)),
        check_results=[
            dg.AssetCheckResult(
                check_name="readable",
                passed=not unreadable,
                severity=dg.AssetCheckSeverity.WARN,
                metadata={
                    "unreadable": len(unreadable),
                    **{f"{each.source}:{each.line}": each.reason for each in unreadable[:MAX_SHOWN]},
                },
                description=f"{len(unreadable)} of {len(found)} lines are not labels"
                f"{f': {unreadable[0].source}:{unreadable[0].line}: {unreadable[0].reason}' if unreadable else ''}.",
            )
        ],
    )


def _judge_cards(judges: Sequence[str], settings: ReviewSettings) -> dg.AssetsDefinition:
    @dg.asset(
        group_name="reviewing",
        code_version=f"{REVIEWING_VERSION}|{settings.model_dump_json()}",
        deps=[dg.AssetDep(dg.AssetKey(["trajectory_verdicts", judge])) for judge in judges],
        kinds={"parquet"},
        check_specs=[
            dg.AssetCheckSpec(
                "may_gate",
                asset="judge_cards",
                description=f"Every judge with enough labels has a kappa of at least {settings.min_kappa}.",
            )
        ],
        description="Each judge compared with human labels. Judges below the minimum kappa are excluded from gates.",
    )
    def judge_cards(home: HomeResource, labels: Stored):  # see labels
        table = tables.JUDGE_CARDS
        rows = list(judged_labels.card_rows(home.home, judges, labels.rows(), settings))
        poor = {row["judge"]: row["kappa"] for row in rows if row["may_gate"] is False}
        known = len({row["judge"] for row in rows})
        named = ", ".join(f"{judge} {kappa:.2f}" for judge, kappa in sorted(poor.items()))
        return dg.MaterializeResult(
            value=Stream(table, batched(rows, table)),
            check_results=[
                dg.AssetCheckResult(
                    check_name="may_gate",
                    passed=not poor,
                    severity=dg.AssetCheckSeverity.WARN,
                    metadata={f"kappa_{judge}": kappa for judge, kappa in poor.items()},
                    description=f"{len(poor)} of {known} judges are excluded from gates (kappa below "
                    f"{settings.min_kappa}): {named}."
                    if poor
                    else f"No judge of {known} with enough labels has a kappa below {settings.min_kappa}.",
                )
            ],
        )

    return judge_cards


def _pass_rates(judges: Sequence[str], settings: ReviewSettings) -> dg.AssetsDefinition:
    @dg.asset(
        group_name="reviewing",
        code_version=f"{REVIEWING_VERSION}|{settings.model_dump_json()}",
        deps=["review_queue", "trajectory_scores"],
        kinds={"parquet"},
        description="The pass rate of each drop according to the judges, and the label-corrected pass rate.",
    )
    def pass_rates(home: HomeResource, labels: Stored) -> dg.MaterializeResult[Stream]:
        table = tables.PASS_RATES
        rows = judged_labels.pass_rate_rows(home.home, judges, labels.rows(), settings)
        return dg.MaterializeResult(value=Stream(table, batched(rows, table)))

    return pass_rates
