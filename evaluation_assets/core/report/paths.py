"""Where the report files of a drop are."""

from dataclasses import dataclass

from upath import UPath

from evaluation_assets.core.traces.trajectories.identity import file_name

JUDGE_FILES = "model_evaluations"


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """Paths of the files of a report."""

    html: UPath
    markdown: UPath
    json: UPath
    results: UPath

    @property
    def data(self) -> bytes | None:
        """The JSON of the report; `None` if there is none."""
        return self.json.read_bytes() if self.json.exists() else None


def report_files(folder: UPath, drop: str) -> ReportFiles:
    """Paths of a drop's report files."""
    name = drop.rsplit("/", 1)[-1]
    return ReportFiles(
        folder / "report.html", folder / "report.md", folder / "report.json", folder / file_name(name, "_eva.jsonl")
    )
