"""One of the drops of a run, or a part of one, and what is to be made of it."""

import logging
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

import dagster as dg

from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.pipeline.parts import Parts
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.defs.drop_config import DropConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class DropRun:
    """A drop in a run: its key, its installation, the settings of the run, the selected assets and checks.

    `parts` are those that it was judged in, once it is. Keys of assets begin with `key_prefix` in Dagster, not here.
    """

    key: str
    home: Installation
    run_id: str
    log: logging.Logger
    assets: Set[dg.AssetKey]
    checks: Set[dg.AssetCheckKey] = frozenset()
    config: DropConfig = field(default_factory=DropConfig)
    key_prefix: Sequence[str] = ()
    parts: Parts | None = None

    def table(self, *names: str) -> Stored:
        """A table of the drop, with the name of its judge if it has one. It reads as empty if it was never written.

        Assets declare the tables that they read as `deps`. As inputs, each would cost two events and several queries.
        """
        return self.home.table(self.key, *names)

    def tables(self, *names: str) -> list[Stored]:
        """Several of them."""
        return [self.table(name) for name in names]
