"""Folders of sessions as Claude Code 2.1 writes them, with what it keeps beside the logs."""

from pathlib import Path
from typing import Any

import orjson

from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets_tests.core.traces.formats.reading import trajectories
from evaluation_assets_tests.core.traces.formats.test_import_report import summary_of


def line(kind: str, uuid: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": uuid,
        "sessionId": "s",
        "message": {"id": f"m-{uuid}", "role": kind, "content": content},
        **more,
    }


def write(path: Path, *lines: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\n".join(map(orjson.dumps, lines)))


def session_with_agents(folder: Path, *agents: str) -> Path:
    """A session whose agents were started in the background: their calls have no results that name them."""
    calls = [
        {"type": "tool_use", "id": f"t-{agent}", "name": "Agent", "input": {"description": agent}} for agent in agents
    ]
    write(folder / "s.jsonl", line("user", "1", "Look around."), line("assistant", "2", calls))
    for agent in reversed(agents):
        about = {"agentType": "Explore", "description": agent, "toolUseId": f"t-{agent}", "spawnDepth": 1}
        write(folder / f"s/subagents/agent-{agent}.meta.json", about)
        inside = {"isSidechain": True, "agentId": agent}
        said = line("assistant", f"{agent}2", [{"type": "text", "text": f"Agent {agent} is done."}], **inside)
        write(folder / f"s/subagents/agent-{agent}.jsonl", line("user", f"{agent}1", f"Part {agent}", **inside), said)
    return folder


def test_agents_are_told_apart_by_the_calls_that_stand_beside_their_logs(tmp_path: Path) -> None:
    (run,) = trajectories(session_with_agents(tmp_path, "a", "b"))
    words = ("Agent a is done", '"description": "a"', "Agent b is done", '"description": "b"')
    assert [run.text.index(each) for each in words] == sorted(run.text.index(each) for each in words)
    assert summary_of(tmp_path).rejected == 0


def test_long_results_are_not_runs(tmp_path: Path) -> None:
    folder = session_with_agents(tmp_path, "a")
    (folder / "s/tool-results").mkdir()
    (folder / "s/tool-results/t-9.txt").write_text("user: a long result\nassistant: of a call\n")
    unmapped = UnmappedFields()
    assert len(trajectories(folder, unmapped=unmapped)) == 1
    assert unmapped.counts["files[] (long result of a call)"] == 1
