"""[judging] One verdict table per judge at every level; the judges of a level run side by side in one event loop."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import dagster as dg

from evaluation_assets.core import rows
from evaluation_assets.core.judging.judge import Judge, judge_chains
from evaluation_assets.core.judging.subjects import Chain
from evaluation_assets.core.lake import Spool, Stored, Stream
from evaluation_assets.core.rubrics.model import Level, Rubrics
from evaluation_assets.core.tables import CATEGORY_VERDICTS, CLIP_VERDICTS, TRAJECTORY_VERDICTS, Table
from evaluation_assets.defs.partitions import DROPS

COVERAGE = "coverage"
MIN_COVERAGE = 0.9
"""Share of subjects a judge has to have spoken about."""

TEXT_SEEN = "share_of_text_seen"
MIN_TEXT_SEEN = 0.95
"""Share of the subjects' text that a judge has to have been shown."""

Chains = Callable[[], Iterator[Chain]]


@dataclass(slots=True)
class Tally:
    """What a judge did at one level."""

    outcomes: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    share_seen: float = 0.0
    shown: int = 0
    cost_usd: float | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    from_ledger: int = 0

    def add(self, row: rows.Row) -> None:
        """Count one verdict."""
        self.outcomes[row["outcome"]] += 1
        if row["error_kind"]:
            self.errors[row["error_kind"]] += 1
        if row["share_seen"] is not None:
            self.share_seen += row["share_seen"]
            self.shown += 1
        if row["cost_usd"] is not None:
            self.cost_usd = (self.cost_usd or 0.0) + row["cost_usd"]
        self.input_tokens += row["input_tokens"] or 0
        self.output_tokens += row["output_tokens"] or 0
        self.from_ledger += row["from_ledger"]

    @property
    def coverage(self) -> float | None:
        """Share of subjects the judge spoke about: scored, or abstained with its reasons. `None` without subjects."""
        spoken = self.outcomes["scored"] + self.outcomes["abstained"]
        return spoken / self.outcomes.total() if self.outcomes else None

    @property
    def text_seen(self) -> float | None:
        """Mean share of a subject's text the judge was shown."""
        return self.share_seen / self.shown if self.shown else None

    def metadata(self) -> dict[str, int | float | str]:
        """The figures as numeric metadata, which the UI plots over drops."""
        figures: dict[str, int | float | str] = {
            outcome: self.outcomes[outcome] for outcome in ("scored", "abstained", "failed", "not_run")
        }
        figures |= {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens}
        figures["from_ledger"] = self.from_ledger
        if self.coverage is not None:
            figures["coverage"] = self.coverage
        if self.text_seen is not None:
            figures["share_seen"] = self.text_seen
        if self.cost_usd is not None:
            figures["cost_usd"] = self.cost_usd
        if self.errors:
            figures["errors"] = ", ".join(f"{kind}: {count}" for kind, count in sorted(self.errors.items()))
        return figures


def judging_assets(judges: Sequence[Judge], rubrics: Rubrics) -> list[dg.AssetsDefinition]:
    """The three levels: clips, categories, trajectories."""

    def clip_level(inputs: Mapping[str, Stored]) -> Chains:
        return lambda: rows.clip_chains(inputs["preprocessed_trajectories"], inputs["clips"], rubrics)

    def category_level(inputs: Mapping[str, Stored]) -> Chains:
        return lambda: rows.category_chains(
            inputs["preprocessed_trajectories"], inputs["clips"], inputs["clip_scores"], rubrics
        )

    def trajectory_level(inputs: Mapping[str, Stored]) -> Chains:
        return lambda: rows.trajectory_chains(
            inputs["preprocessed_trajectories"],
            inputs["clips"],
            inputs["clip_scores"],
            inputs["category_assessments"],
            rubrics,
        )

    ingested = ("preprocessed_trajectories", "clips")
    return [
        _level(CLIP_VERDICTS, ("clip",), ingested, clip_level, judges, rubrics),
        _level(CATEGORY_VERDICTS, ("category",), (*ingested, "clip_scores"), category_level, judges, rubrics),
        _level(
            TRAJECTORY_VERDICTS,
            ("trajectory", "answer"),
            (*ingested, "clip_scores", "category_assessments"),
            trajectory_level,
            judges,
            rubrics,
        ),
    ]


