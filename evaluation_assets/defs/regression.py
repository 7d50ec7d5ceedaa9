"""[regression] Is a drop worse than what was accepted: metrics, baseline, gate, history, calibration, drift."""

from datetime import UTC, datetime

import dagster as dg
from pydantic import Field
from upath import UPath

from evaluation_assets.core.gating import evaluated_drops
from evaluation_assets.core.gating.baselines import InvalidBaseline, baseline_file, make_baseline
from evaluation_assets.core.gating.drops_in_time import history_facts
from evaluation_assets.core.gating.history import history_rows, with_earlier
from evaluation_assets.core.gating.measured_drop import MeasuredDrop, MeasuredTables
from evaluation_assets.core.gating.metadata import baseline_figures, damaged_tables, false_alarms, means, noise_figures
from evaluation_assets.core.gating.settings import GateSettings
from evaluation_assets.core.gating.task_metrics import read_metrics
from evaluation_assets.core.judging.canary_judges import canary_judges
from evaluation_assets.core.judging.scorers import Scorers
from evaluation_assets.core.lake import tables
from evaluation_assets.core.lake.stored import Stream, publish_document
from evaluation_assets.core.pipeline.checks.gating import no_drift
from evaluation_assets.core.pipeline.checks.gating import regression_gate as regression_gate_finding
from evaluation_assets.core.pipeline.checks.names import REGRESSION_GATE
from evaluation_assets.core.pipeline.settings import Settings
from evaluation_assets.core.review.judge_cards import disqualified_judges
from evaluation_assets.core.system.user import user_name
from evaluation_assets.defs import groups
from evaluation_assets.defs.drop_run import DropRun
from evaluation_assets.defs.names import NO_DRIFT
from evaluation_assets.defs.partitions import DROPS, check_of_drops
from evaluation_assets.defs.per_judge import judge_keys
from evaluation_assets.defs.results import check_result, explained
from evaluation_assets.defs.stage import Stage, stage
from evaluation_assets.defs.table_assets import table_over_all_drops, table_spec
from evaluation_assets.resources.installation import HomeResource

REGRESSION_VERSION = "11"
"""Increment when the same scores would give a different comparison."""

_LINKED = 10
"""Fallen tasks that a failed gate links to; the report lists all."""

BASELINE = dg.AssetKey("baseline")

GATE_CHECK = dg.AssetCheckKey(dg.AssetKey("evaluation_report"), REGRESSION_GATE)


class PromotionConfig(dg.Config):
    """Who promotes the drop, and why. The baseline is the mean of the drop and `with_drops`."""

    promoted_by: str = Field(default="", description="Default: the user that Dagster runs as.")
    reason: str = Field(default="", description="Why the baseline is accepted; stored in its file.")
    with_drops: list[str] = Field(default=[], description="Drops that the baseline is the mean of, beside this one.")
    suite: str = Field(default="", description="Default: the suite of the drop; without one, the drop's own name.")


def regression_assets(settings: Settings) -> list[dg.AssetsDefinition]:
    """The baseline of a drop; calibration, drift and leaderboard over all of them."""
    return [
        baseline,
        _gate_calibration(settings.gate),
        _drift(settings.gate),
        leaderboard,
    ]


def task_metrics(scorers: Scorers, settings: Settings) -> Stage:
    """The metrics of a drop's tasks."""
    inputs = (
        "raw_trajectories",
        "preprocessed_trajectories",
        "clips",
        "trajectory_scores",
        "tool_use_results",
        "session_analyses",
        "findings",
    )

    judges = scorers.judges
    verdicts = judge_keys([tables.CLIP_VERDICTS, tables.TRAJECTORY_VERDICTS], judges)
    canaries = judge_keys([tables.CANARY_VERDICTS], canary_judges(judges))

    @stage(
        table_spec(
            tables.TASK_METRICS,
            groups.GATE,
            f"{REGRESSION_VERSION}|{settings.review.model_dump_json()}",
            [*inputs, *verdicts, *canaries, "judge_cards"],
            "Each row is one metric of one task. Judges whose kappa with human labels is too low are excluded.",
        )
    )
    def metrics(drop: DropRun) -> Stream:
        disqualified = disqualified_judges(drop.home, settings.review)
        of_drop = MeasuredTables.of(drop.home, drop.key, judges)
        measured = MeasuredDrop(drop.key, of_drop, scorers, disqualified)
        rows, facts = measured.rows(), lambda: measured.facts().footer()
        return Stream.of(tables.TASK_METRICS, rows, measured.metadata, facts)

    return metrics


def score_history(settings: GateSettings) -> Stage:
    """The one table that says when; its metadata has what `noise` says of repeated trials."""

    @stage(
        table_spec(
            tables.SCORE_HISTORY,
            groups.GATE,
            REGRESSION_VERSION,
            ["raw_trajectories", "task_metrics"],
            "Each row is one metric of the drop with its interval. Rows with another comparability key are kept.",
        )
    )
    def history(drop: DropRun) -> Stream:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        measured = read_metrics(drop.key, drop.table("task_metrics"))
        rows = list(history_rows(measured, now))
        earlier, raw = drop.tables("score_history", "raw_trajectories")
        facts = history_facts(earlier, raw.values("started_at"), now)
        figures = {**means(rows), **noise_figures(measured, settings)}
        return Stream.of(tables.SCORE_HISTORY, with_earlier(earlier.rows(), rows), lambda: figures, facts.footer)

    return history


