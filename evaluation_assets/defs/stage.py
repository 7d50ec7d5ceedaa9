"""A stage of an evaluation: its assets, its checks, and the function that makes them of one drop."""

import asyncio
import inspect
import warnings
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg

from evaluation_assets.core.lake.stored import Stream
from evaluation_assets.defs.drop_run import DropRun

Result = dg.MaterializeResult[Any] | dg.AssetCheckResult | Stream
"""An asset or a check. It needs no key or name where the stage has only one.

A table is a `Stream`, which is the value of a `dg.MaterializeResult` if more is to be said about it.
"""

Work = Callable[[DropRun], Result | Iterator[Result] | AsyncIterator[Result]]
"""Reads tables of the drop; returns or yields results."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What `work` makes of a drop. All stages are one step of a run: see `drop_step`."""

    work: Work
    assets: Sequence[dg.AssetSpec]
    checks: Sequence[dg.AssetCheckSpec]

    @property
    def keys(self) -> frozenset[dg.AssetKey]:
        """The keys of the assets."""
        return frozenset(spec.key for spec in self.assets)

    def is_chosen(self, drop: DropRun) -> bool:
        """Whether any of the assets or checks is selected in a run; a stage without assets has only its checks."""
        if not self.assets:
            return any(spec.key in drop.checks for spec in self.checks)
        return not self.keys.isdisjoint(drop.assets)

    def results(self, drop: DropRun) -> Iterator[dg.MaterializeResult[Any] | dg.AssetCheckResult]:
        """What the stage makes of a drop, one after the other."""
        made = self.work(drop)
        if isinstance(made, AsyncIterator):
            with asyncio.Runner() as runner:
                while (each := runner.run(_next(made))) is not None:
                    yield self._told(each)
        elif isinstance(made, Iterator):
            yield from map(self._told, made)
        else:
            yield self._told(made)

    def _told(self, result: Result) -> dg.MaterializeResult[Any] | dg.AssetCheckResult:
        """A table belongs to the asset of its name, or to the only one."""
        if not isinstance(result, Stream):
            return result
        key = dg.AssetKey(result.table.name)
        return dg.MaterializeResult(asset_key=key if key in self.keys else None, value=result)

    def key_of(self, result: dg.MaterializeResult) -> dg.AssetKey:
        """The asset of a result."""
        return result.asset_key or self.assets[0].key

    def check_of(self, result: dg.AssetCheckResult) -> dg.AssetCheckKey:
        """The check of a result."""
        if result.check_name is None:
            return self.checks[0].key
        return dg.AssetCheckKey(result.asset_key or self.assets[0].key, result.check_name)


def stage(*assets: dg.AssetSpec, checks: Sequence[dg.AssetCheckSpec] = ()) -> Callable[[Work], Stage]:
    """Make a stage of a function. The UI links the assets to it."""

    def decorate(work: Work) -> Stage:
        return Stage(work, [_located(spec, work) for spec in assets], checks)

    return decorate


def _located(spec: dg.AssetSpec, work: Work) -> dg.AssetSpec:
    code = inspect.unwrap(work).__code__  # `inspect.getsourcelines` would read and tokenise the module
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.BetaWarning)  # ten times at each start, and no user's concern
        place = dg.LocalFileCodeReference(file_path=code.co_filename, line_number=code.co_firstlineno)
        references = dg.CodeReferencesMetadataValue(code_references=[place])
    return spec.merge_attributes(metadata={"dagster/code_references": references})


async def _next(made: AsyncIterator[Result]) -> Result | None:
    return await anext(made, None)
