"""What was evaluated when, and from what: asked of Dagster's own record of materialisations."""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from evaluation_assets.core.intake.drops import Drop
from evaluation_assets.core.intake.triggers import stale_drops
from evaluation_assets.core.intake.triggers.new_drops import Evaluated
from evaluation_assets.defs.names import EVALUATE_DROP
from evaluation_assets.resources.data_versions import code_version_of

REPORT = dg.AssetKey("evaluation_report")
RAW = dg.AssetKey("raw_trajectories")
PREPROCESSED = dg.AssetKey("preprocessed_trajectories")


def latest_metadata(instance: dg.DagsterInstance, asset: dg.AssetKey, drop: str) -> Mapping[str, Any] | None:
    """The metadata of a drop's last materialisation of an asset; `None` when there was none."""
    found = _latest(instance, asset, drop)
    return None if found is None else _metadata(found)


def run_config_of(instance: dg.DagsterInstance, drop: str) -> dict[str, Any]:
    """The preprocessing settings a drop was evaluated with the last time; a re-run keeps them."""
    settings = (latest_metadata(instance, PREPROCESSED, drop) or {}).get("settings")
    return {"ops": {EVALUATE_DROP: {"config": dict(settings)}}} if settings else {}


def is_stale(instance: dg.DagsterInstance, drop: Drop, evaluation_key: str) -> bool:
    """Whether a drop was never reported, has changed, or would be evaluated differently now."""
    found = _latest(instance, REPORT, drop.key)
    report = None if found is None else _metadata(found) | {"evaluation_key": code_version_of(found)}
    return stale_drops.is_stale(drop, report, latest_metadata(instance, RAW, drop.key), evaluation_key)


def evaluated(instance: dg.DagsterInstance, drop: str) -> Evaluated | None:
    """A drop's last report; `None` when there was none."""
    found = _latest(instance, REPORT, drop)
    return None if found is None else Evaluated(str(_metadata(found).get("content")), found.run_id)


def _latest(instance: dg.DagsterInstance, asset: dg.AssetKey, drop: str) -> dg.EventLogRecord | None:
    wanted = dg.AssetRecordsFilter(asset_key=asset, asset_partitions=[drop])
    return next(iter(instance.fetch_materializations(wanted, limit=1).records), None)


def _metadata(record: dg.EventLogRecord) -> dict[str, Any]:
    materialization = record.asset_materialization
    return {} if materialization is None else {name: value.value for name, value in materialization.metadata.items()}
