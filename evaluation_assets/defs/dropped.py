"""[agents] Trajectories that assets of the host project produce, written into drops."""

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import dagster as dg
import orjson
from upath import UPath

from evaluation_assets.core.intake.copying.drops import take_in
from evaluation_assets.core.lake.stored import publish_bytes
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.defs import groups
from evaluation_assets.resources.asset_keys import owned_key
from evaluation_assets.resources.installation import HomeResource

DROPPED = "dropped"
"""First part of the keys of these assets."""

Write = Callable[[Installation, str, Any], str]
"""Writes trajectories into the drop of this name, and returns its key."""


def dropped_asset(upstream: dg.AssetKey, drop: str, path: UPath | None, write: Write) -> dg.AssetsDefinition:
    """The drop of what `upstream` produces: of its value or, with a path, of the file that it has written there.

    Each drop has a data version of its own, in `raw_trajectories`; that of this asset is the same for all. The value is
    no argument: Dagster could then resolve no selection in the definitions of the component alone.
    """

    @dg.asset(
        key=owned_key(DROPPED, drop),
        deps=[upstream],
        group_name=groups.AGENTS,
        automation_condition=dg.AutomationCondition.eager(),
        kinds={"file"},
        description=f"The trajectories of {upstream.to_user_string()}, as a drop.",
    )
    def dropped(context: dg.AssetExecutionContext, home: HomeResource) -> dg.MaterializeResult:
        partition = context.partition_key if context.has_partition_key else None
        trajectories = path or context.load_asset_value(upstream, partition_key=partition)
        key = write(home.home, drop if partition is None else f"{drop}/{partition}", trajectories)
        return dg.MaterializeResult(metadata={"drop": key}, data_version=dg.DataVersion("of each drop"))

    return dropped


def write_drop(home: Installation, name: str, trajectories: Any) -> str:
    """Write trajectories into the drop of this name: a list of records (dictionaries), or the path of a file.

    Raises:
        TypeError: they are neither.
        InvalidDrop: the file cannot be a drop.
    """
    if isinstance(trajectories, str | PathLike):
        (drop,) = take_in(home, [Path(trajectories)], one_drop=True, name=name, may_replace=lambda _: True)
        return drop.key
    if not isinstance(trajectories, Iterable) or isinstance(trajectories, Mapping | bytes):
        raise TypeError(
            f"{name}: {type(trajectories).__name__} is neither a list of records nor the path of a file; override "
            "`execute` of the component, or return one of them"
        )
    lines = (orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in trajectories)
    publish_bytes(home.drops / f"{name}.jsonl", b"".join(lines))
    return name
