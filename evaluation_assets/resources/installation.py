"""The installation as a Dagster resource."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import Self

import dagster as dg
from pydantic import Field, PrivateAttr

from evaluation_assets.core.system.installation import Installation
from evaluation_assets.resources.heartbeat import beating


class HomeResource(dg.ConfigurableResource):
    """Where drops, lake and reports of this code location lie, and what its asset keys begin with.

    A run that has it says that it is alive.
    """

    url: str
    lake_url: str | None = None
    key_prefix: list[str] = Field(default=[])
    _entered: set[ExitStack] = PrivateAttr(default_factory=set)

    @cached_property
    def home(self) -> Installation:
        """The installation."""
        return Installation.at(self.url, self.lake_url)

    @contextmanager
    def left_with_the_run(self) -> Iterator[ExitStack]:
        """What is entered here is left with the block, or at the end of the run at the latest.

        Dagster abandons the generator of a step whose event it could not store: its `with` and `finally` would wait for
        the garbage collector, and the next run of the drop in this process for its lock.
        """
        with ExitStack() as stack:
            self._entered.add(stack)
            try:
                yield stack
            finally:
                self._entered.discard(stack)

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[Self]:
        """Give the resource to a run; sensors and schedules have none."""
        if context.run is None or context.instance is None:
            yield self
            return
        with beating(context.instance, context.run.run_id):
            try:
                yield self
            finally:
                for abandoned in [*self._entered]:
                    abandoned.close()
