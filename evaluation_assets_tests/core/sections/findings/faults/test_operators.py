"""Planted faults: what changes, what stays, and what does not fit a run."""

from random import Random

import pytest
from hypothesis import example, given, note
from hypothesis import strategies as st

from evaluation_assets.core.sections.findings.detecting import detected
from evaluation_assets.core.sections.findings.detectors.registry import DETECTORS
from evaluation_assets.core.sections.findings.evidence.course import Course
from evaluation_assets.core.sections.findings.faults.operator import INJECTED, NotApplicable, Pair, injected
from evaluation_assets.core.sections.findings.faults.registry import OPERATORS
from evaluation_assets.core.sections.findings.faults.values import other_value, values_in
from evaluation_assets.core.sections.findings.kinds import kinds
from evaluation_assets.core.traces.formats.readers.canonical import line_of, trajectory_of
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Event, Result, Said, total, written
from evaluation_assets.core.traces.formats.writers import atif as atif_writer
from evaluation_assets.core.traces.formats.writers import openai_messages as openai_writer
from evaluation_assets.core.traces.trajectories.model import Agent, Tool, Trajectory, Usage
from evaluation_assets_tests.core.making import answer, call, result, tagged_texts
from evaluation_assets_tests.core.making import trajectory as tagged
from evaluation_assets_tests.core.sections.findings.finding import asked
from evaluation_assets_tests.core.sections.findings.finding import run as session
from evaluation_assets_tests.core.sections.sessions.making import call as call_of_session
from evaluation_assets_tests.core.traces.formats.writers.test_writers import read_back, said_in

FAULTS = [name for name, operator in OPERATORS.items() if not operator.is_control]
CONTROLS = [name for name, operator in OPERATORS.items() if operator.is_control]

facts = st.sampled_from(("ORD-1234", "2024-05-20", "1,250", "London", "Paris", "JFK", "SEA", "10:30", "ok", "订单 77"))
texts = st.lists(facts, min_size=1, max_size=4).map(" and ".join)
tools = st.sampled_from(("get_order", "cancel_order", "search"))
values = texts | facts | st.integers(10, 5000) | st.booleans()
usages = st.none() | st.builds(Usage, input_tokens=st.integers(1, 99), output_tokens=st.integers(1, 99))
arguments = st.dictionaries(st.sampled_from("abc"), values, max_size=3) | texts
texts_or_none = st.none() | texts


@st.composite
def turns(draw: st.DrawFn) -> list[Event]:
    """A user's message, and what an agent says and calls."""
    events: list[Event] = [Asked(text=draw(texts))]
    for number in range(draw(st.integers(0, 3))):
        calls = tuple(
            Call(
                name=draw(tools),
                arguments=draw(arguments),
                id=draw(st.none() | st.just(f"{number}-{index}")),
            )
            for index in range(draw(st.integers(0, 2)))
        )
        said = Said(
            agent_id=draw(st.sampled_from(("one", "two"))),
            thought=draw(texts_or_none),
            message=draw(texts if not calls else texts_or_none),
            calls=calls,
            latency_ms=draw(st.none() | st.just(20.0)),
            usage=draw(usages),
        )
        results = [Result(content=draw(texts), call_id=each.id) for each in calls if draw(st.booleans())]
        events += [said, *results]
    return events


@st.composite
def runs(draw: st.DrawFn) -> Trajectory:
    """Any run of a structured source, full of values that its parts share."""
    text, made = written([event for _ in range(draw(st.integers(1, 3))) for event in draw(turns())])
    steps = [step for turn in made for part in turn.interactions for step in part.steps]
    answers = [part.response for turn in made for part in turn.interactions if part.response]
    return Trajectory(
        id=draw(st.sampled_from(("run 1", "run 2"))),
        task_id="task",
        format="atif",
        task=made[0].user_message or "",
        text=text,
        turns=made,
        agents=tuple(Agent(id=name, tools=(Tool(name="other_tool"),)) for name in ("one", "two")),
        final_answer=answers[-1] if answers and draw(st.booleans()) else None,
        success=True,
        duration_s=draw(st.none() | st.just(60.0)),
        usage=total(step.usage for step in steps),
        labels={"reward": 1},
    )


