"""[agents] Trajectories that assets of the host project produce, written into drops."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from os import PathLike
from tempfile import TemporaryDirectory
from typing import Any

import dagster as dg
import numpy as np
import orjson
import pyarrow as pa
from upath import UPath

from evaluation_assets.core.intake.copying.drops import take_in
from evaluation_assets.core.intake.drops import InvalidDrop, why_unusable
from evaluation_assets.core.lake.stored import publish_bytes
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.system.regular_files import is_local
from evaluation_assets.defs import groups
from evaluation_assets.defs.partitions import DROPS, add_partitions
from evaluation_assets.resources.asset_keys import owned_key
from evaluation_assets.resources.dagster_private import DEFAULT_DATA_VERSION
from evaluation_assets.resources.installation import HomeResource

DROPPED = "dropped"
"""First part of the keys of these assets."""

_PARTITION = "{partition_key}"

_LINE = orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY

Write = Callable[[Installation, str, Any], str]
"""Writes trajectories into the drop of this name, and returns its key."""


def dropped_asset(
    upstream: dg.AssetKey, drop: str, path: UPath | None, write: Write, partitions: dg.PartitionsDefinition | None
) -> dg.AssetsDefinition:
    """The drop of what `upstream` produces: of its value or, with a path, of the file or folder that it writes there.

    Each of its partitions is a drop of its own; the path holds `{partition_key}` where its key is.

    Each drop has a data version of its own, in `raw_trajectories`; that of this asset is the one that it has before its
    first materialisation, which makes no other drop stale. The value is no argument: Dagster could then resolve no
    selection in the definitions of the component alone.

    Raises:
        InvalidDrop: a drop cannot have this name, or all its partitions would be of one file.
    """
    _check_name(drop)
    if path is not None and partitions is not None and _PARTITION not in str(path):
        raise InvalidDrop(
            f"drop {drop!r}: each of its partitions would be made of {path}; write {_PARTITION} where the path has the "
            "key of the partition"
        )

    @dg.asset(
        key=_key(drop),
        deps=[upstream],
        partitions_def=partitions,
        group_name=groups.AGENTS,
        automation_condition=dg.AutomationCondition.eager(),
        kinds={"file"},
        description=f"The trajectories of {upstream.to_user_string()}, as a drop.",
    )
    def dropped(context: dg.AssetExecutionContext, home: HomeResource) -> dg.MaterializeResult:
        partition = context.partition_key if context.has_partition_key else None
        if path is None:
            trajectories = context.load_asset_value(upstream, partition_key=partition)
        else:
            trajectories = path if partition is None else _filled_in(path, partition)
        key = write(home.home, drop if partition is None else f"{drop}/{partition}", trajectories)
        add_partitions(context.instance, DROPS, [key], home.key_prefix)
        return dg.MaterializeResult(metadata={"drop": key}, data_version=DEFAULT_DATA_VERSION)

    return dropped


def _key(drop: str) -> dg.AssetKey:
    """The folders of a drop are parts of the key; what Dagster takes in no name of an asset becomes `_`."""
    *folders, name = (re.sub(r"[^A-Za-z0-9_.-]", "_", part) for part in drop.split("/"))
    return dg.AssetKey([DROPPED, *folders, *owned_key(DROPPED, name).path[1:]])


def _filled_in(path: UPath, partition: str) -> UPath:
    return UPath(str(path).replace(_PARTITION, partition), **path.storage_options)


def _check_name(drop: str) -> None:
    if (reason := why_unusable(drop)) is not None:
        raise InvalidDrop(f"drop {drop!r}: {reason}")


def write_drop(home: Installation, name: str, trajectories: Any) -> str:
    """Write trajectories into the drop of this name: a list of records (dictionaries), a table, or the path of a file.

    A table is a pandas data frame, or anything else that gives its columns to Arrow. The path may be an fsspec URL, and
    that of a folder, whose files become one drop.

    Raises:
        TypeError: they are none of these.
        InvalidDrop: there is no such file, it cannot be a drop, or a drop cannot have this name.
    """
    _check_name(name)
    if isinstance(trajectories, str | PathLike | UPath):
        return _take_in(home, name, UPath(trajectories))
    lines = [orjson.dumps(record, default=_plain, option=_LINE) for record in _records(name, trajectories)]
    with TemporaryDirectory() as folder:
        file = UPath(folder) / "records.jsonl"
        publish_bytes(file, b"".join(lines))
        return _take_in(home, name, file)


def _take_in(home: Installation, name: str, file: UPath) -> str:
    if not is_local(file):
        file.fs.invalidate_cache()  # a process that runs for long would see what was there at its first listing
    if not file.exists():
        raise InvalidDrop(f"drop {name!r}: there is no file or folder {file}")
    (drop,) = take_in(home, [file], one_drop=True, name=name, may_replace=lambda _: True)
    return drop.key


def _records(name: str, trajectories: Any) -> Sequence[Mapping[Any, Any]]:
    import pandas as pd  # noqa: PLC0415  (a code location that loads has no data frame)

    if isinstance(trajectories, pd.DataFrame):
        return trajectories.astype(object).where(trajectories.notna(), None).to_dict(orient="records")
    if hasattr(trajectories, "__arrow_c_stream__"):
        return pa.table(trajectories).to_pylist()
    records = list(trajectories) if isinstance(trajectories, Iterable) else [trajectories]
    if isinstance(trajectories, Mapping) or not all(isinstance(record, Mapping) for record in records):
        raise TypeError(
            f"{name}: {type(trajectories).__name__} is neither a list of records, a table nor the path of a file; "
            "override `execute` of the component, or return one of them"
        )
    return records


def _plain(value: Any) -> Any:
    """Times of pandas, exact numbers and arrays of objects, as JSON has them.

    Raises:
        TypeError: it is an object of another kind.
    """
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, datetime | Decimal):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
