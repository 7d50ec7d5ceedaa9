"""A courtesy before or after an answer says nothing: the embedded judge gives every score as without it."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.judging.judge import judge_chains
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.rules.evidence import Evidence
from evaluation_assets.core.judging.rules.judge import RulesJudge
from evaluation_assets.core.judging.session_subjects import session_chain
from evaluation_assets.core.judging.subjects import category_chain, clip_chain, trajectory_chain
from evaluation_assets.core.traces.formats.transcript import Asked, Said, written
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.making import answer, call, result, trajectory
from evaluation_assets_tests.core.sections.sessions import making
from evaluation_assets_tests.core.suites.test_courtesies import COURTESIES

RUBRICS = load_rubrics()

Added = Callable[[str], str]
"""An answer with a courtesy."""

answers = st.sampled_from(
    [
        "Paris",
        "3776 m",
        "It is 3776 m high, as the survey says.",
        "**Alpha** (beta):\n- gamma",
        "The highest mountain of Japan is Mount Fuji, southwest of Tokyo",
        "I could not find the height",
        "Unfortunately, I was unable to complete the task.",
        "富士山海拔三千七百七十六米。",
        "線\n線\n線\n線",
        "Thank you for asking; the value is alpha.",
        "alpha beta gamma delta " * 86,
    ]
)
results = st.sampled_from(
    ["alpha beta gamma", "Mount Fuji is 3776 m high", "富士山海拔3776米", "thank you, have a good day"]
)
references = st.sampled_from([None, "Paris", "3776 m", "a day"])


@st.composite
def courtesies(draw: st.DrawFn) -> Added:
    before, after = (draw(st.lists(st.sampled_from(COURTESIES), max_size=2)) for _ in range(2))
    return lambda said: "\n".join([*before, said, *after])


def scores(run: Trajectory) -> dict[tuple[str, str, str], float | None]:
    """Every score by level, subject and criterion."""
    clips = clips_of(run)
    chains = [
        clip_chain(run, clips, RUBRICS),
        category_chain(run, clips, RUBRICS),
        trajectory_chain(run, clips, RUBRICS),
        session_chain(run, RUBRICS),
    ]

    async def judged() -> dict[tuple[str, str, str], float | None]:
        return {
            (each.subject.level, each.subject.name, criterion): score
            async for judgements in judge_chains(RulesJudge(), chains)
            for each in judgements
            for criterion, score in each.verdict.scores.items()
        }

    return asyncio.run(judged())


def of_one_task(returned: str, said: str, reference: str | None) -> Trajectory:
    text = call('{"query": "alpha"}', "research", "deepsearch") + result(returned) + answer(said)
    return trajectory(text, final_result=said, reference_answer=reference)


def dialogue(said: str, first: str) -> Trajectory:
    asked = making.turn("How high is Mount Fuji?", making.part("guide", first, making.call("look_up", "alpha 3776 m")))
    return making.session(asked, making.turn("And in alpha?", making.part("guide", said)))


@given(courtesies(), answers, results, references)
def test_a_courtesy_changes_no_score_of_a_run(added: Added, said: str, returned: str, reference: str | None) -> None:
    assert scores(of_one_task(returned, added(said), reference)) == scores(of_one_task(returned, said, reference))


@given(courtesies(), answers, answers)
def test_a_courtesy_changes_no_score_of_a_dialogue(added: Added, said: str, first: str) -> None:
    assert scores(dialogue(added(said), first)) == scores(dialogue(said, first))


@pytest.mark.parametrize("courtesy", COURTESIES)
def test_words_of_a_courtesy_neither_support_a_short_answer_nor_count_against_it(courtesy: str) -> None:
    plain = scores(of_one_task("The capital is Paris", "Paris", None))
    assert plain["trajectory", "trajectory", "reasoning_coherence"] == 0.8
    assert scores(of_one_task("The capital is Paris", f"Paris\n{courtesy}", None)) == plain
    assert scores(of_one_task("The capital is Paris", f"{courtesy}\nParis", None)) == plain


def test_an_answer_of_nothing_but_courtesies_has_no_words_to_trace() -> None:
    polite = scores(of_one_task("The capital is Paris", "You're welcome! Have a great day!", None))
    assert polite["trajectory", "trajectory", "reasoning_coherence"] is None
    assert polite["trajectory", "trajectory", "problem_resolution"] == 0.8, "there is an answer"


def test_a_courtesy_in_an_answer_that_a_message_ends_with_is_nothing_that_the_agent_wrote() -> None:
    text, turns = written([Asked(text="Which?"), Said(message="I looked.\n<answer>Gladly! Alpha is.</answer>")])
    run = Trajectory(id="r", task_id="r", format="made", task="Which?", text=text, turns=turns)
    assert Evidence(replace(run, final_answer="Gladly! Alpha is.")).written_words == [{"looked", "answer", "alpha"}]


def test_a_courtesy_may_be_the_right_answer() -> None:
    said = scores(of_one_task("Merci means thank you", "Thank you.", "thank you"))
    assert said["trajectory", "trajectory", "answer_correctness"] == 1
