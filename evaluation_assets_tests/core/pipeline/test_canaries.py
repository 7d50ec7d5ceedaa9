"""When judges are asked about canary clips, and which earlier verdicts on them are kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from upath import UPath

from evaluation_assets.core.intake.facts import CanaryFacts
from evaluation_assets.core.judging.judge import Judge, Judgement
from evaluation_assets.core.judging.rubrics.model import Rubrics, load_rubrics
from evaluation_assets.core.judging.selection import EVERYTHING, Selection
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.lake.stored import Stored, Stream, write
from evaluation_assets.core.lake.tables import CANARY_VERDICTS, CLIP_VERDICTS
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.pipeline.canaries import CanaryRun, CanaryTable, asked_version
from evaluation_assets.core.pipeline.checks.judging import canaries_answered
from evaluation_assets_tests.core.stored_rows import stored

RUBRICS = load_rubrics()
SILENT = Verdict(outcome="not_run", error_kind="budget")


@dataclass
class Scoring:
    """A judge that scores every canary alike, but the last `unanswered` of the twelve, which it fails."""

    name: str = "one"
    score: float = 0.5
    unanswered: int = 0
    silent: bool = False
    version: str = "1"
    provider: str = "test"
    model: str = "m"
    chains_in_flight: int = 2
    samples: int = 1
    key_variable: str | None = None
    selection: Selection = EVERYTHING
    asked: list[tuple[str, int]] = field(default_factory=list)
    opened_for: list[tuple[str, Budget]] = field(default_factory=list)

    @asynccontextmanager
    async def opened(self, run: str, budget: Budget) -> AsyncIterator[Judge]:
        self.opened_for.append((run, budget))
        yield self

    async def judge(self, subject: Subject, earlier: Sequence[Judgement], sample: int = 0) -> Verdict:
        self.asked.append((subject.trajectory.id, sample))
        if self.silent:
            return SILENT
        if len({trajectory for trajectory, _ in self.asked}) > 12 - self.unanswered:
            return Verdict(outcome="failed", error_kind="timeout")
        return Verdict(outcome="scored", scores={"a": self.score})


@dataclass
class Canaries:
    """The canary verdicts of a judge on one drop, from run to run; `paid` names its new replies of this run."""

    folder: Path
    rubrics: Rubrics = RUBRICS

    @property
    def earlier(self) -> Stored:
        return Stored(CANARY_VERDICTS, UPath(self.folder / "canaries.parquet"))

    def ask(self, judge: Scoring, *, paid: Sequence[str] = (), known: Sequence[str] = (), repeats: int = 1) -> Asked:
        own = stored(
            self.folder,
            CLIP_VERDICTS,
            [
                {"ledger_key": key, "from_ledger": key in known, "trajectory_id": key, "judge": judge.name}
                for key in (*paid, *known)
            ],
        )
        budget = Budget()
        run = CanaryRun("d", "run", self.rubrics, repeats, budget)

        async def only() -> CanaryTable:
            (table,) = [each async for each in run.judge([judge], {judge.name: [own]}, {judge.name: self.earlier})]
            return table

        table = asyncio.run(only())
        with table.verdicts:
            write(
                self.earlier.path,
                Stream(CANARY_VERDICTS, table.verdicts.batches(), facts=lambda: table.facts.footer()),
            )
        return Asked(table, list(self.earlier.rows()), CanaryFacts.of(self.earlier), budget)


@dataclass
class Asked:
    """What came of it: the result, the rows and facts as they are stored."""

    table: CanaryTable
    rows: list[dict[str, Any]]
    facts: CanaryFacts
    budget: Budget


@pytest.fixture
def canaries(tmp_path: Path) -> Canaries:
    return Canaries(tmp_path)


def test_a_judge_is_asked_about_each_canary_when_its_verdicts_are_paid_for(canaries: Canaries) -> None:
    judge = Scoring()
    done = canaries.ask(judge, paid=["a"])
    assert len(judge.asked) == len({trajectory for trajectory, _ in judge.asked}) == 12
    assert judge.opened_for == [("run", done.budget)], "the budget is that of the drop"
    assert (done.table.asked, done.table.scored) == (12, 12)
    assert {(row["drop"], row["judge"], row["outcome"]) for row in done.rows} == {("d", "one", "scored")}
    assert done.facts.occasion and done.facts.asked_of == asked_version(judge, RUBRICS)
    assert (done.table.tally.outcomes, done.table.tally.from_ledger) == ({"scored": 12}, 0)


def test_a_judge_is_asked_as_often_as_it_is_to_repeat_itself(canaries: Canaries) -> None:
    judge = Scoring()
    done = canaries.ask(judge, paid=["a"], repeats=3)
    assert (len(done.rows), len(set(judge.asked)), done.table.asked, done.table.scored) == (36, 36, 12, 12)


def test_without_repeats_nothing_is_asked(canaries: Canaries) -> None:
    done = canaries.ask(Scoring(), paid=["a"], repeats=0)
    assert (done.rows, done.table.asked, done.table.scored) == ([], 0, 0)


def test_verdicts_that_nothing_was_paid_for_ask_no_canaries(canaries: Canaries) -> None:
    judge = Scoring()
    done = canaries.ask(judge, known=["a"])
    assert (judge.asked, judge.opened_for, done.rows) == ([], [], [])
    assert done.facts.occasion == "", "no occasion"


def test_on_the_same_occasion_the_verdicts_are_kept_and_not_paid_again(canaries: Canaries) -> None:
    first = canaries.ask(Scoring(), paid=["a", "b"])
    judge = Scoring(score=0.9)
    again = canaries.ask(judge, paid=["b", "a"])
    assert judge.asked == [] and again.rows == first.rows
    assert again.facts == first.facts
    assert again.table.tally.from_ledger == 12, "kept rows are not paid again"
    later = canaries.ask(judge, known=["a", "b"])
    assert judge.asked == [] and (later.rows, later.facts) == (first.rows, first.facts)


def test_on_a_new_occasion_the_canaries_are_asked_anew(canaries: Canaries) -> None:
    first = canaries.ask(Scoring(), paid=["a"])
    judge = Scoring(score=0.9)
    again = canaries.ask(judge, paid=["b"], known=["a"])
    assert len(judge.asked) == 12 and {dict(row["scores"])["a"] for row in again.rows} == {0.9}
    assert again.facts.occasion not in ("", first.facts.occasion)


@pytest.mark.parametrize(("unanswered", "asked_again"), [(6, 0), (7, 12)])
def test_canaries_of_which_fewer_than_half_scored_are_asked_again(
    canaries: Canaries, unanswered: int, asked_again: int
) -> None:
    first = canaries.ask(Scoring(unanswered=unanswered), paid=["a"])
    assert (first.table.asked, first.table.scored) == (12, 12 - unanswered)
    judge = Scoring()
    again = canaries.ask(judge, known=["a"])
    assert len(judge.asked) == asked_again
    assert again.facts.occasion == first.facts.occasion, "without new verdicts it is still that occasion"


def test_silence_replaces_no_answers_where_verdicts_of_the_ledger_were_paid_with_them(canaries: Canaries) -> None:
    first = canaries.ask(Scoring(), paid=["a"])
    silent = Scoring(silent=True)
    kept = canaries.ask(silent, paid=["b"], known=["a"])
    assert len(silent.asked) == 12 and kept.rows == first.rows
    assert kept.facts.occasion == first.facts.occasion, "so that the next run asks again"
    assert kept.table.tally.from_ledger == 12
    heard = canaries.ask(Scoring(), paid=["b"], known=["a"])
    assert heard.table.tally.from_ledger == 0, "asked anew"


def test_silence_replaces_answers_that_belong_to_none_of_the_verdicts(canaries: Canaries) -> None:
    canaries.ask(Scoring(), paid=["a"])
    done = canaries.ask(Scoring(silent=True), paid=["b"])
    assert {row["outcome"] for row in done.rows} == {"not_run"} and done.table.scored == 0


def test_silence_that_nothing_was_before_is_recorded(canaries: Canaries) -> None:
    done = canaries.ask(Scoring(silent=True), paid=["b"], known=["a"])
    assert (len(done.rows), done.table.asked, done.table.scored) == (12, 12, 0)
    assert done.table.tally.kinds == {"budget": 12}


def test_verdicts_of_another_judge_of_the_same_name_are_not_kept(canaries: Canaries) -> None:
    canaries.ask(Scoring(version="1"), paid=["a"])
    assert canaries.ask(Scoring(version="2"), known=["a"]).rows == []


def test_damaged_verdicts_are_asked_for_again_with_a_warning(
    canaries: Canaries, caplog: pytest.LogCaptureFixture
) -> None:
    canaries.ask(Scoring(), paid=["a"])
    (canaries.folder / "canaries.parquet").write_bytes(b"PAR1 damaged")
    judge = Scoring()
    done = canaries.ask(judge, paid=["a"])
    assert len(judge.asked) == 12 and done.table.scored == 12
    assert "is damaged: canary clips are judged again" in caplog.text


def test_the_version_that_was_asked_changes_with_the_judge_and_the_rubrics_of_clips() -> None:
    asked = asked_version(Scoring(), RUBRICS)
    assert asked != asked_version(Scoring(version="2"), RUBRICS)
    assert all(version in asked for version in RUBRICS.versions("clip").values())


@pytest.mark.parametrize(
    ("unanswered", "passed", "said"),
    [
        (0, True, "12 of 12 canary clips were scored. Below 50%, it is not known whether the judge changed."),
        (6, True, "6 of 12 canary clips were scored (6 timeout). Below 50%"),
        (7, False, "5 of 12 canary clips were scored (7 timeout). Below 50%"),
    ],
)
def test_half_of_the_canaries_need_a_score(canaries: Canaries, unanswered: int, passed: bool, said: str) -> None:
    found = canaries_answered(canaries.ask(Scoring(unanswered=unanswered), paid=["a"]).table)
    assert (found.passed, found.severity) == (passed, "warn"), "a judge that says little is no reason to fail a run"
    assert (found.description or "").startswith(said)
    assert found.metadata["scored"] == 12 - unanswered


def test_where_no_canaries_were_asked_none_are_missing(canaries: Canaries) -> None:
    found = canaries_answered(canaries.ask(Scoring(), known=["a"]).table)
    assert (found.passed, found.description) == (True, "No canary clips were requested with these verdicts.")
