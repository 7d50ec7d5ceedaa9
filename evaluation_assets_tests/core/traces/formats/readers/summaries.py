"""What tests of readers compare: calls with their errors, and what the import report says."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.import_report import ImportReport, ImportSummary
from evaluation_assets.core.traces.formats.registry import format_of
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.traces.formats.reading import calls_of, files_of


def calls_and_errors(run: Trajectory) -> list[tuple[str, str | None]]:
    """The arguments of each call without blanks, and the error of its result."""
    return [
        ("".join(run.piece(step.call.raw).split()), step.result and step.result.error)
        for step in run.calls
        if step.call
    ]


def check_desk(run: Trajectory) -> None:
    """The trace of an order desk, as the fixtures of trace stores have it: one agent, two calls, one of them failed."""
    assert (run.task, run.final_answer) == ("Is order 17 paid, and is there more of it?", "It is paid.")
    assert run.extra["session_id"] == "s-1"
    (agent,) = run.agents
    assert (agent.id, agent.description, agent.model) == ("desk", "You are desk.", "model-a")
    assert agent.tools is not None and [tool.name for tool in agent.tools] == ["look_up_order", "check_stock"]
    made = [(name, arguments) for name, arguments, _ in calls_of(run)]
    assert made == [("look_up_order", {"order_id": "17"}), ("check_stock", {"sku": "B-2"})]
    assert [step.result.error for step in run.calls if step.result] == [None, "warehouse offline"]
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.cost_usd) == (220, 22, pytest.approx(0.003))


def summary_of(path: Path, format_name: str | None = None) -> ImportSummary:
    """What the import report says about a file."""
    files, report = files_of(path), ImportReport()
    list(report.read(format_of(files, format_name), files))
    return report.summary


def written(folder: Path, *records: Any) -> Path:
    """A file with these records, one a line."""
    path = folder / "drop.jsonl"
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return path


def files_of_all(*folders: Path) -> list[Path]:
    """All files of these folders."""
    return [path for folder in folders for path in sorted(folder.iterdir())]
