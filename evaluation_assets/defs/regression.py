"""[regression] Is a drop worse than what was accepted: metrics, baseline, gate, history, calibration, drift."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import dagster as dg
from upath import UPath

from evaluation_assets.core import tables
from evaluation_assets.core.drops import Sidecar
from evaluation_assets.core.gating import evaluated_drops
from evaluation_assets.core.gating.baselines import (
    SERVED,
    InvalidBaseline,
    baseline_file,
    make_baseline,
    write_baseline,
)
from evaluation_assets.core.gating.gate import GateOutcome
from evaluation_assets.core.gating.history import history_rows
from evaluation_assets.core.gating.participants import Participants
from evaluation_assets.core.gating.settings import GateSettings, Settings
from evaluation_assets.core.gating.task_metrics import case_metrics, facts_of, metric_rows, read_metrics
from evaluation_assets.core.human_review.judge_cards import kept_out
from evaluation_assets.core.judging.canaries import canaries_asked, canary_scores
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.lake import Stored, Stream, batched
from evaluation_assets.core.plain_text import plain
from evaluation_assets.core.reporting.comparability import comparability
from evaluation_assets.core.rubrics.model import Rubrics
from evaluation_assets.core.scoring import panel_scores
from evaluation_assets.core.scoring.analysed_sessions import session_metrics
from evaluation_assets.defs.canaries import canary_judges
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.resources.installation import HomeResource

REGRESSION_VERSION = "2"
"""Increment when the same scores would give a different comparison."""

Row = dict[str, Any]

GATE_CHECK = dg.AssetCheckKey(dg.AssetKey("evaluation_report"), "regression_gate")


class GateConfig(dg.Config):
    """Baseline file to compare against. Default: the suite's baseline."""

    baseline: str = ""


class PromotionConfig(dg.Config):
    """Who promotes the drop, and why. The baseline is the mean of the drop and `with_drops`."""

    promoted_by: str
    reason: str = ""
    with_drops: list[str] = []  # noqa: RUF012  (a pydantic default)


def regression_assets(
    judges: Sequence[Judge], rubrics: Rubrics, quorum: int, settings: Settings
) -> list[dg.AssetsDefinition]:
    """Metrics, history and baseline of a drop; calibration, drift and leaderboard over all of them."""
    return [
        _task_metrics(judges, rubrics, quorum, settings),
        score_history,
        baseline,
        _gate_calibration(settings.gate),
        _drift(settings.gate),
        leaderboard,
    ]


def _task_metrics(judges: Sequence[Judge], rubrics: Rubrics, quorum: int, settings: Settings) -> dg.AssetsDefinition:
    levels = (tables.CLIP_VERDICTS, tables.TRAJECTORY_VERDICTS)
    verdicts = {
        f"{table.name}_{judge.name}": dg.AssetIn([table.name, judge.name]) for table in levels for judge in judges
    }
    inputs = (
        "raw_trajectories",
        "preprocessed_trajectories",
        "clips",
        "trajectory_scores",
        "tool_use_results",
        "session_analyses",
    )

    canaries = {
        f"canary_verdicts_{judge.name}": dg.AssetIn([tables.CANARY_VERDICTS.name, judge.name])
        for judge in canary_judges(judges)
    }

    @dg.asset(
        partitions_def=DROPS,
        group_name="regression",
        code_version=f"{REGRESSION_VERSION}|{settings.review.model_dump_json()}",
        ins={name: dg.AssetIn(name) for name in inputs} | verdicts | canaries,
        deps=["judge_cards"],
        kinds={"parquet"},
        description="Each row is one metric of one task. Judges whose kappa with human labels is too low are excluded.",
    )
    def task_metrics(
        context: dg.AssetExecutionContext, home: HomeResource, **stored: Stored
    ) -> dg.MaterializeResult[Stream]:
        name = context.partition_key
        raw, trajectories = stored["raw_trajectories"], stored["preprocessed_trajectories"]
        cards = home.home.whole_table("judge_cards").rows()
        disqualified = kept_out(cards, settings.review)
        out = {judge: why for judge, why in disqualified.items() if judge in _names(judges)}
        score_rows = stored["trajectory_scores"].rows()
        if out:
            trusted = [judge for judge in _names(judges) if judge not in out]
            clip_verdicts, trajectory_verdicts = (
                {judge: stored[f"{table.name}_{judge}"] for judge in trusted} for table in levels
            )
            clip_scores = panel_scores.clip_scores(name, stored["clips"], clip_verdicts, quorum)
            score_rows = panel_scores.trajectory_scores(name, trajectories, clip_scores, trajectory_verdicts, quorum)
        cases = stored["tool_use_results"]
        parts = comparability(judges, rubrics, quorum, json.loads(trajectories.facts.get("settings", "{}")))
        if version := cases.facts.get("suite_version"):
            parts["suite"] = version
        for judge in canary_judges(judges):
            own = [stored[f"{table.name}_{judge.name}"] for table in (*levels, tables.CANARY_VERDICTS)]
            if served := _served_models(own):
                parts[f"{SERVED}{judge.name}"] = served
        canary_rows = {
            judge.name: list(stored[f"canary_verdicts_{judge.name}"].rows(["trajectory_id", "scores"]))
            for judge in canary_judges(judges)
        }
        facts = facts_of(
            Sidecar.model_validate_json(raw.facts.get("sidecar", "{}")),
            raw.facts.get("content", ""),
            parts,
            out,
            {judge: canary_scores(found) for judge, found in canary_rows.items()},
            {judge: canaries_asked(found) for judge, found in canary_rows.items()},
        )
        # An analysis rests on the whole panel: with a judge kept out, its scores are not known.
        of_sessions = {} if out else session_metrics(stored["session_analyses"])
        participants = Participants()

        def rows() -> Iterator[Row]:
            yield from metric_rows(name, trajectories, score_rows, case_metrics(cases), of_sessions, participants)
            facts["participants"] = json.dumps(participants.agreed())

        table = tables.TASK_METRICS
        about = {f"kept_out_{judge}": why for judge, why in out.items()}
        return dg.MaterializeResult(value=Stream(table, batched(rows(), table), lambda: about, facts))

    return task_metrics


