"""Exports of Langfuse.

Shapes: `ObservationV2` and the scores of the Python client 4 (`langfuse/api/commons/types`), a trace as
`GET /api/public/traces/{id}` gives it and as the UI downloads it, the field reference of the export to blob storage,
and what the integrations of OpenAI (`langfuse/openai.py`) and LangChain (`langchain/CallbackHandler.py`) record.
"""

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets.core.traces.trajectories.model import Trajectory, Usage
from evaluation_assets.core.traces.trajectories.recorded import RecordedVerdict, recorded_verdicts
from evaluation_assets_tests.core.traces.formats.readers.summaries import check_desk
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, check, read, trajectories
from evaluation_assets_tests.core.traces.formats.test_import_report import summary_of

FIXTURE = FIXTURES / "langfuse" / "trace.json"
TRACE = orjson.loads(FIXTURE.read_bytes())


def snake(data: dict[str, Any]) -> dict[str, Any]:
    """An observation as blob storage gets it: names in snake case, inputs and outputs as JSON text, other times."""
    named = {re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", key): value for key, value in data.items()}
    for key in ("input", "output"):
        named[key] = None if named[key] is None else json.dumps(named[key])
    for key in ("start_time", "end_time"):
        named[key] = named[key].replace("T", " ").replace("Z", "000")
    return named


@pytest.fixture
def run() -> Trajectory:
    (run,) = trajectories(FIXTURE)
    check(run)
    return run


def test_a_trace_is_a_trajectory(run: Trajectory) -> None:
    check_desk(run)
    assert (run.id, run.extra["trace_name"]) == ("t-1", "desk")
    assert run.usage is not None and run.usage.cached_tokens == 20


def test_scores_of_evaluators_are_verdicts(run: Trajectory) -> None:
    assert recorded_verdicts(run) == [
        RecordedVerdict(
            level="trajectory",
            subject="trajectory",
            judge="correctness",
            scores={"correctness": 0.9},
            reasoning="It says so.",
        ),
        RecordedVerdict(level="trajectory", subject="trajectory", judge="tone", verdict="friendly"),
    ]
    assert run.labels["scores"] == [{"name": "stars", "value": 4, "source": "ANNOTATION"}]
    assert "It says so" not in run.text


def test_a_score_of_another_scale_is_kept(tmp_path: Path) -> None:
    score = {"name": "correctness", "value": 4, "source": "EVAL", "dataType": "NUMERIC"}
    (tmp_path / "trace.json").write_bytes(orjson.dumps({**TRACE, "scores": [score]}))
    (run,) = trajectories(tmp_path / "trace.json")
    assert [verdict.scores for verdict in recorded_verdicts(run)] == [{"correctness": 4.0}]


def test_the_import_report_counts_the_same_calls() -> None:
    summary = summary_of(FIXTURE)
    assert (summary.calls, summary.calls_in_source, summary.trust) == (2, 2, "complete")


def test_a_download_from_the_ui_gives_the_same(tmp_path: Path, run: Trajectory) -> None:
    trace = {key: value for key, value in TRACE.items() if key != "observations"}
    (tmp_path / "trace.json").write_bytes(orjson.dumps({"trace": trace, "observations": TRACE["observations"]}))
    assert trajectories(tmp_path / "trace.json") == [run]


def test_pages_and_lists_and_lines_of_observations_give_the_same_conversation(tmp_path: Path, run: Trajectory) -> None:
    observations = TRACE["observations"]
    (tmp_path / "page.json").write_bytes(orjson.dumps({"data": observations, "meta": {"cursor": None}}))
    (tmp_path / "list.json").write_bytes(orjson.dumps(observations))
    (tmp_path / "lines.jsonl").write_bytes(b"\n".join(map(orjson.dumps, reversed(observations))))
    (tmp_path / "blob.jsonl").write_bytes(b"\n".join(orjson.dumps(snake(one)) for one in observations))
    for name in ("page.json", "list.json", "lines.jsonl", "blob.jsonl"):
        (found,) = trajectories(tmp_path / name)
        assert (found.text, found.turns, found.usage, found.agents) == (run.text, run.turns, run.usage, run.agents), (
            name
        )


def test_scores_in_another_file_of_the_drop_are_labels(tmp_path: Path, run: Trajectory) -> None:
    (tmp_path / "observations.jsonl").write_bytes(b"\n".join(orjson.dumps(snake(one)) for one in TRACE["observations"]))
    (tmp_path / "scores.jsonl").write_bytes(b"\n".join(map(orjson.dumps, TRACE["scores"])))
    (found,) = trajectories(tmp_path)
    assert found.labels == run.labels


def test_tool_definitions_that_langchain_appends_are_no_messages(tmp_path: Path, run: Trajectory) -> None:
    trace = deepcopy(TRACE)
    first = trace["observations"][1]
    tools = [{"role": "tool", "content": tool} for tool in first["input"]["tools"]]
    first["input"] = [*first["input"]["messages"], *tools]
    first["output"]["tool_calls"] = [
        {"type": "tool_call", "id": call["id"], "name": call["function"]["name"], "args": json.loads(arguments)}
        for call in first["output"]["tool_calls"]
        for arguments in [call["function"]["arguments"]]
    ]
    (tmp_path / "trace.json").write_bytes(orjson.dumps(trace))
    (found,) = trajectories(tmp_path / "trace.json")
    assert [(name, arguments) for name, arguments, _ in calls_of(found)] == [
        ("look_up_order", {"order_id": "17"}),
        ("check_stock", {"sku": "B-2"}),
    ]
    assert found.agents == run.agents
    assert not any(step.call is None and step.result for step in found.steps)


def test_traces_without_observations_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "traces.json").write_bytes(orjson.dumps([{**TRACE, "observations": ["o1", "o2"]}]))
    (rejection,) = read(tmp_path / "traces.json")
    assert isinstance(rejection, Rejection)
    assert (rejection.reason, "export it with its observations" in rejection.detail) == ("no_trajectory_text", True)