@dg.asset(
    partitions_def=DROPS,
    group_name=groups.GATE,
    deps=["task_metrics"],
    kinds={"json"},
    description="The drop accepted as baseline of its suite, or else of its own name. Commit its file in baselines/.",
)
def baseline(context: dg.AssetExecutionContext, config: PromotionConfig, home: HomeResource) -> dg.MaterializeResult:
    """Promote the drop. Baselines are never promoted automatically."""
    names = [context.partition_key, *config.with_drops]
    with explained(InvalidBaseline):
        made = make_baseline(
            [evaluated_drops.metrics_of(home.home, name) for name in names],
            suite=config.suite or None,
            promoted_by=config.promoted_by or user_name(),
            promoted_at=datetime.now(UTC).isoformat(timespec="seconds"),
            reason=config.reason,
            run_id=context.run.run_id,
        )
    file = baseline_file(home.home.baselines, made.suite)
    publish_document(file, made)
    return dg.MaterializeResult(
        metadata={
            "path": dg.MetadataValue.path(str(file)),
            "dagster/uri": str(file),
            **baseline_figures(made),
        }
    )


def gate_check(settings: Settings) -> Stage:
    """The gate as a check on the report, so that the report is written before a regression fails the run."""

    @stage(
        checks=[
            check_of_drops(
                GATE_CHECK.name,
                asset=GATE_CHECK.asset_key,
                blocking=True,
                description="The drop is not worse than its suite's baseline.",
            )
        ]
    )
    def regression_gate(drop: DropRun) -> dg.AssetCheckResult:
        file = UPath(drop.config.baseline) if drop.config.baseline else None
        disqualified = disqualified_judges(drop.home, settings.review)
        outcome = evaluated_drops.gate_drop(drop.home, drop.key, settings.gate, disqualified, file)
        address = drop.home.report_address(drop.key)
        fallen = [] if outcome is None else outcome.fallen_tasks[:_LINKED]
        links = {
            "report": address.section("gate"),
            **{f"fallen: {task.task_id}": address.task(task.task_id) for task in fallen},
        }
        why_none = None if outcome is not None else evaluated_drops.why_not_compared(drop.home, drop.key)
        return check_result(regression_gate_finding(outcome, settings.gate, why_none), links=links)

    return regression_gate


def _gate_calibration(settings: GateSettings) -> dg.AssetsDefinition:
    @table_over_all_drops(
        tables.GATE_CALIBRATION,
        f"{REGRESSION_VERSION}|{settings.model_dump_json()}",
        ["task_metrics", "score_history"],
        "Error rates of the gate on each suite's own runs, and the smallest decrease it detects.",
    )
    def gate_calibration(home: HomeResource) -> dg.MaterializeResult[Stream]:
        damaged: list[str] = []
        rows = list(evaluated_drops.calibration_rows(home.home, settings, damaged.append))
        summary = {**false_alarms(rows), **damaged_tables(damaged)}
        return dg.MaterializeResult(value=Stream.of(tables.GATE_CALIBRATION, rows, lambda: summary))

    return gate_calibration


def _drift(settings: GateSettings) -> dg.AssetsDefinition:
    check = "No suite has decreased lastingly since its baseline."

    @table_over_all_drops(
        tables.DRIFT,
        f"{REGRESSION_VERSION}|{settings.model_dump_json()}",
        ["task_metrics", "score_history", "baseline"],
        "Sequential drift tests (e-process and CUSUM) over the drops since each suite's baseline.",
        checks=[dg.AssetCheckSpec(NO_DRIFT, asset="drift", blocking=True, description=check)],
    )
    def drift(home: HomeResource):  # Dagster refuses an annotation beside check_specs
        damaged: list[str] = []
        rows = list(evaluated_drops.drift_rows(home.home, settings, damaged.append))
        return dg.MaterializeResult(
            value=Stream.of(tables.DRIFT, rows, lambda: damaged_tables(damaged)),
            check_results=[check_result(no_drift(rows), NO_DRIFT)],
        )

    return drift


@table_over_all_drops(
    tables.LEADERBOARD,
    REGRESSION_VERSION,
    ["task_metrics", "score_history"],
    "Agents and versions ranked per suite, on the tasks that all of them did, with one comparability key.",
)
def leaderboard(home: HomeResource) -> dg.MaterializeResult[Stream]:
    """Best first, with the paired difference to the best."""
    damaged: list[str] = []
    rows = evaluated_drops.leaderboard_rows(home.home, damaged.append)
    return dg.MaterializeResult(value=Stream.of(tables.LEADERBOARD, rows, lambda: damaged_tables(damaged)))
