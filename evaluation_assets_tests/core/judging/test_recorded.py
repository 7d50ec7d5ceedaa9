"""Recorded verdicts count as they are meant, or not at all."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from evaluation_assets.core.judging.judge import Judgement, judge_chains
from evaluation_assets.core.judging.recorded import RecordedJudge
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.subjects import trajectory_chain
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets.core.traces.trajectories.recorded import LABEL
from evaluation_assets_tests.core.making import trajectory

ON_RUN = {"level": "trajectory", "subject": "trajectory", "judge": "bob"}
KEY = "task_completion"


def judged(*entries: Any) -> Verdict:
    """What the judge says of a whole run with these recorded verdicts."""
    return judged_by(RecordedJudge("b", "bob"), with_labels(*entries))


def with_labels(*entries: Any) -> Trajectory:
    return replace(trajectory("<answer>42</answer>"), labels={LABEL: list(entries)})


def judged_by(judge: RecordedJudge, run: Trajectory) -> Verdict:
    async def asked() -> list[Judgement]:
        chain = trajectory_chain(run, [], load_rubrics())
        return [each async for some in judge_chains(judge, iter([chain])) for each in some]

    return next(each.verdict for each in asyncio.run(asked()) if each.subject.level == "trajectory")


def test_a_score_from_0_to_1_counts() -> None:
    verdict = judged({**ON_RUN, "scores": {KEY: "0.5", "tone": 4}, "reasoning": "why"})
    assert (verdict.outcome, verdict.scores[KEY], verdict.reasoning) == ("scored", 0.5, "why")


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([{**ON_RUN, "scores": {KEY: 4}}], "the recorded score 4 of task_completion is not 0 to 1"),
        ([{**ON_RUN, "scores": {KEY: -1}}], "the recorded score -1 of"),
        ([{**ON_RUN, "scores": {KEY: 1}}, {**ON_RUN, "subject": "0", "level": "clip", "scores": {KEY: 5}}], "5 of"),
        ([{**ON_RUN, "scores": {KEY: "good"}}], f"cannot be read: scores.{KEY}"),
        ([{**ON_RUN, "scores": {KEY: "0,5"}}], f"cannot be read: scores.{KEY}"),
        ([{"level": "trajectory", "judge": "bob", "scores": {KEY: 0.5}}], "cannot be read: subject"),
        ([{**ON_RUN, "scores": {KEY: 0.2}}, {**ON_RUN, "scores": {KEY: 0.9}}], "several scores of task_completion"),
    ],
)
def test_what_cannot_be_meant_is_failed_with_its_reason(entries: list[Any], said: str) -> None:
    """A 1 is full marks only if no other score shows that it is the lowest of 1 to 5."""
    verdict = judged(*entries)
    assert (verdict.outcome, set(verdict.scores.values())) == ("failed", {None})
    assert said in (verdict.error or "")


@pytest.mark.parametrize(
    ("given", "counts"),
    [([1, 2, 5], False), ([0, 1, -1], False), ([0.5, 60, 90], False), ([0.5, 1, 1.2], True), ([0, 1, 1], True)],
)
def test_a_lone_1_counts_unless_the_drop_shows_another_scale(given: list[float], counts: bool) -> None:
    """Of 1 to 5 a 1 is the lowest, though nothing else in its own run says so."""
    judge = RecordedJudge("b", "bob").in_drop(with_labels({**ON_RUN, "scores": {KEY: score}}) for score in given)
    verdict = judged_by(judge, with_labels({**ON_RUN, "scores": {KEY: 1}}))
    assert (verdict.outcome, verdict.scores[KEY]) == (("scored", 1.0) if counts else ("failed", None))
    assert counts or "other recorded scores of task_completion in the drop are not 0 to 1" in (verdict.error or "")


def test_a_score_on_another_scale_does_not_count_beside_others() -> None:
    verdict = judged({**ON_RUN, "scores": {KEY: 7, "tool_use_quality": 0.5}})
    assert (verdict.outcome, verdict.scores[KEY], verdict.scores["tool_use_quality"]) == ("scored", None, 0.5)
    assert verdict.notes and "7 of task_completion is not 0 to 1" in verdict.notes[0]


def test_what_others_said_or_what_the_rubric_does_not_ask_is_no_failure() -> None:
    others = judged({**ON_RUN, "judge": "ada", "scores": {KEY: 4}}, {**ON_RUN, "judge": "ada", "scores": {KEY: "x"}})
    assert (others.outcome, others.reasoning) == ("abstained", "no verdict of bob is recorded")
    unasked = judged({**ON_RUN, "scores": {"tone": 4}})
    assert unasked.outcome == "abstained"
    assert unasked.notes == ("recorded are scores of tone, for which the rubric does not ask",)
