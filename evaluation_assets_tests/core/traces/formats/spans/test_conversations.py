"""Turns of a conversation in several traces, and history that a trace repeats."""

from pathlib import Path
from typing import Any

import pytest
from upath import UPath

from evaluation_assets.core.intake.drops import one_file
from evaluation_assets.core.traces.formats.import_report import ImportReport, ImportSummary
from evaluation_assets.core.traces.formats.registry import format_of
from evaluation_assets_tests.core.traces.formats.reading import calls_of, check, trajectories
from evaluation_assets_tests.core.traces.formats.spans.making import asked_for, chat, otlp, returned, said, span

FIRST = [said("user", "Order 17?"), asked_for("c1", "look_up", order=17), returned("c1", "late")]
ANSWER = said("assistant", "It is late.")
SECOND = [*FIRST, ANSWER, said("user", "Order 18?")]


def summary_of(path: Path) -> ImportSummary:
    """The import report of a file."""
    files = one_file(UPath(path)).sources
    report = ImportReport()
    list(report.read(format_of(files), files))
    return report.summary


def first_turn(more: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        span("m1", chat(FIRST[:1], [asked_for("c1", "look_up", order=17)], **more), start=1),
        span("m2", chat(FIRST, [ANSWER], **more), start=3),
    ]


def second_turn(more: dict[str, Any], start: int = 10) -> list[dict[str, Any]]:
    last = [*SECOND, asked_for("c2", "look_up", order=18), returned("c2", "sent")]
    return [
        span("m3", chat(SECOND, [asked_for("c2", "look_up", order=18)], **more), start=start, trace="t2"),
        span("m4", chat(last, [said("assistant", "It is sent.")], **more), start=start + 2, trace="t2"),
    ]


def test_traces_of_a_conversation_are_one_trajectory_in_time_order(tmp_path: Path) -> None:
    one = {"gen_ai.conversation.id": "conversation"}
    path = otlp(tmp_path / "spans.jsonl", *second_turn(one), *first_turn(one))
    (run,) = trajectories(path)
    check(run)
    assert [turn.user_message for turn in run.turns] == ["Order 17?", "Order 18?"]
    assert calls_of(run) == [("look_up", {"order": 17}, "late"), ("look_up", {"order": 18}, "sent")]
    assert (run.id, run.extra["trace_ids"]) == ("t1", ["t1", "t2"])
    assert run.duration_s == 6.0  # without the six seconds in which the user thought
    assert summary_of(path).trust == "complete"


def test_traces_of_a_conversation_in_two_files_are_joined(tmp_path: Path) -> None:
    otlp(tmp_path / "a.jsonl", *first_turn({"session.id": "s"}))
    otlp(tmp_path / "b.jsonl", *second_turn({"session.id": "s"}))
    (run,) = trajectories(tmp_path)
    assert len(run.turns) == 2


def test_traces_of_a_session_that_overlap_are_no_conversation(tmp_path: Path) -> None:
    path = otlp(tmp_path / "spans.jsonl", *first_turn({"session.id": "s"}), *second_turn({"session.id": "s"}, start=2))
    assert len(trajectories(path)) == 2


def test_history_without_a_conversation_id_is_context(tmp_path: Path) -> None:
    first, second = trajectories(otlp(tmp_path / "spans.jsonl", *first_turn({}), *second_turn({})))
    assert calls_of(first) == [("look_up", {"order": 17}, "late")]
    assert calls_of(second) == [("look_up", {"order": 18}, "sent")]
    (turn,) = second.turns
    assert turn.user_message == second.task == "Order 18?"
    assert turn.knowledge is not None and "late" in turn.knowledge and "It is late." in turn.knowledge
    assert "It is late." not in second.text
    assert summary_of(tmp_path / "spans.jsonl").trust == "complete"


def test_calls_of_a_turn_that_is_not_in_the_drop_are_named(tmp_path: Path) -> None:
    summary = summary_of(otlp(tmp_path / "spans.jsonl", *second_turn({})))
    assert (summary.calls, summary.earlier_calls, summary.calls_in_source) == (1, 1, 2)
    assert (summary.calls_not_read, summary.trust) == (0, "partial")
    assert "1 call of earlier turns" in summary.sentence


def test_a_call_that_only_the_next_request_shows_is_a_call(tmp_path: Path) -> None:
    spans = [span("m1", chat(FIRST[:1], [said("assistant", "I look.")])), span("m2", chat(FIRST, [ANSWER]), start=2)]
    (run,) = trajectories(otlp(tmp_path / "spans.jsonl", *spans))
    assert calls_of(run) == [("look_up", {"order": 17}, "late")]