def contents(run: Trajectory) -> list[tuple[str, ...]]:
    """What each step holds."""
    return [
        (
            run.piece(step.thought),
            run.piece(step.message),
            "" if step.call is None else step.call.name,
            "" if step.call is None else run.piece(step.call.raw),
            "" if step.result is None else run.piece(step.result.content),
        )
        for step in run.steps
    ]


def pair(run: Trajectory, name: str, seed: int = 0) -> Pair:
    return injected(run, OPERATORS[name], seed)


def check(run: Trajectory, name: str, seed: int) -> Pair | None:
    """The pair of a run, which is valid and deterministic; `None` where the operator says that it does not fit."""
    note(f"operator: {name}")
    try:
        found = pair(run, name, seed)
    except NotApplicable as reason:
        assert str(reason)
        return None
    again = pair(run, name, seed)
    assert (again.changed, again.place) == (found.changed, found.place)
    assert found.original is run
    changed = found.changed
    assert trajectory_of(line_of(changed)) == changed, "a reader of the canonical format takes it as it is"
    assert changed != run
    assert (changed.id, changed.task_id) == (f"{run.id}~{name}", run.task_id)
    assert changed.labels[INJECTED]["of"] == run.id
    assert changed.labels[INJECTED]["kind"] == OPERATORS[name].kind
    ends = [0, *(step.end for step in changed.steps)]
    assert ends[-1] <= len(changed.text)
    for usage in (changed.usage, *(step.usage for step in changed.steps)):
        assert usage is None or (usage.input_tokens or 0) >= 0
    return found


@given(run=runs(), seed=st.integers(0, 3))
def test_a_changed_run_is_a_run_and_the_rest_of_it_stays(run: Trajectory, seed: int) -> None:
    """All operators change the same run: making it takes 20 times as long as changing it."""
    for name in OPERATORS:
        found = check(run, name, seed)
        if found is not None:
            check_the_rest(run, name, found)


