"""All assets of a drop as one step, of one drop or of many: each step costs a start and events of its own."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import replace
from typing import TypeGuard

import dagster as dg

from evaluation_assets.core.gating.baselines import InvalidBaseline
from evaluation_assets.core.intake.clips.tool_types import InvalidToolTypes
from evaluation_assets.core.intake.drops import InvalidDrop
from evaluation_assets.core.judging.panel import InvalidPanel
from evaluation_assets.core.lake.stored import DamagedTable, Stream, Unwritable
from evaluation_assets.core.system.cancellation import raise_if_told
from evaluation_assets.core.text.counted import counted
from evaluation_assets.core.traces.formats.base import UnreadableDrop
from evaluation_assets.defs.big_drops import judge_in_parts
from evaluation_assets.defs.drop_config import DropConfig
from evaluation_assets.defs.drop_run import DropRun
from evaluation_assets.defs.evaluation import Evaluation
from evaluation_assets.defs.freshness import RAW, REPORT
from evaluation_assets.defs.names import (
    BLOCKED,
    DELIVERIES,
    EVALUATE,
    EVALUATE_DROP,
    EVALUATED,
    OVER_BUDGET_TAG,
    RETRY_TAG,
)
from evaluation_assets.defs.partitions import DROPS, check_of_drops
from evaluation_assets.defs.results import explained
from evaluation_assets.defs.storage_outage import is_outage
from evaluation_assets.defs.upstream import missing_upstream
from evaluation_assets.resources.asset_keys import unprefixed, unprefixed_checks
from evaluation_assets.resources.check_outcomes import record_outcome
from evaluation_assets.resources.dagster_private import CHECKS_MISSED, PlainFailure
from evaluation_assets.resources.data_versions import DropRecords
from evaluation_assets.resources.drop_lock import alone
from evaluation_assets.resources.drops_done import DropsDone, drops_done, keep_drops_done
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets.resources.parquet import write_table

DROPS_PER_RUN = 100
"""Most drops that are evaluated in one run: few enough to share a backlog among several workers."""

_EXPLAINED = (InvalidBaseline, InvalidDrop, UnreadableDrop, InvalidToolTypes, DamagedTable, Unwritable)
"""Problems whose messages say what to do: nobody needs the frames that they came from."""

Event = dg.AssetMaterialization | dg.AssetCheckEvaluation


def drop_step(
    everyday: Evaluation, asking: Callable[[Sequence[str]], Evaluation], clips_per_part: int | None
) -> dg.AssetsDefinition:
    """A subsettable step that materialises the assets of all stages, in this order, and evaluates their checks.

    A stage of which nothing is selected does not run. Tables are written as soon as they are yielded, so that later
    stages and checks can read them. `asking` makes the evaluation that asks some judges beside those of `everyday`; it
    has the same assets. Drops of more than `clips_per_part` clips are judged in parts, with `None` no drop is.

    A drop that fails does not keep the others of its run from being evaluated. What was materialised is therefore
    reported drop by drop, and not as outputs of the step, which would stand for all drops or none.
    """

    @dg.multi_asset(
        name=EVALUATE_DROP,
        partitions_def=DROPS,
        can_subset=True,
        backfill_policy=dg.BackfillPolicy.multi_run(DROPS_PER_RUN),
        specs=[spec.replace_attributes(skippable=True) for stage in everyday.stages for spec in stage.assets],
        check_specs=[_EVALUATED, *(spec for stage in everyday.stages for spec in stage.checks)],
    )
    def evaluate_drop(context: dg.AssetExecutionContext, config: DropConfig, home: HomeResource) -> Iterator[Event]:
        drops, over_budget = config.drops or _chosen(context), False
        failures, blocked = dict[str, Exception](), list[dg.AssetCheckEvaluation]()
        with explained(InvalidPanel):
            evaluation = asking(config.ask_also) if config.ask_also else everyday
        context.log.addFilter(lambda record: CHECKS_MISSED not in record.getMessage())
        done = _done_before(context)
        for number, name in enumerate(drops, 1):
            if name in done.finished:
                continue
            if len(drops) > 1:
                keep_drops_done(context.instance, context.run.run_id, done.at(name))
                context.log.info(f"{name} ({number} of {len(drops)})")
            drop = _drop_run(name, context, config, home)
            records = DropRecords(context, name, config.ask_also, home.key_prefix)
            problem, behind = None, list[dg.AssetKey]()
            try:
                with home.left_with_the_run() as entered, explained(*_EXPLAINED):
                    entered.enter_context(alone(home.home, name, context.log.info))
                    events = _evaluated(evaluation, clips_per_part, drop, records)
                    for event in entered.enter_context(closing(events)):
                        over_budget |= isinstance(event, dg.AssetMaterialization) and "over_budget" in event.metadata
                        blocked += [event] if _blocks(event) else []
                        yield event
                behind = records.behind(REPORT)
                done = done.with_finished(name)
            except Exception as raised:
                if is_outage(raised):
                    raise  # the other drops would meet it too; the run is retried, and goes on with this one
                problem = failures[name] = raised
            outcome = records.evaluated(_EVALUATED.key, _outcome(problem, behind))
            if _EVALUATED.key in drop.checks:
                yield outcome
            elif behind:  # this run has left the report behind; a check that was not selected is no output of the step
                record_outcome(context.instance, context.run, outcome)
            if problem is not None and len(drops) > 1:
                frames = None if isinstance(problem, dg.Failure) else problem
                context.log.error(f"{name}: {problem}", exc_info=frames)
        if over_budget:
            context.instance.add_run_tags(context.run.run_id, {OVER_BUDGET_TAG: "true"})
        if failures or blocked:
            raise _why_failed(drops, failures, blocked)

    return evaluate_drop


_EVALUATED = check_of_drops(
    EVALUATED,
    asset=REPORT,
    description="The drop was evaluated, and its report is up to date. Fails if it cannot be evaluated, if each of the "
    "runs that tried was killed, or if tables that the report is made from are stale.",
)


def _drop_run(name: str, context: dg.AssetExecutionContext, config: DropConfig, home: HomeResource) -> DropRun:
    return DropRun(
        key=name,
        home=home.home,
        config=config,
        key_prefix=home.key_prefix,
        run_id=context.run.run_id,
        log=context.log,
        assets=unprefixed(context.selected_asset_keys, home.key_prefix),
        checks=unprefixed_checks(context.selected_asset_check_keys, home.key_prefix),
    )


def _chosen(context: dg.AssetExecutionContext) -> Sequence[str]:
    if not (context.has_partition_key or context.has_partition_key_range):
        raise PlainFailure("No drop was chosen. Choose a partition: the name of a drop.")
    return context.partition_keys


def _check_read(drop: DropRun, made: Set[dg.AssetKey]) -> None:
    """Tables that were never written read as empty: an asset alone would be made of nothing, and look as if it were.

    Other tables may be missing, as of a drop that an earlier version evaluated. What is sent says itself what it lacks.
    """
    own = [each for each in drop.assets if each.path[0] != DELIVERIES]
    if missing_upstream({each: [RAW] for each in own}, made, drop.home, drop.key):
        asset = min(own).to_user_string()
        raise PlainFailure(
            f"{asset} is made from this drop's {RAW.to_user_string()}, which were never read. Materialise everything "
            f"upstream of it too, or run the job {EVALUATE}."
        )


def _blocks(event: Event) -> TypeGuard[dg.AssetCheckEvaluation]:
    """Whether this is a check that fails the run of its drop."""
    if not isinstance(event, dg.AssetCheckEvaluation) or event.passed:
        return False
    return bool(event.blocking) and event.severity == dg.AssetCheckSeverity.ERROR


def _why_failed(
    drops: Sequence[str], failures: Mapping[str, Exception], blocked: Sequence[dg.AssetCheckEvaluation]
) -> Exception:
    """What fails the run. Of blocking checks, Dagster itself would say the names, and not what they found."""
    if len(drops) == 1 and failures:
        return failures[drops[0]]
    if failures:
        return PlainFailure(
            f"{counted(len(failures), 'drop')} of {len(drops)} failed; the others are evaluated. "
            + "; ".join(f"{drop}: {problem}" for drop, problem in failures.items()),
        )
    told = "; ".join(f"{check.partition}: {check.check_name}: {check.description}" for check in blocked)
    report = blocked[0].metadata.get("report") if len(drops) == 1 else None
    links = {} if report is None else {"report": report}
    return PlainFailure(f"{counted(len(blocked), 'blocking check')} failed. {told}", {BLOCKED: True, **links})


def _outcome(problem: Exception | None, behind: Sequence[dg.AssetKey]) -> dg.AssetCheckResult:
    """Whether a drop was evaluated: the state of a run of many is that of none of them."""
    if problem is not None:
        return dg.AssetCheckResult(passed=False, description=str(problem))
    if not behind:
        return dg.AssetCheckResult(passed=True)
    stale = ", ".join(key.path[-1] for key in behind)
    return dg.AssetCheckResult(
        passed=False,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"The report is out of date: what it is made from has changed. Run the job {EVALUATE}.",
        metadata={"stale": stale},
    )


def _evaluated(
    evaluation: Evaluation, clips_per_part: int | None, drop: DropRun, records: DropRecords
) -> Generator[Event]:
    """Run the stages for one drop, write its tables, and record them."""
    levels = evaluation.levels
    chosen = [stage for stage in evaluation.stages if stage.is_chosen(drop)]
    _check_read(drop, frozenset[dg.AssetKey]().union(*(stage.keys for stage in chosen)))
    first_level = next((stage for stage in chosen if stage in levels), None)
    try:
        for stage in chosen:
            if stage is first_level and clips_per_part is not None:
                drop = replace(drop, parts=judge_in_parts(levels, drop, clips_per_part))
            raise_if_told()
            for result in stage.results(drop):
                if isinstance(result, dg.AssetCheckResult):
                    if (check := stage.check_of(result)) in drop.checks:
                        yield records.evaluated(check, result)
                    continue
                key, metadata = stage.key_of(result), dict(result.metadata or {})
                if isinstance(result.value, Stream):
                    metadata |= write_table(drop.home, key, drop.key, result.value)
                if key in drop.assets:
                    from_stale = key == REPORT and records.has_stale_upstream(key)
                    yield records.materialized(key, metadata, result.data_version, from_stale)
    finally:
        if drop.parts is not None:
            drop.parts.remove()


def _done_before(context: dg.AssetExecutionContext) -> DropsDone:
    """What the run had done that this one takes over from; one that somebody starts again does all."""
    parent = context.run.parent_run_id
    return DropsDone() if parent is None or RETRY_TAG not in context.run.tags else drops_done(context.instance, parent)
