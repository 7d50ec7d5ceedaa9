"""Forget old runs: their records, events and logs would grow for ever."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

import dagster as dg
from pydantic import Field

from evaluation_assets.core.intake.triggers.old_runs import PastRun, forgettable, outdated
from evaluation_assets.core.text.counted import counted
from evaluation_assets.defs.evaluation_runs import drops_of, location_of
from evaluation_assets.defs.names import JOBS, PARTITION_TAG, PRUNE_HISTORY, RANGE_TAG
from evaluation_assets.resources.deleted_runs import delete_runs
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets.resources.leftovers import remove_leftovers

_AT_ONCE = 1000
"""Runs that one run of the job forgets; those that are left are forgotten the next night."""


class PruneConfig(dg.Config):
    """`run_days`: days that runs are remembered; by default those of gate.yaml."""

    run_days: int | None = Field(default=None, ge=0, le=36_500)


def prune_job(run_days: int) -> dg.JobDefinition:
    """Forget runs that ended more than so many days ago, unless the state of an asset depends on them."""

    @dg.op(name="delete_old_runs", description="Deletes old runs with their events and logs.")
    def prune(context: dg.OpExecutionContext, config: PruneConfig, home: HomeResource) -> None:
        days = run_days if config.run_days is None else config.run_days
        before = datetime.now(UTC) - timedelta(days=days)
        forgotten = forget_runs(context.instance, before.timestamp(), location_of(context.run))
        context.log.info(f"{counted(len(forgotten), 'run')} that ended before {before:%Y-%m-%d %H:%M} UTC deleted")
        context.log.info(f"{counted(remove_leftovers(context.instance, home.home), 'leftover')} of killed runs removed")

    @dg.job(
        name=PRUNE_HISTORY,
        description="Delete old runs with their events and logs. The state of all assets and checks stays as it is.",
        executor_def=dg.in_process_executor,
    )
    def prune_history() -> None:
        prune()

    return prune_history


def prune_schedule(cron: str) -> dg.ScheduleDefinition:
    """Forgets old runs; it is on."""
    return dg.ScheduleDefinition(
        name="nightly_prune_history",
        cron_schedule=cron,
        job_name=PRUNE_HISTORY,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Deletes old runs with their events and logs.",
    )


def forget_runs(instance: dg.DagsterInstance, before: float, location: str | None = None) -> list[str]:
    """Delete the runs that ended before a time and that nothing depends on; their ids.

    Runs of other jobs are those of other projects, as are runs of other code locations than `location`.

    Dagster deletes the materialisations of a run with it, and keeps what it derived from them: without the run that
    holds its newest materialisation, a partition is shown as materialised by nothing.
    """
    runs = list(_runs(instance, location))
    old = outdated(runs, before)[:_AT_ONCE]
    forgotten = forgettable(old, runs, set(_current(instance, {each for run in old for each in run.partitions})))
    delete_runs(instance, forgotten)
    return forgotten


def _runs(instance: dg.DagsterInstance, location: str | None) -> Iterator[PastRun]:
    for job in JOBS:
        for record in instance.get_run_records(dg.RunsFilter(job_name=job)):
            run = record.dagster_run
            if location is not None and location_of(run) not in (None, location):
                continue
            if RANGE_TAG in run.tags:  # a backfill: it may hold the tables of any drop in its range
                continue
            ended = (record.end_time or record.update_timestamp.timestamp()) if run.is_finished else None
            yield PastRun(
                run_id=run.run_id,
                job=run.job_name,
                partitions=tuple(drops_of(run)) or (run.tags.get(PARTITION_TAG),),
                began=record.create_timestamp.timestamp(),
                ended=ended,
                root=run.root_run_id,
            )


def _current(instance: dg.DagsterInstance, partitions: Iterable[str | None]) -> Iterator[str]:
    """The runs of the newest materialisations of all assets in some partitions; `None` is without a partition."""
    assets = instance.get_asset_keys()
    for partition in partitions:
        for asset in assets:
            wanted = dg.AssetRecordsFilter(asset_key=asset, asset_partitions=None if partition is None else [partition])
            yield from (each.run_id for each in instance.fetch_materializations(wanted, limit=1).records)