def check_the_rest(run: Trajectory, name: str, found: Pair) -> None:
    before, after = contents(run), contents(found.changed)
    if name in ("repeated_call", "dropped_call"):
        whole, part = (after, before) if name == "repeated_call" else (before, after)
        gap = next((at for at, (one, other) in enumerate(zip(whole, part, strict=False)) if one != other), len(part))
        if len(whole) == len(part):
            assert whole[gap][:2] == part[gap][:2], "reasoning and message stay"
            assert whole[gap + 1 :] == part[gap + 1 :]
        else:
            assert whole[gap + 1 :] == part[gap:]
    elif name.startswith("cut_off"):
        assert after == before[: len(after)]
        assert run.text.startswith(found.changed.text)
        assert found.changed.final_answer is None
    else:
        differ = [at for at, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
        assert len(before) == len(after)
        if name in FAULTS or name == "polite_ending":
            assert len(differ) == 1
            (place,) = [at for at in Course(found.changed).steps if at.order == differ[0]]
            assert (place.turn, place.interaction, place.number) == (
                found.place.turn,
                found.place.interaction,
                found.place.step,
            )


@given(run=runs(), seed=st.integers(0, 3))
def test_totals_follow_the_steps(run: Trajectory, seed: int) -> None:
    for name in ("repeated_call", "dropped_call", "cut_off_midway", "cut_off_at_user"):
        found = check(run, name, seed)
        if found is not None and found.changed.usage is not None:
            steps = [step.usage.input_tokens or 0 for step in found.changed.steps if step.usage]
            assert found.changed.usage.input_tokens == sum(steps)


@given(run=runs())
def test_a_changed_run_goes_through_the_writers(tmp_path_factory: pytest.TempPathFactory, run: Trajectory) -> None:
    folder = tmp_path_factory.mktemp("written")
    for name in OPERATORS:
        found = check(run, name, 0)
        if found is None or not found.changed.calls:
            continue
        back = read_back(folder, atif_writer.document(found.changed), "atif")
        assert [part for turn in said_in(back) for part in turn[2]] == [
            part for turn in said_in(found.changed) for part in turn[2]
        ]
        messages = openai_writer.record(found.changed)["messages"]
        assert sum(len(message.get("tool_calls", ())) for message in messages) == len(found.changed.calls)


@given(text=tagged_texts.filter(str.strip))
@example(text="<microsandbox><think><result><think></result><think>")
def test_texts_of_tags_in_any_order_have_valid_faults(text: str) -> None:
    run = tagged(text)
    for name in OPERATORS:
        check(run, name, 0)


@given(run=runs())
def test_controls_mean_the_same(run: Trajectory) -> None:
    for name in CONTROLS:
        found = check(run, name, 0)
        if found is None:
            continue
        calls = [(step.call.name, run.arguments(step.call)) for step in run.calls if step.call]
        after = [(step.call.name, found.changed.arguments(step.call)) for step in found.changed.calls if step.call]
        assert calls == after
        assert found.changed.success is True
        assert found.changed.labels["reward"] == 1


def test_an_answer_that_is_also_an_argument_is_changed_where_it_was_said() -> None:
    looked_up = Call(name="get_order", arguments={"a": "ORD-1234"}, id="1")
    said = [Said(agent_id="one", message="ORD-1234"), Said(agent_id="one", calls=(looked_up,))]
    text, turns = written([Asked(text="Which order?"), *said])
    run = Trajectory(id="run", task_id="task", task="", format="atif", text=text, turns=turns, final_answer="ORD-1234")
    changed = OPERATORS["polite_ending"].change(run, Random(0)).trajectory
    assert [changed.arguments(step.call) for step in changed.calls if step.call] == [{"a": "ORD-1234"}]
    assert [changed.piece(step.message) for step in changed.steps if step.message] == [changed.final_answer]
    assert changed.final_answer != "ORD-1234"


ORDER = tagged(
    "<think>Look it up.</think>"
    + call('{"order": "ORD-1234", "day": "2024-05-20"}', "get_order")
    + result("ORD-1234 costs 1,250 and goes to London from Paris")
    + "<think>Cancel it.</think>"
    + call('{"order": "ORD-1234"}', "cancel_order")
    + result("cancelled")
    + answer("Your order of 1,250 to London is cancelled."),
    final_result="Your order of 1,250 to London is cancelled.",
)


def test_a_wrong_argument_is_in_no_other_place() -> None:
    found = pair(ORDER, "wrong_argument")
    span = found.place.span
    assert span is not None
    new = found.changed.text[slice(*span)]
    assert new not in ORDER.text
    assert found.changed.text[: span[0]] == ORDER.text[: span[0]]
    assert found.changed.text.count("ORD-1234") == ORDER.text.count("ORD-1234") - 1


def test_a_repeated_call_has_its_result_again_and_no_reasoning() -> None:
    found = pair(ORDER, "repeated_call")
    assert len(found.changed.calls) == 3
    copy = next(at.step for at in Course(found.changed).steps if at.number == found.place.step)
    assert copy.thought is None
    assert found.changed.text[copy.start : copy.end].startswith("<microsandbox>")


def test_a_dropped_call_leaves_the_claim() -> None:
    found = pair(ORDER, "dropped_call")
    assert [step.call.name for step in found.changed.calls if step.call] == ["get_order"]
    assert "cancel_order" not in found.changed.text
    assert "Cancel it." in found.changed.text
    assert found.changed.final_answer == ORDER.final_answer


def test_an_ignored_error_is_an_error() -> None:
    found = pair(ORDER, "ignored_error")
    (failed,) = [step for step in found.changed.calls if step.result and step.result.error]
    assert failed.result is not None
    assert found.changed.piece(failed.result.content).startswith("Error: ")


def test_a_swapped_tool_is_named_in_the_text() -> None:
    found = pair(ORDER, "swapped_tool")
    names = [step.call.name for step in found.changed.calls if step.call]
    assert len(set(names)) == 1
    assert found.changed.text.count(f"<{names[0]}>") == found.changed.text.count(f"</{names[0]}>") == 2


def test_the_answer_is_changed_wherever_it_is() -> None:
    found = pair(ORDER, "contradicting_figure")
    assert found.changed.final_answer != ORDER.final_answer
    assert f"<answer>{found.changed.final_answer}</answer>" in found.changed.text
    claim = pair(ORDER, "unsupported_claim").changed
    assert claim.final_answer is not None
    assert claim.final_answer.startswith("Your order of 1,250 to London is cancelled. ")
    assert claim.final_answer in claim.text


def test_a_planted_fault_takes_the_recorded_outcome_away() -> None:
    run = tagged(answer("42") + "", success=True, final_result="42")
    found = pair(run, "unsupported_claim")
    assert (run.success, found.changed.success) == (True, None)
    assert pair(run, "polite_ending").changed.success is True


def test_a_run_without_a_call_says_so() -> None:
    run = tagged("<think>Hm.</think>" + answer("yes"))
    for name in ("wrong_argument", "repeated_call", "ignored_error", "dropped_call", "swapped_tool"):
        with pytest.raises(NotApplicable, match=r"no .*call"):
            pair(run, name)
    with pytest.raises(NotApplicable, match="no number, date or ID"):
        pair(run, "contradicting_figure")


def test_a_name_is_what_stands_in_the_middle_of_a_sentence() -> None:
    found = call("{}") + result("We fly from London to Paris. However, flights are full. Would you wait?")
    run = tagged(found + answer("Would you fly to Paris? However, it is late."))
    assert pair(run, "contradicting_name").changed.final_answer == "Would you fly to London? However, it is late."
    with pytest.raises(NotApplicable, match="no name in the answer"):
        pair(tagged(found + answer("However. Would you wait?")), "contradicting_name")
    with pytest.raises(NotApplicable, match="no number, date or ID"):
        pair(run, "contradicting_figure")


def test_an_answer_in_chinese_gets_a_sentence_in_chinese() -> None:
    run = tagged(call("{}") + result("好") + answer("我已经为您取消了订单，谢谢您的耐心等待。"))
    assert pair(run, "polite_ending").changed.text.count("如果还有其他问题") == 1


@pytest.mark.parametrize("name", ["unsupported_claim", "unperformed_claim", "unkept_promise"])
@pytest.mark.parametrize("said", ["Your order costs 1,250.", "我已经为您看到了这把椅子的价格。"])
def test_an_added_sentence_is_told_by_its_kind_alone(name: str, said: str) -> None:
    looked_up = call_of_session("get_price", '{"price": "1,250"}', item="chair")
    original = session(asked("What is the price?", looked_up, answer=said))
    assert detected(original) == []
    copies = [pair(original, name, seed).changed for seed in range(8)]
    assert {finding.kind for changed in copies for finding in detected(changed)} == {OPERATORS[name].kind}


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("ORD-1234 on 2024-05-20 for 1,250", [("ID", "ORD-1234"), ("date", "2024-05-20"), ("number", "1,250")]),
        ("mia_li_3668 flies JFK", [("ID", "mia_li_3668"), ("code", "JFK")]),
        ("the 20th, 1. and 2", []),
        ("New York at 10:30", [("name", "New York"), ("number", "10:30")]),
    ],
)
def test_values_have_types(text: str, types: list[tuple[str, str]]) -> None:
    assert [found for found in values_in(text) if found[0] in {each[0] for each in types}] == types


def test_another_value_is_of_the_same_type_and_new() -> None:
    text = "ORD-1234 2024-05-20 1,250 10:30 London, Paris, You and you"
    for type_, value in values_in(text):
        if type_ in ("date", "ID", "number"):
            for seed in range(20):
                other = other_value(type_, value, Random(seed), text)
                assert other is not None
                assert other not in text
                assert len(other) == len(value)
    assert {other_value("name", "London", Random(seed), text) for seed in range(20)} == {"Paris"}


def test_every_operator_but_two_fits_one_run() -> None:
    """It has no IDs of calls, and no later message of a user."""
    fits = set()
    for name in OPERATORS:
        try:
            pair(ORDER, name)
        except NotApplicable:
            continue
        fits.add(name)
    assert set(OPERATORS) - fits == {"cut_off_at_user", "call_ids"}


def test_every_fault_is_told_by_a_kind_that_a_detector_declares() -> None:
    declared = {kind for detector in DETECTORS for kind in detector.kinds}
    for operator in OPERATORS.values():
        assert operator.kinds <= kinds().keys(), operator.name
        assert operator.is_control or not operator.kinds.isdisjoint(declared), operator.name
