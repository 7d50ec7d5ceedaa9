"""Fail runs whose process is gone. They would otherwise stay STARTED and block their slots and drops."""

import json

import dagster as dg

from evaluation_assets.resources.heartbeat import heartbeat_of

INTERVAL_SECONDS = 30

MAX_SILENT_LOOKS = 6
"""So many looks in a row without a new heartbeat and a run is lost, wherever it ran. Looks are counted instead of time,
so that neither clocks that differ nor a laptop that slept make a run look dead."""


def fail_gone_runs(instance: dg.DagsterInstance) -> list[str]:
    """Fail the runs that were at work in a process of this machine that no longer exists; their ids."""
    gone: list[str] = []
    for run in _started(instance):
        heart = heartbeat_of(instance, run.run_id)
        if heart is not None and heart.process.state() == "gone" and _fail(instance, run, "its process was killed"):
            gone.append(run.run_id)
    return gone


@dg.sensor(
    minimum_interval_seconds=INTERVAL_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Fails runs whose process was killed, so that Dagster retries them and frees their slots.",
)
def lost_runs(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Look for lost runs. What a failed run had paid for is in the ledger; Dagster's run retries start it again.

    Runs of other code locations, and runs without a heartbeat that nobody launched from here, are left alone.
    """
    lost = fail_gone_runs(context.instance)
    before: dict[str, tuple[int | None, int]] = json.loads(context.cursor or "{}")
    after: dict[str, tuple[int | None, int]] = {}
    location = None if context.code_location_origin is None else context.code_location_origin.location_name
    for run in _started(context.instance):
        heart = heartbeat_of(context.instance, run.run_id)
        origin = run.remote_job_origin
        if heart is None and (origin is None or origin.location_name != location):
            continue
        beat = None if heart is None else heart.beat
        last, silent = before.get(run.run_id, (beat, -1))
        silent = silent + 1 if beat == last else 0
        if silent < MAX_SILENT_LOOKS:
            after[run.run_id] = (beat, silent)
        elif _fail(context.instance, run, f"no heartbeat for {MAX_SILENT_LOOKS * INTERVAL_SECONDS} s"):
            lost.append(run.run_id)
    context.update_cursor(json.dumps(after, sort_keys=True))
    return dg.SkipReason(f"failed {', '.join(lost)}" if lost else f"{len(after)} runs at work, none lost")


def _started(instance: dg.DagsterInstance) -> list[dg.DagsterRun]:
    return list(instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED])))


def _fail(instance: dg.DagsterInstance, run: dg.DagsterRun, why: str) -> bool:
    """Whether it was failed: a run may have ended since it was looked at, and its process with it."""
    now = instance.get_run_by_id(run.run_id)
    if now is None or now.is_finished:
        return False
    instance.report_run_failed(now, f"The run is lost: {why}. Its paid replies are kept and reused by the next run.")
    return True
