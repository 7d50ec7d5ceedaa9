"""An agent does not gain by failing: a call that fails raises neither its clip's score nor its trajectory's."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.judging.judge import judge_chains
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.rules.judge import RulesJudge
from evaluation_assets.core.judging.subjects import clip_chain
from evaluation_assets.core.scoring.panel_scores import mean_over_clips, tool_averages
from evaluation_assets.core.traces.trajectories.model import Step, Trajectory
from evaluation_assets_tests.core.making import answer, call, result, trajectory

RUBRICS = load_rubrics()
TOOLS = {
    "microsandbox": "microsandbox_execute",
    "deepsearch": "research",
    "browser_use": "browser_search_google",
    "mcp-search-tool": "search_file_content",
    "tavily": "tavily_search",
    "web": "perform_web_task",
    "weather": "get_weather",
}
"""A tool of each clip rubric of tool calls."""

ERRORS = ("quota exceeded", "the run timed out", "missing required parameter: q", "unknown tool")
queries = st.sampled_from(["print(1)", "print(1", "try:\n  f()\nexcept E:\n  pass", '{"q": "value"}', "https://a.jp/x"])
contents = st.sampled_from(
    [
        "42",
        "value alpha beta gamma",
        "alpha https://a.jp/x https://b.jp https://c.jp",
        "富士山海拔",
        "",
        "Error: quota exceeded",
        "Traceback (most recent call last):\nNameError: name 'x' is not defined",
    ]
)
thoughts = st.sampled_from(["", "alpha beta gamma", "That failed, so try again", "get_weather", "富士山海拔很高"])
answers = st.sampled_from(["", "alpha beta", "富士山", "There was an error: quota exceeded", "42"])


@st.composite
def runs(draw: st.DrawFn) -> Trajectory:
    """A run of a few calls, many of them repeated, some failed."""
    text = ""
    tools = draw(st.lists(st.sampled_from(sorted(TOOLS)), min_size=1, max_size=2))
    for _ in range(draw(st.integers(1, 4))):
        server = draw(st.sampled_from(tools))
        thought = draw(thoughts)
        text += f"<think>{thought}</think>" if thought else ""
        text += call(draw(queries), TOOLS[server], server) + result(draw(contents))
    said = draw(answers)
    return run_of(text + (answer(said) if said else ""), draw(st.sampled_from(["value", "山", ""])))


def run_of(text: str, task: str) -> Trajectory:
    return replace(trajectory(text), task=task)


def with_step(run: Trajectory, position: int, changed: Step) -> Trajectory:
    """The run, of one turn and one agent, with another step."""
    (turn,) = run.turns
    (interaction,) = turn.interactions
    steps = [*interaction.steps[:position], changed, *interaction.steps[position + 1 :]]
    return replace(run, turns=(replace(turn, interactions=(replace(interaction, steps=tuple(steps)),)),))


def clip_scores(run: Trajectory) -> dict[int, dict[str, float | None]]:
    """The embedded judge's scores by clip and criterion."""

    async def judged() -> dict[int, dict[str, float | None]]:
        chains = judge_chains(RulesJudge(), [clip_chain(run, clips_of(run), RUBRICS)])
        return {
            judgement.subject.focus[0].index: dict(judgement.verdict.scores)
            async for chain in chains
            for judgement in chain
        }

    return asyncio.run(judged())


def clip_score(scores: Mapping[str, float | None]) -> float:
    return fmean(score for score in scores.values() if score is not None)


def overall(run: Trajectory) -> float:
    tools = {clip.index: clip.tool_type for clip in clips_of(run)}
    rows = [
        {
            "trajectory_id": run.id,
            "clip_index": index,
            "tool_type": tools[index],
            "criterion": criterion,
            "mean": score,
        }
        for index, scores in clip_scores(run).items()
        for criterion, score in scores.items()
    ]
    found = mean_over_clips(tool_averages(rows))
    assert found is not None
    return found


@given(runs(), st.data())
@settings(max_examples=300)
def test_a_failing_call_raises_no_score(run: Trajectory, data: st.DataObject) -> None:
    steps = list(run.steps)
    worked = [at for at, step in enumerate(steps) if step.call and step.result and step.result.error is None]
    if not worked:
        return
    position = data.draw(st.sampled_from(worked))
    before = steps[position]
    assert before.result is not None
    error = data.draw(st.sampled_from(ERRORS))
    failing = with_step(run, position, replace(before, result=replace(before.result, error=error)))
    index = sum(step.call is not None for step in steps[:position])
    scores, now = clip_scores(run), clip_scores(failing)
    assert clip_score(now[index]) <= clip_score(scores[index]) + 1e-9
    assert all(clip_score(now[other]) <= clip_score(each) + 1e-9 for other, each in scores.items() if is_scored(each))
    assert overall(failing) <= overall(run) + 1e-9


def is_scored(scores: Mapping[str, float | None]) -> bool:
    """Whether a clip was scored at all."""
    return any(score is not None for score in scores.values())


@pytest.mark.parametrize("server", TOOLS)
@pytest.mark.parametrize("again", [False, True], ids=["new", "again"])
def test_a_clip_whose_result_is_a_failure_scores_no_higher(server: str, again: bool) -> None:
    """The result itself is another one, as in a real run: its words are those of the failure."""
    for query, later, content, error in product(
        ["print(1)", "print(1", '{"q": "value"}'],
        ["", "<think>That failed, so try again</think>"],
        ["42", "nothing of that kind", "value https://a.jp"],
        ERRORS,
    ):
        made = call(query, TOOLS[server], server)
        start = made + result("x") if again else ""
        end = later + call("print(2)", TOOLS[server], server) + result("y") + answer("beta")
        worked, failed = (
            clip_score(clip_scores(run_of(start + made + result(text) + end, "value"))[int(again)])
            for text in (content, f"Error: {error}")
        )
        assert failed <= worked + 1e-9, (query, later, content, error)
