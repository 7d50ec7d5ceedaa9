"""The report of a drop, read from its file."""

from pydantic import ValidationError
from upath import UPath

from evaluation_assets.core.report.report import DropReport
from evaluation_assets.core.text.user_error import UserError


class UnreadableReport(UserError, ValueError):
    """A report that this version cannot read; the message names its file and says what to do."""


def stored_report(file: UPath) -> DropReport:
    """The report in a file, `report.json`.

    Raises:
        UnreadableReport: it lacks what this version's reports have, or is damaged.
    """
    try:
        return DropReport.model_validate_json(file.read_bytes())
    except ValidationError as problem:
        raise UnreadableReport(f"{file} is of another version, or damaged; evaluate the drop again") from problem
