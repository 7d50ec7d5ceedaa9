"""Messages that name who speaks instead of a role."""

import json
from itertools import product
from pathlib import Path

import pytest

from evaluation_assets.core.traces.formats.messages.named_speakers import speaker_of
from evaluation_assets.core.traces.trajectories.model import JsonObject
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of
from evaluation_assets_tests.core.traces.formats.reading import calls_of, trajectories

SAID = [
    ("user", "How many people live in Bern?"),
    ("Planner", "I ask the searcher."),
    ("Searcher", "134,000 people."),
    ("Planner", "It is 134,000."),
]


@pytest.mark.parametrize("text", ["content", "text", "message"])
@pytest.mark.parametrize(
    ("speaker", "field"),
    [
        *product(["speaker", "agent", "agent_name"], ["messages", "history", None]),
        *product(["sender", "from"], ["messages", None]),
    ],
)
def test_messages_that_name_their_speaker_are_those_of_agents(
    speaker: str, text: str, field: str | None, tmp_path: Path
) -> None:
    messages = [{speaker: name, text: words, "time": n} for n, (name, words) in enumerate(SAID)]
    path = tmp_path / "drop.jsonl"
    path.write_text("\n".join(map(json.dumps, messages if field is None else [{"id": "r", field: messages}])), "utf-8")
    (run,) = trajectories(path)
    agents = [
        (part.agent_id, run.piece(step.message))
        for turn in run.turns
        for part in turn.interactions
        for step in part.steps
    ]
    assert (run.task, agents, run.final_answer) == (SAID[0][1], SAID[1:], SAID[-1][1])


@pytest.mark.parametrize(
    ("of_user", "of_agent"),
    [
        ({"author": {"type": "customer", "id": 7}}, {"author": {"type": "bot", "id": 8}}),
        ({"direction": "inbound", "from": "+41"}, {"direction": "outbound", "from": "+42"}),
        ({"is_bot": False}, {"is_bot": True}),
        ({"fromUser": True}, {"fromUser": False}),
        ({"role": "MessageRole.USER"}, {"role": "MessageRole.ASSISTANT"}),
    ],
)
def test_a_side_may_be_told_by_the_kind_of_an_author_a_direction_a_flag_or_an_enumeration(
    of_user: JsonObject, of_agent: JsonObject, tmp_path: Path
) -> None:
    said = [(of_user, "Is 17 paid?"), (of_agent, "Yes."), (of_user, "And 18?"), (of_agent, "No.")]
    lines = [{"conversation_id": "c", **side, "body": words, "seq": n} for n, (side, words) in enumerate(said)]
    path = tmp_path / "drop.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    (run,) = trajectories(path)
    assert [turn.user_message for turn in run.turns] == ["Is 17 paid?", "And 18?"]
    assert [turn.interactions[-1].response for turn in run.turns] == ["Yes.", "No."]
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize(
    ("field", "names", "trust"),
    [
        ("speaker", ("Ada", "Max"), "doubtful"),
        ("sender", ("Ada", "Max"), "doubtful"),
        ("speaker", ("Ada", "Ada"), "complete"),
        ("agent", ("Planner", "Searcher"), "complete"),
        ("speaker", ("user", "Planner"), "complete"),
        ("speaker", ("Planner", "assistant"), "complete"),
    ],
)
def test_people_who_talk_with_each_other_may_be_no_agents(
    field: str, names: tuple[str, str], trust: str, tmp_path: Path
) -> None:
    messages = [{field: name, "text": f"I am {name}."} for name in names * 2]
    path = tmp_path / "drop.json"
    path.write_text(json.dumps({"session": {"messages": messages}}), "utf-8")
    trajectories(path)
    assert summary_of(path).trust == trust


@pytest.mark.parametrize("name", ["human_evaluator", "User 1", "user-simulator"])
def test_a_person_who_tries_an_agent_is_its_user(name: str, tmp_path: Path) -> None:
    messages = [{"speaker": name, "text": "Is it paid?"}, {"speaker": "model", "text": "It is."}]
    path = tmp_path / "drop.json"
    path.write_text(json.dumps({"dialog": messages}), "utf-8")
    (run,) = trajectories(path)
    assert (run.task, run.final_answer, len(run.agents)) == ("Is it paid?", "It is.", 1)


@pytest.mark.parametrize(
    "line",
    [
        {"agent": "worker-1", "level": "INFO", "message": "started"},
        {"sender": "ada@example.org", "subject": "Loan", "body": "It is due."},
        {"type": "event", "agent": "worker-1", "message": "started"},
    ],
)
def test_lines_of_logs_and_letters_are_no_messages(line: JsonObject) -> None:
    assert speaker_of(line) is None


def test_letters_that_agents_work_on_are_no_second_conversation(tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "Any letters?"}, {"role": "assistant", "content": "One, of Ada."}]
    letters = [{"sender": "ada@example.org", "content": "It is due."}, {"sender": "max@example.org", "content": "Yes."}]
    for inbox in (letters, {"messages": letters}):
        path = tmp_path / "drop.json"
        path.write_text(json.dumps({"id": "r", "chat": chat, "inbox": inbox}), "utf-8")
        (run,) = trajectories(path)
        assert run.task == "Any letters?"


def test_a_system_that_a_user_talks_with_is_the_agent_and_calls_the_services_in_its_frames(tmp_path: Path) -> None:
    call = {"method": "LookUp", "parameters": {"order": "7"}}
    frame = {"service": "Orders", "service_call": call, "service_results": [{"state": "paid"}], "actions": []}
    turns = [
        {"speaker": "USER", "utterance": "Is order 7 paid?", "frames": [{"service": "Orders", "state": {}}]},
        {"speaker": "SYSTEM", "utterance": "It is.", "frames": [frame]},
    ]
    path = tmp_path / "dialogues.json"
    path.write_text(json.dumps([{"dialogue_id": "1", "turns": turns}, {"dialogue_id": "2", "turns": turns}]), "utf-8")
    run, _ = trajectories(path)
    ((name, arguments, result),) = calls_of(run)
    assert (name, arguments, "paid" in (result or "")) == ("LookUp", {"order": "7"}, True)
    assert (run.task, run.final_answer, [agent.id for agent in run.agents]) == ("Is order 7 paid?", "It is.", ["agent"])
    assert summary_of(path).trust == "complete"


def test_what_a_system_says_before_a_user_is_its_prompt(tmp_path: Path) -> None:
    said = [("system", "You are a clerk."), ("user", "Is order 7 paid?"), ("assistant", "It is.")]
    path = tmp_path / "drop.json"
    path.write_text(json.dumps({"turns": [{"speaker": name, "utterance": text} for name, text in said]}), "utf-8")
    (run,) = trajectories(path)
    assert (run.agents[0].description, run.final_answer) == ("You are a clerk.", "It is.")
