"""Verdict tables: all judges of a level over the same chains, side by side in one event loop."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from evaluation_assets.core.intake.facts import Facts, VerdictFacts
from evaluation_assets.core.judging.judge import OPEN, Judge, judge_chains
from evaluation_assets.core.judging.model_judge import ModelJudge
from evaluation_assets.core.judging.progress import Judged
from evaluation_assets.core.judging.recorded import RecordedJudge
from evaluation_assets.core.judging.subjects import Chain
from evaluation_assets.core.judging.tally import Tally
from evaluation_assets.core.judging.verdict_rows import verdict_rows
from evaluation_assets.core.lake.spool import Joined, Spool
from evaluation_assets.core.lake.tables import Table
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.pipeline.stage_gates import StageGate
from evaluation_assets.core.system.cancellation import as_completed
from evaluation_assets.core.system.garbage import rarely_collected
from evaluation_assets.core.text.counted import counted

Chains = Callable[[Judge], Iterator[Chain]]
"""What a judge is asked at a level; it depends on the judge where its own earlier verdicts are shown."""


@dataclass(frozen=True, slots=True)
class JudgedTable:
    """One judge's rows of a verdict table, what they count to, and facts to keep with them. `verdicts` is open."""

    judge: Judge
    verdicts: Spool | Joined
    tally: Tally
    facts: Facts = field(default_factory=Facts)


@dataclass(frozen=True, slots=True)
class PanelRun:
    """One level of one drop: every judge over all chains, at the same time.

    A judge with a gate waits, trajectory by trajectory, for the judges of the stages before it.
    """

    table: Table
    drop: str
    run: str
    budget: Budget
    log: Callable[[str], object]
    gates: Mapping[str, StageGate] = field(default_factory=dict)

    async def judge(self, judges: Sequence[Judge], chains: Chains) -> AsyncIterator[JudgedTable]:
        """The verdicts of each judge; whichever is done first comes first."""
        judges = [_in_drop(judge, chains) for judge in judges]
        asked = next((judge for judge in judges if isinstance(judge, ModelJudge)), None)
        # Rules are done before it is counted.
        total = None if asked is None else sum(len(chain.subjects) for chain in chains(asked))
        with rarely_collected():
            async for done in as_completed(self._judge_all(judge, chains(judge), total) for judge in judges):
                outcomes = ", ".join(f"{count} {outcome}" for outcome, count in sorted(done.tally.outcomes.items()))
                said = f"{counted(done.tally.outcomes.total(), 'verdict')}: {outcomes or 'nothing to judge'}"
                self.log(f"{done.judge.name}: {said}")
                yield done

    async def _judge_all(self, judge: Judge, chains: Iterator[Chain], total: int | None) -> JudgedTable:
        spool, tally = Spool(self.table), Tally()
        level = self.table.name.removesuffix("_verdicts")
        expected = None if total is None else total * judge.samples
        judged = Judged(level, judge.name, expected, self.log, isinstance(judge, ModelJudge))
        gate = self.gates.get(judge.name)
        with nullcontext() if gate is None else gate:
            async with judge.opened(self.run, self.budget) as ready:
                async for judgements in judge_chains(ready, chains, judged.add, gate or OPEN):
                    for judgement in judgements:
                        tally.redacted.update(judgement.verdict.redacted)
                        for row in verdict_rows(self.drop, judge, judgement):
                            tally.add(row)
                            spool.add(row)
        if gate is not None and gate.count_spared:
            self.log(f"{judge.name}: not asked about {gate.count_spared} subjects that an earlier stage accepted")
        judged.end()
        cascade = "" if gate is None or not gate.waits else gate.fingerprint
        return JudgedTable(judge, spool, tally, noted_facts(cascade, tally))


def noted_facts(cascade: str, tally: Tally) -> VerdictFacts:
    """What is kept with a judge's verdicts, as far as there is something to keep."""
    noted: dict[str, Any] = {"cascade": cascade} if cascade else {}
    if tally.redacted:
        noted["redacted"] = dict(sorted(tally.redacted.items()))
    return VerdictFacts(**noted)


def _in_drop(judge: Judge, chains: Chains) -> Judge:
    """A recorded judge knows the scale of its scores from all of them."""
    return judge.in_drop(chain.trajectory for chain in chains(judge)) if isinstance(judge, RecordedJudge) else judge
