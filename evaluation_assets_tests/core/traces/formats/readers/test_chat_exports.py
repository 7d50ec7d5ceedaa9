"""Conversations as the exports of chat programs have them: ChatGPT, claude.ai, VS Code."""

import json
from pathlib import Path
from typing import Any

from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets.core.traces.trajectories.model import JsonObject
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, read, trajectories

CHATGPT, CLAUDE_AI, VSCODE = FIXTURES / "chatgpt", FIXTURES / "claude_ai", FIXTURES / "vscode_chat"


def node(parent: str | None, role: str, content: JsonObject, recipient: str = "all") -> JsonObject:
    return {"parent": parent, "message": {"author": {"role": role}, "content": content, "recipient": recipient}}


def said(*parts: Any) -> JsonObject:
    return {"content_type": "text", "parts": list(parts)}


def test_the_branch_that_chatgpt_shows_is_read() -> None:
    (run,) = trajectories(CHATGPT)
    assert [turn.user_message for turn in run.turns] == [
        "[image]\nHow many hertz has this key?",
        "And an octave above?",
    ]
    assert [turn.interactions[-1].response for turn in run.turns] == ["It has 440 Hz.", "880 Hz."]
    assert run.started_at == "2025-08-05T06:28:20+00:00"
    assert (run.agents[0].model, run.agents[0].description) == ("gpt-5-thinking", "I tune pianos.\n\nBe brief.")
    summary = summary_of(CHATGPT)
    assert (summary.trust, summary.rewound_branches) == ("partial", 1)


def test_what_chatgpt_sends_to_a_tool_is_a_call() -> None:
    (run,) = trajectories(CHATGPT)
    assert [(name, result) for name, _, result in calls_of(run)] == [
        ("python", "NameError: name 'n' is not defined"),
        ("python", "440.0"),
        ("web.run", "A4 is 440 Hz.\nISO 16 fixes it."),
    ]
    assert calls_of(run)[0][1] == {"arguments": "440 * 2 ** (n / 12)"}
    assert calls_of(run)[2][1] == {"search_query": [{"q": "A4 hertz"}]}
    errors = [step.result.error for step in run.calls if step.result is not None]
    assert errors == ["NameError: name 'n' is not defined", None, None]
    assert run.piece(next(iter(run.steps)).thought) == "The key is A4, a semitone is 2**(1/12)."


def test_a_content_of_chatgpt_that_is_not_understood_makes_the_reading_doubtful(tmp_path: Path) -> None:
    mapping = {
        "a": node(None, "user", said("Hello")),
        "b": node("a", "assistant", {"content_type": "hologram", "beams": [1]}),
        "c": node("b", "assistant", said("Hi.")),
    }
    summary = summary_of(written(tmp_path, {"mapping": mapping, "current_node": "c", "id": "x"}))
    assert (summary.trust, dict(summary.unknown_parts)) == ("doubtful", {"hologram": 1})


def test_a_conversation_that_does_not_say_which_branch_is_shown_is_rejected(tmp_path: Path) -> None:
    mapping = {"a": node(None, "user", said("2 + 2?")), "b": node("a", "assistant", said("4"))}
    (run,) = trajectories(written(tmp_path, {"mapping": mapping, "id": "x"}))
    assert run.final_answer == "4"
    again = {**mapping, "c": node("a", "assistant", said("5"))}
    (rejection,) = read(written(tmp_path, {"mapping": again, "id": "x"}))
    assert isinstance(rejection, Rejection)
    assert (rejection.reason, rejection.detail[:10]) == ("no_trajectory_text", "2 branches")


def test_calls_of_claude_ai_have_the_results_that_follow_them() -> None:
    run, old = trajectories(CLAUDE_AI)
    assert calls_of(run) == [
        ("timetable", {"stop": "Harbour"}, "every 9 minutes"),
        ("timetable", {"stop": "Mil"}, "no such stop"),
    ]
    assert [step.result.error for step in run.calls if step.result is not None] == [None, "no such stop"]
    assert run.piece(run.calls[0].thought) == "The table says Harbour; I check the timetable."
    assert run.piece(run.calls[0].message) == "I check the timetable."
    assert run.task == "Which stop has the longest wait?\nstops.csv:\nstop,wait\nHarbour,9\nMill,4"
    assert (run.final_answer, old.task, old.final_answer) == (
        "Harbour, with 9 minutes.",
        "How long does green tea steep?",
        "Two minutes.",
    )


def test_answers_of_claude_ai_that_were_generated_again_are_left_out(tmp_path: Path) -> None:
    (conversation, _) = json.loads((CLAUDE_AI / "conversations.json").read_bytes())
    assert summary_of(CLAUDE_AI).rewound_branches == 1
    earlier = {**conversation, "current_leaf_message_uuid": "m2"}
    path = written(tmp_path, earlier)
    (run,) = trajectories(path)
    assert (run.final_answer, calls_of(run)) == ("A guess: Mill.", [])
    summary = summary_of(path)
    assert (summary.trust, summary.rewound_branches, summary.rewound_calls) == ("partial", 1, 2)


def test_a_chat_of_vscode_has_what_copilot_kept_of_each_round() -> None:
    (run,) = trajectories(VSCODE)
    first, _ = run.turns
    assert calls_of(run)[:2] == [
        ("fetch_webpage", {"urls": ["https://example.org/4"]}, "9 buses an hour"),
        ("read_file", {"filePath": "lines.md"}, "line 4: 9 an hour"),
    ]
    assert (first.user_message, first.interactions[-1].response) == (
        "How often does line 4 run?",
        "Every 6 to 7 minutes.",
    )
    assert run.piece(run.calls[0].thought) == "The page or the file has it."
    assert (run.id, run.started_at, run.agents[0].model) == (
        "5e55-bus",
        "2025-10-02T15:16:51.241000+00:00",
        "copilot/gpt-4.1",
    )
    assert summary_of(VSCODE).trust == "complete"


def test_a_response_of_vscode_without_rounds_is_read_as_it_is_shown(tmp_path: Path) -> None:
    (run,) = trajectories(VSCODE)
    assert calls_of(run)[2:] == [("find_line_internal", {"line": 4}, "no index")]
    assert [step.result.error for step in run.calls if step.result is not None] == [None, None, "no index"]
    assert run.turns[1].interactions[-1].response == "It is `lines.md`."
    chat = json.loads((VSCODE / "chat.json").read_bytes())
    del chat["requests"][1]["response"][3]["resultDetails"]
    chat["requests"][1]["response"].append({"kind": "treeData", "treeData": {"label": "src"}})
    summary = summary_of(written(tmp_path, chat))
    assert (summary.trust, dict(summary.unknown_parts)) == ("doubtful", {"treeData": 1})
    assert (summary.calls, summary.results, summary.unanswered_calls) == (3, 2, 1)


def test_calls_that_vscode_shows_of_a_sub_agent_are_missed(tmp_path: Path) -> None:
    """The rounds have what the agent itself called."""
    chat = json.loads((VSCODE / "chat.json").read_bytes())
    part = {"kind": "toolInvocationSerialized", "toolId": "copilot_readFile", "subAgentInvocationId": "a3"}
    chat["requests"][0]["response"] += [{**part, "toolCallId": call} for call in ("s1", "s1", "s2")]
    summary = summary_of(written(tmp_path, chat))
    (missed,) = summary.differences
    assert (summary.trust, missed.what, missed.stated, missed.read) == ("partial", "sub-agent call", 2, 0)
