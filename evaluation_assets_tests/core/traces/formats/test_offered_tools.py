"""Which tools an agent was offered, and whether these are all: nothing else can be called unauthorised."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.sections.sessions.tool_validation import tool_issues
from evaluation_assets.core.suites.call_schemas import DefectKind
from evaluation_assets.core.suites.calls import run_of
from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets_tests.core.suites.measuring import case, expected, kinds, measure
from evaluation_assets_tests.core.traces.formats.reading import read, trajectories
from evaluation_assets_tests.third_party import data

TIDE = {"type": "object", "properties": {"port": {"type": "string"}}, "required": ["port"]}
OWN = {"name": "tide", "input_schema": TIDE}
DECLARED = {"functionDeclarations": [{"name": "tide"}]}
FUNCTION = {"type": "function", "name": "tide", "parameters": TIDE}


def _responses(*tools: Any, call: dict[str, Any]) -> Any:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "High at 3."}]}
    return {"object": "response", "model": "m", "tools": tools, "input": "When is high tide?", "output": [call, said]}


def _anthropic(*tools: Any, block: dict[str, Any], **request: Any) -> Any:
    result = {"type": block["type"].replace("use", "result"), "tool_use_id": "t", "content": "3"}
    content = [{**block, "id": "t", "input": {"port": "Brest"}}, result, {"type": "text", "text": "High at 3."}]
    messages = [{"role": "user", "content": "When is high tide?"}, {"role": "assistant", "content": content}]
    return {"model": "m", "tools": tools, "messages": messages, **request}


def _gemini(*tools: Any, part: dict[str, Any]) -> Any:
    return {
        "tools": tools,
        "contents": [
            {"role": "user", "parts": [{"text": "When is high tide?"}]},
            {"role": "model", "parts": [part, {"text": "High at 3."}]},
        ],
    }


SEARCH = {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "tide"}}
MCP = {"type": "mcp_call", "id": "m", "name": "read_page", "server_label": "docs", "arguments": "{}", "output": "3"}
MADE_UP = {"type": "function_call", "call_id": "c", "name": "moon", "arguments": "{}"}
UNFIT = {"type": "function_call", "call_id": "c", "name": "tide", "arguments": "{}"}
RUNS_CODE = {"executableCode": {"language": "PYTHON", "code": "print(3)"}}
SUB_TOOL = {"type": "server_tool_use", "name": "bash_code_execution"}
OF_SERVER = {"type": "mcp_tool_use", "name": "read_page", "server_name": "docs"}


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        (_responses(FUNCTION, {"type": "web_search_preview"}, call=SEARCH), None),
        (_responses(FUNCTION, {"type": "mcp", "server_label": "docs"}, call=MCP), None),
        (_responses(FUNCTION, {"type": "web_search_preview"}, call=UNFIT), "missing_parameter"),
        (_responses(FUNCTION, call=MADE_UP), "unauthorized_tool"),
        (_anthropic({"type": "code_execution_20250825", "name": "code_execution"}, block=SUB_TOOL), None),
        (_anthropic(OWN, block=OF_SERVER, mcp_servers=[{"type": "url"}]), None),
        (_anthropic(OWN, block={"type": "tool_use", "name": "moon"}), "unauthorized_tool"),
        (_gemini(DECLARED, {"codeExecution": {}}, part=RUNS_CODE), None),
        (_gemini(DECLARED, part={"functionCall": {"name": "moon"}}), "unauthorized_tool"),
    ],
)  # fmt: skip
def test_only_a_call_beside_all_tools_is_unauthorised(record: Any, fault: str | None, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(orjson.dumps(record))
    (run,) = trajectories(tmp_path / "run.json")
    assert len(run.calls) == 1
    assert [issue.fault for issue in tool_issues(run)] == ([] if fault is None else [fault])
    tried = run_of(run)
    result = measure(case(expected("tide")), *tried.calls, tools=tried.tools, has_other_tools=tried.has_other_tools)
    assert ("unknown_tool" in kinds(result)) == (fault == "unauthorized_tool")


def _span(name: str, kind: str, parent: str | None, **attributes: Any) -> Any:
    context = {"trace_id": "0x1", "span_id": f"0x{name}"}
    return {
        "name": name,
        "context": context,
        "parent_id": None if parent is None else f"0x{parent}",
        "start_time": "2026-01-05T08:00:00Z",
        "end_time": "2026-01-05T08:00:01Z",
        "attributes": {"openinference.span.kind": kind, **attributes},
    }


def _trace(offered: dict[str, Any]) -> bytes:
    call = "llm.output_messages.0.message.tool_calls.0.tool_call"
    model = {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "When is high tide?",
        "llm.output_messages.0.message.role": "assistant",
        f"{call}.id": "c1",
        f"{call}.function.name": "python_interpreter",
        f"{call}.function.arguments": '{"code": "tide()"}',
    }
    spans = [
        _span("agent", "AGENT", None, **{"input.value": "When is high tide?", "output.value": "High at 3."}),
        _span("model", "LLM", "agent", **model, **offered),
        _span("tide", "TOOL", "agent", **{"tool.name": "tide", "input.value": "{}", "output.value": "3"}),
    ]
    return b"".join(orjson.dumps(span) + b"\n" for span in spans)


OFFER = {"llm.tools.0.tool.json_schema": orjson.dumps({"type": "function", "function": {"name": "tide"}}).decode()}


@pytest.mark.parametrize(("offered", "faults"), [({}, []), (OFFER, ["unauthorized_tool"])])
def test_tools_that_ran_are_not_all_that_an_agent_has(
    offered: dict[str, Any], faults: list[DefectKind], tmp_path: Path
) -> None:
    (tmp_path / "spans.jsonl").write_bytes(_trace(offered))
    (run,) = trajectories(tmp_path / "spans.jsonl")
    assert {step.call.name for step in run.calls if step.call} == {"python_interpreter", "tide"}
    assert [issue.fault for issue in tool_issues(run)] == faults


def test_no_agent_of_recorded_smolagents_traces_called_a_tool_that_it_does_not_have() -> None:
    found = [item for path in sorted(data("trail/data").rglob("*.json")) for item in read(path)]
    runs = [item for item in found if not isinstance(item, Rejection)]
    assert runs
    assert [issue.tool for run in runs for issue in tool_issues(run) if issue.fault == "unauthorized_tool"] == []
