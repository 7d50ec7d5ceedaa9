"""Judges of a cascade wait for each other, trajectory by trajectory, and never for one that has ended."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from operator import itemgetter

import pytest

from evaluation_assets.core.judging.cascade.fitted import FittedCascade
from evaluation_assets.core.judging.judge import Judge, Judgement
from evaluation_assets.core.judging.selection import EVERYTHING, Selection
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.lake.tables import CLIP_VERDICTS
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.pipeline.stage_gates import Stages, Statements, stage_gates
from evaluation_assets.core.pipeline.verdicts import PanelRun
from evaluation_assets_tests.core.judging.cascade.simulated import accepting
from evaluation_assets_tests.judging_alone import CLIPS, chains

STAGES = (("cheap",), ("dear",))


@dataclass
class Scripted:
    """Scores every criterion of the clip that it is sure about with 1, of others with a half; or its `own` only."""

    name: str
    sure: str = ""
    breaks: bool = False
    own: str = ""
    provider: str = "rules"
    model: str = "scripted"
    version: str = "1"
    chains_in_flight: int = 2
    key_variable: None = None
    samples: int = 1
    selection: Selection = EVERYTHING

    @asynccontextmanager
    async def opened(self, run: str, budget: Budget) -> AsyncIterator[Judge]:
        if self.breaks:
            raise RuntimeError("no connection")
        yield self

    async def judge(self, subject: Subject, earlier: Sequence[Judgement], sample: int = 0) -> Verdict:
        await asyncio.sleep(0)
        score = 1.0 if subject.name == self.sure else 0.5
        criteria = dict.fromkeys([self.own] if self.own else [each.key for each in subject.criteria], score)
        return Verdict(outcome="scored", scores=criteria, summary=f"{len(earlier)} before")


@pytest.fixture(scope="module")
def cascade() -> FittedCascade:
    return accepting(STAGES)


async def judged(
    cascade: FittedCascade,
    *judges: Scripted,
    stored: dict[str, Statements] | None = None,
    stages: Stages = STAGES,
) -> dict:
    gates = stage_gates(cascade, stages, [judge.name for judge in judges], stored or {})
    run = PanelRun(CLIP_VERDICTS, "d", "run", Budget(), lambda _: None, gates)
    found = {}
    async for table in run.judge(judges, lambda _: chains(5)):
        with table.verdicts as spool:
            rows = [row for batch in spool.batches() for row in batch.to_pylist()]
        found[table.judge.name] = (rows, table.tally)
    return found


@pytest.mark.parametrize("order", [1, -1])
def test_a_later_judge_is_asked_only_about_what_was_not_accepted(cascade: FittedCascade, order: int) -> None:
    judges = [Scripted("cheap", sure="0"), Scripted("dear")][::order]
    found = asyncio.run(judged(cascade, *judges))
    assert len(found["cheap"][0]) == 5 * CLIPS
    rows, tally = found["dear"]
    assert [row["clip_index"] for row in rows] == [1] * 5
    assert {row["summary"] for row in rows} == {"1 before"}, "the accepted clip stays in the conversation"
    assert tally.coverage == 1.0, "what it was not asked about is not missing"


@pytest.mark.parametrize(("sure", "asked"), [("0", [1]), ("", [0, 1])])
def test_a_criterion_of_a_judge_of_its_own_has_to_be_accepted_too(sure: str, asked: list[int]) -> None:
    stages = (("cheap", "manners"), ("dear",))
    fitted = accepting(stages, {"manners": "polite"})
    judges = [Scripted("cheap", sure="0"), Scripted("manners", sure=sure, own="polite"), Scripted("dear")]
    found = asyncio.run(judged(fitted, *judges, stages=stages))
    assert [row["clip_index"] for row in found["dear"][0]] == asked * 5


@pytest.mark.parametrize(
    "stages",
    [(("cheap",), ("best", "dear")), (("cheap",), ("best",), ("dear",))],
    ids=["beside the last", "before it"],
)
def test_the_judge_that_the_others_were_fitted_to_comes_last(
    cascade: FittedCascade, stages: tuple[tuple[str, ...], ...]
) -> None:
    fitted = cascade.model_copy(update={"reference": "best"})
    assert fitted.fits(stages)
    judges = [Scripted("best"), Scripted("cheap", sure="0"), Scripted("dear", sure="1")]
    found = asyncio.run(judged(fitted, *judges, stages=stages))
    assert [row["clip_index"] for row in found["dear"][0]] == [1] * 5
    assert found["best"][0] == [], "all that is left is accepted by the judge that was fitted"


def test_a_judge_that_fails_does_not_keep_later_ones_waiting(cascade: FittedCascade) -> None:
    async def together() -> None:
        with pytest.raises(RuntimeError, match="no connection"):
            await asyncio.wait_for(judged(cascade, Scripted("dear"), Scripted("cheap", breaks=True)), 10)

    asyncio.run(together())


def test_what_was_said_in_an_earlier_run_counts(cascade: FittedCascade) -> None:
    (first,) = (chain for chain in chains(1))
    rows = [
        {"trajectory_id": first.trajectory.id, "clip_index": int(subject.name), "outcome": "scored"}
        | {"scores": {criterion.key: 1.0 for criterion in subject.criteria}}
        for subject in first.subjects
    ]
    said = Statements()
    said.add_rows(rows, "clip_index", itemgetter("scores"))
    found = asyncio.run(judged(cascade, Scripted("dear"), stored={"cheap": said}))
    judged_trajectories = {row["trajectory_id"] for row in found["dear"][0]}
    assert first.trajectory.id not in judged_trajectories
    assert len(judged_trajectories) == 4
