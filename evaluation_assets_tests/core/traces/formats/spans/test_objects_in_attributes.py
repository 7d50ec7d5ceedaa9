"""Spans as objects whose attributes hold objects, and agents that Azure AI Foundry runs, without spans of a model."""

from pathlib import Path
from typing import Any

from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import calls_of, check, trajectories
from evaluation_assets_tests.core.traces.formats.spans.making import asked_for, returned, said

ARGUMENTS: JsonObject = {"order": 17, "with": {"items": ["state"]}}
ASKED = said("user", "Is order 17 paid?")


def exported(number: int, operation: str, inputs: list[Any], outputs: list[Any], **more: Any) -> JsonObject:
    """A span as the portal of Foundry shows it, and as exporters to a console write it."""
    messages = {"gen_ai.input.messages": inputs, "gen_ai.output.messages": outputs} if inputs else {}
    return {
        "name": f"{operation} {number}",
        "context": {"trace_id": "t" * 32, "span_id": f"{number:016}"},
        "parent_id": "f" * 16,
        "start_time": f"2026-06-25T07:02:0{number}.2963750Z",
        "end_time": f"2026-06-25T07:02:0{number}.581Z",
        "status": {"status_code": "Ok"},
        "attributes": {"gen_ai.operation.name": operation, **messages, **more},
        "events": [],
    }


def agent(number: int, name: str, inputs: list[Any], outputs: list[Any]) -> JsonObject:
    tokens = {"gen_ai.usage.input_tokens": 30, "gen_ai.usage.output_tokens": 5}
    named = {"gen_ai.agent.name": name, "gen_ai.request.model": "model-a"}
    return exported(number, "invoke_agent", [said("system", f"You are {name}."), *inputs], outputs, **named, **tokens)


def tool(number: int, parent: int) -> JsonObject:
    about = {
        "gen_ai.tool.name": "look_up",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.arguments": ARGUMENTS,
        "gen_ai.tool.call.result": {"orders": [{"state": "paid"}]},
    }
    return {**exported(number, "execute_tool", [], [], **about), "parent_id": f"{parent:016}"}


def test_agents_without_spans_of_their_model_say_what_was_said(tmp_path: Path) -> None:
    desk = agent(1, "desk", [ASKED], [said("assistant", "Clerk, look it up.")])
    work = [asked_for("c1", "look_up", **ARGUMENTS), returned("c1", "paid"), said("assistant", "It is paid.")]
    told = [ASKED, said("assistant", "Clerk, look it up."), said("system", "There are files.")]
    clerk = agent(3, "clerk", told, work)
    path = written(tmp_path, desk, clerk)
    (run,) = trajectories(path)
    check(run)
    assert [turn.user_message for turn in run.turns] == ["Is order 17 paid?"]
    assert [(one.agent_id, one.response) for turn in run.turns for one in turn.interactions] == [
        ("desk", "Clerk, look it up."),
        ("clerk", "It is paid."),
    ]
    assert (run.final_answer, calls_of(run)) == ("It is paid.", [("look_up", ARGUMENTS, "paid")])
    assert (run.usage, summary_of(path).trust) == (Usage(input_tokens=60, output_tokens=10), "complete")


def test_agents_that_are_asked_the_same_again_begin_a_turn(tmp_path: Path) -> None:
    answers = [said("assistant", "It is open."), said("assistant", "It is paid.")]
    spans = [agent(1, "desk", [ASKED], answers[:1]), agent(3, "desk", [ASKED, answers[0], ASKED], answers[1:])]
    (run,) = trajectories(written(tmp_path, *spans))
    assert [turn.user_message for turn in run.turns] == ["Is order 17 paid?"] * 2


def test_what_an_agent_called_has_the_results_of_the_spans_of_its_tools(tmp_path: Path) -> None:
    work = [asked_for("c1", "look_up", **ARGUMENTS), said("assistant", "It is paid.")]
    path = written(tmp_path, agent(1, "desk", [ASKED], work), tool(2, 1))
    (run,) = trajectories(path)
    check(run)
    assert [(step.message is not None, step.call is not None) for step in run.steps] == [(False, True), (True, False)]
    assert (run.final_answer, summary_of(path).trust) == ("It is paid.", "complete")
    assert [(name, arguments) for name, arguments, _ in calls_of(run)] == [("look_up", ARGUMENTS)]


def test_arguments_and_results_may_be_objects(tmp_path: Path) -> None:
    model = exported(1, "chat", [ASKED], [asked_for("c1", "look_up", **ARGUMENTS)])
    (run,) = trajectories(written(tmp_path, model, tool(3, 1)))
    ((name, arguments, result),) = calls_of(run)
    assert (name, arguments) == ("look_up", ARGUMENTS)
    assert result == '{\n  "orders": [\n    {\n      "state": "paid"\n    }\n  ]\n}'