def observed(kind: str, name: str, given: Any, said: Any, second: int, attributes: dict[str, Any] | None = None) -> Any:
    """An observation that Langfuse made of a span of OpenTelemetry, whose attributes it keeps as JSON text."""
    return {
        "id": f"o-{second}",
        "traceId": "t-9",
        "type": kind,
        "name": name,
        "startTime": f"2026-02-01T08:00:{second:02}.000Z",
        "endTime": f"2026-02-01T08:00:{second + 1:02}.000Z",
        "parentObservationId": None if second == 0 else "o-0",
        "input": given if isinstance(given, str) or given is None else json.dumps(given),
        "output": said if isinstance(said, str) or said is None else json.dumps(said),
        "metadata": json.dumps({"attributes": attributes or {}}),
    }


def run_of(tmp_path: Path, *observations: Any) -> Trajectory:
    (tmp_path / "t.json").write_bytes(orjson.dumps({"trace": {"id": "t-9"}, "observations": observations}))
    (run,) = trajectories(tmp_path / "t.json")
    check(run)
    return run


ASKED = {"role": "user", "content": "Weather in Oslo?"}
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
OPENINFERENCE_CALL = {
    "openinference.span.kind": "LLM",
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": "Weather in Oslo?",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "weather",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"city": "Oslo"}',
}
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
LANGGRAPH_RESULT = {"content": "Rain.", "type": "tool", "name": "weather", "tool_call_id": "c1", "status": "success"}


