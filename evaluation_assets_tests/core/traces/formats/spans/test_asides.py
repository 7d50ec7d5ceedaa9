"""Model calls beside the agent's work, and spans of tools that lost their place."""

from pathlib import Path

import pytest

from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.traces.formats.reading import calls_of, read
from evaluation_assets_tests.core.traces.formats.spans.making import asked_for, chat, otlp, returned, said, span

ASKED, ANSWER = "How warm is it in Vinh?", "It is 28 degrees in Vinh."
USED = {"gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 10}


def run_with(path: Path, *others: dict[str, object]) -> Trajectory:
    """A run that calls a tool and answers, with other spans in its trace."""
    called = asked_for("c1", "weather", city="Vinh")
    history = [said("user", ASKED), called, returned("c1", "28 C")]
    spans = [
        span("agent", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "guide"}, end=20),
        span("ask", chat([said("user", ASKED)], [called], **USED), start=2, parent="agent"),
        span("answer", chat(history, [said("assistant", ANSWER)], **USED), start=6, parent="agent"),
        *others,
    ]
    (run,) = read(otlp(path / "trace.jsonl", *spans))
    assert isinstance(run, Trajectory)
    return run


@pytest.mark.parametrize("start", [1, 9])
@pytest.mark.parametrize(
    ("prompt", "said_back", "more"),
    [
        ("Generate a concise title of 3 to 5 words for this conversation.", "Weather in Vinh", {}),
        ("You are a title generator. You output ONLY a thread title. Nothing else.", "Weather in Vinh", {}),
        ("Suggest tags that categorise the themes of the chat history.", '{"tags": ["weather"]}', {}),
        ("Suggest three follow-up questions that the user might ask next.", '["And tomorrow?"]', {}),
        ("Extract facts to remember about the user, as JSON.", '{"facts": ["travels"]}', {}),
        ("Summarize the conversation so far.", "The user asks about Vinh.", {}),
        ("Is this text allowed?", "safe", {"gen_ai.request.model": "meta-llama/Llama-Guard-4-12B"}),
        ("Is this text allowed?", "no", {"gen_ai.request.model": "omni-moderation-latest"}),
    ],
)
def test_titles_tags_and_checks_of_a_conversation_are_not_its_work(
    tmp_path: Path, prompt: str, said_back: str, more: dict[str, str], start: int
) -> None:
    inputs = [said("system", prompt), said("user", f"<chat_history>{ASKED}</chat_history>")]
    beside = span("beside", chat(inputs, [said("assistant", said_back)], **USED, **more), start=start, parent="agent")
    run = run_with(tmp_path, beside)
    assert (run.task, run.final_answer, len(run.turns)) == (ASKED, ANSWER, 1)
    assert said_back not in run.text
    assert run.usage is not None and run.usage.input_tokens == 300, "they are paid for"


@pytest.mark.parametrize(
    "prompt",
    [
        "Write your answer in <answer> tags in this chat.",
        "You are a guide. Ask follow-up questions if it is unclear what the user may want.",
        f"You are a guide. {'Be brief. ' * 20}Generate three follow-up questions that the user might ask next.",
        "Provide facts on cities. Remember what was said in the conversation.",
    ],
)
def test_prompts_of_agents_that_speak_of_such_things_are_no_asides(tmp_path: Path, prompt: str) -> None:
    asked = [said("system", prompt), said("user", ASKED)]
    run = run_with(tmp_path, span("last", chat(asked, [said("assistant", "Warm.")]), start=9, parent="agent"))
    assert run.final_answer == "Warm."


def test_an_agent_that_is_asked_for_a_title_or_has_tools_is_at_work(tmp_path: Path) -> None:
    asked = "Write a title for the conversation between the two kings."
    alone = span("ask", chat([said("user", asked)], [said("assistant", "Two Crowns")]))
    (run,) = read(otlp(tmp_path / "alone.jsonl", alone))
    assert isinstance(run, Trajectory) and run.final_answer == "Two Crowns"
    calls = asked_for("c2", "save_title", title="Two Crowns")
    with_tool = span("title", chat([said("user", asked)], [calls]), start=9, parent="agent")
    assert [name for name, *_ in calls_of(run_with(tmp_path, with_tool))] == ["weather", "save_title"]


