"""What was evaluated when, and from what: asked of Dagster's own record of materialisations."""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from evaluation_assets.core.drops import Drop
from evaluation_assets.core.triggers import stale_drops
from evaluation_assets.defs.names import EVALUATE_DROP

REPORT = dg.AssetKey("evaluation_report")
RAW = dg.AssetKey("raw_trajectories")
PREPROCESSED = dg.AssetKey("preprocessed_trajectories")


def latest_metadata(instance: dg.DagsterInstance, asset: dg.AssetKey, drop: str) -> Mapping[str, Any] | None:
    """The metadata of a drop's last materialisation of an asset; `None` when there was none."""
    found = instance.fetch_materializations(
        dg.AssetRecordsFilter(asset_key=asset, asset_partitions=[drop]), limit=1
    ).records
    if not found or (materialization := found[0].asset_materialization) is None:
        return None
    return {name: value.value for name, value in materialization.metadata.items()}


def run_config_of(instance: dg.DagsterInstance, drop: str) -> dict[str, Any]:
    """The preprocessing settings a drop was evaluated with the last time; a re-run keeps them."""
    settings = (latest_metadata(instance, PREPROCESSED, drop) or {}).get("settings")
    return {"ops": {EVALUATE_DROP: {"config": dict(settings)}}} if settings else {}


def is_stale(instance: dg.DagsterInstance, drop: Drop, evaluation_key: str) -> bool:
    """Whether a drop was never reported, has changed, or would be evaluated differently now."""
    report = latest_metadata(instance, REPORT, drop.key)
    return stale_drops.is_stale(drop, report, latest_metadata(instance, RAW, drop.key), evaluation_key)


def evaluated_content(instance: dg.DagsterInstance, drop: str) -> str | None:
    """The content hash of a drop's last report."""
    return (latest_metadata(instance, REPORT, drop) or {}).get("content")
