"""What Dagster is told of a drop that was deleted."""

import dagster as dg

from evaluation_assets.core.intake.triggers.new_drops import Seen
from evaluation_assets.defs.freshness import REPORT
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.resources.seen_drops import SeenDrops


def forget(instance: dg.DagsterInstance, drop: str) -> None:
    """Remove the partition of a drop. If the drop comes back with the same content, it is evaluated as a new one.

    Dagster keeps the events of a partition with its runs. So another event of the report, without a content and without
    a code version, says that it is gone.
    """
    deleted = dg.AssetMaterialization(REPORT, "The drop was deleted.", partition=drop)
    instance.report_runless_asset_event(deleted)
    if (before := SeenDrops(instance).read([drop]).get(drop)) is not None:
        SeenDrops(instance).write({drop: Seen(generation=before.generation)})  # no run is asked for twice by one key
    instance.delete_dynamic_partition(DROPS.name or "", drop)
