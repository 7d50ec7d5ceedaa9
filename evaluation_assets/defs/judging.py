"""[judging] One verdict table per judge at every level; the judges of a level run side by side in one event loop."""

import gc
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import dagster as dg

from evaluation_assets.core import rows
from evaluation_assets.core.judging.judge import Judge, judge_chains
from evaluation_assets.core.judging.model_judge import ModelJudge
from evaluation_assets.core.judging.panel import EMBEDDED, RECORDED
from evaluation_assets.core.judging.subjects import Chain
from evaluation_assets.core.lake import Spool, Stored, Stream
from evaluation_assets.core.llm.budget import Budget
from evaluation_assets.core.rubrics.model import SESSION_LEVELS, Level, Rubrics
from evaluation_assets.core.tables import CATEGORY_VERDICTS, CLIP_VERDICTS, SESSION_VERDICTS, TRAJECTORY_VERDICTS, Table
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.defs.progress import Judged
from evaluation_assets.defs.stopping import as_completed

COVERAGE = "coverage"
MIN_COVERAGE = 0.9
"""Minimum coverage: the share of subjects that a judge must answer."""

TEXT_SEEN = "share_of_text_seen"
MIN_TEXT_SEEN = 0.95
"""Minimum share of the subjects' text that a judge must be shown."""

Chains = Callable[[Judge], Iterator[Chain]]
"""What a judge is asked at a level; it depends on the judge where its own earlier verdicts are shown."""


class JudgingConfig(dg.Config):
    """Budget of a run in US dollars, over all judges, levels and embeddings. Default: no limit."""

    budget_usd: float | None = None


@dataclass(slots=True)
class Tally:
    """Verdict counts, tokens and costs of a judge at one level."""

    outcomes: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    over_budget: int = 0
    share_seen: float = 0.0
    shown: int = 0
    cost_usd: float | None = None
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    from_ledger: int = 0

    def add(self, row: rows.Row) -> None:
        """Count one verdict."""
        self.outcomes[row["outcome"]] += 1
        if row["error_kind"]:
            self.errors[row["error_kind"]] += 1
            self.over_budget += row["error_kind"] == "budget"
        if row["share_seen"] is not None:
            self.share_seen += row["share_seen"]
            self.shown += 1
        if row["cost_usd"] is not None and not row["from_ledger"]:
            self.cost_usd = (self.cost_usd or 0.0) + row["cost_usd"]
        self.input_tokens += row["input_tokens"] or 0
        self.cached_tokens += row["cached_tokens"] or 0
        self.output_tokens += row["output_tokens"] or 0
        self.from_ledger += row["from_ledger"]

    @property
    def coverage(self) -> float | None:
        """Coverage: share of subjects that were scored, or abstained with a reason. `None` without subjects."""
        spoken = self.outcomes["scored"] + self.outcomes["abstained"]
        return spoken / self.outcomes.total() if self.outcomes else None

    @property
    def cached_share(self) -> float | None:
        """Share of the input tokens that the provider's cache served."""
        return self.cached_tokens / self.input_tokens if self.input_tokens else None

    @property
    def text_seen(self) -> float | None:
        """Mean share of a subject's text the judge was shown."""
        return self.share_seen / self.shown if self.shown else None

    @property
    def spoken(self) -> str:
        """The coverage as a sentence."""
        outcomes = self.outcomes
        errors = ", ".join(f"{count} {kind}" for kind, count in self.errors.most_common(3))
        return (
            f"{outcomes['scored'] + outcomes['abstained']} of {outcomes.total()} subjects were scored or abstained from"
            f" ({outcomes['abstained']} abstained), {outcomes['failed']} failed and {outcomes['not_run']} were not run"
            f"{f' ({errors})' if errors else ''}; at least {MIN_COVERAGE:.0%} have to be."
        )

    @property
    def seen(self) -> str:
        """The share of text seen as a sentence."""
        share = "-" if self.text_seen is None else f"{self.text_seen:.1%}"
        return f"The judge was shown {share} of the text of {self.shown} subjects (minimum {MIN_TEXT_SEEN:.0%})."

    def metadata(self) -> dict[str, int | float | str]:
        """The figures as numeric metadata, which the UI plots over drops."""
        figures: dict[str, int | float | str] = {
            outcome: self.outcomes[outcome] for outcome in ("scored", "abstained", "failed", "not_run")
        }
        figures |= {"input_tokens": self.input_tokens, "cached_tokens": self.cached_tokens}
        figures |= {"output_tokens": self.output_tokens, "from_ledger": self.from_ledger}
        if self.over_budget:
            figures["over_budget"] = self.over_budget
        if self.cached_share is not None:
            figures["cached_share"] = self.cached_share
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
    """The levels: clips, categories, trajectories, and sessions with their turns and contributions.

    What a judge says at a level hangs on what was ingested and on its own verdicts of the levels below.
    """
    ingested = ("preprocessed_trajectories", "clips")
    clips, categories = (CLIP_VERDICTS,), (CLIP_VERDICTS, CATEGORY_VERDICTS)
    whole: tuple[Level, ...] = ("trajectory", "answer")
    return [
        _level(CLIP_VERDICTS, ("clip",), ingested, (), rows.clip_chains, judges, rubrics),
        _level(CATEGORY_VERDICTS, ("category",), ingested, clips, rows.category_chains, judges, rubrics),
        _level(TRAJECTORY_VERDICTS, whole, ingested, categories, rows.trajectory_chains, judges, rubrics),
        _level(SESSION_VERDICTS, SESSION_LEVELS, ingested[:1], (), rows.session_chains, judges, rubrics),
    ]