def _served_models(verdicts: Sequence[Stored]) -> str:
    """The versions of its model that answered a judge, without the fingerprints of the machines that served them."""
    named = {row["served_model"] for stored in verdicts for row in stored.rows(["served_model"])}
    return ", ".join(sorted({name.split(" ", 1)[0] for name in named if name}))


def _names(judges: Sequence[Judge]) -> list[str]:
    return [judge.name for judge in judges]


@dg.asset(
    partitions_def=DROPS,
    group_name="regression",
    code_version=REGRESSION_VERSION,
    kinds={"parquet"},
    description="Each row is one metric of the drop with its interval. Rows with another comparability key are kept.",
)
def score_history(
    context: dg.AssetExecutionContext, home: HomeResource, task_metrics: Stored
) -> dg.MaterializeResult[Stream]:
    """The one table that says when."""
    name = context.partition_key
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    rows = list(history_rows(read_metrics(name, task_metrics), now))
    key = rows[0]["comparability_key"] if rows else ""
    earlier = [row for row in home.home.table(name, "score_history").rows() if row["comparability_key"] != key]
    table = tables.SCORE_HISTORY
    figures = {f"mean_{row['metric']}": row["mean"] for row in rows}
    return dg.MaterializeResult(
        value=Stream(table, batched([*earlier, *rows], table), lambda: figures, {"evaluated_at": now})
    )


@dg.asset(
    partitions_def=DROPS,
    group_name="regression",
    deps=["task_metrics"],
    kinds={"json"},
    description="The drop accepted as baseline of its suite. Written to baselines/; commit the file.",
)
def baseline(context: dg.AssetExecutionContext, config: PromotionConfig, home: HomeResource) -> dg.MaterializeResult:
    """Promote the drop. Baselines are never promoted automatically."""
    names = [context.partition_key, *config.with_drops]
    try:
        made = make_baseline(
            [evaluated_drops.metrics_of(home.home, name) for name in names],
            promoted_by=config.promoted_by,
            promoted_at=datetime.now(UTC).isoformat(timespec="seconds"),
            reason=config.reason,
            run_id=context.run.run_id,
        )
    except InvalidBaseline as problem:
        raise dg.Failure(str(problem), allow_retries=False) from problem
    file = baseline_file(home.home.baselines, made.suite)
    write_baseline(file, made)
    return dg.MaterializeResult(
        metadata={
            "path": dg.MetadataValue.path(str(file)),
            "suite": made.suite,
            "promoted_by": made.promoted_by,
            "reason": made.reason,
            "comparability_key": made.comparability_key,
            "tasks": len(made.tasks),
            **({"without_canaries": ", ".join(made.without_canaries)} if made.without_canaries else {}),
            **{f"mean_{name}": metric.mean for name, metric in made.metrics.items()},
        }
    )


