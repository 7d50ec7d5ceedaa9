"""Claude Code session logs as trajectories."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.base import Rejection, Sample
from evaluation_assets.core.traces.formats.import_report import ImportReport, ImportSummary
from evaluation_assets.core.traces.formats.readers.claude_code import detect
from evaluation_assets.core.traces.formats.registry import FORMATS
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory, Usage
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, check, files_of, read, trajectories

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
    assert session.flags == ("failed",)
    assert session.extra == {
        "error": "API Error: overloaded",
        "session_id": "5f0c2d1e-0000-4000-8000-000000000001",
        "title": "Wrong totals in the shop",
        "cwd": "/home/ada/shop",
        "git_branch": "main",
        "compactions": 1,
        "active_s": 21.0,
        "requests": [
            ["claude-sonnet-4-5", 150, 100, 40, None, 45, None],
            ["claude-sonnet-4-5", 170, 150, 0, None, 25, None],
            ["claude-sonnet-4-5", 38, 0, 30, None, 12, None],
            ["claude-sonnet-4-5", 39, 30, 0, None, 5, None],
            ["claude-haiku-4-5", 55, 0, 50, None, 6, None],
            ["claude-haiku-4-5", 56, 50, 0, None, 7, None],
        ],
    }


def test_the_lines_of_a_message_are_one_reply_whose_usage_counts_once(session: Trajectory) -> None:
    read, test = session.calls[:2]
    assert session.piece(read.thought) == "I have to see the code."
    assert session.piece(read.message) == "I look at the code and the tests."
    assert (read.usage, test.usage) == (
        Usage(input_tokens=150, cached_tokens=100, cache_write_tokens=40, output_tokens=45),
        None,
    )
    assert session.usage is not None
    assert session.usage.cost_usd == pytest.approx(0.001936)
    assert replace(session.usage, cost_usd=None) == Usage(
        input_tokens=508,
        cached_tokens=330,
        cache_write_tokens=120,
        output_tokens=100,
        is_list_price=True,
    )


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
    second = [
        {**line, "sessionId": "second", "timestamp": f"2026{line['timestamp'][4:]}"} for line in LINES if "uuid" in line
    ]
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


@pytest.mark.parametrize(
    ("subtype", "flags", "error"),
    [
        ("error_max_budget_usd", ("step_limit",), None),
        ("error_during_execution", ("no_answer", "failed"), "disk full"),
        ("error_max_structured_output_retries", ("no_answer", "failed"), "disk full"),
    ],
)
def test_a_printed_session_says_why_it_ended(
    tmp_path: Path, subtype: str, flags: tuple[str, ...], error: str | None
) -> None:
    text = {"role": "assistant", "id": "m1", "model": "m", "content": [{"type": "text", "text": "Done."}]}
    lines = [
        {"type": "assistant", "message": text, "parent_tool_use_id": None},
        {"type": "result", "subtype": subtype, "is_error": False, "errors": ["disk full"], "total_cost_usd": 0.03},
    ]
    (run,) = trajectories(written(tmp_path / "printed.jsonl", [{**line, "session_id": "p"} for line in lines]))
    assert (run.flags, run.extra.get("error")) == (flags, error)


def test_a_session_without_replies_is_a_run_without_an_answer(tmp_path: Path) -> None:
    (run,) = trajectories(written(tmp_path / "session.jsonl", LINES[:4]))
    assert (run.calls, run.final_answer, run.flags) == ([], None, ("no_answer",))


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


@pytest.mark.parametrize("line", [[1], None, 42, "hello", {}, {"input": "x"}])
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


def test_lines_may_have_neither_a_session_nor_a_folder(tmp_path: Path) -> None:
    lines = [line for line in LINES if "message" in line]
    bare = [{key: value for key, value in line.items() if key not in ("sessionId", "cwd")} for line in lines]
    (run,), (same,) = (trajectories(written(tmp_path / f"{len(kept[0])}.jsonl", kept)) for kept in (lines, bare))
    assert (same.text, same.usage, "session_id" in same.extra) == (run.text, run.usage, False)


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
    (agent,) = run.agents
    assert (run.format, agent.id, agent.name, agent.version) == ("qwen_code", "qwen-code", "Qwen Code", "0.15.10")


def test_streams_of_claude_code_and_qwen_code_are_told_apart(tmp_path: Path) -> None:
    for client in ("claude", "qwen"):
        start = {"type": "system", "subtype": "init", "session_id": client, f"{client}_code_version": "1.0"}
        content = [{"type": "text", "text": "Done."}]
        said = {"type": "assistant", "session_id": client, "message": {"id": "a", "content": content}}
        written(tmp_path / f"{client}.jsonl", [start, said])
    found = [(run.format, run.agents[0].id) for run in trajectories(tmp_path)]
    assert found == [("claude_code", "claude-code"), ("qwen_code", "qwen-code")]


@pytest.mark.parametrize(
    ("text", "more"),
    [("Base directory for this skill: /x", {"isMeta": True}), ("<task-notification>done</task-notification>", {})],
)
def test_what_the_client_adds_is_no_turn(tmp_path: Path, text: str, more: dict[str, Any]) -> None:
    added = LINES[0] | {"uuid": "added", "message": {"role": "user", "content": text}} | more
    (run,) = trajectories(written(tmp_path / "session.jsonl", [*LINES, added]))
    assert [turn.user_message for turn in run.turns] == ["The totals are wrong. Fix them.", "Thanks, now the docs."]


def test_a_reminder_beside_a_result_is_a_part_of_it(tmp_path: Path) -> None:
    lines = orjson.loads(orjson.dumps(LINES))
    contents = (line.get("message", {}).get("content") for line in lines)
    blocks = next(each for each in contents if isinstance(each, list) and each[0]["type"] == "tool_result")
    blocks.append({"type": "text", "text": "<system-reminder>The list is empty.</system-reminder>"})
    (run,) = trajectories(written(tmp_path / "session.jsonl", lines))
    assert [turn.user_message for turn in run.turns] == ["The totals are wrong. Fix them.", "Thanks, now the docs."]
    assert any("The list is empty." in run.piece(step.result.content) for step in run.calls if step.result)


class Log:
    """A log with the tree that Claude Code 2 writes: each line names the one before it."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def line(self, uuid: str, parent: str | None, kind: str, content: Any, **more: Any) -> None:
        message = {"role": kind, "content": content}
        if kind == "assistant":
            message |= {"id": f"m-{uuid}", "model": "m", "usage": {"input_tokens": 10, "output_tokens": 1}}
        self.lines.append(
            {
                "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "isSidechain": False,
                "timestamp": f"2026-01-01T10:00:{len(self.lines):02}Z", "message": message, **more,
            }
        )  # fmt: skip

    def said(self, uuid: str, parent: str, text: str) -> None:
        self.line(uuid, parent, "assistant", [{"type": "text", "text": text}])

    def called(self, uuid: str, parent: str, **arguments: Any) -> None:
        use = {"type": "tool_use", "id": f"t-{uuid}", "name": "Bash", "input": arguments}
        self.line(uuid, parent, "assistant", [use])

    def returned(self, uuid: str, parent: str, call: str) -> None:
        result = {"type": "tool_result", "tool_use_id": f"t-{call}", "content": "done"}
        self.line(uuid, parent, "user", [result])