@pytest.mark.parametrize("start", [3, 9])
def test_a_tool_span_without_its_parent_belongs_to_the_call_that_it_names(tmp_path: Path, start: int) -> None:
    ran = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "weather",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.result": "28 C",
    }
    run = run_with(tmp_path, span("tool", ran, start=start, parent="lost"))
    assert [name for name, *_ in calls_of(run)] == ["weather"]
    assert (run.final_answer, [agent.id for agent in run.agents]) == (ANSWER, ["guide"])


@pytest.mark.parametrize("kind", ["GUARDRAIL", "EVALUATOR"])
@pytest.mark.parametrize("start", [1, 9])
def test_guards_and_evaluators_in_a_trace_are_not_its_work(tmp_path: Path, kind: str, start: int) -> None:
    look = span("look", {"openinference.span.kind": kind, "input.value": ANSWER}, start=start, parent="agent")
    asked, told = [said("user", f"Is it good? {ANSWER}")], [said("assistant", "fine")]
    run = run_with(tmp_path, look, span("judge", chat(asked, told, **USED), start=start, parent="look"))
    assert (run.task, run.final_answer, len(run.turns), "fine" in run.text) == (ASKED, ANSWER, 1, False)


def test_a_trace_of_an_evaluator_alone_is_rejected(tmp_path: Path) -> None:
    look = span("look", {"openinference.span.kind": "EVALUATOR"})
    judge = span("judge", chat([said("user", "Is it good?")], [said("assistant", "fine")]), parent="look")
    (rejection,) = read(otlp(tmp_path / "trace.jsonl", look, judge))
    assert isinstance(rejection, Rejection) and "looks at the work of others" in rejection.detail


CHAIN = {"openinference.span.kind": "CHAIN", "input.value": ASKED, "output.value": ANSWER}
FOUND = {"openinference.span.kind": "RETRIEVER", "input.value": ASKED, "output.value": "Vinh: 28 C"}


@pytest.mark.parametrize(
    "prompt", [ASKED, f"Answer from the context.\n\nContext: Vinh: 28 C\n\nQuestion: {ASKED}\nAnswer:"]
)
def test_what_a_chain_is_asked_comes_before_what_it_retrieves(tmp_path: Path, prompt: str) -> None:
    rewritten = chat([said("user", f"Make a query of this: {ASKED}")], [said("assistant", "Vinh weather")])
    answered = chat([said("system", "Be brief."), said("user", prompt)], [said("assistant", ANSWER)])
    for spans in ([], [span("rewrite", rewritten, start=1, parent="chain")]):
        steps = [span("retrieve", FOUND, start=2, parent="chain"), span("answer", answered, start=4, parent="chain")]
        (run,) = read(otlp(tmp_path / "trace.jsonl", span("chain", CHAIN, end=9), *spans, *steps))
        assert isinstance(run, Trajectory)
        assert (run.task, run.final_answer, len(run.turns)) == (ASKED, ANSWER, 1)
        assert run.text.index(ASKED) < run.text.index("Vinh: 28 C")


def test_turns_of_a_dialogue_in_one_chain_stay_turns(tmp_path: Path) -> None:
    first = [said("user", ASKED)]
    second = [*first, said("assistant", ANSWER), said("user", "And in Hue, is it as warm there?")]
    spans = [
        span("chain", CHAIN, end=9),
        span("one", chat(first, [said("assistant", ANSWER)]), start=1, parent="chain"),
        span("two", chat(second, [said("assistant", "Hue has 31.")]), start=3, parent="chain"),
    ]
    (run,) = read(otlp(tmp_path / "trace.jsonl", *spans))
    assert isinstance(run, Trajectory)
    assert [turn.user_message for turn in run.turns] == [ASKED, "And in Hue, is it as warm there?"]
