"""Addresses in reports: of a report, of a trajectory or clip in it, of rows of its runs table."""

from dataclasses import dataclass
from typing import Self
from urllib.parse import quote, urlencode

PAGE = "report.html"
"""The page of a report, in the folder of its drop."""


@dataclass(frozen=True, slots=True)
class ReportAddress:
    """Where a report is opened.

    `page` is a URL, or the name of the file for links from other files of the same folder.
    """

    page: str = PAGE

    @classmethod
    def of(cls, reports_url: str | None, drop: str) -> Self:
        """The address of a drop's report below the URL of all reports; relative where there is none."""
        return cls() if reports_url is None else cls(f"{reports_url}/{quote(drop)}/{PAGE}")

    @property
    def is_url(self) -> bool:
        """Whether the address can be opened from anywhere, and not only from files beside the report."""
        return self.page != PAGE

    def trajectory(self, trajectory_id: str, clip: int | None = None) -> str:
        """The address of a trajectory's transcript, or of one clip in it."""
        return self.page + trajectory_place(trajectory_id, clip)

    def task(self, task_id: str) -> str:
        """The address of a task's transcripts, compared with the other run."""
        return self.page + task_place(task_id)

    def runs(self, query: str) -> str:
        """The address of the rows of the runs table that a query selects."""
        return self.page + runs_place(query)

    def section(self, name: str) -> str:
        """The address of a section of the summary."""
        return f"{self.page}#{name}"


def trajectory_place(trajectory_id: str, clip: int | None = None) -> str:
    """The place of a trajectory, or of one clip in it, within its report."""
    return f"#/run/{quote(trajectory_id, safe='')}" + ("" if clip is None else f"?clip={clip}")


def task_place(task_id: str) -> str:
    """The place of a task, compared with the other run, within a report."""
    return f"#/compare/{quote(task_id, safe='')}"


def runs_place(query: str) -> str:
    """The place of the rows that a query of the runs table selects, within a report."""
    return f"#/runs?{urlencode({'q': query}, quote_via=quote)}"


def condition(field: str, value: str) -> str:
    """A condition of the query on a text. A query cannot hold quotation marks, so they are left out on both sides."""
    return f'{field}:"{value.replace(chr(34), "")}"'
