"""Fail runs whose process is gone. They would otherwise stay STARTED and block their slots and drops."""

from collections.abc import Collection

import dagster as dg

from evaluation_assets.core.intake.triggers.lost_runs import MAX_SILENT_LOOKS, from_cursor, is_lost, look_at, to_cursor
from evaluation_assets.core.text.counted import counted
from evaluation_assets.defs.cursors import remembered
from evaluation_assets.defs.evaluation_runs import location_of
from evaluation_assets.resources.heartbeat import heartbeat_of
from evaluation_assets.resources.sqlite_storage import is_of_one_machine

INTERVAL_SECONDS = 30


def fail_gone_runs(instance: dg.DagsterInstance, jobs: Collection[str] | None = None) -> list[str]:
    """Fail the runs that were at work in a process of this machine that no longer exists; their ids.

    With `jobs`, only their runs.
    """
    one_machine = is_of_one_machine(instance)
    gone: list[str] = []
    for run in _started(instance, jobs):
        heart = heartbeat_of(instance, run.run_id)
        is_gone = heart is not None and heart.process.state(one_machine=one_machine) == "gone"
        if is_gone and _fail(instance, run, "its process was killed"):
            gone.append(run.run_id)
    return gone


def lost_runs_sensor(jobs: Collection[str] | None = None) -> dg.SensorDefinition:
    """Looks for lost runs; with `jobs`, only for their runs.

    Where our assets are part of another project, runs of other jobs are its own: their steps have no heartbeat, or have
    processes of their own that end before the run does.
    """

    @dg.sensor(
        minimum_interval_seconds=INTERVAL_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Fails runs whose process was killed, so that Dagster retries them and frees their slots.",
    )
    def lost_runs(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        """Fail lost runs. What a failed run had paid for is in the ledger; Dagster's run retries start it again.

        Runs of other code locations, and runs without a heartbeat that nobody launched from here, are left alone.
        """
        failed = fail_gone_runs(context.instance, jobs)
        location = None if context.code_location_origin is None else context.code_location_origin.location_name
        runs: dict[str, dg.DagsterRun] = {}
        beats: dict[str, int | None] = {}
        for run in _started(context.instance, jobs):
            heart = heartbeat_of(context.instance, run.run_id)
            if heart is not None or (location is not None and location_of(run) == location):
                runs[run.run_id] = run
                beats[run.run_id] = None if heart is None else heart.beat
        silences = look_at(beats, remembered(context, from_cursor))
        why = f"no heartbeat for {MAX_SILENT_LOOKS * INTERVAL_SECONDS} s"
        lost = [run for run in runs if is_lost(silences[run])]
        failed += [run for run in lost if _fail(context.instance, runs[run], why)]
        at_work = {run: silence for run, silence in silences.items() if run not in lost}
        context.update_cursor(to_cursor(at_work))
        in_progress = f"{counted(len(at_work), 'run')} in progress, none lost"
        return dg.SkipReason(f"failed {', '.join(failed)}" if failed else in_progress)

    return lost_runs


def _started(instance: dg.DagsterInstance, jobs: Collection[str] | None) -> list[dg.DagsterRun]:
    runs = instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED]))
    return [run for run in runs if jobs is None or run.job_name in jobs]


def _fail(instance: dg.DagsterInstance, run: dg.DagsterRun, why: str) -> bool:
    """Whether it was failed: a run may have ended since it was looked at, and its process with it."""
    now = instance.get_run_by_id(run.run_id)
    if now is None or now.is_finished:
        return False
    instance.report_run_failed(now, f"The run is lost: {why}. Its paid replies are kept and reused by the next run.")
    return True