def test_parallel_calls_that_the_history_has_one_by_one_are_not_made_again(tmp_path: Path) -> None:
    calls = [asked_for("c1", "look_up", order=17), asked_for("c2", "look_up", order=18)]
    both = {"role": "assistant", "parts": [part for call in calls for part in call["parts"]]}
    results = [returned("c1", "late"), returned("c2", "sent")]
    spans = [
        span("m1", chat(FIRST[:1], [both])),
        span("m2", chat([FIRST[0], *calls, *results], [said("assistant", "One is late.")]), start=2),
    ]
    path = otlp(tmp_path / "spans.jsonl", *spans)
    (run,) = trajectories(path)
    assert calls_of(run) == [("look_up", {"order": 17}, "late"), ("look_up", {"order": 18}, "sent")]
    assert summary_of(path).trust == "complete"


def test_calls_without_an_id_in_the_history_are_not_made_again(tmp_path: Path) -> None:
    call = asked_for(None, "look_up", order=17)
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look_up", "gen_ai.tool.call.result": "late"}
    spans = [
        span("m1", chat(FIRST[:1], [call])),
        span("tool", tool, start=2),
        span("m2", chat([FIRST[0], asked_for("c1", "look_up", order=17)], [ANSWER]), start=4),
    ]
    (run,) = trajectories(otlp(tmp_path / "spans.jsonl", *spans))
    assert calls_of(run) == [("look_up", {"order": 17}, "late")]


def test_a_user_who_says_the_same_twice_has_two_turns(tmp_path: Path) -> None:
    yes = said("user", "yes")
    spans = [
        span("m1", chat([yes], [said("assistant", "Sure?")])),
        span("m2", chat([yes, said("assistant", "Sure?"), yes], [said("assistant", "Done.")]), start=2),
    ]
    (run,) = trajectories(otlp(tmp_path / "spans.jsonl", *spans))
    assert [turn.user_message for turn in run.turns] == ["yes", "yes"]


@pytest.mark.parametrize("prompt", ["Weather?", "Answer in short: Weather?"])
def test_what_a_prompt_is_made_of_is_no_result(tmp_path: Path, prompt: str) -> None:
    root = {"gen_ai.operation.name": "invoke_agent", "input.value": '{"q": "Weather?", "language": "en"}'}
    spans = [
        span("agent", root, end=9),
        span("model", chat([said("user", prompt)], [said("assistant", "20.")]), parent="agent", start=1),
    ]
    (run,) = trajectories(otlp(tmp_path / "t.jsonl", *spans))
    assert ([step.result for step in run.steps], run.final_answer) == ([None], "20.")


def test_a_request_that_broke_is_of_the_agent_that_made_it(tmp_path: Path) -> None:
    def agent(name: str, **more: Any) -> dict[str, Any]:
        return span(name, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}, **more)

    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "ask", "gen_ai.tool.call.id": "c1"}
    asked = [said("user", "Order 17?")]
    spans = [
        agent("manager", end=9),
        span("m1", chat(asked, [asked_for("c1", "ask")]), parent="manager", start=1),
        span("ask", tool, parent="manager", start=2, end=5),
        agent("clerk", parent="ask", start=3, end=4),
        span("m2", chat([said("user", "17?")], [said("assistant", "late")]), parent="clerk", start=3),
        span(
            "m3",
            chat([*asked, asked_for("c1", "ask"), returned("c1", "late")], []),
            parent="manager",
            start=6,
            error="429",
        ),
        span("m4", chat([*asked, asked_for("c1", "ask"), returned("c1", "late")], [ANSWER]), parent="manager", start=8),
    ]
    (run,) = trajectories(otlp(tmp_path / "t.jsonl", *spans))
    check(run)
    broke = [
        (one.agent_id, step.result.error)
        for one in run.turns[0].interactions
        for step in one.steps
        if step.result and step.result.error
    ]
    assert broke == [("manager", "429")]


@pytest.mark.parametrize(
    ("result", "answer"),
    [({"error": "no trains"}, None), ({}, None), ({"gen_ai.tool.call.result": "There is one at nine."}, "At nine.")],
)
def test_the_last_words_of_an_agent_in_a_tool_answer_nobody_but_its_caller(
    tmp_path: Path, result: dict[str, Any], answer: str | None
) -> None:
    """The last result has what the agent said: the tool's result is the answer, as with `return_direct`."""
    words = answer or "There is one, but"
    result = {key: value if answer is None else words for key, value in result.items()}
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "ask_rail", "gen_ai.tool.call.id": "c1"}
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "rail"}
    asked = [said("user", "Plan a trip.")]
    path = otlp(
        tmp_path / "trip.jsonl",
        span("root", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"}, end=9),
        span("m1", chat(asked, [asked_for("c1", "ask_rail", when="noon")]), start=1, parent="root"),
        span("tool", {**tool, **result}, start=2, end=8, parent="root", error=result.get("error")),
        span("sub", agent, start=3, end=7, parent="tool"),
        span("m2", chat([said("user", "noon")], [said("assistant", words)]), start=4, parent="sub"),
    )
    (run,) = trajectories(path)
    assert (run.final_answer, run.flags) == (answer, () if answer else ("no_answer",))
