"""Run the jobs of an installation from Python, in this process, in the installation's instance."""

import os
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import dagster as dg

from evaluation_assets.core.gating.metadata import DAMAGED_TABLES
from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.intake.drops import Drop
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.intake.triggers.run_tags import run_tags
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.models.errors import REFUSED_FOR_ALL
from evaluation_assets.core.suites.agents.settings import AgentSettings
from evaluation_assets.core.system.file_locks import locked
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.system.stop_signals import Interrupted
from evaluation_assets.definitions import build_definitions, current_key
from evaluation_assets.defs.freshness import stale
from evaluation_assets.defs.lost_runs import fail_gone_runs
from evaluation_assets.defs.names import (
    AGENT_RUNS,
    EVALUATE,
    EVALUATE_DROP,
    GATE,
    PARTITION_TAG,
    PREPROCESS_ONLY,
    RUN_AGENTS,
    STOPPED,
)
from evaluation_assets.defs.partitions import DROPS, SUITES, add_partitions
from evaluation_assets.defs.step_failures import was_blocked, why_failed
from evaluation_assets.defs.upstream import missing_upstream
from evaluation_assets.resources.dagster_private import SerializableErrorInfo, keep_handlers
from evaluation_assets.resources.leftovers import remove_leftovers
from evaluation_assets.runs.outcomes import FailedCheck, RunOutcome, Status
from evaluation_assets.runs.own_loop import run_here
from evaluation_assets.runs.progress import RunProgress
from evaluation_assets.runs.selection import assets_of
from evaluation_assets.runs.stop import Stop

_OF_THE_CONTENT = ("InvalidDrop", "UnreadableDrop")
"""Errors of a drop that lie in its files: another run would meet them too."""

_UNUSABLE = ("unusable", *REFUSED_FOR_ALL)
"""Why agents stop where their settings, their suite or their accounts have to change; else a later run goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Options of the runs of a command. `select` chooses assets, in Dagster's selection syntax, instead of the job's.

    `budget_usd` and `budget_calls` are for all its drops together.

    `judges` are those whose tables it chooses, if it was made of their names; they are asked although panel.yaml may
    leave them out of `everyday`.
    """

    settings: Settings = field(default_factory=Settings)
    split_size: int | None = None
    budget_usd: float | None = None
    budget_calls: int | None = None
    preprocess_only: bool = False
    select: str | None = None
    judges: tuple[str, ...] = ()


@contextmanager
def instance_of(home: Installation) -> Iterator[dg.DagsterInstance]:
    """The Dagster instance of an installation, shared with its UI. Runs with a dead process are marked as failed.

    `DAGSTER_HOME` names it while it is open: Dagster reads the variable.
    """
    before = os.environ.get("DAGSTER_HOME")
    os.environ["DAGSTER_HOME"] = str(home.dagster)
    try:
        prepare(home)
        with locked(home.dagster / "opening.lock"):  # Dagster creates its tables on first use, in several transactions
            instance = keep_handlers(dg.DagsterInstance.get())
        with instance:
            if fail_gone_runs(instance):
                remove_leftovers(instance, home)
            yield instance
    finally:
        if before is None:
            os.environ.pop("DAGSTER_HOME", None)
        else:
            os.environ["DAGSTER_HOME"] = before


def stale_drops(home: Installation, panel: Panel, drops: Sequence[Drop]) -> list[Drop]:
    """The drops that were never reported, have changed, or would be evaluated differently now."""
    key = current_key(home, panel)
    with instance_of(home) as instance:
        return list(stale(instance, home, drops, key))


def evaluate_drops(
    home: Installation, panel: Panel, drops: Sequence[Drop], options: RunOptions, progress: RunProgress, stop: Stop
) -> Iterator[RunOutcome]:
    """Materialise the selected assets of each drop, one run after another.

    Raises:
        KeyboardInterrupt: a signal to stop was received; the run is canceled.
        InvalidSelection: `select` names no asset of an evaluation.
    """
    definitions = build_definitions(home, panel, progress.loggers())
    with instance_of(home) as instance, progress.over(len(drops)):
        add_partitions(instance, DROPS, [drop.key for drop in drops])
        earlier = len(stop.runs)
        for drop in drops:
            progress.start(drop.key)
            left = _left(home, options, stop.runs[earlier:])
            outcome = _run(definitions, instance, home, drop, left, progress, stop)
            progress.finish()
            yield outcome


def _left(home: Installation, options: RunOptions, runs: Sequence[str]) -> RunOptions:
    """The options of the next run: its budget is what these runs of the command have left."""
    usd, calls = options.budget_usd, options.budget_calls
    if not runs or (usd is None and calls is None) or not home.has_ledger:
        return options
    from evaluation_assets.core.models.ledger import Ledger  # noqa: PLC0415  (SQLAlchemy: 0.2 s to import)

    with closing(Ledger(home.ledger_url)) as ledger:
        return replace(
            options,
            budget_usd=None if usd is None else max(0.0, usd - ledger.spent_since(runs, 0.0)),
            budget_calls=None if calls is None else max(0, calls - sum(map(ledger.calls, runs))),
        )