def _level(
    table: Table,
    levels: tuple[Level, ...],
    ingested: tuple[str, ...],
    own: tuple[Table, ...],
    chains_of: Callable[..., Iterator[Chain]],
    judges: Sequence[Judge],
    rubrics: Rubrics,
) -> dg.AssetsDefinition:
    """One subsettable multi-asset: an output, a code version and a coverage check for every judge.

    Args:
        table: what an output holds.
        levels: whose rubrics are asked.
        ingested: tables that all judges read.
        own: tables of which each judge reads its own; Dagster gives those of all judges, whether they exist or not.
        chains_of: makes a judge's chains of these tables, in this order, and the rubrics.
        judges: one output each.
        rubrics: all of them.
    """
    inputs = {name: dg.AssetKey(name) for name in ingested}
    own_inputs = {
        judge.name: {f"{each.name}_{judge.name}": dg.AssetKey([each.name, judge.name]) for each in own}
        for judge in judges
    }
    versions = ",".join(version for level in levels for version in rubrics.versions(level).values())
    keys = {judge.name: dg.AssetKey([table.name, judge.name]) for judge in judges}

    @dg.multi_asset(
        name=f"judge_{table.name.removesuffix('_verdicts')}",
        partitions_def=DROPS,
        can_subset=True,
        ins={name: dg.AssetIn(key) for of in (inputs, *own_inputs.values()) for name, key in of.items()},
        outs={
            judge.name: dg.AssetOut(
                key=keys[judge.name],
                is_required=False,
                group_name="judging",
                code_version=f"{judge.version}|{versions}",
                description=f"Each row is {table.row}: {judge.name} ({judge.provider}, {judge.model}).",
                kinds={"parquet", "python" if judge.provider in (EMBEDDED, RECORDED) else "llm"},
            )
            for judge in judges
        },
        internal_asset_deps={judge.name: {*inputs.values(), *own_inputs[judge.name].values()} for judge in judges},
        check_specs=[
            dg.AssetCheckSpec(name, asset=keys[judge.name], partitions_def=DROPS, description=description)
            for judge in judges
            for name, description in (
                (
                    COVERAGE,
                    f"The judge scored, or abstained with a reason on, at least {MIN_COVERAGE:.0%} of the subjects.",
                ),
                (TEXT_SEEN, f"The judge was shown at least {MIN_TEXT_SEEN:.0%} of the subjects' text."),
            )
        ],
    )
    async def judge_level(
        context: dg.AssetExecutionContext, config: JudgingConfig, **tables: Stored
    ):  # Dagster refuses an async annotation
        chosen = [judge for judge in judges if keys[judge.name] in context.selected_asset_keys]
        run = PanelRun(table, context.partition_key, context.run.run_id, config.budget_usd, context.log.info)

        def chains(judge: Judge) -> Iterator[Chain]:
            return chains_of(*(tables[name] for name in (*inputs, *own_inputs[judge.name])), rubrics)

        async for judge, spool, tally in run.judge(chosen, chains):
            with spool:
                outcomes = ", ".join(f"{count} {outcome}" for outcome, count in sorted(tally.outcomes.items()))
                context.log.info(f"{judge.name}: {tally.outcomes.total()} verdicts: {outcomes or 'nothing to judge'}")
                yield dg.Output(Stream(table, spool.batches(), tally.metadata), judge.name)
                yield _check(keys[judge.name], COVERAGE, tally.coverage, MIN_COVERAGE, tally, tally.spoken)
                yield _check(keys[judge.name], TEXT_SEEN, tally.text_seen, MIN_TEXT_SEEN, tally, tally.seen)

    return judge_level


class PanelRun:
    """One level of one drop: every judge over all chains, at the same time."""

    def __init__(
        self, table: Table, drop: str, run: str, budget_usd: float | None, say: Callable[[str], object]
    ) -> None:
        self._table = table
        self._drop = drop
        self._run = run
        self._budget = Budget(budget_usd)
        self._say = say

    async def judge(self, judges: Sequence[Judge], chains: Chains) -> AsyncIterator[tuple[Judge, Spool, Tally]]:
        """The verdicts of each judge; whichever is done first comes first."""
        asked = next((judge for judge in judges if isinstance(judge, ModelJudge)), None)
        # Rules are done before it is counted.
        total = None if asked is None else sum(len(chain.subjects) for chain in chains(asked))
        with _old_objects_at_rest():
            async for done in as_completed(self._judge_all(judge, chains(judge), total) for judge in judges):
                yield done

    async def _judge_all(self, judge: Judge, chains: Iterator[Chain], total: int | None) -> tuple[Judge, Spool, Tally]:
        spool, tally = Spool(self._table), Tally()
        level = self._table.name.removesuffix("_verdicts")
        judged = Judged(level, judge.name, None if total is None else total * judge.samples, self._say)
        async with judge.opened(self._run, self._budget) as ready:
            async for judgements in judge_chains(ready, chains, judged.add):
                for judgement in judgements:
                    row = rows.verdict_row(self._drop, judge, judgement)
                    tally.add(row)
                    spool.add(row)
        judged.end()
        return judge, spool, tally


@contextmanager
def _old_objects_at_rest() -> Iterator[None]:
    """Cycles are looked for among new objects only: going through all of Dagster's takes 0.2 s, and answers wait."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _check(
    asset: dg.AssetKey, name: str, share: float | None, least: float, tally: Tally, description: str
) -> dg.AssetCheckResult:
    """Without subjects there is nothing to miss."""
    return dg.AssetCheckResult(
        check_name=name,
        asset_key=asset,
        passed=share is None or share >= least,
        severity=dg.AssetCheckSeverity.ERROR,
        metadata=tally.metadata(),
        description=description,
    )
