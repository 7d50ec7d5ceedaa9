"""Runs that programs log in parts: Bedrock Agents, LM Studio, llm, the Assistants API, and logs of CrewAI."""

from pathlib import Path

import orjson
import pytest

from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors, summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, trajectories

EVENTS = FIXTURES / "bedrock_agents" / "events.jsonl"
LM_STUDIO = FIXTURES / "lm_studio" / "orders.conversation.json"
LLM = FIXTURES / "llm_logs" / "logs.json"
THREAD = FIXTURES / "openai_assistants" / "thread.json"
CREW = FIXTURES / "crewai" / "log.json"


def lines() -> list[JsonObject]:
    return [orjson.loads(line) for line in EVENTS.read_bytes().splitlines()]


def orchestrated(part: JsonObject) -> JsonObject:
    return {"trace": {"sessionId": "s-1", "trace": {"orchestrationTrace": part}}}


def test_events_of_a_bedrock_agent_are_a_run() -> None:
    (run,) = trajectories(EVENTS)
    assert (run.task, run.final_answer) == ("Is order 7 paid?", "Order 7 is paid.")
    assert [(name, arguments) for name, arguments, _ in calls_of(run)] == [
        ("GET /orders/{order}", {"order": "7"}),
        ("knowledge_base_lookup", {"knowledgeBaseId": "KB1", "text": "payments"}),
    ]
    assert "I look the order up." in run.text and "Paid orders ship." in run.text
    assert run.usage == Usage(input_tokens=430, output_tokens=63)
    assert (run.agents[0].name, run.agents[0].model) == ("orders", "model-a")
    assert summary_of(EVENTS).trust == "complete"


@pytest.mark.parametrize("name", ["completion", "traces", "trace"])
def test_a_record_may_have_the_events_of_an_invocation(tmp_path: Path, name: str) -> None:
    chunks = [{"chunk": {"bytes": text}} for text in ("It is ", "paid.")]
    path = written(tmp_path, {"inputText": "Is order 7 paid?", name: [*lines()[2:6], *chunks]})
    (run,) = trajectories(path)
    assert (run.task, run.final_answer, len(run.calls)) == ("Is order 7 paid?", "It is paid.", 1)
    assert summary_of(path).trust == "complete"


def test_other_actions_of_a_bedrock_agent_are_calls(tmp_path: Path) -> None:
    code = {"codeInterpreterInvocationInput": {"code": "1 / 0"}}
    helper = {"agentCollaboratorInvocationInput": {"agentCollaboratorName": "desk", "input": {"text": "Pay."}}}
    function = {
        "actionGroupInvocationInput": {
            "function": "pay",
            "requestBody": {"content": {"application/json": [{"name": "order", "value": "7"}]}},
        }
    }
    shown = [
        {"codeInterpreterInvocationOutput": {"executionError": "ZeroDivisionError"}},
        {"agentCollaboratorInvocationOutput": {"output": {"text": "Paid."}}},
        {"actionGroupInvocationOutput": {"text": "done"}},
    ]
    pairs = zip((code, helper, function), shown, strict=True)
    parts = [part for call, result in pairs for part in ({"invocationInput": call}, {"observation": result})]
    events = [orchestrated(part) for part in parts]
    (run,) = trajectories(written(tmp_path, *events))
    assert calls_of(run) == [
        ("code_interpreter", {"code": "1 / 0"}, "ZeroDivisionError"),
        ("desk", {"input": "Pay."}, "Paid."),
        ("pay", {"order": "7"}, "done"),
    ]
    assert [step.result.error for step in run.calls if step.result] == ["ZeroDivisionError", None, None]


def test_a_failed_invocation_of_a_bedrock_agent_is_no_fault_of_the_agent(tmp_path: Path) -> None:
    failure = {"trace": {"sessionId": "s-1", "trace": {"failureTrace": {"failureReason": "throttled"}}}}
    (run,) = trajectories(written(tmp_path, *lines()[:6], failure))
    assert "failed" in run.flags and run.extra["error"] == "throttled"


def test_the_shown_versions_of_messages_of_lm_studio_are_read(tmp_path: Path) -> None:
    (run,) = trajectories(LM_STUDIO)
    assert run.final_answer == "Order 7 is paid, there is no order 8."
    assert calls_and_errors(run) == [('{"order":7}', None), ('{"order":8}', "no such order")]
    assert "I look them up." in run.text and "I do not know." not in run.text
    assert run.usage == Usage(input_tokens=120, output_tokens=32)
    assert (run.agents[0].description, run.agents[0].model) == ("You answer about orders.", "model-7b")
    assert summary_of(LM_STUDIO).gaps == ("1 rewind by the user, with 0 calls, left out",)
    data = orjson.loads(LM_STUDIO.read_bytes())
    del data["messages"][1]["versions"][0]
    data["messages"][1]["currentlySelected"] = 0
    assert summary_of(written(tmp_path, data)).trust == "complete"