@dataclass(frozen=True, slots=True)
class SuiteOutcome:
    """The outcome of agent runs on a suite. `metadata` is by asset; that of an agent names its drop."""

    status: Status
    message: str | None
    metadata: Mapping[str, Mapping[str, Any]]


def run_suite(
    home: Installation,
    panel: Panel,
    agents: Sequence[AgentSettings],
    suite: str,
    config: Mapping[str, Any],
    progress: RunProgress,
    stop: Stop,
) -> SuiteOutcome:
    """Run agents on a suite of the installation, concurrently. `config` is the run config of the assets.

    The model of a judge of the panel plays the users of the suite, where it says so.

    Raises:
        KeyboardInterrupt: a signal to stop was received; the run is canceled.
    """
    from evaluation_assets.defs.agents import run_key  # noqa: PLC0415  (evaluations need not wait for agents)

    definitions = build_definitions(home, panel, progress.loggers(), agents)
    runs = [run_key(agent) for agent in agents]
    keys = [dg.AssetKey("task_suites"), *runs, dg.AssetKey("agent_comparison")]
    with instance_of(home) as instance, progress.over(1):
        add_partitions(instance, SUITES, [suite])
        progress.start(suite)
        job = definitions.resolve_job_def(RUN_AGENTS)
        run_config = {"loggers": {"console": {}}, "ops": {AGENT_RUNS: {"config": dict(config)}}}
        with _stoppable(instance, progress, stop) as run_id:
            result = job.execute_in_process(
                partition_key=suite,
                instance=instance,
                asset_selection=keys,
                run_config=run_config,
                raise_on_error=False,
                run_id=run_id,
            )
        progress.finish()
    status, message = _status(result)
    return SuiteOutcome(status, message, _metadata(result))


@dataclass(frozen=True, slots=True)
class JobResult:
    """The outcome of a job: its checks, the failed steps with their messages, and the metadata of each asset."""

    success: bool
    checks: Sequence[dg.AssetCheckEvaluation]
    failures: Sequence[str]
    metadata: Mapping[str, Mapping[str, Any]]

    @property
    def damaged(self) -> list[str]:
        """The damaged files that were skipped, with what to do about them."""
        named = (str(values.get(DAMAGED_TABLES, "")).splitlines() for values in self.metadata.values())
        return list(dict.fromkeys(line for lines in named for line in lines))


def run_job(
    home: Installation,
    panel: Panel,
    job: str,
    *,
    drop: str | None = None,
    assets: Sequence[str] | None = None,
    ops: Mapping[str, Any] | None = None,
) -> JobResult:
    """Run a job other than an evaluation, for one drop or over all drops.

    Raises:
        KeyboardInterrupt: a signal to stop was received; the run is canceled.
    """
    progress = RunProgress(quiet=True)
    definitions = build_definitions(home, panel, progress.loggers())

    def run(stop: Stop) -> JobResult:
        with instance_of(home) as instance:
            if drop is not None:
                add_partitions(instance, DROPS, [drop])
            with _stoppable(instance, progress, stop) as run_id:
                result = definitions.resolve_job_def(job).execute_in_process(
                    # A job that has only checks has no partitions in which Dagster could find the key.
                    partition_key=drop if job != GATE else None,
                    tags={PARTITION_TAG: drop} if job == GATE and drop else None,
                    instance=instance,
                    asset_selection=None if assets is None else [dg.AssetKey.from_user_string(name) for name in assets],
                    run_config={"loggers": {"console": {}}, "ops": dict(ops or {})},
                    raise_on_error=False,
                    run_id=run_id,
                )
        failures = [why_failed(event) for event in result.all_events if event.is_step_failure]
        return JobResult(result.success, result.get_asset_check_evaluations(), failures, _metadata(result))

    return run_here(run)


def _metadata(result: dg.ExecuteInProcessResult) -> dict[str, dict[str, Any]]:
    """The metadata of each materialised asset."""
    by_asset: dict[str, dict[str, Any]] = {}
    for event in result.get_asset_materialization_events():
        materialization = event.step_materialization_data.materialization
        by_asset[materialization.asset_key.to_user_string()] = {
            name: value.value for name, value in materialization.metadata.items()
        }
    return by_asset