def rewound() -> Log:
    """The user asks, lets the agent try one thing, goes back and asks for another one."""
    log = Log()
    log.line("1", None, "user", "Fix the bug.")
    log.said("2", "1", "Which one?")
    log.line("3", "2", "user", "The first.")
    log.called("4", "3", command="rm -r x")
    log.returned("5", "4", "4")
    log.said("6", "5", "Removed.")
    log.line("7", "2", "user", "The second.")
    log.called("8", "7", command="touch y")
    log.returned("9", "8", "8")
    log.said("10", "9", "Made.")
    return log


def summary_of(path: Path) -> ImportSummary:
    report = ImportReport()
    list(report.read(FORMATS["claude_code"], files_of(path)))
    return report.summary


def test_only_the_last_branch_is_the_conversation_and_all_were_paid_for(tmp_path: Path) -> None:
    path = written(tmp_path / "session.jsonl", rewound().lines)
    (run,) = trajectories(path)
    check(run)
    assert [turn.user_message for turn in run.turns] == ["Fix the bug.", "The second."]
    assert [step.call.id for step in run.calls if step.call] == ["t-8"]
    assert run.usage == Usage(input_tokens=50, output_tokens=5)
    assert summary_of(path).sentence == "partial: 1 rewind by the user, with 1 call, left out"


