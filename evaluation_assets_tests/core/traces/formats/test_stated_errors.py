"""Results whose own fields say that the call failed, whatever the format calls the field."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.messages.chat import first_line
from evaluation_assets.core.traces.trajectories.failures import failure_in
from evaluation_assets_tests.core.traces.formats.reading import calls_of, check, trajectories

ASKED = {"role": "user", "content": "Book a berth."}
SAID = {"role": "assistant", "content": "There is none."}
LONG = "The harbour office keeps its notes in a long book. " * 20


def _chat(**result: Any) -> Any:
    call = {"id": "c1", "type": "function", "function": {"name": "book", "arguments": '{"n": 2}'}}
    answer = {"role": "tool", "tool_call_id": "c1", **result}
    return {"messages": [ASKED, {"role": "assistant", "content": None, "tool_calls": [call]}, answer, SAID]}


def _responses(**result: Any) -> Any:
    call = {"type": "function_call", "call_id": "c1", "name": "book", "arguments": '{"n": 2}'}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "There is none."}]}
    return {
        "items": [{"type": "message", **ASKED}, call, {"type": "function_call_output", "call_id": "c1", **result}, said]
    }


def _bedrock(**result: Any) -> Any:
    return {
        "messages": [
            {"role": "user", "content": [{"text": "Book a berth."}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "book", "input": {"n": 2}}}]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", **result}}]},
            {"role": "assistant", "content": [{"text": "There is none."}]},
        ]
    }


def _gemini(**response: Any) -> Any:
    call = {"functionCall": {"name": "book", "args": {"n": 2}}}
    return {
        "contents": [
            {"role": "user", "parts": [{"text": "Book a berth."}]},
            {"role": "model", "parts": [call]},
            {"role": "user", "parts": [{"functionResponse": {"name": "book", "response": response}}]},
            {"role": "model", "parts": [{"text": "There is none."}]},
        ]
    }


def _session(**outcome: Any) -> Any:
    step = {"thought": "One for two.", "tool_call": {"tool_name": "book", "parameters": {"n": 2}, **outcome}}
    turn = {"user_message": "Book a berth.", "agent_steps": [step], "agent_response": "There is none."}
    return {"id": "s", "turns": [turn]}


def _steps(**outcome: Any) -> Any:
    step = {"tool": "book", "args": {"n": 2}, **outcome}
    return {"task": "Book a berth.", "steps": [step], "final_answer": "There is none."}


def _mcp(text: str, *, failed: bool) -> str:
    return orjson.dumps({"content": [{"type": "text", "text": text}], "isError": failed}).decode()


@pytest.mark.parametrize(
    ("record", "error"),
    [
        (_chat(content="no berth left", isError=True), "no berth left"),
        (_chat(content="no berth left", is_error=True), "no berth left"),
        (_chat(content="no berth left", status="failed"), "no berth left"),
        (_chat(content="", error="no berth left"), "no berth left"),
        (_chat(content="", error={"message": "no berth left", "code": 4}), "no berth left"),
        (_chat(content="berth 7", status="success", error=None), None),
        (_chat(content="berth 7", is_error=False, error=""), None),
        (_chat(content=_mcp(LONG + "no berth left", failed=True)), "The harbour office"),
        (_chat(content=_mcp("Errors of the log: none. Berth 7.", failed=False)), None),
        (_responses(output="no berth left", is_error=True), "no berth left"),
        (_responses(output="no berth left", status="incomplete"), "no berth left"),
        (_responses(output="", error={"message": "no berth left"}), "no berth left"),
        (_responses(output="berth 7", is_error=False, status="completed"), None),
        (_bedrock(content=[{"text": "no berth left"}], status="error"), "no berth left"),
        (_bedrock(content=[{"text": "berth 7"}], status="success"), None),
        (_chat(content="no berth left", success=False), "no berth left"),
        (_chat(content="no berth left", status="Denied"), "no berth left"),
        (_chat(content="no berth left", status="cancelled"), "no berth left"),
        (_chat(content="no berth left", metadata={"is_error": True}), "no berth left"),
        (_chat(content="no berth left", additional_kwargs={"status": "error"}), "no berth left"),
        (_chat(content="berth 7", metadata={"status": "done"}), None),
        (_chat(content='{"input": {"n": 2}, "output": null, "exception": "no berth left"}'), "no berth left"),
        (_chat(content='{"output": "berth 7", "exception": "on Mondays"}'), None),
        (_chat(content="Error log: empty", success=True), None),
        (_steps(result="Error log: empty", success=True), None),
        (_steps(result="Error log: full"), "Error log: full"),
        (_gemini(error="no berth left"), "no berth left"),
        (_gemini(output="of 7", error="no berth left"), "no berth left"),
        (_gemini(output="berth 7", error=None), None),
        (_session(result="no berth left", status="error"), "no berth left"),
        (_session(result="no berth left", success=False), "no berth left"),
        (_session(result="berth 7", success=True, error=""), None),
    ],
)
def test_an_error_that_a_result_states_is_its_error(record: Any, error: str | None, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(orjson.dumps(record))
    (run,) = trajectories(tmp_path / "run.json")
    check(run)
    (step,) = run.calls
    found = None if step.result is None else step.result.error
    assert found is None if error is None else found is not None and found.startswith(error)


def test_a_result_of_mcp_with_a_late_flag_has_an_error_and_a_text_about_the_flag_has_none() -> None:
    late, about = _mcp(LONG, failed=True), f'The field "isError" is true where a call failed. {LONG}'
    assert failure_in(late, (0, len(late))) == " ".join(LONG.split())[:200]
    assert failure_in(about, (0, len(about))) is None


TRACE = {"traceId": "t", "startTime": "2026-01-05T08:00:00Z", "endTime": "2026-01-05T08:00:01Z", "level": "DEFAULT"}


def _langfuse(output: Any, told: Any) -> Any:
    """A trace of Strands in Langfuse: the tool's own observation has `output`, the next prompt `told`."""
    use = orjson.dumps([{"toolUse": {"toolUseId": "u1", "name": "book", "input": {"n": 2}}}]).decode()
    prompt = [{"role": "user", "content": "Book a berth."}]
    after = [*prompt, {"role": "assistant", "content": use}, {"role": "tool", "content": orjson.dumps(told).decode()}]
    tool = {"role": "tool", "content": '{"n": 2}', "id": "u1"}
    observations = [
        {"id": "a", "type": "AGENT", "name": "desk", "input": prompt, "output": "There is none."},
        {"id": "b", "type": "GENERATION", "name": "chat", "input": prompt, "output": {"message": use}},
        {"id": "c", "type": "TOOL", "name": "book", "input": [tool], "output": output},
        {"id": "d", "type": "GENERATION", "name": "chat", "input": after, "output": {"message": '[{"text": "None."}]'}},
    ]
    found = [
        {**TRACE, **one, "parentObservationId": None if one["id"] == "a" else "a"}
        for one in observations
        if one["output"] is not None
    ]
    return {"id": "t", "name": "desk", "timestamp": TRACE["startTime"], "observations": found}