@contextmanager
def _stoppable(instance: dg.DagsterInstance, progress: RunProgress, stop: Stop) -> Iterator[str]:
    """The ID of a run to execute in the block. On a signal to stop it is canceled, and never left as STARTED."""
    stop.check()
    run_id = str(uuid.uuid4())
    stop.runs.append(run_id)

    def cancel() -> None:
        progress.silence()
        run = instance.get_run_by_id(run_id)
        if run is not None and not run.is_finished:  # Dagster only treats an interrupted run as canceled after this
            instance.report_run_canceling(run, f"Stopped by {stop.signal and stop.signal.name}.")

    stop.at_once = cancel
    try:
        yield run_id
    finally:
        if stop.settled():
            run = instance.get_run_by_id(run_id)
            if run is not None and run.status not in (dg.DagsterRunStatus.CANCELED, dg.DagsterRunStatus.SUCCESS):
                instance.report_run_canceled(run)
            raise Interrupted(stop.after_interrupt())


def _run(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    home: Installation,
    drop: Drop,
    options: RunOptions,
    progress: RunProgress,
    stop: Stop,
) -> RunOutcome:
    job, selection = _job(definitions, options)
    graph = definitions.resolve_asset_graph()
    parents = {key: graph.get(key).parent_keys for key in selection or ()}
    if missing := missing_upstream(parents, set(parents), home, drop.key):
        return RunOutcome(drop, "unusable", _without_upstream(home, missing, drop, options), (), {})
    with _stoppable(instance, progress, stop) as run_id:
        result = job.execute_in_process(
            partition_key=drop.key,
            instance=instance,
            asset_selection=selection,
            run_config=_run_config(options),
            raise_on_error=False,
            run_id=run_id,
            tags=run_tags(drop),
        )
    failed = tuple(
        FailedCheck(
            check.asset_key.to_user_string(),
            check.check_name,
            bool(check.blocking) and check.severity == dg.AssetCheckSeverity.ERROR,
            check.description,
        )
        for check in result.get_asset_check_evaluations()
        if not check.passed
    )
    metadata = _metadata(result)
    status, message = _status(result)
    if any("over_budget" in about for about in metadata.values()):
        status, message = "over_budget", "the budget is spent; paid replies are kept. Re-run to resume."
    return RunOutcome(drop, status, message, failed, metadata)


def _status(result: dg.ExecuteInProcessResult) -> tuple[Status, str | None]:
    if result.success:
        return "passed", None
    for event in result.all_events:
        if not event.is_step_failure:
            continue
        if was_blocked(event):
            return "check_failed", None
        failure = event.step_failure_data
        if failure.user_failure_data is not None:
            stopped = failure.user_failure_data.metadata.get(STOPPED)
            if stopped is not None and stopped.value == "budget":
                return "over_budget", failure.user_failure_data.description
            if stopped is not None and stopped.value not in _UNUSABLE:
                return "broken", failure.user_failure_data.description
            is_content = failure.error is not None and failure.error.cls_name in _OF_THE_CONTENT
            return "unreadable" if is_content else "unusable", failure.user_failure_data.description
        error = failure.error
        cause = error.cause if error is not None and error.cause is not None else error
        return "broken", _broken(event.step_key or "", cause, result.run_id)
    stopped = [event.job_failure_data for event in result.all_events if event.is_job_failure]
    return "broken", _broken(
        "the run failed before its first step", stopped[0].error if stopped else None, result.run_id
    )


def _broken(where: str, cause: SerializableErrorInfo | None, run: str) -> str:
    why = " ".join(cause.message.split()) if cause else "failed"
    return f"{where}: {why}; its log is that of the run {run[:8]} in the UI"


def _job(definitions: dg.Definitions, options: RunOptions) -> tuple[dg.JobDefinition, list[dg.AssetKey] | None]:
    """The named job, or an ad-hoc job of the selected assets."""
    if options.preprocess_only:
        return definitions.resolve_job_def(PREPROCESS_ONLY), None
    if options.select is None and options.split_size is None:
        return definitions.resolve_job_def(EVALUATE), None
    selection = assets_of(definitions, options.select, with_files=options.split_size is not None)
    return definitions.resolve_implicit_global_asset_job_def(), selection


def _without_upstream(
    home: Installation, missing: Mapping[str, Collection[str]], drop: Drop, options: RunOptions
) -> str:
    asset, parents = next(iter(missing.items()))
    todo = f"Include everything upstream: --select '+{asset}'"
    if options.judges:
        todo = f"Evaluate it with all judges first, without --judge: {home.command('evaluate', drop.key)}"
    return f"{asset} needs {', '.join(parents)}, which this drop does not have. {todo}"


def _run_config(options: RunOptions) -> dict[str, Any]:
    config = {
        "beta_threshold": options.settings.beta_threshold,
        "on_violation": options.settings.on_violation,
        "budget_usd": options.budget_usd,
        "budget_calls": options.budget_calls,
        "split_size": options.split_size or 0,
        "ask_also": list(options.judges),
    }
    return {"loggers": {"console": {}}, "ops": {EVALUATE_DROP: {"config": config}}}
