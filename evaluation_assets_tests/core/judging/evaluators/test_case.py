"""What metrics of other packages see of the subjects of each level."""

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.judging.evaluators.case import Case, CaseCall, case_of, shown
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.session_subjects import session_chain
from evaluation_assets.core.judging.subjects import Chain, category_chain, clip_chain, trajectory_chain
from evaluation_assets_tests.core.judging.evaluators.judging import ANSWER, REFERENCE, TASK, run_of
from evaluation_assets_tests.core.sections.sessions.making import call, part, session, turn

RUBRICS = load_rubrics()
LOOK_UP = CaseCall(name="look_up", arguments={"item": "A3"}, result='{"stock": 3}')
SESSION = session(
    turn("How many of A3?", part("clerk", "Three.", call("look_up", '{"stock": 3}', item="A3"))),
    turn("And of A4?", part("clerk", "None.")),
)


def cases(chain: Chain) -> dict[str, Case]:
    return {subject.name: case_of(subject) for subject in chain.subjects}


def roles(case: Case) -> list[str]:
    return [message["role"] for message in case.messages]


def test_a_trajectory_and_its_answer() -> None:
    run = run_of()
    found = cases(trajectory_chain(run, clips_of(run), RUBRICS))
    assert list(found) == ["trajectory", "answer"]
    for case in found.values():
        assert (case.input, case.output, case.expected, case.calls) == (TASK, ANSWER, REFERENCE, (LOOK_UP,))
        assert case.context == ('{"stock": 3}',)
        assert roles(case) == ["user", "assistant", "tool", "assistant"]
        assert (case.messages[0]["content"], case.messages[-1]["content"]) == (TASK, ANSWER)


def test_a_clip_and_a_category_are_their_text() -> None:
    run = run_of()
    clips = clips_of(run)
    (first, last) = cases(clip_chain(run, clips, RUBRICS)).values()
    assert (first.input, first.output, first.calls) == (TASK, clips[0].content, (LOOK_UP,))
    assert (last.output, last.calls) == (clips[1].content, ())
    (category,) = cases(category_chain(run, clips, RUBRICS)).values()
    assert category == first


def test_a_turn_and_an_interaction_are_what_was_asked_and_said_in_it() -> None:
    found = cases(session_chain(SESSION, RUBRICS))
    for name in ("turn/0", "turn/0/interaction/0"):
        assert (found[name].input, found[name].output, found[name].calls) == ("How many of A3?", "Three.", (LOOK_UP,))
    for name in ("turn/1", "turn/1/interaction/0"):
        assert (found[name].input, found[name].output, found[name].calls) == ("And of A4?", "None.", ())
    assert len(found["session"].calls) == 1
    assert [message["content"] for message in found["session"].messages if message["role"] == "user"] == [
        "How many of A3?",
        "And of A4?",
    ]


def test_every_text_of_a_case_is_shown_in_another_way() -> None:
    case = case_of(trajectory_chain(run_of(), [], RUBRICS).subjects[0])
    found = shown(case, lambda text: text.replace("A3", "X").replace("3", "Y"))
    assert (found.input, found.output) == ("How many of X are in stock?", "Three of X are in stock.")
    assert found.expected == "There are Y of X."
    assert found.calls == (CaseCall(name="look_up", arguments={"item": "X"}, result='{"stock": Y}'),)
    assert "A3" not in str(found.messages)