def gate_check(settings: Settings) -> dg.AssetChecksDefinition:
    """The gate as a check on the report, so that the report is written before a regression fails the run."""

    @dg.asset_check(
        asset=GATE_CHECK.asset_key,
        name=GATE_CHECK.name,
        partitions_def=DROPS,
        blocking=True,
        additional_deps=["task_metrics", "judge_cards"],
        description="The drop is not worse than its suite's baseline.",
    )
    def regression_gate(
        context: dg.AssetCheckExecutionContext, config: GateConfig, home: HomeResource
    ) -> dg.AssetCheckResult:
        file = UPath(config.baseline) if config.baseline else None
        disqualified = kept_out(home.home.whole_table("judge_cards").rows(), settings.review)
        outcome = evaluated_drops.gate_drop(home.home, context.partition_key, settings.gate, disqualified, file)
        if outcome is None:
            return dg.AssetCheckResult(
                passed=True,
                description="There is no baseline yet. Promote one: evaluation-assets baseline promote DROP",
            )
        return dg.AssetCheckResult(
            passed=outcome.verdict == "pass",
            severity=dg.AssetCheckSeverity.ERROR
            if outcome.verdict in settings.gate.blocks or outcome.judges_changed
            else dg.AssetCheckSeverity.WARN,
            metadata=gate_metadata(outcome),
            description=f"{outcome.verdict}: {'; '.join(outcome.reasons)}",
        )

    return regression_gate


def gate_metadata(outcome: GateOutcome) -> Mapping[str, dg.MetadataValue]:
    """The outcome for the UI: why, each gating metric as a number that is plotted, and all of it as JSON."""
    figures = {
        f"difference_{each.metric}": dg.MetadataValue.float(each.difference)
        for each in outcome.metrics
        if each.gates and each.difference is not None
    }
    return {
        "verdict": dg.MetadataValue.text(outcome.verdict),
        "why": dg.MetadataValue.text("\n".join(plain(reason) for reason in outcome.reasons)),
        "fallen_tasks": dg.MetadataValue.int(len(outcome.fallen_tasks)),
        **figures,
        "outcome": dg.MetadataValue.json(outcome.model_dump(mode="json")),
    }


def _gate_calibration(settings: GateSettings) -> dg.AssetsDefinition:
    @dg.asset(
        group_name="regression",
        code_version=REGRESSION_VERSION,
        deps=["task_metrics", "score_history"],
        kinds={"parquet"},
        description="Error rates of the gate on each suite's own runs, and the smallest decrease it detects.",
    )
    def gate_calibration(home: HomeResource) -> dg.MaterializeResult[Stream]:
        table = tables.GATE_CALIBRATION
        damaged: list[str] = []
        rows = list(evaluated_drops.calibration_rows(home.home, settings, damaged.append))
        figures = {
            f"false_alarms_{row['suite']}_{row['metric']}": row["fails"] for row in rows if row["drop_size"] == 0
        }
        return dg.MaterializeResult(
            value=Stream(table, batched(rows, table), lambda: {**figures, **_left_out(damaged)})
        )

    return gate_calibration


def _drift(settings: GateSettings) -> dg.AssetsDefinition:
    @dg.asset(
        group_name="regression",
        code_version=REGRESSION_VERSION,
        deps=["task_metrics", "score_history", "baseline"],
        kinds={"parquet"},
        check_specs=[
            dg.AssetCheckSpec(
                "no_drift",
                asset="drift",
                blocking=True,
                description="No suite has decreased lastingly since its baseline.",
            )
        ],
        description="Sequential drift tests (e-process and CUSUM) over the drops since each suite's baseline.",
    )
    def drift(home: HomeResource):  # Dagster refuses an annotation beside check_specs
        table = tables.DRIFT
        damaged: list[str] = []
        rows = list(evaluated_drops.drift_rows(home.home, settings, damaged.append))
        alarms = {f"{row['suite']} {row['metric']}": row["alarm"] for row in rows if row["alarm"]}
        return dg.MaterializeResult(
            value=Stream(table, batched(rows, table), lambda: _left_out(damaged)),
            check_results=[
                dg.AssetCheckResult(
                    check_name="no_drift",
                    passed=not alarms,
                    metadata=alarms,
                    description="; ".join(f"{what} has fallen ({chart})" for what, chart in alarms.items()) or None,
                )
            ],
        )

    return drift


@dg.asset(
    group_name="regression",
    code_version=REGRESSION_VERSION,
    deps=["task_metrics", "score_history"],
    kinds={"parquet"},
    description="Agents and versions ranked per suite, on the tasks that all of them did, with one comparability key.",
)
def leaderboard(home: HomeResource) -> dg.MaterializeResult[Stream]:
    """Best first, with the paired difference to the best."""
    table = tables.LEADERBOARD
    damaged: list[str] = []
    rows = batched(evaluated_drops.leaderboard_rows(home.home, damaged.append), table)
    return dg.MaterializeResult(value=Stream(table, rows, lambda: _left_out(damaged)))


def _left_out(damaged: Sequence[str]) -> Mapping[str, dg.MetadataValue]:
    """Files of drops that could not be read; the others were."""
    return {"damaged_tables": dg.MetadataValue.text("\n".join(dict.fromkeys(damaged)))} if damaged else {}