def test_an_edited_first_prompt_is_told_by_the_marker_of_the_client(tmp_path: Path) -> None:
    log = rewound()
    log.line("11", None, "user", "Fix the other bug.")
    log.said("12", "11", "Fixed.")
    (both,) = trajectories(written(tmp_path / "unmarked.jsonl", log.lines))
    assert [turn.user_message for turn in both.turns][-1] == "Fix the other bug."
    assert len(both.turns) == 4
    marker = {"type": "last-prompt", "lastPrompt": "Fix the other bug.", "leafUuid": "12", "sessionId": "s"}
    path = written(tmp_path / "marked.jsonl", [*log.lines, marker])
    (run,) = trajectories(path)
    assert ([turn.user_message for turn in run.turns], run.task) == (["Fix the other bug."], "Fix the other bug.")
    assert run.usage == Usage(input_tokens=60, output_tokens=6)
    assert summary_of(path).sentence == "partial: 1 rewind by the user, with 2 calls, left out"


def test_sub_agents_of_a_branch_that_was_left_are_left_with_it(tmp_path: Path) -> None:
    log = rewound()
    log.lines[3]["message"]["content"][0] |= {"name": "Task", "input": {"prompt": "Look around."}}
    inner = Log()
    inner.line("a", None, "user", "Look around.", isSidechain=True, agentId="x")
    inner.line("b", "a", "assistant", [{"type": "text", "text": "Nothing here."}], isSidechain=True, agentId="x")
    (run,) = trajectories(written(tmp_path / "session.jsonl", [*log.lines[:4], *inner.lines, *log.lines[4:]]))
    assert ("Nothing here." in run.text, len(run.agents)) == (False, 1)
    assert run.usage == Usage(input_tokens=60, output_tokens=6)


def test_parallel_calls_and_interruptions_are_no_rewinds(tmp_path: Path) -> None:
    log = Log()
    log.line("1", None, "user", "Fix the bug.")
    log.called("2", "1", command="ls")
    log.called("3", "2", command="pwd")
    log.returned("4", "2", "2")
    log.returned("5", "3", "3")
    log.said("6", "5", "I see.")
    log.called("7", "6", command="make")
    log.called("8", "7", command="make test")
    log.returned("9", "8", "8")
    log.returned("10", "7", "7")
    log.line("11", "10", "user", [{"type": "text", "text": "[Request interrupted by user]"}])
    log.line("12", "11", "user", "Stop, only look.")
    log.said("13", "12", "As you like.")
    path = written(tmp_path / "session.jsonl", log.lines)
    (run,) = trajectories(path)
    assert [step.call.id for step in run.calls if step.call] == ["t-2", "t-3", "t-7", "t-8"]
    assert summary_of(path).sentence == "complete"


def test_the_conversation_after_a_compaction_leaves_nothing_behind(tmp_path: Path) -> None:
    log = rewound()
    boundary = {
        "type": "system", "subtype": "compact_boundary", "uuid": "20", "parentUuid": None, "logicalParentUuid": "10",
        "sessionId": "s", "timestamp": "2026-01-01T10:01:00Z",
    }  # fmt: skip
    log.lines.append(boundary)
    log.line("21", "20", "user", "Summary of it all.", isCompactSummary=True)
    log.line("22", "21", "user", "Go on.")
    log.said("23", "22", "Going on.")
    marker = {"type": "last-prompt", "leafUuid": "23", "sessionId": "s"}
    (run,) = trajectories(written(tmp_path / "session.jsonl", [*log.lines, marker]))
    assert [turn.user_message for turn in run.turns] == ["Fix the bug.", "The second.", "Go on."]