def _level(
    table: Table,
    levels: tuple[Level, ...],
    inputs: tuple[str, ...],
    chains_of: Callable[[Mapping[str, Stored]], Chains],
    judges: Sequence[Judge],
    rubrics: Rubrics,
) -> dg.AssetsDefinition:
    """One subsettable multi-asset: an output, a code version and a coverage check for every judge."""
    versions = ",".join(version for level in levels for version in rubrics.versions(level).values())
    keys = {judge.name: dg.AssetKey([table.name, judge.name]) for judge in judges}

    @dg.multi_asset(
        name=f"judge_{table.name.removesuffix('_verdicts')}",
        partitions_def=DROPS,
        can_subset=True,
        pool="models",
        ins={name: dg.AssetIn(name) for name in inputs},
        outs={
            judge.name: dg.AssetOut(
                key=keys[judge.name],
                is_required=False,
                group_name="judging",
                code_version=f"{judge.version}|{versions}",
                description=f"Each row is {table.row}: {judge.name} ({judge.provider}, {judge.model}).",
                kinds={"parquet", "llm" if judge.provider != "rules" else "python"},
            )
            for judge in judges
        },
        internal_asset_deps={judge.name: {dg.AssetKey(name) for name in inputs} for judge in judges},
        check_specs=[
            dg.AssetCheckSpec(name, asset=keys[judge.name], partitions_def=DROPS, description=description)
            for judge in judges
            for name, description in (
                (COVERAGE, f"The judge scored, or abstained with reasons from, {MIN_COVERAGE:.0%} of the subjects."),
                (TEXT_SEEN, f"The judge was shown {MIN_TEXT_SEEN:.0%} of the subjects' text."),
            )
        ],
    )
    async def judge_level(context: dg.AssetExecutionContext, **tables: Stored):  # Dagster refuses an async annotation
        chosen = [judge for judge in judges if keys[judge.name] in context.selected_asset_keys]
        async for judge, spool, tally in _run_panel(chosen, chains_of(tables), table, context.partition_key):
            with spool:
                context.log.info(f"{judge.name}: {tally.outcomes.total()} verdicts, {dict(tally.outcomes)}")
                yield dg.Output(Stream(table, spool.batches(), tally.metadata), judge.name)
                yield _check(keys[judge.name], COVERAGE, tally.coverage, MIN_COVERAGE, tally)
                yield _check(keys[judge.name], TEXT_SEEN, tally.text_seen, MIN_TEXT_SEEN, tally)

    return judge_level


async def _run_panel(
    judges: Sequence[Judge], chains: Chains, table: Table, drop: str
) -> AsyncIterator[tuple[Judge, Spool, Tally]]:
    """Every judge over all chains, at the same time; whichever is done first comes first."""

    async def run(judge: Judge) -> tuple[Judge, Spool, Tally]:
        spool, tally = Spool(table), Tally()
        async for judgements in judge_chains(judge, chains()):
            for judgement in judgements:
                row = rows.verdict_row(drop, judge, judgement)
                tally.add(row)
                spool.add(row)
        return judge, spool, tally

    for done in asyncio.as_completed([run(judge) for judge in judges]):
        yield await done


def _check(asset: dg.AssetKey, name: str, share: float | None, least: float, tally: Tally) -> dg.AssetCheckResult:
    """Without subjects there is nothing to miss."""
    return dg.AssetCheckResult(
        check_name=name,
        asset_key=asset,
        passed=share is None or share >= least,
        severity=dg.AssetCheckSeverity.ERROR,
        metadata=tally.metadata(),
    )
