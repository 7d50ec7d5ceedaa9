"""What Dagster is told of a drop that was deleted."""

import dagster as dg

from evaluation_assets.core.intake.triggers.new_drops import Seen
from evaluation_assets.defs.evaluation_runs import drops_of, is_of
from evaluation_assets.defs.freshness import REPORT
from evaluation_assets.defs.names import JOBS
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.resources.deleted_runs import erase_runs
from evaluation_assets.resources.seen_drops import SeenDrops


def forget(instance: dg.DagsterInstance, drop: str) -> int:
    """Remove the partition of a drop and its own runs; how many runs have other drops too, and stay.

    If the drop comes back with the same content, it is evaluated as a new one. Dagster keeps the events of a partition
    with its runs. So another event of the report, without a content and without a code version, says that it is gone.
    """
    every = (run for job in JOBS for run in instance.get_runs(dg.RunsFilter(job_name=job)))
    runs = [run for run in every if drop in drops_of(run) and is_of(run, ())]  # not those of another home
    own = [run.run_id for run in runs if drops_of(run) == [drop]]
    erase_runs(instance, own)
    deleted = dg.AssetMaterialization(REPORT, "The drop was deleted.", partition=drop)
    instance.report_runless_asset_event(deleted)
    if (before := SeenDrops(instance).read([drop]).get(drop)) is not None:
        SeenDrops(instance).write({drop: Seen(generation=before.generation)})  # no run is asked for twice by one key
    instance.delete_dynamic_partition(DROPS.name or "", drop)
    return len(runs) - len(own)
