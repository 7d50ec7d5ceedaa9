"""All assets of a drop as one step, of one drop or of many: each step costs a start and events of its own."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing

import dagster as dg
from pydantic import Field

from evaluation_assets.core.lake.stored import DamagedTable, DiskFull, Stream
from evaluation_assets.core.text.counted import counted
from evaluation_assets.defs.big_drops import judge_in_parts
from evaluation_assets.defs.freshness import REPORT
from evaluation_assets.defs.ingest import PreprocessConfig
from evaluation_assets.defs.lineage import located
from evaluation_assets.defs.names import EVALUATE_DROP, EVALUATED, RETRY_TAG
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.defs.per_judge import JudgingConfig
from evaluation_assets.defs.regression import GateConfig
from evaluation_assets.defs.reports import FilesConfig
from evaluation_assets.defs.results import explained
from evaluation_assets.defs.step_functions import results
from evaluation_assets.defs.storage_outage import is_outage
from evaluation_assets.resources.data_versions import DropRecords
from evaluation_assets.resources.drop_context import DropContext
from evaluation_assets.resources.drop_lock import alone
from evaluation_assets.resources.drops_done import DropsDone, drops_done, keep_drops_done
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets.resources.parquet import write_table

DROPS_PER_RUN = 100
"""Most drops that are evaluated in one run: few enough to share a backlog among several workers."""

_MISSED = "did not yield or return expected outputs"
"""What Dagster notes at the end of the step: checks are not reported as outputs."""

Event = dg.AssetMaterialization | dg.AssetCheckEvaluation


class DropConfig(PreprocessConfig, JudgingConfig, FilesConfig, GateConfig):
    """Settings of an evaluation: preprocessing, budget, split files, and the baseline of the gate.

    `drops` are evaluated by a run without a partition, one after the other. Dagster writes 23 events for each partition
    of a run before it launches it, which takes longer than to evaluate the drop.
    """

    drops: list[str] = Field(default=[])


def drop_step(
    steps: Sequence[dg.AssetsDefinition], levels: Sequence[dg.AssetsDefinition], clips_per_part: int | None
) -> dg.AssetsDefinition:
    """A subsettable step that materialises the assets of all steps, in this order, and evaluates their checks.

    They are as they would be if Dagster ran them: functions of `context`, `home` and, for those that have settings,
    `config`. A step of which nothing is selected does not run. Tables are written as soon as they are yielded, so that
    later steps and checks can read them. `levels` are the steps that judge; drops of more than `clips_per_part` clips
    are judged in parts, with `None` no drop is.

    A drop that fails does not keep the others of its run from being evaluated. What was materialised is therefore
    reported drop by drop, and not as outputs of the step, which would stand for all drops or none.
    """

    def evaluated(
        context: DropContext, chosen: Sequence[dg.AssetsDefinition], config: DropConfig, home: HomeResource
    ) -> Generator[Event]:
        records, first_level = DropRecords(context), next((step for step in chosen if step in levels), None)
        try:
            for step in chosen:
                if step is first_level and clips_per_part is not None:
                    context.parts = judge_in_parts(levels, context, config, home, clips_per_part)
                yield from _materialized(step, context, records, config, home)
        finally:
            if context.parts is not None:
                context.parts.remove()

    @dg.multi_asset(
        name=EVALUATE_DROP,
        partitions_def=DROPS,
        can_subset=True,
        backfill_policy=dg.BackfillPolicy.multi_run(DROPS_PER_RUN),
        specs=[spec.replace_attributes(skippable=True) for step in steps for spec in _specs(step)],
        check_specs=[_EVALUATED, *(_without_deps(spec) for step in steps for spec in step.check_specs)],
    )
    def evaluate_drop(context: dg.AssetExecutionContext, config: DropConfig, home: HomeResource) -> Iterator[Event]:
        drops, failures = config.drops or context.partition_keys, dict[str, Exception]()
        chosen = [step for step in steps if _is_chosen(step, context)]
        context.log.addFilter(lambda record: _MISSED not in record.getMessage())
        done = _done_before(context)
        for number, drop in enumerate(drops, 1):
            if drop in done.finished:
                continue
            if len(drops) > 1:
                keep_drops_done(context.instance, context.run.run_id, done.at(drop))
                context.log.info(f"{drop} ({number} of {len(drops)})")
            of_drop = DropContext(context, drop)
            try:
                with home.left_with_the_run() as entered, explained(DamagedTable, DiskFull):
                    entered.enter_context(alone(home.home, drop, context.log.info))
                    events = evaluated(of_drop, chosen, config, home)
                    yield from entered.enter_context(closing(events))
                yield from _outcome(of_drop, None)
                done = done.with_finished(drop)
            except Exception as problem:
                if is_outage(problem):
                    raise  # the other drops would meet it too; the run is retried, and goes on with this one
                failures[drop] = problem
                yield from _outcome(of_drop, problem)
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


_EVALUATED = dg.AssetCheckSpec(
    EVALUATED,
    asset=REPORT,
    partitions_def=DROPS,
    description="The drop was evaluated. Fails if it cannot be, or if each of the runs that tried was killed.",
)


def _outcome(context: DropContext, problem: Exception | None) -> Iterator[dg.AssetCheckEvaluation]:
    """Say of each drop whether it was evaluated: the state of a run of many is that of none of them."""
    if _EVALUATED.key in context.selected_asset_check_keys:
        metadata = {} if problem is None else {"problem": str(problem)}
        result = dg.AssetCheckResult(passed=problem is None, metadata=metadata)
        yield DropRecords(context).evaluated(_EVALUATED.key, result)


def _done_before(context: dg.AssetExecutionContext) -> DropsDone:
    """What the run had done that this one takes over from; one that somebody starts again does all."""
    parent = context.run.parent_run_id
    return DropsDone() if parent is None or RETRY_TAG not in context.run.tags else drops_done(context.instance, parent)


def _specs(step: dg.AssetsDefinition) -> list[dg.AssetSpec]:
    """The assets of a step, each with the place of its own code: that of the step would say nothing."""
    if isinstance(step, dg.AssetChecksDefinition):
        return []
    return [spec for each in located([step]) for spec in each.specs]


def _without_deps(spec: dg.AssetCheckSpec) -> dg.AssetCheckSpec:
    """A check reads tables of its own step."""
    return dg.AssetCheckSpec(
        spec.name,
        asset=spec.asset_key,
        description=spec.description,
        blocking=spec.blocking,
        partitions_def=DROPS,
    )


def _is_chosen(step: dg.AssetsDefinition, context: dg.AssetExecutionContext) -> bool:
    if isinstance(step, dg.AssetChecksDefinition):
        return bool(step.check_keys & context.selected_asset_check_keys)
    return bool(step.keys & context.selected_asset_keys)


def _materialized(
    step: dg.AssetsDefinition, context: DropContext, records: DropRecords, config: DropConfig, home: HomeResource
) -> Iterator[Event]:
    """Run a step for one drop, and write its tables."""
    drop = context.partition_key
    for each in results(step, context, config, home):
        if isinstance(each, dg.AssetCheckResult):
            check = _check_key(step, each)
            if check in context.selected_asset_check_keys:
                yield records.evaluated(check, each)
            continue
        key = step.keys_by_output_name[each.output_name] if isinstance(each, dg.Output) else each.asset_key or step.key
        metadata = dict(each.metadata or {})
        if isinstance(each.value, Stream):
            metadata |= write_table(home.home, key, drop, each.value)
        if key in context.selected_asset_keys:
            yield records.materialized(key, metadata, each.data_version)


def _check_key(step: dg.AssetsDefinition, result: dg.AssetCheckResult) -> dg.AssetCheckKey:
    """The check of a result, which need not name the only one of its step."""
    if result.check_name is None:
        (only,) = step.check_keys
        return only
    return dg.AssetCheckKey(dg.AssetKey.from_coercible(result.asset_key or step.key), result.check_name)
