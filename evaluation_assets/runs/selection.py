"""Select the assets of a run."""

import re

import dagster as dg

from evaluation_assets.defs.names import EVALUATE
from evaluation_assets.runs.errors import InvalidSelection

PREPROCESSED_FILES = dg.AssetKey("preprocessed_files")

_BARE_NAME = re.compile(r"([+*]*)([\w./-]+)([+*]*)")


def assets_of(definitions: dg.Definitions, select: str | None, *, with_files: bool) -> list[dg.AssetKey]:
    """The selected assets of an evaluation, or all; including the preprocessed files if they are requested.

    Raises:
        InvalidSelection: the selection matches no asset or has a syntax error.
    """
    files = dg.AssetSelection.assets(PREPROCESSED_FILES)
    of_a_drop = dg.AssetSelection.assets(*definitions.resolve_job_def(EVALUATE).asset_layer.selected_asset_keys)
    try:
        chosen = of_a_drop if select is None else _parsed(select) & (of_a_drop | files)
        if with_files:
            chosen |= files
        # Assets of the same step are selected together, for instance the drop's readable and unreadable records.
        chosen |= chosen.required_multi_asset_neighbors()
        keys = sorted(chosen.resolve(definitions.resolve_asset_graph()))
    except dg.DagsterError as problem:
        raise InvalidSelection(f"--select {select!r}: {problem}") from problem
    if not keys:
        raise InvalidSelection(f"--select {select!r} matches no asset of an evaluation")
    return keys


def _parsed(text: str) -> dg.AssetSelection:
    """Parse Dagster's selection syntax. Next to a bare name, `+` means everything upstream or downstream.

    Dagster itself parses bare names with an older syntax, in which each `+` is one layer.
    """
    named = [_BARE_NAME.fullmatch(clause.strip()) for clause in text.split(",")]
    if not all(named):
        return dg.AssetSelection.from_string(text)
    chosen = dg.AssetSelection.assets()
    for upstream, name, downstream in (each.groups() for each in named if each is not None):
        asset = dg.AssetSelection.assets(dg.AssetKey(name.split("/")))
        chosen |= asset
        if upstream:
            chosen |= asset.upstream()
        if downstream:
            chosen |= asset.downstream()
    return chosen
