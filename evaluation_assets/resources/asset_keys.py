"""Keys of assets that exist once for each judge, sink or agent, and where their tables are."""

import dagster as dg


def owned_key(name: str, owner: str) -> dg.AssetKey:
    """The asset of one judge, sink, store or agent: `clip_verdicts/rules_clip_verdicts`.

    The lineage page shows the last part of a key, which therefore says what the asset holds.
    """
    return dg.AssetKey([name, f"{owner}_{name}"])


def table_path(key: dg.AssetKey) -> tuple[str, ...]:
    """Where the table of an asset is in the lake: the table's name, then the judge or sink where each has its own."""
    name, *owned = key.path
    return (name, *(each.removesuffix(f"_{name}") for each in owned))
