"""Sessions of Pi."""

from pathlib import Path
from typing import Any

import orjson

from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, trajectories

FILE = FIXTURES / "pi" / "session.jsonl"


def with_prompt(tmp_path: Path, **prompt: Any) -> Path:
    """The session, with a system message in the place of its second entry."""
    header, changed, *others = (orjson.loads(line) for line in FILE.read_bytes().splitlines())
    message = {"role": "system", "timestamp": 1769940001000, **prompt}
    return written(tmp_path, header, {**changed, "type": "message", "message": message}, *others)


def test_the_sections_of_a_system_message_are_the_prompt(tmp_path: Path) -> None:
    sections = {"preamble": "You count birds.", "cwd": "<cwd>\n/srv/birds\n</cwd>"}
    path = with_prompt(tmp_path, content="", sections=sections)
    unmapped = UnmappedFields()
    (run,) = trajectories(path, unmapped=unmapped)
    assert run.agents[0].description == "You count birds.\n\n<cwd>\n/srv/birds\n</cwd>"
    assert run.turns[0].user_message == "Count the nests."
    assert not [name for name in unmapped.counts if "system" in name or "sections" in name]


def test_the_text_of_a_system_message_is_the_prompt(tmp_path: Path) -> None:
    (run,) = trajectories(with_prompt(tmp_path, content="You count birds."))
    assert run.agents[0].description == "You count birds."


def test_a_message_of_an_extension_is_the_prompt_if_the_agent_goes_on_after_it(tmp_path: Path) -> None:
    def entry(number: int, role: str, text: str) -> dict[str, Any]:
        message = {"role": role, "content": [{"type": "text", "text": text}]}
        place = {"id": f"e{number}", "parentId": f"e{number - 1}" if number else None}
        return {"type": "message", **place, "timestamp": "2026-03-01T10:00:00Z", "message": message}

    def told(number: int, text: str) -> dict[str, Any]:
        line = {**entry(number, "", ""), "type": "custom_message", "customType": "watch", "content": text}
        del line["message"]
        return line

    header = {"type": "session", "id": "s-1", "cwd": "/srv/birds", "timestamp": "2026-03-01T10:00:00Z", "version": 3}
    unmapped = UnmappedFields()
    path = written(
        tmp_path,
        header,
        told(0, "The nests are in nests.csv."),
        entry(1, "user", "Count the nests."),
        told(2, "It is Sunday."),
        entry(3, "assistant", "There are 4."),
        told(4, "nests.csv has changed."),
        entry(5, "assistant", "There are 5 now."),
    )
    (run,) = trajectories(path, unmapped=unmapped)
    assert [(turn.user_message, turn.interactions[-1].response) for turn in run.turns] == [
        ("Count the nests.", "There are 4."),
        ("nests.csv has changed.", "There are 5 now."),
    ]
    assert unmapped.counts["lines[] (context of an extension)"] == 2


def _header(session: str, second: int, **more: Any) -> dict[str, Any]:
    time = f"2026-03-01T10:00:{second:02d}Z"
    return {"type": "session", "id": session, "cwd": "/srv", "timestamp": time, "version": 3, **more}


def _entry(number: int, kind: str = "message", **more: Any) -> dict[str, Any]:
    place = {"id": f"e{number}", "parentId": f"e{number - 1}", "timestamp": f"2026-03-01T10:00:{number:02d}Z"}
    return {"type": kind, **place, **more}


def _asked(number: int) -> dict[str, Any]:
    return _entry(number, message={"role": "user", "content": f"Question {number}?"})


def _used(tokens: int) -> dict[str, Any]:
    counts = {"input": tokens, "output": 1, "cacheRead": 20, "cacheWrite": 10}
    return {**counts, "totalTokens": tokens + 31, "cost": {"total": 0.25}}


def _said(number: int) -> dict[str, Any]:
    content = [{"type": "text", "text": f"Answer {number}."}]
    return _entry(
        number, message={"role": "assistant", "content": content, "usage": _used(number), "stopReason": "stop"}
    )


def test_requests_for_summaries_and_of_tools_were_paid_for(tmp_path: Path) -> None:
    """`usage` of compactions, branch summaries and results of tools, by `docs/session-format.md` of Pi."""
    call = [{"type": "toolCall", "id": "c1", "name": "ask", "arguments": {}}]
    asks = {"role": "assistant", "content": call, "usage": _used(100), "stopReason": "toolUse"}
    told = {"role": "toolResult", "toolCallId": "c1", "toolName": "ask", "content": [], "usage": _used(200)}
    summary = _entry(4, "compaction", summary="...", tokensBefore=5, usage=_used(300))
    of_branch = _entry(5, "branch_summary", summary="...", fromId="e1", usage=_used(400))
    lines = [_asked(1), _entry(2, message=asks), _entry(3, message=told), summary, of_branch, _said(6)]
    (run,) = trajectories(written(tmp_path, _header("s", 0), *lines))
    assert run.usage == Usage(
        input_tokens=1006 + 5 * 30, cached_tokens=100, cache_write_tokens=50, output_tokens=5, cost_usd=1.25
    )


def test_of_a_fork_only_its_own_work_is_read_if_its_origin_is_in_the_drop(tmp_path: Path) -> None:
    first, second = [_asked(1), _said(2)], [_asked(8), _said(9)]
    drop = tmp_path / "drop"
    drop.mkdir()
    written(drop, _header("s1", 0), *first).rename(drop / "one.jsonl")
    written(drop, _header("s2", 5, parentSession="/home/ada/one.jsonl"), *first, *second)
    fork, origin = sorted(trajectories(drop), key=lambda run: run.id, reverse=True)
    assert (origin.task, origin.final_answer) == ("Question 1?", "Answer 2.")
    assert (fork.task, fork.final_answer) == ("Question 8?", "Answer 9.")
    assert fork.usage is not None and fork.usage.output_tokens == 1
    assert summary_of(drop).trust == "complete"
    assert summary_of(drop / "drop.jsonl").copied_histories == 1
    fresh = written(tmp_path, _header("s3", 5, parentSession="/home/ada/one.jsonl"), *second)
    assert summary_of(fresh).copied_histories == 0
