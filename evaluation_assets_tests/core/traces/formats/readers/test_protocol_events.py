"""Events of protocols: the Agent Client Protocol, OpenAI's Realtime API, and scopes of the NeMo Agent Toolkit."""

from pathlib import Path

import pytest

from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors, summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, records_of, trajectories

ACP, REALTIME, ATOF = (
    FIXTURES / "acp" / "messages.jsonl",
    FIXTURES / "openai_realtime" / "events.jsonl",
    FIXTURES / "atof" / "events.jsonl",
)
MESSAGES, EVENTS, SCOPES = map(records_of, (ACP, REALTIME, ATOF))
PAID = "Order 17 is paid."


@pytest.mark.parametrize("path", [ACP, REALTIME, ATOF])
def test_nothing_is_amiss(path: Path) -> None:
    assert summary_of(path).trust == "complete"


def test_a_call_of_acp_is_told_of_in_updates(tmp_path: Path) -> None:
    wrapped = [{"direction": "out", "message": message} for message in MESSAGES]
    for path in (ACP, written(tmp_path, *wrapped)):
        (run,) = trajectories(path)
        assert calls_of(run) == [("execute", {"command": "grep 17 orders.txt"}, "17 paid")]
        assert (run.task, run.final_answer, run.extra["session_id"]) == ("Is order 17 paid?", PAID, "s1")
        assert next(run.piece(step.thought) for step in run.steps) == "I look it up."


def test_sessions_of_acp_are_kept_apart_and_a_repeated_prompt_is_one(tmp_path: Path) -> None:
    def of(session: str, message: JsonObject) -> JsonObject:
        params = message.get("params", {})
        return {**message, "params": {**params, "sessionId": session}} if "sessionId" in params else message

    echo = {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "Is order 17 paid?"}}
    lines = [*MESSAGES[:2], {**MESSAGES[2], "params": {"sessionId": "s1", "update": echo}}, *MESSAGES[2:]]
    runs = trajectories(written(tmp_path, *(of(session, line) for line in lines for session in ("s1", "s2"))))
    assert [(run.extra["session_id"], len(run.turns), len(run.calls)) for run in runs] == [("s1", 1, 1), ("s2", 1, 1)]


def test_a_call_of_acp_may_fail(tmp_path: Path) -> None:
    failed = [
        {**each, "params": {**each["params"], "update": {**each["params"]["update"], "status": "failed"}}}
        if each.get("params", {}).get("update", {}).get("status") == "completed"
        else each
        for each in MESSAGES
    ]
    (run,) = trajectories(written(tmp_path, *failed))
    assert calls_and_errors(run) == [('{"command":"grep17orders.txt"}', "17 paid")]


def test_json_rpc_without_prompts_and_updates_is_not_of_acp(tmp_path: Path) -> None:
    path = written(tmp_path, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "f"}})
    with pytest.raises(Exception, match="in no supported format"):
        trajectories(path)


def test_a_conversation_of_the_realtime_api_has_its_transcripts_calls_and_tokens(tmp_path: Path) -> None:
    wrapped = [{"at": number, "event": event} for number, event in enumerate(EVENTS)]
    for path in (REALTIME, written(tmp_path, *wrapped)):
        (run,) = trajectories(path)
        assert calls_of(run) == [("look_up", {"order": 17}, "paid")]
        assert (run.task, run.final_answer) == ("Is order 17 paid?", PAID)
        assert run.usage == Usage(input_tokens=130, cached_tokens=20, output_tokens=20)
        (agent,) = run.agents
        assert (agent.model, agent.description) == ("model-a", "Help with orders.")
        assert agent.tools is not None and [tool.name for tool in agent.tools] == ["look_up"]
        assert summary_of(path).trust == "complete"


def test_what_a_user_said_may_be_told_by_its_transcript_alone(tmp_path: Path) -> None:
    spoken = next(event["item_id"] for event in EVENTS if event["type"].endswith("transcription.completed"))
    events = [event for event in EVENTS if event.get("item", {}).get("id") != spoken]
    assert len(events) < len(EVENTS)
    (run,) = trajectories(path := written(tmp_path, *events))
    assert (run.task, run.final_answer) == ("Is order 17 paid?", PAID)
    assert summary_of(path).trust == "complete"


def test_an_item_that_a_client_makes_is_the_one_that_the_server_tells_of(tmp_path: Path) -> None:
    item = {"type": "function_call_output", "call_id": "c1", "output": "paid"}
    made = {"type": "conversation.item.create", "item": item}
    place = next(n for n, event in enumerate(EVENTS) if event["event_id"] == "e5")
    for events in ([*EVENTS[:place], made, *EVENTS[place:]], [*EVENTS[:place], made, *EVENTS[place + 1 :]]):
        (run,) = trajectories(path := written(tmp_path, *events))
        assert calls_of(run) == [("look_up", {"order": 17}, "paid")]
        assert summary_of(path).trust == "complete"


def test_scopes_of_atof_are_spans_with_their_starts_and_ends() -> None:
    (run,) = trajectories(ATOF)
    assert calls_of(run) == [("look_up", {"order": 17}, '{\n  "state": "paid"\n}')]
    assert (run.id, run.task, run.final_answer) == ("a1", "Is order 17 paid?", PAID)
    assert [(agent.id, agent.model) for agent in run.agents] == [("desk", "model-a")]


def test_each_root_of_atof_is_a_run_and_a_scope_without_an_end_has_no_result(tmp_path: Path) -> None:
    def other(event: JsonObject) -> JsonObject:
        parent = event["parent_uuid"]
        return {**event, "uuid": event["uuid"] + "x", "parent_uuid": parent and parent + "x"}

    cut = [other(event) for event in SCOPES if event["name"] != "look_up" or event.get("scope_category") != "end"][:6]
    runs = trajectories(written(tmp_path, *SCOPES, *cut))
    assert [(run.id, len(run.calls)) for run in runs] == [("a1", 1), ("a1x", 1)]
    assert runs[1].final_answer is None