@pytest.mark.parametrize(
    ("observations"),
    [
        [
            observed("GENERATION", "Model.invoke", {"messages": ["role='user'"]}, "None", 1, OPENINFERENCE_CALL),
            observed("SPAN", "weather", {"city": "Oslo"}, "Rain.", 2, {"openinference.span.kind": "TOOL"}),
        ],
        [
            observed("GENERATION", "chat m", [ASKED], {"role": "assistant", "tool_calls": [CALL]}, 1, CHAT),
            observed(
                "TOOL", "running tool: weather", {"city": "Oslo"}, "Rain.", 2,
                {"gen_ai.tool.name": "weather", "gen_ai.tool.call.id": "c1"},
            ),
        ],
        [
            observed(
                "GENERATION", "llm.chat", [ASKED], [{"role": "assistant", "content": json.dumps([CALL])}], 1,
                {**CHAT, "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.tool_calls.0.id": "c1",
                 "gen_ai.completion.0.tool_calls.0.name": "weather",
                 "gen_ai.completion.0.tool_calls.0.arguments": '{"city": "Oslo"}'},
            ),
            observed("SPAN", "tool.weather", {"city": "Oslo"}, "Rain.", 2, {"gen_ai.tool.name": "weather"}),
        ],
        [
            observed(
                "GENERATION", "ChatOpenAI", [ASKED],
                {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": [CALL]}}, 1,
            ),
            observed("SPAN", "weather", "{'city': 'Oslo'}", LANGGRAPH_RESULT, 2),
        ],
        [
            observed("GENERATION", "ChatOpenAI", [ASKED], {"role": "assistant", "tool_calls": [CALL]}, 1),
            observed(
                "GENERATION", "ChatOpenAI",
                [ASKED, {"role": "assistant", "tool_calls": [CALL]}, {"role": "weather", "content": "Rain."}],
                "It rains.", 3,
            ),
        ],
    ],
    ids=["attributes of OpenInference", "attributes of a tool", "prompts as attributes", "LangGraph", "role of a tool"],
)  # fmt: skip
def test_what_a_span_recorded_is_read_beside_what_langfuse_made_of_it(tmp_path: Path, observations: list[Any]) -> None:
    run = run_of(tmp_path, *observations)
    assert run.task == "Weather in Oslo?"
    assert len(run.turns) == 1
    assert calls_of(run) == [("weather", {"city": "Oslo"}, "Rain.")]


@pytest.mark.parametrize(
    ("given", "attributes"),
    [
        ("developer: Be brief.\nuser: Weather in Oslo?\nassistant: None", {}),
        ({"args": ["Weather in Oslo?"]}, {"openinference.span.kind": "LLM", "llm.prompts": '["Weather in Oslo?"]'}),
    ],
    ids=["a text with speakers", "prompts"],
)
def test_a_task_is_found_in_what_is_no_list_of_messages(tmp_path: Path, given: Any, attributes: dict[str, Any]) -> None:
    run = run_of(tmp_path, observed("GENERATION", "complete", given, "Rain.", 1, attributes))
    assert (run.task, run.final_answer, len(run.turns)) == ("Weather in Oslo?", "Rain.", 1)


def test_the_arguments_of_a_last_call_for_structured_output_are_the_answer(tmp_path: Path) -> None:
    answer = {"weather": "rain", "certain": True}
    call = {"id": "c1", "function": {"name": "final_result", "arguments": json.dumps(answer)}}
    run = run_of(tmp_path, observed("GENERATION", "chat", [ASKED], {"role": "assistant", "tool_calls": [call]}, 1))
    assert run.flags == ()
    assert json.loads(run.final_answer or "") == answer


def test_a_prompt_that_is_stated_as_the_users_is_the_prompt_of_the_agent(tmp_path: Path) -> None:
    before = {"role": "user", "content": "Hello"}
    answer = {"role": "assistant", "content": "Hello!"}
    state = [{"type": "human", "content": "Hello"}, {"type": "ai", "content": "Hello!"}]
    asked = {"type": "human", "content": ASKED["content"]}
    prompt = {"role": "user", "content": "Be brief."}
    run = run_of(
        tmp_path,
        observed("CHAIN", "LangGraph", {"messages": [asked]}, None, 0),
        observed("CHAIN", "agent", {"messages": [*state, asked]}, None, 1),
        observed(
            "GENERATION", "ChatOpenAI", [prompt, before, answer, ASKED], {"role": "assistant", "content": "Rain."}, 2
        ),
    )
    assert (run.task, run.final_answer, len(run.turns)) == ("Weather in Oslo?", "Rain.", 1)
    assert [agent.description for agent in run.agents] == ["Be brief."]
    assert run.turns[0].knowledge == "user: Hello\nassistant: Hello!"


def test_calls_that_are_given_back_as_tool_messages_are_calls(tmp_path: Path) -> None:
    made = [{"role": "assistant", "content": json.dumps([CALL]), "finish_reason": "tool_calls"}]
    given = [ASKED, {"role": "tool", "content": json.dumps([CALL])}, {"role": "tool", "content": "Rain."}]
    koog = {"gen_ai.tool.name": "weather", "gen_ai.tool.call.id": "c1"}
    run = run_of(
        tmp_path,
        observed("GENERATION", "llm.chat", [ASKED], made, 1, CHAT),
        observed("SPAN", "tool.weather", {"city": "Oslo"}, "Rain.", 2, koog),
        observed("GENERATION", "llm.chat", given, [{"role": "assistant", "content": "It rains."}], 3, CHAT),
    )
    assert [(step.call is None, step.result is None) for step in run.steps] == [(False, False), (True, True)]
    assert calls_of(run) == [("weather", {"city": "Oslo"}, "Rain.")]
    assert run.final_answer == "It rains."


def test_agents_of_pydantic_ai_are_told_apart(tmp_path: Path) -> None:
    def agent(name: str, second: int) -> Any:
        attributes = {"agent_name": name, "model_name": "m", "final_result": f"Said by {name}"}
        return observed("SPAN", f"{name} run", None, None, second, attributes)

    def model(second: int, prompt: str, said: str) -> Any:
        given = [{"role": "system", "content": prompt}, ASKED]
        call = observed("GENERATION", "chat m", given, {"role": "assistant", "content": said}, second + 1, CHAT)
        return {**call, "parentObservationId": f"o-{second}"}

    run = run_of(
        tmp_path,
        observed("SPAN", "main", None, None, 0),
        agent("writer", 1),
        model(1, "Write.", "Rain."),
        agent("critic", 5),
        model(5, "Judge.", "Good."),
    )
    assert [(one.id, one.description) for one in run.agents] == [("writer", "Write."), ("critic", "Judge.")]
    assert run.final_answer == "Said by critic"


def test_calls_of_the_ai_sdk_are_read_from_what_langfuse_made_of_them(tmp_path: Path) -> None:
    call = {"toolCallId": "c1", "toolName": "weather", "input": '{"city":"Oslo"}'}
    tool = {"ai.toolCall.name": "weather", "ai.toolCall.id": "c1"}
    inner = observed("GENERATION", "ai.generateText.doGenerate", [ASKED], [call], 1, {"gen_ai.request.model": "m"})
    (tmp_path / "t.json").write_bytes(
        orjson.dumps(
            {
                "trace": {"id": "t-9"},
                "observations": [
                    observed("GENERATION", "ai.generateText", {"prompt": ASKED["content"]}, [call], 0),
                    inner,
                    observed("TOOL", "weather", {"city": "Oslo"}, {"degrees": 4}, 2, tool),
                ],
            }
        )
    )
    (run,) = trajectories(tmp_path / "t.json")
    assert calls_of(run) == [("weather", {"city": "Oslo"}, '{\n  "degrees": 4\n}')]
    assert summary_of(tmp_path / "t.json").trust == "complete"


@pytest.mark.parametrize(
    "counts",
    [
        {"input": 3, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 100, "output": 10, "total": 1013},
        {
            "input": 1003,
            "cache_read_input_tokens": 900,
            "cache_creation_input_tokens": 100,
            "output": 10,
            "total": 1013,
        },
        {
            "input": 3,
            "input_cache_read": 900,
            "input_cache_creation_5m": 60,
            "input_cache_creation_1h": 40,
            "output": 10,
        },
    ],
)
def test_tokens_that_were_written_to_the_cache_are_told_apart(tmp_path: Path, counts: dict[str, int]) -> None:
    run = run_of(tmp_path, {**observed("GENERATION", "llm", [ASKED], "Rain.", 0), "usageDetails": counts})
    assert run.usage == Usage(input_tokens=1003, cached_tokens=900, cache_write_tokens=100, output_tokens=10)


@pytest.mark.parametrize(
    "counts",
    [
        {"promptTokens": 100, "completionTokens": 5, "totalTokens": 105},
        {"inputUsage": 100, "outputUsage": 5, "totalUsage": 105, "promptTokens": 0, "usage": None},
    ],
)
def test_tokens_may_stand_beside_the_other_fields(tmp_path: Path, counts: dict[str, Any]) -> None:
    run = run_of(tmp_path, {**observed("GENERATION", "llm", [ASKED], "Rain.", 0), **counts})
    assert run.usage == Usage(input_tokens=100, output_tokens=5)


def test_the_cost_of_a_trace_goes_before_list_prices(tmp_path: Path) -> None:
    said = observed("GENERATION", "llm", [ASKED], "Rain.", 0)
    said |= {"usageDetails": {"input": 1000, "output": 10, "total": 1010}, "model": "gpt-4o"}
    (tmp_path / "t.json").write_bytes(orjson.dumps({"id": "t-9", "totalCost": 0.5, "observations": [said]}))
    (run,) = trajectories(tmp_path / "t.json")
    assert run.usage == Usage(input_tokens=1000, output_tokens=10, cost_usd=0.5)


def test_the_cost_of_a_trace_does_not_stand_for_requests_without_one(tmp_path: Path) -> None:
    """Langfuse adds up the costs that it knows."""
    counts = {"usageDetails": {"input": 1000, "output": 10, "total": 1010}, "model": "gpt-4o"}
    known = {**observed("GENERATION", "llm", [ASKED], "Rain.", 0), **counts, "costDetails": {"total": 0.5}}
    unknown = {
        **observed("GENERATION", "llm", [ASKED, {"role": "assistant", "content": "Rain."}], "Sun.", 5),
        **counts,
        "parentObservationId": None,
    }
    traces = {"id": "t-9", "totalCost": 0.5, "observations": [known, unknown]}
    (tmp_path / "t.json").write_bytes(orjson.dumps(traces))
    (run,) = trajectories(tmp_path / "t.json")
    assert run.usage is not None and run.usage.is_list_price
    assert run.usage.cost_usd is not None and run.usage.cost_usd > 0.5
