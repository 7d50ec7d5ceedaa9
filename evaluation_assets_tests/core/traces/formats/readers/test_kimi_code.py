"""Sessions of Kimi Code."""

import json
from pathlib import Path

import orjson

from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, trajectories

FILE = FIXTURES / "kimi_code" / "wire.jsonl"
CLI_WIRE = FIXTURES / "kimi_code" / "cli_wire.jsonl"
CONTEXT = FIXTURES / "kimi_code" / "context.jsonl"


def lines() -> list[JsonObject]:
    return [orjson.loads(line) for line in FILE.read_bytes().splitlines()]


def test_prompts_of_the_user_are_turns_and_reminders_are_none() -> None:
    (run,) = trajectories(FILE)
    assert [turn.user_message for turn in run.turns] == ["Mend the sum in app.py and run the tests.", "Thanks."]
    assert "list of tasks" not in run.text
    assert (run.agents[0].model, run.agents[0].description) == ("model-a", "You are Kimi Code CLI.")
    assert run.extra["compactions"] == 1


def test_calls_have_their_results_errors_and_exit_codes() -> None:
    (run,) = trajectories(FILE)
    assert [(name, result) for name, _, result in calls_of(run)] == [
        ("Read", "total = 1\n"),
        ("Edit", "Replaced 1 occurrence."),
        ("Bash", "1 failed in 0.10s\nCommand failed with exit code: 1."),
    ]
    assert [step.result.error for step in run.calls if step.result] == [None, None, "1 failed in 0.10s"]
    assert run.extra["exit_codes"] == {"Bash_0": 1}
    assert [run.piece(step.thought) for step in run.steps if step.thought] == ["I read it first."]


def test_tokens_are_those_of_all_requests_with_cached_ones(tmp_path: Path) -> None:
    (run,) = trajectories(FILE)
    assert run.usage == Usage(input_tokens=405, cached_tokens=230, cache_write_tokens=0, output_tokens=33)
    assert summary_of(FILE).trust == "complete"
    *rest, last = lines()
    fewer = {**last, "usage": {**last["usage"], "output": 1}}
    assert summary_of(written(tmp_path, *rest, fewer)).trust == "doubtful"


def test_an_event_that_is_not_known_is_doubted(tmp_path: Path) -> None:
    strange = {"type": "context.append_loop_event", "event": {"type": "tool.progress", "toolCallId": "c1"}}
    summary = summary_of(written(tmp_path, *lines(), strange))
    assert (summary.trust, dict(summary.unknown_parts)) == ("doubtful", {"tool.progress": 1})


def test_the_context_of_kimi_cli_is_one_session() -> None:
    (run,) = trajectories(CONTEXT)
    assert [turn.user_message for turn in run.turns] == ["How many birds are in birds.csv?"]
    assert [(name, arguments) for name, arguments, _ in calls_of(run)] == [
        ("Shell", {"command": "wc -l bird.csv"}),
        ("ReadFile", {"path": "birds.csv"}),
    ]
    assert [step.result.error for step in run.calls if step.result] == [
        "<system>ERROR: Command failed with exit code: 1.</system>",
        None,
    ]
    assert [run.piece(step.thought) for step in run.steps if step.thought] == ["I count the lines."]
    assert (run.final_answer, run.usage, run.agents[0].description) == ("Two birds.", None, "You are Kimi.")
    assert summary_of(CONTEXT).trust == "complete"


def test_a_role_of_the_context_that_is_not_known_is_doubted(tmp_path: Path) -> None:
    context = [orjson.loads(line) for line in CONTEXT.read_bytes().splitlines()]
    summary = summary_of(written(tmp_path, *context, {"role": "_handoff", "content": "Go on."}))
    assert (summary.trust, dict(summary.unknown_parts)) == ("doubtful", {"_handoff": 1})


def test_checkpoints_of_other_programs_are_no_context_of_kimi_cli(tmp_path: Path) -> None:
    told = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
    path = written(tmp_path, {"messages": [*told, {"role": "_checkpoint", "content": {"id": "c-1"}}]})
    (run,) = trajectories(path)
    assert run.format == "openai_messages"


def test_what_kimi_cli_showed_is_put_together_from_its_pieces() -> None:
    (run,) = trajectories(CLI_WIRE)
    assert (run.task, run.final_answer) == ("Mend the sum in app.py.", "The sum is mended; one test fails.")
    assert calls_of(run) == [
        ("ReadFile", {"path": "app.py"}, "total = 1\n"),
        ("Shell", {"command": "pytest -q"}, "1 failed"),
        ("Task", {"prompt": "Run the tests."}, "One test fails."),
    ]
    assert run.piece(next(iter(run.steps)).thought) == "I read it first."
    assert [agent.id for agent in run.agents] == ["kimi-code", "sub-agent"]
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.cached_tokens, run.usage.output_tokens) == (355, 230, 30)
    assert run.extra["exit_codes"] == {"Shell:0": 1}
    assert summary_of(CLI_WIRE).trust == "complete"


def test_a_message_of_kimi_cli_that_is_not_known_is_doubted(tmp_path: Path) -> None:
    path = tmp_path / "wire.jsonl"
    event = {"timestamp": 1762000100.0, "message": {"type": "Hologram", "payload": {"beams": 1}}}
    path.write_text(CLI_WIRE.read_text() + json.dumps(event) + "\n")
    summary = summary_of(path)
    assert (summary.trust, dict(summary.unknown_parts)) == ("doubtful", {"Hologram": 1})
