"""Messages that agent frameworks keep: Pydantic AI, AutoGen AgentChat, smolagents."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors, summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, recorded_usage, trajectories

PYDANTIC, AUTOGEN, SMOLAGENTS = FIXTURES / "pydantic_ai", FIXTURES / "autogen", FIXTURES / "smolagents"


def test_calls_of_pydantic_ai_have_their_results_and_retries_are_errors() -> None:
    (run,) = trajectories(PYDANTIC)
    assert calls_and_errors(run) == [
        ('{"row":1}', None),
        ('{"row":2}', "row 2 is closed"),
        ('{"row":3}', "row 3 is gone"),
    ]
    assert run.piece(run.calls[0].thought) == "Two rows."


def test_a_pydantic_ai_conversation_has_its_turns_usage_model_and_prompts() -> None:
    unmapped = UnmappedFields()
    (run,) = trajectories(PYDANTIC, unmapped=unmapped)
    assert [turn.user_message for turn in run.turns] == ["Two seats, please.\n[image]", "I take it."]
    assert recorded_usage(run) == Usage(input_tokens=140, cached_tokens=0, output_tokens=17)
    assert (run.agents[0].model, run.agents[0].description) == ("gpt-5", "You sell tickets.\n\nBe brief.")
    assert unmapped.table() == []


def test_an_answer_that_pydantic_ai_refuses_starts_no_turn(tmp_path: Path) -> None:
    """`retry-feedback` of pydantic-ai 2.68, `retry-prompt` without a tool before."""
    for kind in ("retry-feedback", "retry-prompt"):
        messages = [
            {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "A number."}]},
            {"kind": "response", "parts": [{"part_kind": "text", "content": "x"}]},
            {"kind": "request", "parts": [{"part_kind": kind, "content": "not a number"}]},
            {"kind": "response", "parts": [{"part_kind": "text", "content": "7"}]},
        ]
        (run,) = trajectories(written(tmp_path, messages))
        assert (len(run.turns), run.final_answer) == (1, "7")


@pytest.mark.parametrize("name", ["result.jsonl", "team.json"])
def test_calls_of_autogen_have_their_results_and_errors(name: str) -> None:
    (run,) = trajectories(AUTOGEN / name)
    assert calls_and_errors(run) == [
        ('{"depot":"N"}', None),
        ('{"depot":"S"}', "depot S is closed"),
        ("{}", None),
        ('{"code":[{"code":"ls|wc-l","language":"sh"}]}', "ls: not found"),
    ]
    assert run.piece(run.calls[0].thought) == "Two depots."


@pytest.mark.parametrize("name", ["result.jsonl", "team.json"])
def test_an_autogen_team_has_its_agents_turns_and_usage_and_one_hand_off(name: str) -> None:
    (run,) = trajectories(AUTOGEN / name)
    assert [agent.id for agent in run.agents] == ["desk", "driver", "coder"]
    assert len(run.turns) == 2
    assert run.usage == Usage(input_tokens=111, output_tokens=20)
    assert run.text.count("Transferred to driver.") == 1
    assert '<message agent="driver" to="user">' in run.text


def test_the_saved_state_of_an_autogen_agent_is_read() -> None:
    (run,) = trajectories(AUTOGEN / "agent.json")
    assert calls_and_errors(run) == [('{"depot":"N"}', None)]
    assert (run.final_answer, run.agents[0].description) == ("It is lost.", "You find parcels.")


def test_an_autogen_message_of_a_type_that_nobody_knows_is_named(tmp_path: Path) -> None:
    def message(kind: str, source: str) -> dict[str, Any]:
        return {"type": kind, "source": source, "content": "Hi"}

    drop = written(tmp_path, [message("TextMessage", "user"), message("TelepathyEvent", "desk")])
    assert summary_of(drop).unknown_parts == {"TelepathyEvent": 1}


def test_lists_of_messages_as_an_array_are_one_conversation(tmp_path: Path) -> None:
    path = tmp_path / "drop.json"
    thread = orjson.loads((AUTOGEN / "result.jsonl").read_bytes())["messages"]
    path.write_bytes(orjson.dumps(thread))
    (run,) = trajectories(path)
    assert (len(run.turns), len(run.calls)) == (2, 4)


@pytest.mark.parametrize(
    "path", [path for folder in (PYDANTIC, AUTOGEN, SMOLAGENTS) for path in sorted(folder.iterdir())], ids=str
)
def test_the_import_report_has_no_doubts(path: Path) -> None:
    found = summary_of(path)
    assert (found.trust, found.calls_not_read) == ("complete", 0)
    assert found.calls_in_source >= found.calls - 1  # code that ran has no marks


def test_tools_of_smolagents_are_calls_and_a_failed_step_has_its_calls_in_the_answer_of_the_model() -> None:
    """`RunResult.dict()` of a ToolCallingAgent, smolagents 1.26: `tool_calls` is empty where a tool failed."""
    (run,) = trajectories(SMOLAGENTS / "tool_calling.json")
    assert calls_and_errors(run)[:3] == [
        ('{"item":"pen"}', None),
        ('{"item":"cap"}', None),
        (
            '{"item":"ink"}',
            "Error executing tool 'stock' with arguments {'item': 'ink'}: ValueError: no such shelf "
            "Please try again or use another tool",
        ),
    ]
    assert [run.piece(step.result.content) for step in run.calls if step.result][:2] == ["4", "9"]
    assert (run.final_answer, run.usage) == ("4 pens", Usage(input_tokens=30, output_tokens=6))
    assert run.calls[0].latency_ms == 500


def test_code_of_smolagents_is_a_call_of_the_interpreter() -> None:
    """`agent.memory.get_full_steps()` of a CodeAgent, smolagents 1.26."""
    (run,) = trajectories(SMOLAGENTS / "code.jsonl")
    assert calls_and_errors(run) == [("print(stock('pen'))", None), ("final_answer(4)", None)]
    assert run.piece(run.calls[0].thought) == "look."
    assert (run.final_answer, len(run.turns)) == ("4", 1)
    assert "Your code snippet is invalid." in run.text


def test_one_text_for_several_calls_is_the_result_of_the_last(tmp_path: Path) -> None:
    steps = orjson.loads((SMOLAGENTS / "tool_calling.json").read_bytes())["steps"]
    steps[1]["observations"] = "4\nof which\n2 are red"
    path = written(tmp_path, {"steps": steps})
    (run,) = trajectories(path)
    assert [step.result and run.piece(step.result.content) for step in run.calls][:2] == [
        None,
        "4\nof which\n2 are red",
    ]
    assert summary_of(path).trust == "partial"


def test_a_smolagents_run_that_reached_its_limit_is_cut_off(tmp_path: Path) -> None:
    steps = orjson.loads((SMOLAGENTS / "tool_calling.json").read_bytes())["steps"]
    last = steps[3] | {"tool_calls": [], "error": {"type": "AgentMaxStepsError", "message": "Reached max steps."}}
    last |= {"action_output": "About 4.", "model_output_message": None}
    record = {"state": "max_steps_error", "output": "About 4.", "steps": [*steps[:3], last]}
    (run,) = trajectories(written(tmp_path, record))
    assert (run.flags, run.final_answer) == (("step_limit",), "About 4.")
    assert run.text.rstrip().endswith("About 4.\n</message>")


def test_tokens_from_the_cache_are_told_apart_in_messages_of_pydantic_ai(tmp_path: Path) -> None:
    used = {"input_tokens": 100, "cache_read_tokens": 60, "cache_write_tokens": 30, "output_tokens": 10, "details": {}}
    messages = [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Is it paid?"}]},
        {"kind": "response", "parts": [{"part_kind": "text", "content": "Yes."}], "usage": used},
    ]
    (tmp_path / "m.json").write_bytes(orjson.dumps(messages))
    (run,) = trajectories(tmp_path / "m.json")
    assert run.usage == Usage(input_tokens=100, cached_tokens=60, cache_write_tokens=30, output_tokens=10)


@pytest.mark.parametrize(
    ("reason", "flags"),
    [
        ("Maximum number of turns 2 reached.", ("step_limit",)),
        ("Maximum number of messages 3 reached, current message count: 3", ("step_limit",)),
        ("Text 'TERMINATE' mentioned", ()),
    ],
)
def test_a_team_of_autogen_that_reached_a_limit_is_flagged(tmp_path: Path, reason: str, flags: tuple[str, ...]) -> None:
    said = [("user", "Write a line."), ("writer", "Roses are red."), ("critic", "Longer, please.")]
    messages = [{"type": "TextMessage", "source": source, "content": text} for source, text in said]
    (run,) = trajectories(written(tmp_path, {"messages": messages, "stop_reason": reason}))
    assert (run.flags, run.final_answer) == (flags, "Longer, please.")


@pytest.mark.parametrize(("reason", "flag"), [("length", "truncated"), ("content_filter", "refused")])
def test_an_answer_of_pydantic_ai_says_why_its_model_stopped(tmp_path: Path, reason: str, flag: str) -> None:
    asked = {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Is order 17 paid?"}]}
    said = {"kind": "response", "parts": [{"part_kind": "text", "content": "It"}], "finish_reason": reason}
    (run,) = trajectories(written(tmp_path, [asked, said]))
    assert flag in run.flags


def test_a_result_that_semantic_kernel_repeats_as_text_is_one_result(tmp_path: Path) -> None:
    used = {"Usage": {"PromptTokens": 20, "CompletionTokens": 4}}
    call = {"$type": "FunctionCallContent", "Id": "k", "FunctionName": "tide", "Arguments": {"port": "Vik"}}
    text = {"$type": "TextContent", "Text": "03:00", "Metadata": {"ChatCompletionsToolCall.Id": "k"}}
    result = {"$type": "FunctionResultContent", "CallId": "k", "FunctionName": "tide", "Result": "03:00"}
    messages = [
        {"Role": {"Label": "user"}, "Items": [{"$type": "TextContent", "Text": "When is high tide?"}]},
        {"Role": {"Label": "assistant"}, "Items": [call], "Metadata": used},
        {"Role": {"Label": "tool"}, "Items": [text, result], "Metadata": {"ChatCompletionsToolCall.Id": "k"}},
        {"Role": {"Label": "assistant"}, "Items": [{"$type": "TextContent", "Text": "At 3."}], "Metadata": used},
    ]
    path = tmp_path / "chat.json"
    path.write_bytes(orjson.dumps(messages))
    (run,) = trajectories(path)
    assert (calls_of(run), run.usage) == ([("tide", {"port": "Vik"}, "03:00")], Usage(input_tokens=40, output_tokens=8))
    assert run.text.count("03:00") == 1
