"""What calls were given stands under many names, in messages of any form."""

from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.traces.trajectories.model import JsonObject
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import calls_of, trajectories

ASKED = {"role": "user", "content": "How many are left?"}
SAID = {"role": "assistant", "content": "Three."}
GIVEN = {"of": "B-2"}


def of_chat(made: JsonObject) -> list[Any]:
    call = {"role": "assistant", "content": None, **made}
    return [ASKED, call, {"role": "tool", "tool_call_id": "c1", "content": "3"}, SAID]


def of_anthropic(name: str) -> list[Any]:
    call = {"type": "tool_use", "id": "c1", "name": "count", name: GIVEN}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "3"}
    said = {"role": "assistant", "content": [{"type": "text", "text": "Three."}]}
    return [ASKED, {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}, said]


def of_responses(name: str) -> list[Any]:
    call = {"type": "function_call", "call_id": "c1", "name": "count", name: GIVEN}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Three."}]}
    return [ASKED, call, {"type": "function_call_output", "call_id": "c1", "output": "3"}, said]


@pytest.mark.parametrize("name", ["arguments", "args", "input", "parameters", "params", "kwargs", "tool_input"])
@pytest.mark.parametrize("form", ["flat", "function", "legacy", "anthropic", "responses", "tags"])
def test_arguments_have_many_names(tmp_path: Path, form: str, name: str) -> None:
    function = {"name": "count", name: GIVEN}
    messages = {
        "flat": of_chat({"tool_calls": [{"id": "c1", **function}]}),
        "function": of_chat({"tool_calls": [{"id": "c1", "type": "function", "function": function}]}),
        "legacy": of_chat({"function_call": function}),
        "anthropic": of_anthropic(name),
        "responses": of_responses(name),
        "tags": of_chat({"content": f'<tool_call>{{"name": "count", "{name}": {{"of": "B-2"}}}}</tool_call>'}),
    }[form]
    path = written(tmp_path, {"input" if form == "responses" else "messages": messages})
    (run,) = trajectories(path)
    assert calls_of(run) == [("count", GIVEN, "3")]
    assert summary_of(path).trust == "complete"


def test_the_schema_of_a_tools_parameters_is_no_argument(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"of": {"type": "string"}}}
    function = {"name": "count", "parameters": schema, "args": GIVEN}
    (run,) = trajectories(written(tmp_path, {"messages": of_chat({"tool_calls": [{"id": "c1", **function}]})}))
    assert calls_of(run) == [("count", GIVEN, "3")]
    del function["args"]
    (run,) = trajectories(written(tmp_path, {"messages": of_chat({"tool_calls": [{"id": "c1", **function}]})}))
    assert calls_of(run) == [("count", {}, "3")]


@pytest.mark.parametrize(
    "came_back",
    [
        {"error": "warehouse offline"},
        {"error": {"message": "warehouse offline", "code": 7}, "result": None},
        {"exception": "warehouse offline"},
        {"observation": "warehouse offline", "success": False},
        {"response": "warehouse offline", "status": "failed"},
        {"tool_result": "warehouse offline", "is_error": True},
    ],
)
@pytest.mark.parametrize("answer", ["beside", "after"])
def test_a_call_may_have_its_failure_inside_it(tmp_path: Path, came_back: JsonObject, answer: str) -> None:
    made = {"role": "assistant", "tool_calls": [{"id": "c1", "name": "count", "arguments": GIVEN, **came_back}]}
    messages = [{**made, "content": "Three."}] if answer == "beside" else [{**made, "content": None}, SAID]
    path = written(tmp_path, {"messages": [ASKED, *messages]})
    (run,) = trajectories(path)
    assert calls_of(run) == [("count", GIVEN, "warehouse offline")]
    assert [step.result and step.result.error for step in run.calls] == ["warehouse offline"]
    assert (run.final_answer, summary_of(path).trust) == ("Three.", "complete")


@pytest.mark.parametrize("beside", [{"error": None}, {"error": ""}, {"status": "incomplete"}, {"output": None}])
def test_a_call_without_result_or_error_has_none(tmp_path: Path, beside: JsonObject) -> None:
    call = {"id": "c1", "name": "count", "arguments": GIVEN, **beside}
    path = written(tmp_path, {"messages": [ASKED, {"role": "assistant", "content": None, "tool_calls": [call]}, SAID]})
    (run,) = trajectories(path)
    assert calls_of(run) == [("count", GIVEN, None)]


@pytest.mark.parametrize("content", [None, ""])
def test_an_error_is_what_a_tool_without_a_content_gave_back(tmp_path: Path, content: str | None) -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "name": "count", "arguments": GIVEN}]}
    result = {"role": "tool", "tool_call_id": "c1", "content": content, "error": "warehouse offline"}
    (run,) = trajectories(written(tmp_path, {"messages": [ASKED, call, result, SAID]}))
    assert calls_of(run) == [("count", GIVEN, "warehouse offline")]
    assert [step.result and step.result.error for step in run.calls] == ["warehouse offline"]
