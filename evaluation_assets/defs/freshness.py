"""What was evaluated when, and from what: asked of Dagster's own record of materialisations."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import dagster as dg

from evaluation_assets.core.intake.drops import Drop
from evaluation_assets.core.intake.triggers.new_drops import Evaluated
from evaluation_assets.core.intake.triggers.stale_drops import Results, has_changed
from evaluation_assets.core.system.chunks import chunks
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.defs.names import EVALUATE_DROP
from evaluation_assets.resources.asset_keys import prefixed
from evaluation_assets.resources.data_versions import code_version_of

_Prefix = Sequence[str]
"""What the keys of our assets begin with in the project that they are part of."""

REPORT = dg.AssetKey("evaluation_report")
RAW = dg.AssetKey("raw_trajectories")
MEASURED = dg.AssetKey("tool_use_results")
PREPROCESSED = dg.AssetKey("preprocessed_trajectories")

_AT_ONCE = 500
"""Drops whose events are fetched together. Each event has the text of a report."""


def latest_metadata(instance: dg.DagsterInstance, asset: dg.AssetKey, drop: str) -> Mapping[str, Any] | None:
    """The metadata of a drop's last materialisation of an asset; `None` when there was none."""
    latest = _latest(instance, asset, drop)
    return None if latest is None else _metadata(latest)


def run_config_of(instance: dg.DagsterInstance, drop: str, prefix: _Prefix = ()) -> dict[str, Any]:
    """The preprocessing settings a drop was evaluated with the last time; a re-run keeps them."""
    settings = (latest_metadata(instance, prefixed(PREPROCESSED, prefix), drop) or {}).get("settings")
    return {"ops": {EVALUATE_DROP: {"config": dict(settings)}}} if settings else {}


def stale(
    instance: dg.DagsterInstance, home: Installation, drops: Iterable[Drop], evaluation_key: str, prefix: _Prefix = ()
) -> Iterator[Drop]:
    """The drops that were never reported, have changed, lack results, or would be evaluated differently now."""
    results = Results(home)
    for some in chunks(drops, _AT_ONCE):
        reports = _latest_of_many(instance, prefixed(REPORT, prefix), [drop.key for drop in some])
        same = [key for key, report in reports.items() if code_version_of(report) == evaluation_key]
        read = _latest_of_many(instance, prefixed(RAW, prefix), same)
        measured = _latest_of_many(instance, prefixed(MEASURED, prefix), same)
        for drop in some:
            reading, by_suite = read.get(drop.key), measured.get(drop.key)
            if (
                reading is None
                or by_suite is None
                or has_changed(drop, _metadata(reports[drop.key]), _metadata(reading))
                or not results.are_complete(drop)
                or not results.has_suite(drop, _metadata(by_suite))
            ):
                yield drop


def evaluated(instance: dg.DagsterInstance, drop: str, prefix: _Prefix = ()) -> Evaluated | None:
    """A drop's last report; `None` when there was none."""
    latest = _latest(instance, prefixed(REPORT, prefix), drop)
    return None if latest is None else Evaluated(str(_metadata(latest).get("content")), latest.run_id)


def _latest(instance: dg.DagsterInstance, asset: dg.AssetKey, drop: str) -> dg.EventLogRecord | None:
    wanted = dg.AssetRecordsFilter(asset_key=asset, asset_partitions=[drop])
    return next(iter(instance.fetch_materializations(wanted, limit=1).records), None)


def _latest_of_many(
    instance: dg.DagsterInstance, asset: dg.AssetKey, drops: Sequence[str]
) -> dict[str, dg.EventLogRecord]:
    """The last materialisations of an asset, by drop."""
    kind = dg.DagsterEventType.ASSET_MATERIALIZATION
    ids = instance.event_log_storage.get_latest_storage_id_by_partition(asset, kind, set(drops)) if drops else {}
    if not ids:  # without an ID, Dagster looks for all
        return {}
    wanted = dg.AssetRecordsFilter(asset_key=asset, storage_ids=list(ids.values()))
    return {str(each.partition_key): each for each in instance.fetch_materializations(wanted, len(ids)).records}


def _metadata(record: dg.EventLogRecord) -> dict[str, Any]:
    materialization = record.asset_materialization
    return {} if materialization is None else {name: value.value for name, value in materialization.metadata.items()}
