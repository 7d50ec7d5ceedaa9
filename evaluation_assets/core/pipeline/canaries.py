"""Canary verdicts: what every model judge says about clips that never change, when its verdicts are paid for."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from evaluation_assets.core.intake.facts import CanaryFacts
from evaluation_assets.core.judging.canaries import ask_canaries, canaries_asked, canary_scores, occasion_of
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.rubrics.model import Rubrics
from evaluation_assets.core.judging.tally import Tally
from evaluation_assets.core.judging.verdict_rows import verdict_row
from evaluation_assets.core.lake.spool import Spool
from evaluation_assets.core.lake.stored import DamagedTable, Stored
from evaluation_assets.core.lake.tables import CANARY_VERDICTS
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.pipeline.verdicts import JudgedTable
from evaluation_assets.core.system.cancellation import as_completed
from evaluation_assets.core.system.logs import log_of
from evaluation_assets.core.traces.trajectories.trajectory_rows import Row

_log = log_of(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryTable(JudgedTable):
    """One judge's rows of `canary_verdicts`, with how many canary clips were `asked` about and how many `scored`."""

    asked: int
    scored: int


class CanaryRun:
    """The canaries of one drop, asked of every judge at the same time.

    Args:
        drop: key of the drop.
        run: id of the run; replies are paid for again in each.
        rubrics: those of clips are asked.
        repeats: verdicts on each canary; with 0 nothing is asked.
        budget: what the judges together may spend.
    """

    def __init__(self, drop: str, run: str, rubrics: Rubrics, repeats: int, budget: Budget) -> None:
        self._drop = drop
        self._run = run
        self._rubrics = rubrics
        self._repeats = repeats
        self._budget = budget

    async def judge(
        self, judges: Sequence[Judge], own: Mapping[str, Sequence[Stored]], earlier: Mapping[str, Stored]
    ) -> AsyncIterator[CanaryTable]:
        """The canary verdicts of each judge; whichever is done first comes first.

        Args:
            judges: who is asked.
            own: by judge, its verdict tables of the drop: when these were paid for, canaries are asked.
            earlier: by judge, its stored canary verdicts of the drop.
        """
        async for done in as_completed(self._ask(judge, own[judge.name], earlier[judge.name]) for judge in judges):
            yield done

    async def _ask(self, judge: Judge, own: Sequence[Stored], earlier: Stored) -> CanaryTable:
        version = asked_version(judge, self._rubrics)
        noted, before = _kept(earlier, version)
        occasion = occasion_of(_provenance(own))
        rows = before
        unheard = len(canary_scores(before)) < canaries_asked(before) / 2
        if unheard or (occasion is not None and occasion != noted.occasion):
            async with judge.opened(self._run, self._budget) as ready:
                answers = await ask_canaries(ready, self._rubrics, self._run, self._repeats)
            rows = [verdict_row(self._drop, judge, judgement) for judgement in answers]
            # Silence is no news: what was said when the other verdicts were paid for goes on counting.
            silent = bool(rows) and all(row["outcome"] == "not_run" for row in rows)
            if silent and any(row["from_ledger"] for row in _provenance(own)):
                rows = before or rows
        spool, tally = Spool(CANARY_VERDICTS), Tally()
        for row in rows:
            spool.add(row)
            tally.add(row | {"from_ledger": True} if rows is before else row)  # kept rows are not paid again
        at = noted.occasion if rows is before else occasion or noted.occasion
        facts = CanaryFacts(occasion=at, asked_of=version)
        return CanaryTable(judge, spool, tally, facts, asked=canaries_asked(rows), scored=len(canary_scores(rows)))


def _kept(earlier: Stored, version: str) -> tuple[CanaryFacts, list[Row]]:
    """The stored canary verdicts. Without them the judge is asked again, as after a change of the judge."""
    try:
        noted = CanaryFacts.of(earlier)
        # Another judge may have had the name meanwhile.
        return noted, list(earlier.rows()) if noted.asked_of in (None, version) else []
    except DamagedTable:
        _log.warning("%s is damaged: canary clips are judged again", earlier.path)
        return CanaryFacts(), []


def asked_version(judge: Judge, rubrics: Rubrics) -> str:
    """Changes whenever a judge's canary verdicts may: the judge's version and those of the rubrics of clips."""
    return f"{judge.version}|{','.join(rubrics.versions('clip').values())}"


def _provenance(own: Sequence[Stored]) -> Iterator[Row]:
    """Which replies a judge's verdicts come from, and whether these were new."""
    return chain.from_iterable(stored.rows(["ledger_key", "from_ledger"]) for stored in own)
