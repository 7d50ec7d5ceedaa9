"""Conversations as AgentScope, Open Interpreter, Rasa and the Bot Framework keep them."""

from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory
from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors, summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import (
    FIXTURES,
    calls_of,
    loaded,
    read,
    records_of,
    trajectories,
)

AGENTSCOPE, INTERPRETER, TRANSCRIPT, TRACKER = (
    FIXTURES / "agentscope" / "messages.json",
    FIXTURES / "open_interpreter" / "conversation.json",
    FIXTURES / "bot_framework" / "transcript.json",
    FIXTURES / "rasa" / "tracker.json",
)
MESSAGES, CHAT, ACTIVITIES, (RASA,) = map(records_of, (AGENTSCOPE, INTERPRETER, TRANSCRIPT, TRACKER))
LOOK_UP = [("look_up", {"order": 17}, "paid")]
PAID = "Order 17 is paid."


@pytest.mark.parametrize("path", [AGENTSCOPE, INTERPRETER, TRANSCRIPT, TRACKER])
def test_nothing_is_amiss(path: Path) -> None:
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize(
    "record",
    [
        {"content": MESSAGES},
        {"content": [[message, []] for message in MESSAGES], "_compressed_summary": ""},
        {"desk": {"name": "Desk", "memory": {"content": MESSAGES}}},
    ],
)
def test_messages_of_agentscope_are_one_run_with_the_results_that_the_system_tells(
    tmp_path: Path, record: JsonObject
) -> None:
    for path in (AGENTSCOPE, written(tmp_path, record)):
        (run,) = trajectories(path)
        assert (calls_of(run), run.final_answer, len(run.turns)) == (LOOK_UP, PAID, 1)
        assert [agent.id for agent in run.agents] == ["Desk"]
        assert [run.piece(step.thought) for step in run.steps][:1] == ["I look it up."]
        assert summary_of(path).trust == "complete"


def test_a_reply_of_agentscope_2_has_all_that_the_agent_did(tmp_path: Path) -> None:
    def message(name: str, role: str, *content: JsonObject, **more: Any) -> JsonObject:
        return {"name": name, "role": role, "content": list(content), "metadata": {}, "created_at": "2026", **more}

    def used(name: str, state: str, output: Any) -> list[JsonObject]:
        call = {"type": "tool_call", "id": name, "name": "look_up", "input": '{"order": 17}', "state": "finished"}
        return [call, {"type": "tool_result", "id": name, "name": "look_up", "output": output, "state": state}]

    said = [{"type": "hint", "hint": "Be brief."}, {"type": "text", "text": PAID}]
    blocks = [*used("c1", "error", "offline"), *used("c2", "success", [{"type": "text", "text": "paid"}]), *said]
    reply = message("Desk", "assistant", *blocks, usage={"input_tokens": 50, "output_tokens": 9})
    asked = message("user", "user", {"type": "text", "text": "Is order 17 paid?"})
    path = written(tmp_path, {"session_id": "s", "summary": "", "context": [asked, reply]})
    (run,) = trajectories(path)
    assert calls_and_errors(run) == [('{"order":17}', "offline"), ('{"order":17}', None)]
    assert (run.final_answer, run.usage and run.usage.input_tokens) == (PAID, 50)
    assert summary_of(path).trust == "complete"


def test_code_of_open_interpreter_has_what_the_computer_showed() -> None:
    (run,) = trajectories(INTERPRETER)
    assert calls_of(run) == [("python", {"code": "print(17 + 25)"}, "42")]
    assert (run.task, run.final_answer, len(run.turns)) == ("What is 17 + 25?", "It is 42.", 1)


def test_outputs_of_one_code_are_one_result(tmp_path: Path) -> None:
    more = {"role": "computer", "type": "console", "format": "output", "content": "done"}
    image = {"role": "computer", "type": "image", "format": "base64.png", "content": "iVBORw0KGgo="}
    path = written(tmp_path, {"messages": [*CHAT[:5], more, image, CHAT[5], CHAT[0], CHAT[5]]})
    (run,) = trajectories(path)
    assert [result for _, _, result in calls_of(run)] == ["42\ndone\n[image]"]
    assert [turn.user_message for turn in run.turns] == ["What is 17 + 25?"] * 2


