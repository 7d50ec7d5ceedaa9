"""All assets of a drop as one step, of one drop or of many: each step costs a start and events of its own."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

import dagster as dg

from evaluation_assets.core.counted import counted
from evaluation_assets.core.lake import DamagedTable, DiskFull, Stream
from evaluation_assets.defs.ingest import PreprocessConfig
from evaluation_assets.defs.lineage import located
from evaluation_assets.defs.names import EVALUATE_DROP
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.defs.per_judge import JudgingConfig
from evaluation_assets.defs.regression import GateConfig
from evaluation_assets.defs.reports import FilesConfig
from evaluation_assets.defs.results import explained
from evaluation_assets.resources.data_versions import DropRecords
from evaluation_assets.resources.drop_context import DropContext
from evaluation_assets.resources.drop_lock import alone
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets.resources.parquet import write_table

DROPS_PER_RUN = 100
"""Drops of a backfill that are evaluated in one run: few enough to share a backlog among several workers."""

_MISSED = "did not yield or return expected outputs"
"""What Dagster notes at the end of the step: checks are not reported as outputs."""

Event = dg.AssetMaterialization | dg.AssetCheckEvaluation


class DropConfig(PreprocessConfig, JudgingConfig, FilesConfig, GateConfig):
    """Settings of an evaluation: preprocessing, budget, split files, and the baseline of the gate."""


def drop_step(parts: Sequence[dg.AssetsDefinition]) -> dg.AssetsDefinition:
    """A subsettable step that materialises the assets of all parts, in this order, and evaluates their checks.

    Parts are assets and checks as they would be as steps of their own: functions of `context`, `home` and, for those
    that have settings, `config`. A part of which nothing is selected does not run. Tables are written as soon as they
    are yielded, so that later parts and checks can read them.

    A drop that fails does not keep the others of its run from being evaluated. What was materialised is therefore
    reported drop by drop, and not as outputs of the step, which would stand for all drops or none.
    """

    @dg.multi_asset(
        name=EVALUATE_DROP,
        partitions_def=DROPS,
        can_subset=True,
        backfill_policy=dg.BackfillPolicy.multi_run(DROPS_PER_RUN),
        specs=[spec.replace_attributes(skippable=True) for part in parts for spec in _specs(part)],
        check_specs=[_without_deps(spec) for part in parts for spec in part.check_specs],
    )
    def evaluate_drop(context: dg.AssetExecutionContext, config: DropConfig, home: HomeResource) -> Iterator[Event]:
        drops, failures = context.partition_keys, dict[str, Exception]()
        chosen = [part for part in parts if _is_chosen(part, context)]
        context.log.addFilter(lambda record: _MISSED not in record.getMessage())
        for number, drop in enumerate(drops, 1):
            if len(drops) > 1:
                context.log.info(f"{drop} ({number} of {len(drops)})")
            try:
                with alone(home.home, drop, context.log.info), explained(DamagedTable, DiskFull):
                    yield from _evaluated(chosen, DropContext(context, drop), config, home)
            except Exception as problem:
                failures[drop] = problem
                if len(drops) > 1:
                    context.log.error(f"{drop}: {problem}", exc_info=problem)
        if len(drops) == 1 and failures:
            raise failures[drops[0]]
        if failures:
            raise dg.Failure(
                f"{counted(len(failures), 'drop')} of {len(drops)} failed; the others are evaluated. "
                + "; ".join(f"{drop}: {problem}" for drop, problem in failures.items()),
                allow_retries=False,
            )

    return evaluate_drop


def _specs(part: dg.AssetsDefinition) -> list[dg.AssetSpec]:
    """The assets of a part, each with the place of its own code: that of the step would say nothing."""
    if isinstance(part, dg.AssetChecksDefinition):
        return []
    return [spec for each in located([part]) for spec in each.specs]


def _without_deps(spec: dg.AssetCheckSpec) -> dg.AssetCheckSpec:
    """A check reads tables of its own step."""
    return dg.AssetCheckSpec(
        spec.name,
        asset=spec.asset_key,
        description=spec.description,
        blocking=spec.blocking,
        partitions_def=DROPS,
    )


def _is_chosen(part: dg.AssetsDefinition, context: dg.AssetExecutionContext) -> bool:
    if isinstance(part, dg.AssetChecksDefinition):
        return bool(part.check_keys & context.selected_asset_check_keys)
    return bool(part.keys & context.selected_asset_keys)


def _evaluated(
    parts: Sequence[dg.AssetsDefinition], context: DropContext, config: DropConfig, home: HomeResource
) -> Iterator[Event]:
    """Run the parts for one drop."""
    drop, records = context.partition_key, DropRecords(context)
    for part in parts:
        for each in _results(part, context, config, home):
            if isinstance(each, dg.AssetCheckResult):
                check = _check_key(part, each)
                if check in context.selected_asset_check_keys:
                    yield records.evaluated(check, each)
                continue
            key = (
                part.keys_by_output_name[each.output_name]
                if isinstance(each, dg.Output)
                else each.asset_key or part.key
            )
            metadata = dict(each.metadata or {})
            if isinstance(each.value, Stream):
                metadata |= write_table(home.home, key, drop, each.value)
            if key in context.selected_asset_keys:
                yield records.materialized(key, metadata, each.data_version)


def _check_key(part: dg.AssetsDefinition, result: dg.AssetCheckResult) -> dg.AssetCheckKey:
    """The check of a result, which need not name the only one of its part."""
    if result.check_name is None:
        (only,) = part.check_keys
        return only
    return dg.AssetCheckKey(dg.AssetKey.from_coercible(result.asset_key or part.key), result.check_name)


def _results(part: dg.AssetsDefinition, context: DropContext, config: DropConfig, home: HomeResource) -> Iterator[Any]:
    """What the function of a part yields or returns; the functions of parts without settings take no config."""
    available = {"context": context, "config": config, "home": home}
    function = _function(part)
    produced = function(**{name: available[name] for name in inspect.signature(function).parameters})
    if isinstance(produced, AsyncIterator):
        return _awaited(produced)
    return produced if isinstance(produced, Iterator) else iter([produced])


def _awaited(produced: AsyncIterator[Any]) -> Iterator[Any]:
    with asyncio.Runner() as runner:
        while (each := runner.run(_next(produced))) is not None:
            yield each


async def _next(produced: AsyncIterator[Any]) -> Any:
    return await anext(produced, None)


def _function(part: dg.AssetsDefinition) -> Callable[..., Any]:
    decorated: Any = part.op.compute_fn
    return decorated.decorated_fn
