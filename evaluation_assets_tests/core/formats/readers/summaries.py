"""What tests of readers compare: calls with their errors, and what the import report says."""

from pathlib import Path
from typing import Any

import orjson

from evaluation_assets.core.formats.import_report import ImportReport, ImportSummary
from evaluation_assets.core.formats.registry import format_of
from evaluation_assets.core.trajectories.model import Trajectory
from evaluation_assets_tests.core.formats.reading import files_of


def calls_and_errors(run: Trajectory) -> list[tuple[str, str | None]]:
    """The arguments of each call without blanks, and the error of its result."""
    return [
        ("".join(run.piece(step.call.raw).split()), step.result and step.result.error)
        for step in run.calls
        if step.call
    ]


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
