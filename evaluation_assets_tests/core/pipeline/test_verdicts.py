"""All judges of a level over one drop: one that says what no table can hold takes nothing else down."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from upath import UPath

from evaluation_assets.core.judging.judge import Judge, Judgement
from evaluation_assets.core.judging.selection import EVERYTHING, Selection
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.lake.stored import Stored, Stream, write
from evaluation_assets.core.lake.tables import CLIP_VERDICTS
from evaluation_assets.core.models.budget import Budget
from evaluation_assets.core.pipeline.verdicts import PanelRun
from evaluation_assets.core.traces.trajectories.model import Usage
from evaluation_assets_tests.judging_alone import CLIPS, chains


@dataclass
class Saying:
    """A judge that says this of every subject."""

    name: str
    verdict: Any
    provider: str = "test"
    model: str = "m"
    version: str = "1"
    chains_in_flight: int = 2
    samples: int = 1
    key_variable: str | None = None
    selection: Selection = EVERYTHING
    asked: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def opened(self, run: str, budget: Budget) -> AsyncIterator[Judge]:
        yield self

    async def judge(self, subject: Subject, earlier: Sequence[Judgement], sample: int = 0) -> Verdict:
        self.asked.append(subject.name)
        return self.verdict


def judged(folder: Path, *judges: Judge) -> dict[str, list[dict[str, Any]]]:
    """The rows of each judge as they are read back; of a trajectory with two clips each."""

    async def work() -> dict[str, list[dict[str, Any]]]:
        found = {}
        run = PanelRun(CLIP_VERDICTS, "d", "run", Budget(), lambda line: None)
        async for done in run.judge(judges, lambda judge: chains(3)):
            path = UPath(folder / f"{done.judge.name}.parquet")
            with done.verdicts:
                write(path, Stream(CLIP_VERDICTS, done.verdicts.batches()))
            found[done.judge.name] = list(Stored(CLIP_VERDICTS, path).rows())
            assert done.tally.outcomes.total() == len(found[done.judge.name])
        return found

    return asyncio.run(work())


GOOD = Verdict(outcome="scored", scores={"a": 1.0}, summary="fine")


@pytest.mark.parametrize(
    ("verdict", "why"),
    [
        (Verdict(outcome="scored", scores={5: 1.0}), "criterion '5' is not text"),  # type: ignore[dict-item]
        (Verdict(outcome="scored", scores={"a": "high"}), "score of 'a' is not a number"),  # type: ignore[dict-item]
        (Verdict(outcome="scored", scores={"a": float("nan")}), "score of 'a' is not a number"),
        (Verdict(outcome="scored", scores={"a": 1.0}, summary=7), "summary is not text"),  # type: ignore[arg-type]
        (Verdict(outcome="scored", scores={"a": 1.0}, usage=Usage(output_tokens=10**30)), "output tokens"),
        (Verdict(outcome="scored", scores={"a": 1.0}, probabilities={"a": float("inf")}), "score of 'a'"),
        (None, ""),
    ],
)
def test_a_verdict_that_no_table_holds_is_failed_and_the_other_judges_go_on(
    tmp_path: Path, verdict: Any, why: str
) -> None:
    rows = judged(tmp_path, Saying("strange", verdict), Saying("good", GOOD))
    assert [row["outcome"] for row in rows["good"]] == ["scored"] * 3 * CLIPS
    assert {(row["outcome"], row["error_kind"]) for row in rows["strange"]} == {("failed", "internal")}
    assert len(rows["strange"]) == 3 * CLIPS
    assert all(why in row["error"] for row in rows["strange"])


def test_texts_of_verdicts_are_made_well_formed(tmp_path: Path) -> None:
    said = "half \udfff"
    verdict = Verdict(
        outcome="scored", scores={said: 1}, probabilities={said: 0.5}, summary=said, reasoning=said, served_model=said
    )
    for row in judged(tmp_path, Saying("one", verdict))["one"]:
        kept: Mapping[str, Any] = {name: row[name] for name in ("summary", "reasoning", "served_model")}
        assert set(kept.values()) == {"half \ufffd"}
        assert (row["scores"], dict(row["probabilities"])) == ({"half \ufffd": 1.0}, {"half \ufffd": 0.5})


def test_notes_stand_after_the_reasoning(tmp_path: Path) -> None:
    verdict = Verdict(outcome="failed", error_kind="server", error="no", notes=("Tokens and cost are unknown: x.",))
    whole = Verdict(outcome="abstained", reasoning="because", notes=("A note.",))
    rows = judged(tmp_path, Saying("one", verdict), Saying("two", whole))
    assert {row["reasoning"] for row in rows["one"]} == {"Tokens and cost are unknown: x."}
    assert {row["reasoning"] for row in rows["two"]} == {"because\nA note."}
