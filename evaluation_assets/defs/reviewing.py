"""[reviewing] What people look at, what they said, and what that says about the judges."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import dagster as dg

from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.lake import tables
from evaluation_assets.core.lake.stored import Stored, Stream
from evaluation_assets.core.models.redaction.settings import Redaction
from evaluation_assets.core.pipeline.checks.human_review import may_gate, readable
from evaluation_assets.core.report.covered_tables import covered_trajectories
from evaluation_assets.core.review import judged_labels
from evaluation_assets.core.review.judge_cards import kept_out
from evaluation_assets.core.review.labels import Label, read_labels
from evaluation_assets.core.review.queue import (
    in_order,
    queue_rows,
    reasons_in_tables,
    write_queue,
)
from evaluation_assets.core.review.settings import ReviewSettings
from evaluation_assets.defs import groups
from evaluation_assets.defs.cascading import Cascading
from evaluation_assets.defs.drop_run import DropRun
from evaluation_assets.defs.names import COLLECTED_LABELS, MAY_GATE, READABLE
from evaluation_assets.defs.per_judge import LEVELS, judge_keys
from evaluation_assets.defs.results import check_result
from evaluation_assets.defs.stage import Result, Stage, stage
from evaluation_assets.defs.table_assets import table_over_all_drops
from evaluation_assets.resources.asset_keys import owned_key
from evaluation_assets.resources.dagster_private import DEFAULT_DATA_VERSION
from evaluation_assets.resources.installation import HomeResource

REVIEWING_VERSION = "9"
"""Increment when the same scores and labels would give different results."""

_QUEUED = (
    "preprocessed_trajectories",
    "trajectory_scores",
    "constraint_results",
    "tool_use_results",
    "findings",
    "process_scores",
    "predicted_outcomes",
)
"""Tables of a drop that its review queue is made from."""


def reviewing_assets(
    judges: Sequence[Judge], settings: ReviewSettings, stores: Sequence[str] = ()
) -> list[dg.AssetsDefinition]:
    """Labels, judge cards and corrected pass rates over all drops.

    `stores` are the sinks that labels are collected from.
    """
    names = [judge.name for judge in judges]
    return [
        _labels(stores),
        _judge_cards(judges, settings),
        _pass_rates(names, settings),
    ]


def review_queue(
    judges: Sequence[Judge], settings: ReviewSettings, cascading: Cascading, redaction: Redaction | None
) -> Stage:
    """The trajectories of a drop that people should review; `redaction` is covered in their texts."""
    covering = "" if redaction is None else redaction.fingerprint
    verdicts = judge_keys(LEVELS, judges) if cascading.fitted else []

    @stage(
        dg.AssetSpec(
            "review_queue",
            group_name=groups.REPORT,
            deps=[*_QUEUED, *verdicts],
            code_version=f"{REVIEWING_VERSION}|{settings.model_dump_json()}{cascading.fingerprint}{covering}",
            kinds={"parquet", "csv"},
            description=(
                "Each row is a trajectory to review, and why. Written to reports/ as review.csv and review.jsonl."
            ),
        )
    )
    def queue(drop: DropRun) -> Iterator[Result]:
        trajectories, scores, constraints, cases, findings, process, outcomes = drop.tables(*_QUEUED)
        if redaction is not None:
            trajectories = covered_trajectories(trajectories, redaction)
        told = reasons_in_tables(constraints, cases, findings, outcomes, process, settings.pass_score)
        undecided = cascading.undecided(drop.home, drop.key)
        rows = queue_rows(drop.key, trajectories, scores.rows(), settings, told, undecided)
        reasons: Counter[str] = Counter()
        with in_order(trajectories.count) as ordered:
            for row in rows:
                reasons[row["reason"]] += 1
                ordered.add(row)
            path = write_queue(drop.home.reports(drop.key), ordered, drop.home.report_address(drop.key))
            summary = {"path": str(path), **reasons}
            yield Stream.of(ordered.table, ordered.rows(), lambda: summary)

    return queue


def _labels(stores: Sequence[str]) -> dg.AssetsDefinition:
    check = "Every line of the files in labels/ is a label of an evaluated run."

    @table_over_all_drops(
        tables.LABELS,
        REVIEWING_VERSION,
        [owned_key(COLLECTED_LABELS, store) for store in stores],
        "Human labels of trajectories, from the completed files in labels/.",
        group=groups.GATE,
        checks=[dg.AssetCheckSpec(READABLE, asset="labels", description=check)],
    )
    def labels(home: HomeResource):  # Dagster refuses an annotation beside check_specs
        """Read the files in `labels/`; lines that are none are reported and skipped."""
        read = list(read_labels(home.home.labels))
        rows = [asdict(each) for each in read if isinstance(each, Label)]
        runs = judged_labels.runs_of(home.home, sorted({row["drop"] for row in rows}))
        checked = check_result(readable(read, runs), READABLE)
        return dg.MaterializeResult(value=Stream.of(tables.LABELS, rows), check_results=[checked])

    return labels


def _judge_cards(judges: Sequence[Judge], settings: ReviewSettings) -> dg.AssetsDefinition:
    check = f"Every judge with enough labels has a kappa of at least {settings.min_kappa}."

    @table_over_all_drops(
        tables.JUDGE_CARDS,
        f"{REVIEWING_VERSION}|length, alignment, attacks|{settings.model_dump_json()}",
        judge_keys([tables.TRAJECTORY_VERDICTS], judges),
        "Each judge compared with human labels. Judges below the minimum kappa are excluded from gates.",
        group=groups.GATE,
        checks=[dg.AssetCheckSpec(MAY_GATE, asset="judge_cards", description=check)],
    )
    def judge_cards(home: HomeResource, labels: Stored):  # see labels
        rows = list(judged_labels.card_rows(home.home, judges, labels.rows(), settings))
        excluded = ", ".join(sorted(kept_out(rows, settings)))
        return dg.MaterializeResult(
            value=Stream.of(tables.JUDGE_CARDS, rows),
            # All that drops read. That no judge is excluded is what a drop found that was evaluated before any card.
            data_version=dg.DataVersion(f"{excluded} excluded") if excluded else DEFAULT_DATA_VERSION,
            check_results=[check_result(may_gate(rows, settings.min_kappa), MAY_GATE)],
        )

    return judge_cards


def _pass_rates(judges: Sequence[str], settings: ReviewSettings) -> dg.AssetsDefinition:
    @table_over_all_drops(
        tables.PASS_RATES,
        f"{REVIEWING_VERSION}|{settings.model_dump_json()}",
        ["review_queue", "trajectory_scores"],
        "The pass rate of each drop according to the judges, and the label-corrected pass rate.",
    )
    def pass_rates(home: HomeResource, labels: Stored) -> dg.MaterializeResult[Stream]:
        rows = judged_labels.pass_rate_rows(home.home, judges, labels.rows(), settings)
        return dg.MaterializeResult(value=Stream.of(tables.PASS_RATES, rows))

    return pass_rates
