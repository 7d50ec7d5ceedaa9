"""What an asset of a drop is made from, and the drop does not have."""

from collections.abc import Collection, Iterable, Mapping, Set

import dagster as dg

from evaluation_assets.core.lake.tables import TABLES
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.resources.asset_keys import table_path


def missing_upstream(
    parents: Mapping[dg.AssetKey, Iterable[dg.AssetKey]], made: Set[dg.AssetKey], home: Installation, drop: str
) -> Mapping[str, Collection[str]]:
    """By asset, of those with `parents`: the tables upstream of it that are neither stored nor `made` too."""
    missing: dict[str, list[str]] = {}
    for key, upstream in parents.items():
        for parent in sorted(set(upstream) - made):
            table = TABLES.get(parent.path[0])
            if table is not None and not table.whole and not home.table(drop, *table_path(parent)).exists:
                missing.setdefault(key.to_user_string(), []).append(parent.to_user_string())
    return missing
