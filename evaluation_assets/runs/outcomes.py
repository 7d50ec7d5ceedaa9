"""The outcome of a drop's run. Importing it is cheap: Dagster takes a second."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from evaluation_assets.core.intake.drops import Drop

Status = Literal["passed", "check_failed", "over_budget", "unreadable", "unusable", "broken"]

EXIT_STATUS: Mapping[Status, int] = {
    "passed": 0,
    "check_failed": 1,
    "broken": 1,
    "unreadable": 2,
    "unusable": 2,
    "over_budget": 3,
}


@dataclass(frozen=True, slots=True)
class FailedCheck:
    """A failed check: its description, and whether it fails the run."""

    asset: str
    name: str
    blocks: bool
    description: str | None


@dataclass(frozen=True, slots=True)
class Line:
    """A line that tells of an outcome, with the label that it stands beside, if any; a warning goes to stderr."""

    text: str
    label: str | None = None
    is_warning: bool = False


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The outcome of a drop's run.

    `unreadable`: the drop cannot be read as it is; `unusable`: something else that it needs cannot be used, such as a
    full disk; `broken`: a step failed for another reason; `message` says why. `metadata` is that of each asset.
    """

    drop: Drop
    status: Status
    message: str | None
    failed_checks: tuple[FailedCheck, ...]
    metadata: Mapping[str, Mapping[str, Any]]
