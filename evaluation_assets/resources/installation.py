"""The installation as a Dagster resource."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

import dagster as dg

from evaluation_assets.core.installation import Installation
from evaluation_assets.core.lake import Stored
from evaluation_assets.resources.heartbeat import beating


class HomeResource(dg.ConfigurableResource):
    """Where drops, lake and reports of this code location lie. A run that has it says that it is alive."""

    url: str
    lake_url: str | None = None

    @property
    def home(self) -> Installation:
        """The installation."""
        return Installation.at(self.url, self.lake_url)

    def tables(self, drop: str, *names: str) -> list[Stored]:
        """Tables of a drop, to be read as streams; one that was never written reads as empty.

        Assets declare these tables as `deps`. As inputs, each would cost two events and several queries.
        """
        return [self.home.table(drop, name) for name in names]

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[Self]:
        """Give the resource to a run; sensors and schedules have none."""
        if context.run is None or context.instance is None:
            yield self
            return
        with beating(context.instance, context.run.run_id):
            yield self
