"""Model calls beside the agent's work, and spans of tools that lost their place."""

from pathlib import Path

import pytest

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
