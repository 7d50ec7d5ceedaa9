"""Tasks of Cline, shaped by `src/core/prompts/responses.ts` of cline/cline and by transcripts of its users."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.import_report import ImportReport
from evaluation_assets.core.traces.formats.registry import format_of
from evaluation_assets.core.traces.trajectories.model import Trajectory, Usage
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, files_of, trajectories

FIXTURE = FIXTURES / "cline"


@pytest.fixture
def task() -> Trajectory:
    (run,) = trajectories(FIXTURE)
    return run


def test_calls_in_text_and_native_calls_are_read_with_results_and_errors(task: Trajectory) -> None:
    assert calls_of(task) == [
        ("read_file", {"path": "a.py"}, "def f():\n    return 1"),
        (
            "execute_command",
            {"command": "pytest", "requires_approval": "false"},
            "The tool execution failed with the following error:\n<error>\nno terminal\n</error>",
        ),
        ("replace_in_file", {"path": "a.py", "diff": "x"}, "The user denied this operation."),
        ("attempt_completion", {"result": "Nothing was changed."}, "Done"),
        ("attempt_completion", {"result": "I give up."}, None),
    ]
    errors = [step.result and step.result.error for step in task.calls]
    assert errors == [None, "no terminal", "The user denied this operation.", None, None]


def test_what_the_client_adds_is_no_turn(task: Trajectory) -> None:
    assert [turn.user_message for turn in task.turns] == ["Fix the failing test.", "Try again, please."]
    assert "environment_details" not in task.text and "[ERROR]" not in task.text
    assert (task.task, task.final_answer, task.duration_s) == ("Fix the failing test.", "I give up.", 50.0)
    first = next(task.steps)
    assert (task.piece(first.thought), task.piece(first.message)) == ("Look first.", "I look at the file.")


def test_the_reading_is_complete() -> None:
    files, report = files_of(FIXTURE), ImportReport()
    list(report.read(format_of(files), files))
    assert report.summary.sentence == "complete"


def test_arguments_that_roo_code_wraps_are_unwrapped(tmp_path: Path) -> None:
    call = "<list_files>\n<args>\n<path>src</path>\n<recursive>true</recursive>\n</args>\n</list_files>"
    messages = [
        {"role": "user", "content": "<task>List.</task><environment_details>x</environment_details>"},
        {"role": "assistant", "content": call},
    ]
    (tmp_path / "d.json").write_bytes(orjson.dumps(messages))
    (run,) = trajectories(tmp_path / "d.json")
    assert calls_of(run) == [("list_files", {"path": "src", "recursive": "true"}, None)]


ENVIRONMENT = (
    "<environment_details>\n# Current Mode\n<model>anthropic/claude-sonnet-4.5</model>\n</environment_details>"
)


def _asked(text: str) -> dict[str, Any]:
    return {
        "role": "user",
        "content": [{"type": "text", "text": f"<task>{text}</task>"}, {"type": "text", "text": ENVIRONMENT}],
    }


def _called(call_id: str, name: str, arguments: dict[str, Any], **about: Any) -> dict[str, Any]:
    content = [{"type": "tool_use", "id": call_id, "name": name, "input": arguments}]
    return {"role": "assistant", "content": content, **about}


def _returned(call_id: str, content: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": content}]}


def _request(say: str = "api_req_started", model: str = "anthropic", **stated: Any) -> dict[str, Any]:
    text = orjson.dumps(stated).decode()
    return {"ts": 1, "type": "say", "say": say, "text": text, "modelInfo": {"providerId": model, "modelId": "m"}}


def _task(folder: Path, conversation: list[Any], **beside: Any) -> tuple[Trajectory, ImportReport]:
    files = {"api_conversation_history": conversation, **beside}
    for name, data in files.items():
        (folder / f"{name}.json").write_bytes(orjson.dumps(data))
    report, drop = ImportReport(), files_of(folder)
    (run,) = report.read(format_of(drop), drop)
    assert isinstance(run, Trajectory)
    return run, report


def test_tokens_and_cost_stand_in_the_messages_of_the_user_interface(tmp_path: Path) -> None:
    run, report = _task(
        tmp_path,
        [_asked("Fix."), _called("1", "attempt_completion", {"result": "Fixed."})],
        ui_messages=[
            {"ts": 1, "type": "say", "say": "task", "text": "Fix."},
            _request(request="..."),  # cancelled before anything came back
            _request(tokensIn=10, tokensOut=50, cacheWrites=9000, cacheReads=0, cost=0.03),
            _request("deleted_api_reqs", tokensIn=5, tokensOut=5, cacheWrites=0, cacheReads=100, cost=0.01),
            {"ts": 2, "type": "ask", "ask": "completion_result", "text": ""},
        ],
        task_metadata={"files_in_context": [], "model_usage": [{"model_id": "claude-sonnet-4-5"}]},
    )
    assert run.usage == Usage(
        input_tokens=9115, cached_tokens=100, cache_write_tokens=9000, output_tokens=55, cost_usd=0.04
    )
    assert report.summary.sentence == "complete"
    assert [agent.model for agent in run.agents] == ["anthropic/claude-sonnet-4.5"]


def test_input_of_roo_code_and_of_openai_includes_what_is_cached(tmp_path: Path) -> None:
    request = {"tokensIn": 9500, "tokensOut": 20, "cacheWrites": 400, "cacheReads": 9000, "cost": 0.01}
    run, _ = _task(
        tmp_path,
        [_asked("Fix."), _called("1", "attempt_completion", {"result": "Fixed."})],
        ui_messages=[
            _request(apiProtocol="anthropic", **request),
            _request(model="openai-native", **request),
            _request(apiProtocol="anthropic", **{**request, "tokensIn": 100}),  # of an older version: beside
            {"ts": 3, "type": "say", "say": "condense_context", "contextCondense": {"cost": 0.02}},
        ],
    )
    assert run.usage is not None and run.usage.cost_usd == pytest.approx(0.05)
    assert (run.usage.input_tokens, run.usage.cached_tokens) == (9500 + 9500 + 9500, 27000)


def test_tokens_of_messages_are_those_of_their_steps(tmp_path: Path) -> None:
    metrics = {"tokens": {"prompt": 10, "completion": 50, "cached": 9000}, "cost": 0.03}
    about = {"modelInfo": {"modelId": "claude-sonnet-4-5", "providerId": "anthropic", "mode": "act"}}
    run, report = _task(
        tmp_path, [_asked("Fix."), _called("1", "attempt_completion", {"result": "Fixed."}, metrics=metrics, **about)]
    )
    (step,) = run.calls
    assert step.usage == run.usage == Usage(input_tokens=9010, output_tokens=50, cost_usd=0.03)
    assert report.unmapped.counts == {} and report.summary.sentence == "complete"


def test_results_of_roo_code_and_its_summaries(tmp_path: Path) -> None:
    run, report = _task(
        tmp_path,
        [
            _asked("Fix."),
            {
                "role": "assistant",
                "content": [
                    {"type": "reasoning", "text": "Look first.", "summary": []},
                    {"type": "tool_use", "id": "1", "name": "execute_command", "input": {"command": "rm x"}},
                ],
            },
            _returned("1", '{"status":"denied","message":"The user denied this operation."}'),
            {"role": "user", "content": [{"type": "text", "text": "The user wants a fix."}], "isSummary": True},
            _called("2", "attempt_completion", {"result": "Fixed."}),
        ],
    )
    first, _ = run.calls
    assert run.piece(first.thought) == "Look first." and first.result is not None and first.result.error is not None
    assert [turn.user_message for turn in run.turns] == ["Fix."]
    assert run.extra["compactions"] == 1 and report.summary.sentence == "complete"


def test_sessions_of_the_cli_are_read_with_their_tokens(tmp_path: Path) -> None:
    metrics = {"inputTokens": 9010, "outputTokens": 50, "cacheReadTokens": 0, "cacheWriteTokens": 9000, "cost": 0.03}
    session = {
        "version": 1,
        "agent": "lead",
        "sessionId": "s1",
        "messages": [
            {"id": "a", "role": "user", "content": [{"type": "text", "text": "Test."}], "ts": 1767366000000},
            _called("1", "run_commands", {"commands": ["pytest"]}, ts=1767366001000, metrics=metrics),
            _returned("1", "1 passed"),
            {"role": "assistant", "content": "It passes.", "modelInfo": {"id": "claude-sonnet-4-6", "provider": "x"}},
        ],
    }
    (tmp_path / "s1.messages.json").write_bytes(orjson.dumps(session))
    (run,) = trajectories(tmp_path)
    assert (run.format, run.id, run.task, run.final_answer) == ("cline", "s1", "Test.", "It passes.")
    assert calls_of(run) == [("run_commands", {"commands": ["pytest"]}, "1 passed")]
    assert run.usage is not None and (run.usage.input_tokens, run.usage.cached_tokens) == (9010, 0)


def test_several_files_of_a_call_of_roo_code_are_a_list(tmp_path: Path) -> None:
    files = "".join(f"  <file>\n    <path>{name}</path>\n  </file>\n" for name in ("a.py", "b.py"))
    change = "<diff>\n<content>\n<b>bold</b>\n</content>\n<start_line>3</start_line>\n</diff>"
    said = [
        f"<read_file>\n<args>\n{files}</args>\n</read_file>",
        f"<apply_diff>\n<args>\n<file>\n<path>a.html</path>\n{change}\n</file>\n</args>\n</apply_diff>",
    ]
    run, _ = _task(tmp_path, [_asked("Fix."), *({"role": "assistant", "content": text} for text in said)])
    assert [arguments for _, arguments, _ in calls_of(run)] == [
        {"file": [{"path": "a.py"}, {"path": "b.py"}]},
        {"file": {"path": "a.html", "diff": {"content": "<b>bold</b>", "start_line": "3"}}},
    ]