def test_a_line_without_a_session_does_not_end_or_join_the_session_around_it(tmp_path: Path) -> None:
    lines = [line for line in LINES if not line.get("isSidechain")]
    (alone,) = trajectories(written(tmp_path / "alone.jsonl", lines))
    result = {"type": "result", "subtype": "error_max_turns", "session_id": None, "result": "x", "total_cost_usd": 9.0}
    unmapped = UnmappedFields()
    (run,) = trajectories(written(tmp_path / "between.jsonl", [*lines[:6], result, *lines[6:]]), unmapped=unmapped)
    assert run == alone
    assert ("lines[] (without the ID of a session)", 1) in unmapped.table()
    unnamed = [line | {"sessionId": None} for line in rewound().lines]
    both = trajectories(written(tmp_path / "both.jsonl", [*lines[:6], *unnamed, *lines[6:]]))
    assert [len(one.calls) for one in both] == [len(alone.calls), 1]


def test_the_times_of_a_session_do_not_depend_on_the_order_of_its_lines(tmp_path: Path) -> None:
    (run,) = trajectories(written(tmp_path / "a.jsonl", [*LINES[-2:], *LINES[:-2]]))
    assert (run.started_at, run.duration_s) == ("2025-10-01T09:00:00.000Z", 21)


def test_a_damaged_file_among_others_is_one_rejection(tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_bytes("garbage".encode("utf-16-le"))
    found = read(written(tmp_path / "whole.jsonl", LINES), tmp_path / "broken.jsonl")
    (problem,) = [each for each in found if isinstance(each, Rejection)]
    assert (problem.source, "UTF-16" in problem.detail) == ("broken.jsonl", True)
    assert len([each for each in found if isinstance(each, Trajectory)]) == 1


def _fork_of(origin: list[Any], session: str) -> list[Any]:
    """The lines of a session that was forked from another one, with a turn of its own."""
    copies = [
        {**line, "sessionId": session, "forkedFrom": {"sessionId": line["sessionId"], "messageUuid": line["uuid"]}}
        for line in origin
    ]
    return [*copies, *_turn(session, "Remove it.", "Removed.", after=origin[-1]["uuid"])]


def _turn(session: str, asked: str, said: str, after: str | None = None) -> list[Any]:
    used = {"input_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20, "output_tokens": 5}
    call = {"type": "tool_use", "id": f"toolu_{said}", "name": "Bash", "input": {"command": asked}}
    contents = [
        ("user", asked, {}),
        ("assistant", [call], {"id": f"msg_{said}", "usage": used}),
        ("user", [{"type": "tool_result", "tool_use_id": f"toolu_{said}", "content": "ok"}], {}),
        ("assistant", [{"type": "text", "text": said}], {"id": f"msg_last_{said}", "usage": used}),
    ]
    lines: list[Any] = []
    for number, (role, content, more) in enumerate(contents):
        uuid = f"{asked}-{number}"
        message = {"role": role, "content": content, **more}
        lines.append({"type": role, "uuid": uuid, "parentUuid": after, "sessionId": session, "message": message})
        after = uuid
    return lines


@pytest.mark.parametrize("named_by", ["requestId", "timestamp"])
@pytest.mark.parametrize("names", [("s1", "s2"), ("s2", "s1")])
def test_a_history_that_names_no_origin_is_read_once_by_its_requests(
    tmp_path: Path, names: tuple[str, str], named_by: str
) -> None:
    origin = _turn("s1", "List it.", "Listed.")
    for number, line in enumerate(origin):
        line |= {named_by: f"2026-01-01T00:00:0{number}Z"} if line["type"] == "assistant" else {}
    resumed = [{**line, "sessionId": "s2"} for line in origin]
    resumed += _turn("s2", "Remove it.", "Removed.", after=origin[-1]["uuid"])
    for file, name in zip("ab", names, strict=True):
        written(tmp_path / f"{file}.jsonl", origin if name == "s1" else resumed)
    runs = trajectories(tmp_path)
    assert [run.piece(step.call.raw) for run in runs for step in run.calls if step.call] == [
        '{\n  "command": "List it."\n}',
        '{\n  "command": "Remove it."\n}',
    ]
    assert sum(run.usage.input_tokens or 0 for run in runs if run.usage is not None) == 4 * 130
    assert summary_of(tmp_path).sentence == "complete (4 repeated records read once)"
    if named_by == "timestamp":
        assert [run.id for run in runs] == [
            "s1",
            "s2",
        ]  # the history is that of its session, whatever its file is called


def test_of_a_fork_only_its_own_work_is_read_if_its_origin_is_in_the_drop(tmp_path: Path) -> None:
    origin = _turn("s1", "List it.", "Listed.")
    written(tmp_path / "s1.jsonl", origin)
    written(tmp_path / "s2.jsonl", _fork_of(origin, "s2"))
    first, fork = trajectories(tmp_path)
    assert [(run.id, run.task, run.final_answer) for run in (first, fork)] == [
        ("s1", "List it.", "Listed."),
        ("s2", "Remove it.", "Removed."),
    ]
    assert (
        first.usage == fork.usage == Usage(input_tokens=260, cached_tokens=200, cache_write_tokens=40, output_tokens=10)
    )
    assert summary_of(tmp_path).sentence == "complete"


def test_a_fork_without_its_origin_is_whole_and_says_so(tmp_path: Path) -> None:
    file = written(tmp_path / "s2.jsonl", _fork_of(_turn("s1", "List it.", "Listed."), "s2"))
    (run,) = trajectories(file)
    assert len(run.calls) == 2
    assert summary_of(file).copied_histories == 1


def _copied(lines: list[Any], agent: str) -> list[Any]:
    return [
        {**line, "uuid": f"{agent}-{line['uuid']}", "isSidechain": True, "agentId": agent, "parentUuid": None}
        for line in lines
    ]


def test_the_conversation_that_a_sub_agent_was_given_is_no_work_of_its_own(tmp_path: Path) -> None:
    """anthropics/claude-code#45660: a question aside copies the session; other logs replay one message of it."""
    main, aside = _turn("s", "List it.", "Listed."), _turn("s", "What is it?", "A list.")
    own = _copied(aside[:1] + aside[3:], "aside")
    alone = trajectories(written(tmp_path / "alone.jsonl", [*main, *own]))[0]
    for name, copy in (("all", main), ("the beginning", main[:3]), ("one message", main[1:2])):
        (run,) = trajectories(written(tmp_path / f"{name}.jsonl", [*main, *_copied(copy, "aside"), *own]))
        assert (run.usage, run.text, len(run.calls)) == (alone.usage, alone.text, 1)
        assert summary_of(tmp_path / f"{name}.jsonl").trust == "complete"


def test_a_message_that_a_log_repeats_is_one_message(tmp_path: Path) -> None:
    main = _turn("s", "List it.", "Listed.")
    again = [{**line, "uuid": f"{line['uuid']}-again"} for line in main if line["type"] == "assistant"]
    (run,) = trajectories(written(tmp_path / "s.jsonl", [*main[:2], again[0], *main[2:], again[1]]))
    (once,) = trajectories(written(tmp_path / "once.jsonl", main))
    assert (run.text, run.usage) == (once.text, once.usage)


def test_a_printed_result_alone_is_the_answer_of_its_session(tmp_path: Path) -> None:
    result = {"type": "result", "subtype": "success", "is_error": False, "num_turns": 3, "result": "Done."}
    more = {"session_id": "s", "total_cost_usd": 0.5, "usage": {"input_tokens": 20, "output_tokens": 4}}
    path = written(tmp_path / "printed.json", [{**result, **more}])
    (run,) = trajectories(path)
    assert (run.final_answer, run.usage) == ("Done.", Usage(input_tokens=20, output_tokens=4, cost_usd=0.5))
    assert summary_of(path).sentence == "partial: 3 turns stated by the source, 1 read"


@pytest.mark.parametrize(
    "written_to_cache",
    [
        {"cache_creation_input_tokens": 50},
        {"cache_creation": {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 20}},
        {"cache_creation": {"input_tokens": 50}},
    ],
)
def test_cache_writes_are_input_wherever_they_are_counted(tmp_path: Path, written_to_cache: dict[str, Any]) -> None:
    lines = _turn("s", "List it.", "Listed.")[:2]
    lines[1]["message"]["usage"] = {"input_tokens": 10, "output_tokens": 5, **written_to_cache}
    (run,) = trajectories(written(tmp_path / "s.jsonl", lines))
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.cache_write_tokens) == (60, 50)


def sdk_message(number: int, content: Any, **more: Any) -> dict[str, Any]:
    """A message of claude-agent-sdk 0.1 as `dataclasses.asdict` gives it."""
    return {"content": content, "uuid": f"u{number}", "parent_tool_use_id": None, **more}


def sdk_reply(number: int, block: dict[str, Any], **more: Any) -> dict[str, Any]:
    known = {"model": "claude-sonnet-4-5", "message_id": f"m{number}", "session_id": "s-1", "stop_reason": None}
    return sdk_message(number, [block], **known, usage={"input_tokens": 10, "output_tokens": 5}, **more)


@pytest.mark.parametrize("is_named", [False, True])
def test_messages_of_the_agent_sdk_are_read_as_the_lines_they_were_made_of(tmp_path: Path, is_named: bool) -> None:
    init = {"type": "system", "subtype": "init", "session_id": "s-1", "cwd": "/p", "tools": ["Read", "Task"]}
    counts = {"num_turns": 4, "duration_ms": 5000, "is_error": False, "total_cost_usd": 0.05}
    task = {"id": "t2", "name": "Task", "input": {"prompt": "Look.", "subagent_type": "scout"}}
    messages = [
        ("SystemMessage", {"subtype": "init", "data": init}),
        ("AssistantMessage", sdk_reply(1, {"thinking": "Which file?", "signature": "x"})),
        ("AssistantMessage", sdk_reply(2, {"id": "t1", "name": "Read", "input": {"file_path": "a"}})),
        ("UserMessage", sdk_message(3, [{"tool_use_id": "t1", "content": "no file", "is_error": True}])),
        ("AssistantMessage", sdk_reply(4, task)),
        ("UserMessage", {**sdk_message(5, "Look."), "parent_tool_use_id": "t2"}),
        ("AssistantMessage", {**sdk_reply(6, {"text": "Nothing."}), "parent_tool_use_id": "t2"}),
        ("UserMessage", sdk_message(7, [{"tool_use_id": "t2", "content": [{"type": "text", "text": "Nothing."}]}])),
        ("AssistantMessage", sdk_reply(8, {"text": "There is none."})),
        ("ResultMessage", {"subtype": "success", "session_id": "s-1", "result": "There is none.", **counts}),
    ]
    lines = [{"type": kind, **message} if is_named else message for kind, message in messages]
    (run,) = trajectories(written(tmp_path / "messages.jsonl", lines))
    assert (run.id, run.format, run.final_answer) == ("s-1", "claude_code", "There is none.")
    assert speaking(run) == ["claude-code", "scout", "claude-code"]
    assert [(step.call.name, step.result and step.result.error) for step in run.calls if step.call] == [
        ("Read", "no file"),
        ("Task", None),
    ]
    assert run.usage == Usage(input_tokens=50, output_tokens=25, cost_usd=0.05)


@pytest.mark.parametrize(("reasons", "trust"), [(["tool_use", None], "partial"), ([None, None], "complete")])
def test_a_reply_whose_last_line_is_missing_states_tokens_at_its_start(
    tmp_path: Path, reasons: list[str | None], trust: str
) -> None:
    """Older versions give no reason why a model stopped, and nothing tells these replies apart."""
    asked = {"type": "user", "sessionId": "s1", "uuid": "u0", "message": {"role": "user", "content": "Look."}}
    lines = [asked]
    for place, reason in enumerate(reasons):
        usage = {"input_tokens": 10, "output_tokens": 100 if reason else 2}
        message = {"id": f"m{place}", "role": "assistant", "model": "claude-opus-4-6", "stop_reason": reason}
        text = [{"type": "text", "text": "I look."}]
        reply = {**message, "usage": usage, "content": text}
        lines.append({"type": "assistant", "sessionId": "s1", "uuid": f"a{place}", "message": reply})
    assert summary_of(written(tmp_path / "session.jsonl", lines)).trust == trust
