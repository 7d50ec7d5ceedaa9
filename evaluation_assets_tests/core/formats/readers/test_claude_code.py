"""Claude Code session logs as trajectories."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.formats.base import Rejection, Sample
from evaluation_assets.core.formats.readers.claude_code import detect
from evaluation_assets.core.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.trajectories.model import Trajectory, Usage
from evaluation_assets_tests.core.formats.reading import FIXTURES, check, read, trajectories

FIXTURE = FIXTURES / "claude_code" / "session.jsonl"
LINES: list[dict[str, Any]] = [orjson.loads(line) for line in FIXTURE.read_bytes().splitlines()]
SIDECHAIN = [line for line in LINES if line.get("isSidechain")]


@pytest.fixture
def session() -> Trajectory:
    return trajectories(FIXTURE)[0]


def written(file: Path, lines: list[Any]) -> Path:
    file.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return file


def speaking(run: Trajectory) -> list[str]:
    return [interaction.agent_id for turn in run.turns for interaction in turn.interactions]


def test_a_session_is_one_trajectory_with_a_turn_a_user_message(session: Trajectory) -> None:
    check(session)
    assert [turn.user_message for turn in session.turns] == ["The totals are wrong. Fix them.", "Thanks, now the docs."]
    assert session.task == "The totals are wrong. Fix them."
    assert (session.started_at, session.duration_s) == ("2025-10-01T09:00:00.000Z", 21)
    assert (session.agents[0].model, session.agents[0].version) == ("claude-sonnet-4-5", "2.0.14")
    assert session.extra == {
        "session_id": "5f0c2d1e-0000-4000-8000-000000000001",
        "title": "Wrong totals in the shop",
        "cwd": "/home/ada/shop",
        "git_branch": "main",
        "compactions": 1,
        "active_s": 21.0,
        "requests": [
            ["claude-sonnet-4-5", 150, 100, 40, 45],
            ["claude-sonnet-4-5", 170, 150, 0, 25],
            ["claude-sonnet-4-5", 38, 0, 30, 12],
            ["claude-sonnet-4-5", 39, 30, 0, 5],
            ["claude-haiku-4-5", 55, 0, 50, 6],
            ["claude-haiku-4-5", 56, 50, 0, 7],
        ],
    }


def test_the_lines_of_a_message_are_one_reply_whose_usage_counts_once(session: Trajectory) -> None:
    read, test = session.calls[:2]
    assert session.piece(read.thought) == "I have to see the code."
    assert session.piece(read.message) == "I look at the code and the tests."
    assert (read.usage, test.usage) == (Usage(input_tokens=150, cached_tokens=100, output_tokens=45), None)
    assert session.usage == Usage(input_tokens=508, cached_tokens=330, output_tokens=100)


def test_calls_stand_with_their_own_results(session: Trajectory) -> None:
    called = [
        (step.call.name, step.result and session.piece(step.result.content), step.result and step.result.error)
        for step in session.calls
        if step.call
    ]
    assert called == [
        ("Read", "1 total = 1", None),
        ("Bash", "Exit code 1\n1 failed", "Exit code 1\n1 failed"),
        ("Grep", "app.py:1", None),
        ("Task", "Only app.py uses it.", None),
        ("mcp__linear__create_issue", None, None),
    ]
    assert session.calls[3].latency_ms == 4000


def test_a_sub_agent_is_an_agent_of_its_own_and_stands_before_the_result_of_its_call(session: Trajectory) -> None:
    assert speaking(session) == ["claude-code", "general-purpose", "claude-code", "claude-code"]
    assert (session.agents[1].role, session.agents[1].model) == ("sub-agent", "claude-haiku-4-5")
    assert session.turns[0].interactions[0].response == "Find every use of total."
    assert session.text.index('to="general-purpose"') < session.text.index("app.py:1") < session.text.index('"Task"')


def test_what_is_left_out_is_counted() -> None:
    unmapped = UnmappedFields()
    trajectories(FIXTURE, unmapped=unmapped)
    assert dict(unmapped.table()) == {
        "lines[] (command of the client)": 1,
        "lines[] (file-history-snapshot)": 1,
        "lines[] (summary of what was compacted)": 1,
        "lines[] (system compact_boundary)": 1,
    }


def test_sub_agents_in_files_of_their_own_belong_to_their_session(tmp_path: Path) -> None:
    main = written(tmp_path / "session.jsonl", [line for line in LINES if line not in SIDECHAIN])
    inner = written(tmp_path / "agent-a1.jsonl", [{**line, "agentId": "a1"} for line in SIDECHAIN])
    (run,) = trajectories(inner, main)
    assert speaking(run) == ["claude-code", "general-purpose", "claude-code", "claude-code"]


def test_parallel_sub_agents_are_kept_apart_by_the_calls_that_started_them(tmp_path: Path) -> None:
    def call(number: int) -> dict[str, Any]:
        block = {"type": "tool_use", "id": f"t{number}", "name": "Task", "input": {"prompt": f"Part {number}"}}
        return {"type": "assistant", "uuid": f"c{number}", "message": {"id": "m", "content": [block]}}

    def answered(number: int) -> dict[str, Any]:
        block = {"type": "tool_result", "tool_use_id": f"t{number}", "content": f"Result {number}"}
        outcome = {"agentId": f"a{number}"}
        message = {"role": "user", "content": [block]}
        return {"type": "user", "uuid": f"r{number}", "message": message, "toolUseResult": outcome}

    def inside(number: int, step: int) -> dict[str, Any]:
        message = {"id": f"s{number}{step}", "content": [{"type": "text", "text": f"Agent {number} says {step}."}]}
        return {
            "type": "assistant",
            "uuid": f"i{number}{step}",
            "isSidechain": True,
            "agentId": f"a{number}",
            "message": message,
        }

    lines = [
        {"type": "user", "uuid": "u", "message": {"role": "user", "content": "Do both."}},
        *(call(1), call(2), inside(2, 1), inside(1, 1), inside(2, 2), inside(1, 2), answered(2), answered(1)),
    ]
    (run,) = trajectories(written(tmp_path / "session.jsonl", [{**line, "sessionId": "s"} for line in lines]))
    said = ["Agent 1 says 1", "Agent 1 says 2", "Result 1", "Agent 2 says 1", "Agent 2 says 2", "Result 2"]
    assert [run.text.index(words) for words in said] == sorted(run.text.index(words) for words in said)
    assert speaking(run) == ["sub-agent", "claude-code", "sub-agent 2", "claude-code"]


def test_a_log_of_a_sub_agent_alone_is_read_as_a_run_of_its_own(tmp_path: Path) -> None:
    (run,) = trajectories(written(tmp_path / "agent-a1.jsonl", [{**line, "agentId": "a1"} for line in SIDECHAIN]))
    assert (run.task, run.final_answer) == ("Find every use of total.", "Only app.py uses it.")


def test_several_sessions_in_a_file_are_several_trajectories(tmp_path: Path) -> None:
    second = [{**line, "sessionId": "second"} for line in LINES if "uuid" in line]
    assert [run.id for run in trajectories(written(tmp_path / "all.jsonl", LINES + second))] == [
        "5f0c2d1e-0000-4000-8000-000000000001",
        "second",
    ]


def test_a_printed_session_has_its_result_and_its_cost(tmp_path: Path) -> None:
    text = {
        "role": "assistant",
        "id": "m1",
        "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": "Done."}],
    }
    lines = [
        {"type": "system", "subtype": "init", "model": "claude-sonnet-4-5", "tools": ["Bash", "Read"], "cwd": "/shop"},
        {"type": "assistant", "message": text, "parent_tool_use_id": None},
        {"type": "result", "subtype": "error_max_turns", "result": "All done.", "total_cost_usd": 0.03},
    ]
    (run,) = trajectories(written(tmp_path / "printed.jsonl", [{**line, "session_id": "p"} for line in lines]))
    assert (run.id, run.final_answer, run.flags, run.usage) == ("p", "All done.", ("step_limit",), Usage(cost_usd=0.03))
    assert run.agents[0].tools is not None and [tool.name for tool in run.agents[0].tools] == ["Bash", "Read"]


def test_a_session_without_replies_is_rejected(tmp_path: Path) -> None:
    (item,) = read(written(tmp_path / "session.jsonl", LINES[:4]))
    assert isinstance(item, Rejection) and item.reason == "no_trajectory_text"


@pytest.mark.parametrize(
    "record",
    [
        {"type": "user", "message": {}},
        {"sessionId": "s", "events": []},
        {"type": "message", "id": "m", "role": "assistant"},
    ],
)
def test_other_records_are_not_taken(record: dict[str, Any]) -> None:
    assert not detect(Sample(records=(record,)))


@pytest.mark.parametrize("line", [[1], None, 42, "hello", {}, {"input": "x", "output": "y", "intermediate_steps": []}])
def test_a_line_that_is_none_of_a_session_is_a_rejection_with_its_line(tmp_path: Path, line: Any) -> None:
    items = read(written(tmp_path / "session.jsonl", [LINES[0], line, *LINES[1:]]))
    (rejection,) = (item for item in items if isinstance(item, Rejection))
    assert (rejection.line, orjson.loads(rejection.raw)) == (2, line)
    assert [item for item in items if isinstance(item, Trajectory)] == trajectories(FIXTURE)


def test_lines_without_a_session_id_are_a_session_of_their_own(tmp_path: Path) -> None:
    main = [line for line in LINES if not line.get("isSidechain")]
    unnamed = [line | {"sessionId": None, "uuid": f"{line.get('uuid')}-2"} for line in main if "message" in line]
    named, other = trajectories(written(tmp_path / "both.jsonl", [*main, *unnamed]))
    assert (named.extra["session_id"], "session_id" in other.extra) == (LINES[2]["sessionId"], False)
    assert len(other.calls) == len(trajectories(written(tmp_path / "main.jsonl", main))[0].calls)


def test_an_interruption_is_no_prompt(tmp_path: Path) -> None:
    note = {
        "type": "user", "uuid": "u99", "sessionId": LINES[2]["sessionId"],
        "message": {"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]},
    }  # fmt: skip
    before = trajectories(FIXTURE)[0]
    (after,) = trajectories(written(tmp_path / "session.jsonl", [*LINES, note]))
    assert len(after.turns) == len(before.turns)
    assert after.extra == before.extra | {"interruptions": 1}


def test_the_printed_usage_counts_where_the_lines_have_less(tmp_path: Path) -> None:
    """Qwen Code 0.15.10 prints the shape of Claude Code, with zeros for the requests of sub-agents."""
    lines = [
        {"type": "system", "subtype": "init", "session_id": "s", "model": "qwen3", "qwen_code_version": "0.15.10"},
        {
            "type": "assistant", "uuid": "a", "session_id": "s",
            "message": {
                "id": "a", "role": "assistant", "content": [{"type": "text", "text": "Done."}],
                "usage": {"input_tokens": 0, "output_tokens": 0},
            },
        },
        {"type": "result", "subtype": "success", "session_id": "s", "usage": {"input_tokens": 9, "output_tokens": 2}},
    ]  # fmt: skip
    (run,) = trajectories(written(tmp_path / "stream.jsonl", lines))
    assert run.usage == Usage(input_tokens=9, output_tokens=2)
    assert next(run.steps).usage is None
    assert (run.agents[0].name, run.agents[0].version) == ("Qwen Code", "0.15.10")


@pytest.mark.parametrize(
    ("text", "more"),
    [("Base directory for this skill: /x", {"isMeta": True}), ("<task-notification>done</task-notification>", {})],
)
def test_what_the_client_adds_is_no_turn(tmp_path: Path, text: str, more: dict[str, Any]) -> None:
    added = LINES[0] | {"uuid": "added", "message": {"role": "user", "content": text}} | more
    (run,) = trajectories(written(tmp_path / "session.jsonl", [*LINES, added]))
    assert [turn.user_message for turn in run.turns] == ["The totals are wrong. Fix them.", "Thanks, now the docs."]
