"""Messages and exported agents of Letta, by `letta/schemas/letta_message.py` and `letta/schemas/agent_file.py`."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.trajectories.model import Usage
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, check, trajectories
from evaluation_assets_tests.core.traces.formats.test_import_report import summary_of

FIXTURE = FIXTURES / "letta"
MESSAGES: list[dict[str, Any]] = orjson.loads((FIXTURE / "messages.json").read_bytes())


@pytest.mark.parametrize("newest_first", [False, True])
def test_messages_are_read_from_the_first_to_the_last(tmp_path: Path, newest_first: bool) -> None:
    (tmp_path / "m.json").write_bytes(orjson.dumps(MESSAGES[::-1] if newest_first else MESSAGES))
    (run,) = trajectories(tmp_path / "m.json")
    check(run)
    assert ([turn.user_message for turn in run.turns], run.final_answer) == (["Is order 17 paid?"], "It is paid.")
    assert calls_of(run) == [
        ("archival_memory_search", {"query": "order 17"}, "The archive is closed."),
        ("look_up", {"order": 17}, "paid"),
    ]
    assert [step.result.error for step in run.calls if step.result] == ["The archive is closed.", None]
    assert run.piece(run.calls[0].thought) == "I look in the archive."
    assert run.agents[0].description == "You are a clerk."


def test_an_answer_of_the_api_has_its_tokens() -> None:
    (run,) = trajectories(FIXTURE / "answer.json")
    assert (run.usage, run.flags) == (Usage(input_tokens=900, output_tokens=40), ())
    assert (len(run.calls), run.final_answer) == (2, "It is paid.")


@pytest.mark.parametrize(("reason", "flags"), [("max_steps", ("step_limit",)), ("llm_api_error", ("failed",))])
def test_an_answer_may_be_cut_off_or_broken(tmp_path: Path, reason: str, flags: tuple[str, ...]) -> None:
    answer = orjson.loads((FIXTURE / "answer.json").read_bytes())
    (tmp_path / "a.json").write_bytes(orjson.dumps({**answer, "stop_reason": {"stop_reason": reason}}))
    (run,) = trajectories(tmp_path / "a.json")
    assert run.flags == flags


def test_prompts_and_results_of_an_exported_agent_are_unwrapped() -> None:
    (run,) = trajectories(FIXTURE / "agent.json")
    check(run)
    assert [turn.user_message for turn in run.turns] == ["Is order 17 paid?"]
    assert [(name, result) for name, _, result in calls_of(run)] == [
        ("look_up", "no such order"),
        ("send_message", "None"),
    ]
    assert [step.result.error for step in run.calls if step.result] == ["no such order", None]
    assert run.final_answer == "I find no order 17."
    (agent,) = run.agents
    assert (agent.name, agent.model, [tool.name for tool in agent.tools or ()]) == ("clerk", "gpt-4o", ["look_up"])


def test_reasoning_of_a_provider_stands_beside_what_an_exported_agent_says(tmp_path: Path) -> None:
    file = orjson.loads((FIXTURE / "agent.json").read_bytes())
    first = next(message for message in file["agents"][0]["messages"] if message["role"] == "assistant")
    hidden = {"type": "omitted_reasoning", "signature": "x"}
    first["content"] = [{"type": "reasoning", "reasoning": "By number.", "is_native": True}, *first["content"], hidden]
    (tmp_path / "agent.json").write_bytes(orjson.dumps(file))
    (run,) = trajectories(tmp_path / "agent.json")
    assert (run.piece(run.calls[0].thought), run.piece(run.calls[0].message)) == ("By number.", "I look it up.")
    assert summary_of(tmp_path / "agent.json").sentence == "complete"


@pytest.mark.parametrize("name", ["messages.json", "answer.json", "agent.json"])
def test_the_reading_is_complete(name: str) -> None:
    assert summary_of(FIXTURE / name).sentence == "complete"


def test_the_pieces_of_a_stream_of_tokens_are_one_message(tmp_path: Path) -> None:
    def piece(kind: str, name: str, **fields: Any) -> dict[str, Any]:
        return {
            "message_type": kind,
            "id": name,
            "otid": f"{name}-{kind}",
            "date": "2026-01-02T10:00:00+00:00",
            **fields,
        }

    def called(call_id: str, name: str | None, arguments: str | None) -> dict[str, Any]:
        made = {"name": name, "arguments": arguments, "tool_call_id": call_id}
        return piece("tool_call_message", "m1", tool_call=made, tool_calls=made)

    lines = [
        piece("user_message", "m0", content="Is order 17 paid?"),
        piece("reasoning_message", "m1", reasoning="I "),
        piece("reasoning_message", "m1", reasoning="look."),
        called("c1", "look_up", None),
        called("c1", None, '{"order":'),
        called("c1", None, " 17}"),
        called("c2", "look_up", '{"order": 18}'),
        piece("tool_return_message", "m2", tool_return="paid", status="success", tool_call_id="c1"),
        piece("tool_return_message", "m3", tool_return="open", status="success", tool_call_id="c2"),
        piece("assistant_message", "m4", content="It is "),
        piece("assistant_message", "m4", content="paid."),
    ]
    (tmp_path / "m.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    (run,) = trajectories(tmp_path / "m.jsonl")
    assert calls_of(run) == [("look_up", {"order": 17}, "paid"), ("look_up", {"order": 18}, "open")]
    assert (run.piece(run.calls[0].thought), run.final_answer) == ("I look.", "It is paid.")
