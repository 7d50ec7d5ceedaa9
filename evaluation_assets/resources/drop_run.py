"""One of the drops of a run, or a part of one, and what is to be made of it."""

import logging
from collections.abc import Set
from dataclasses import dataclass

import dagster as dg

from evaluation_assets.core.pipeline.parts import Parts


@dataclass(frozen=True, slots=True, kw_only=True)
class DropRun:
    """A drop in a run: its key, the selected assets and checks, and the parts that it was judged in, once it is."""

    key: str
    run_id: str
    log: logging.Logger
    assets: Set[dg.AssetKey]
    checks: Set[dg.AssetCheckKey] = frozenset()
    parts: Parts | None = None