def test_a_step_of_copilot_studio_is_a_call() -> None:
    (run,) = trajectories(TRANSCRIPT)
    assert calls_of(run) == [("shop.look_up", {"order": 17}, '{\n  "state": "paid"\n}')]
    assert (run.id, run.task, run.final_answer) == ("c1", "Is order 17 paid?", PAID)


def test_activities_may_be_lines_of_several_conversations(tmp_path: Path) -> None:
    others = [{**each, "conversation": {"id": "c2"}} for each in ACTIVITIES]
    mixed = [each for pair in zip(ACTIVITIES, others, strict=True) for each in pair]
    runs = trajectories(written(tmp_path, *mixed))
    assert [(run.id, len(run.calls), len(run.turns)) for run in runs] == [("c1", 1, 1), ("c2", 1, 1)]


def test_a_transcript_of_copilot_studio_has_roles_as_numbers_and_the_outcome_of_its_session(tmp_path: Path) -> None:
    asked, told = (
        {"type": "message", "timestamp": 1772359200, "from": {"id": str(role), "role": role}, "text": text}
        for role, text in ((1, "Is order 17 paid?"), (0, PAID))
    )
    session = {"type": "trace", "valueType": "SessionInfo", "from": {"role": 0}, "value": {"outcome": "Resolved"}}
    (run,) = trajectories(written(tmp_path, {"activities": [session, asked, told]}))
    assert (run.task, run.final_answer, run.success) == ("Is order 17 paid?", PAID, None)
    assert run.labels == {"labels": {"outcome": "Resolved"}}


def test_a_card_and_an_answer_without_a_role_are_the_bots(tmp_path: Path) -> None:
    card = {"content": {"title": "Order 17", "body": [{"type": "TextBlock", "text": "paid"}]}}
    place = {"type": "message", "conversation": {"id": "c1"}}
    asked = {**place, "from": {"id": "a"}, "text": "Is order 17 paid?"}
    path = written(tmp_path, asked, {**place, "from": {"id": "b"}, "replyToId": "1", "attachments": [card]})
    (run,) = trajectories(path)
    assert (run.task, run.final_answer) == ("Is order 17 paid?", "Order 17\npaid")


def test_an_action_of_rasa_is_a_call_that_fills_slots_and_one_that_speaks_is_none() -> None:
    (run,) = trajectories(TRACKER)
    assert calls_of(run) == [("action_look_up", {}, '{\n  "state": "paid"\n}')]
    assert (run.task, run.final_answer, run.started_at) == ("Is order 17 paid?", PAID, "2026-03-01T10:00:00+00:00")


def test_events_of_rasa_may_be_lines_of_several_senders(tmp_path: Path) -> None:
    (data,) = loaded("rasa").values()
    mixed = [{**event, "sender_id": sender} for event in data["events"] for sender in ("a", "b")]
    runs = trajectories(written(tmp_path, *mixed))
    assert [(run.extra["conversation_id"], len(run.calls)) for run in runs] == [("a", 1), ("b", 1)]


def test_an_action_of_rasa_that_was_rejected_failed(tmp_path: Path) -> None:
    events = [
        {**event, "event": "action_execution_rejected"} if event.get("name") == "state" else event
        for event in RASA["events"]
    ]
    (run,) = trajectories(written(tmp_path, {**RASA, "events": events}))
    assert [step.has_failed for step in run.calls] == [True]


def test_a_conversation_that_breaks_its_reader_is_rejected_alone(tmp_path: Path) -> None:
    broken = {
        "type": "event",
        "name": "DynamicPlanStepTriggered",
        "from": {"id": "bot", "role": "bot"},
        "conversation": {"id": "c2"},
        "value": {"stepId": ["s1"], "taskDialogId": "look_up"},
    }
    run, rejection = read(written(tmp_path, *ACTIVITIES, broken))
    assert isinstance(run, Trajectory)
    assert run.final_answer == PAID
    assert isinstance(rejection, Rejection)
    assert rejection.reason == "reader_failed"
