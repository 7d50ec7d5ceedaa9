"""Runs that evaluate drops: requests for them, which drops they have, and how long they took."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import dagster as dg

from evaluation_assets.core.intake.triggers.batches import PastEvaluation
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.defs.freshness import run_config_of
from evaluation_assets.defs.names import EVALUATE, EVALUATE_DROP, FAILURE_REASON_TAG, PARTITION_TAG, PREFIX_TAG

STEP_FAILURE = "STEP_FAILURE"

_MEASURED = 20
"""Last runs from which the time of a drop is taken."""

_UNLIMITED = 10
"""Runs at a time where Dagster has no queue, or one without a limit."""

_PENDING = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


def drops_of(run: dg.DagsterRun) -> list[str]:
    """The drops that a run was asked to evaluate; none for a run of a backfill over a range."""
    if (partition := run.tags.get(PARTITION_TAG)) is not None:
        return [partition]
    return list(settings_of(run).get("drops", []))


def location_of(run: dg.DagsterRun) -> str | None:
    """The code location that a run was launched from; `None` for one that was started without any, as by a command."""
    return None if run.remote_job_origin is None else run.remote_job_origin.location_name


def is_of(run: dg.DagsterRun, prefix: Sequence[str]) -> bool:
    """Whether a sensor or schedule of these assets asked for a run, not one of other assets on the same instance."""
    return run.tags.get(PREFIX_TAG, "") == "/".join(prefix)


def settings_of(run: dg.DagsterRun) -> dict[str, Any]:
    """What the step of a run's drops was configured with; nothing for the defaults."""
    config: Any = run.run_config
    return config.get("ops", {}).get(EVALUATE_DROP, {}).get("config", {})


def request(
    drops: Sequence[str],
    run_keys: Sequence[str],
    config: str,
    tags: Mapping[str, str],
    budget_usd: float | None = None,
    prefix: Sequence[str] = (),
) -> dg.RunRequest:
    """Ask for one run of drops that have this configuration in common, which is that of their step as JSON."""
    if prefix:
        tags = {**tags, PREFIX_TAG: "/".join(prefix)}
    settings = json.loads(config) | ({} if budget_usd is None else {"budget_usd": budget_usd})
    if len(drops) == 1:
        ops = {EVALUATE_DROP: {"config": settings}} if settings else {}
        return dg.RunRequest(
            run_key=run_keys[0],
            partition_key=drops[0],
            run_config={"ops": ops} if ops else {},
            tags=dict(tags),
        )
    return dg.RunRequest(
        run_key=digest(*run_keys),
        run_config={"ops": {EVALUATE_DROP: {"config": {**settings, "drops": list(drops)}}}},
        tags={"evaluation/drops": str(len(drops)), **tags},
    )


def step_config(instance: dg.DagsterInstance, drop: str, prefix: Sequence[str] = ()) -> str:
    """The preprocessing settings that a drop was evaluated with the last time, as JSON; `{}` for the defaults."""
    ops = run_config_of(instance, drop, prefix).get("ops", {})
    return json.dumps(ops.get(EVALUATE_DROP, {}).get("config", {}), sort_keys=True)


def past_evaluations(instance: dg.DagsterInstance) -> Iterator[PastEvaluation]:
    """The last runs that ended by themselves."""
    ended = dg.RunsFilter(job_name=EVALUATE, statuses=[dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE])
    for record in instance.get_run_records(ended, limit=_MEASURED):
        run, drops = record.dagster_run, drops_of(record.dagster_run)
        was_killed = run.status == dg.DagsterRunStatus.FAILURE and run.tags.get(FAILURE_REASON_TAG) != STEP_FAILURE
        if drops and not was_killed and record.start_time is not None and record.end_time is not None:
            yield PastEvaluation(record.end_time - record.start_time, len(drops))


def pending(instance: dg.DagsterInstance, tags: Mapping[str, str]) -> int:
    """Runs with these tags that are at work or in the queue."""
    return instance.get_runs_count(dg.RunsFilter(job_name=EVALUATE, statuses=_PENDING, tags=dict(tags)))


def runs_at_a_time(instance: dg.DagsterInstance) -> int:
    """How many runs Dagster starts at the same time."""
    queue = instance.get_concurrency_config().run_queue_config
    return _UNLIMITED if queue is None or queue.max_concurrent_runs < 0 else queue.max_concurrent_runs


def free_runs(instance: dg.DagsterInstance) -> int:
    """How many more runs Dagster would start now, beside those at work and in the queue."""
    return runs_at_a_time(instance) - instance.get_runs_count(dg.RunsFilter(statuses=_PENDING))