@pytest.mark.parametrize(
    ("output", "result", "error"),
    [
        ({"message": '[{"text": "berth 7"}]', "id": "u1"}, "berth 7", None),
        ({"message": '[{"json": {"berth": 7}}]', "id": "u1"}, '{\n  "berth": 7\n}', None),
        ([{"toolResult": {"toolUseId": "u1", "status": "error", "content": [{"text": "full"}]}}], "full", "full"),
        ({"status": "error", "content": [{"text": "full"}]}, "full", "full"),
        ([{"type": "text", "text": "berth 7"}], "berth 7", None),
        ({"message": "berth 7", "id": "u1"}, '{\n  "message": "berth 7",\n  "id": "u1"\n}', None),
        (None, "full", "full"),
    ],
)
def test_a_result_is_what_the_tool_returned(output: Any, result: str, error: str | None, tmp_path: Path) -> None:
    status = "success" if error is None else "error"
    told = [{"toolResult": {"toolUseId": "u1", "status": status, "content": [{"text": result}]}}]
    (tmp_path / "trace.json").write_bytes(orjson.dumps(_langfuse(output, told)))
    (run,) = trajectories(tmp_path / "trace.json")
    check(run)
    assert calls_of(run) == [("book", {"n": 2}, result)]
    (step,) = run.calls
    assert step.result is not None and step.result.error == error


@pytest.mark.parametrize(
    ("content", "error"), [('[\n  {\n    "msg": "bad int"\n  }\n]', '"msg": "bad int"'), ("\n{\n", "{"), ("", "error")]
)
def test_the_error_of_a_failed_tool_is_its_first_line_with_a_word(content: str, error: str) -> None:
    assert first_line(content) == error