def test_responses_of_llm_are_runs_by_their_conversation(tmp_path: Path) -> None:
    orders, nine = trajectories(LLM)
    assert calls_and_errors(orders) == [('{"order":7}', None), ('{"order":8}', "KeyError: no such order")]
    assert orders.final_answer == "Order 7 is paid, there is no order 8."
    assert orders.usage == Usage(input_tokens=130, output_tokens=20)
    assert (orders.id, orders.agents[0].description) == ("c1", "You answer about orders.")
    assert [tool.name for tool in orders.agents[0].tools or ()] == ["look_up"]
    assert nine.task == "Order 9 is new.\n\nIs order 9 paid?"
    assert summary_of(LLM).trust == "complete"
    newest_first = written(tmp_path, *reversed(orjson.loads(LLM.read_bytes())))
    assert {run.text for run in trajectories(newest_first)} == {orders.text, nine.text}


def test_steps_of_the_assistants_api_have_calls_and_the_messages_that_they_made() -> None:
    (run,) = trajectories(THREAD)
    assert (run.task, run.final_answer) == ("Is order 7 paid?", "Order 7 is paid.")
    assert calls_of(run)[:2] == [("look_up", {"order": 7}, "paid"), ("code_interpreter", {"input": "print(7)"}, "7")]
    assert calls_of(run)[2][0] == "file_search" and "7: paid" in run.text
    assert run.usage == Usage(input_tokens=100, output_tokens=21)
    assert (run.agents[0].description, run.agents[0].model) == ("You answer about orders.", "gpt-mini")
    assert summary_of(THREAD).trust == "complete"


def test_steps_without_the_messages_that_they_made_are_partial(tmp_path: Path) -> None:
    path = FIXTURES / "openai_assistants" / "steps.json"
    assert summary_of(path).gaps == ("1 message stated by the source, 0 read",)
    page = orjson.loads(path.read_bytes())
    (run,) = trajectories(written(tmp_path, *page["data"]))
    assert len(run.calls) == 3
    calls = {**page, "data": page["data"][1:]}
    assert summary_of(written(tmp_path, calls)).trust == "complete"
    assert summary_of(written(tmp_path, {**calls, "has_more": True})).trust == "partial"


def test_a_log_of_crewai_has_its_tasks(tmp_path: Path) -> None:
    (run,) = trajectories(CREW)
    assert [turn.user_message for turn in run.turns] == ["Find three lamps.", "Choose the best."]
    assert [agent.name or agent.id for agent in run.agents] == ["Buyer", "Tester"]
    assert run.final_answer == "Lamp B."
    assert summary_of(CREW).trust == "complete"
    entries = orjson.loads(CREW.read_bytes())
    assert summary_of(written(tmp_path, *entries[:3])).trust == "partial"


def test_times_of_messages_may_be_of_any_type(tmp_path: Path) -> None:
    messages = orjson.loads(THREAD.read_bytes())["messages"]["data"]
    messages[0]["created_at"] = "today"
    (run,) = trajectories(written(tmp_path, {"messages": messages}))
    assert "Order 7 is paid." in run.text


@pytest.mark.parametrize(
    ("counts", "cost"),
    [({"tokens_in": 100, "tokens_out": 10}, None), ({"usage": {"input_tokens": 100, "output_tokens": 10}}, 0.25)],
)
def test_requests_with_their_messages_as_input_and_one_as_output_are_one_run_with_the_tokens_of_all(
    tmp_path: Path, counts: JsonObject, cost: float | None
) -> None:
    asked = {"role": "user", "content": "Is 17 paid?"}
    call = {"id": "c", "type": "function", "function": {"name": "look_up", "arguments": '{"order": 17}'}}
    made = {"role": "assistant", "content": None, "tool_calls": [call]}
    shown = {"role": "tool", "tool_call_id": "c", "content": "paid"}
    beside = counts if cost is None else {**counts, "cost_usd": cost}
    path = written(
        tmp_path,
        {"input": [asked], "output": made, **beside},
        {"input": [asked, made, shown], "output": {"role": "assistant", "content": "Yes."}, **beside},
    )
    (run,) = trajectories(path)
    assert (calls_of(run), run.final_answer) == ([("look_up", {"order": 17}, "paid")], "Yes.")
    assert run.usage == Usage(input_tokens=200, output_tokens=20, cost_usd=None if cost is None else 2 * cost)
    assert summary_of(path).trust == "complete"
