"""Several assets as one step: every step costs events, queries and a start of its own, whatever it computes."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import dagster as dg

from evaluation_assets.core.lake import Stream
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets.resources.parquet import write_table

Result = dg.MaterializeResult[Any] | dg.AssetCheckResult


def one_step(
    name: str, parts: Sequence[dg.AssetsDefinition], config_type: type[dg.Config] = dg.Config
) -> dg.AssetsDefinition:
    """A subsettable step that materialises the assets of all parts, in this order, and yields their checks.

    Parts are assets as they would be as steps of their own: functions of `context`, `home` and, for those that have
    settings, `config`. A part of which nothing is selected does not run. Tables are written as soon as they are
    yielded, so that later parts and checks can read them. The functions of all parts, or none, are asynchronous.
    """
    step = dg.multi_asset(
        name=name,
        partitions_def=DROPS,
        can_subset=True,
        specs=[spec.replace_attributes(skippable=True) for part in parts for spec in part.specs],
        check_specs=[spec for part in parts for spec in part.check_specs],
    )

    def results(
        part: dg.AssetsDefinition, each: Any, context: dg.AssetExecutionContext, home: HomeResource
    ) -> list[Result]:
        result = _result(part, each, home, context.partition_key)
        return [result] if _is_selected(result, context) else []

    if any(inspect.isasyncgenfunction(_function(part)) for part in parts):

        @step
        async def run_concurrently(
            context: dg.AssetExecutionContext,
            config: config_type,  # pyright: ignore[reportInvalidTypeForm]  (Dagster reads the annotation)
            home: HomeResource,
        ):  # Dagster refuses an async annotation
            for part in _chosen(parts, context):
                async for each in _called(part, context, config, home):
                    for result in results(part, each, context, home):
                        yield result

        return run_concurrently

    @step
    def run(
        context: dg.AssetExecutionContext,
        config: config_type,  # pyright: ignore[reportInvalidTypeForm]  (see above)
        home: HomeResource,
    ) -> Iterator[Result]:
        for part in _chosen(parts, context):
            produced = _called(part, context, config, home)
            for each in produced if isinstance(produced, Iterator) else [produced]:
                yield from results(part, each, context, home)

    return run


def _chosen(parts: Sequence[dg.AssetsDefinition], context: dg.AssetExecutionContext) -> list[dg.AssetsDefinition]:
    return [part for part in parts if part.keys & context.selected_asset_keys]


def _function(part: dg.AssetsDefinition) -> Callable[..., Any]:
    decorated: Any = part.op.compute_fn
    return decorated.decorated_fn


def _called(part: dg.AssetsDefinition, context: dg.AssetExecutionContext, config: dg.Config, home: HomeResource) -> Any:
    """What the function of a part returns; the functions of parts without settings take no config."""
    available = {"context": context, "config": config, "home": home}
    function = _function(part)
    return function(**{name: available[name] for name in inspect.signature(function).parameters})


def _result(part: dg.AssetsDefinition, each: Any, home: HomeResource, drop: str) -> Result:
    """A result that names its asset. A table is written, and described by the metadata."""
    if isinstance(each, dg.AssetCheckResult):
        key = each.asset_key or part.key
        return dg.AssetCheckResult(
            passed=each.passed,
            asset_key=key,
            check_name=each.check_name,
            metadata=each.metadata,
            severity=each.severity,
            description=each.description,
        )
    key = part.keys_by_output_name[each.output_name] if isinstance(each, dg.Output) else each.asset_key or part.key
    metadata = dict(each.metadata or {})
    if isinstance(each.value, Stream):
        metadata |= write_table(home.home, key, drop, each.value)
    return dg.MaterializeResult(asset_key=key, metadata=metadata, data_version=each.data_version)


def _is_selected(result: Result, context: dg.AssetExecutionContext) -> bool:
    if isinstance(result, dg.MaterializeResult):
        return result.asset_key in context.selected_asset_keys
    return (
        dg.AssetCheckKey(dg.AssetKey.from_coercible(result.asset_key or ""), result.check_name or "")
        in context.selected_asset_check_keys
    )
