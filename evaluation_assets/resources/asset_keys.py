"""Keys of assets: those that exist once for each judge, sink or agent, where their tables are, and the prefix.

Our code knows assets by their names. Only what Dagster stores and asks for has the prefix of the project that they are
part of.
"""

from collections.abc import Iterable, Sequence

import dagster as dg


def owned_key(name: str, owner: str) -> dg.AssetKey:
    """The asset of one judge, sink, store or agent: `clip_verdicts/rules_clip_verdicts`.

    The lineage page shows the last part of a key, which therefore says what the asset holds.
    """
    return dg.AssetKey([name, f"{owner}_{name}"])


def prefixed(key: dg.AssetKey, prefix: Sequence[str]) -> dg.AssetKey:
    """The key that Dagster knows an asset by."""
    return key.with_prefix(prefix) if prefix else key


def prefixed_check(key: dg.AssetCheckKey, prefix: Sequence[str]) -> dg.AssetCheckKey:
    """The key that Dagster knows a check by."""
    return dg.AssetCheckKey(prefixed(key.asset_key, prefix), key.name)


def unprefixed(keys: Iterable[dg.AssetKey], prefix: Sequence[str]) -> frozenset[dg.AssetKey]:
    """The keys by which we know assets that Dagster names."""
    return frozenset(dg.AssetKey(key.path[len(prefix) :]) for key in keys)


def unprefixed_checks(keys: Iterable[dg.AssetCheckKey], prefix: Sequence[str]) -> frozenset[dg.AssetCheckKey]:
    """The keys by which we know checks that Dagster names."""
    return frozenset(dg.AssetCheckKey(dg.AssetKey(key.asset_key.path[len(prefix) :]), key.name) for key in keys)


def table_path(key: dg.AssetKey) -> tuple[str, ...]:
    """Where the table of an asset is in the lake: the table's name, then the judge or sink where each has its own."""
    name, *owned = key.path
    return (name, *(each.removesuffix(f"_{name}") for each in owned))
