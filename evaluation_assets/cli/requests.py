"""What the options of `evaluate` ask for."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.system.installation import Installation

if TYPE_CHECKING:  # it imports the readers
    from evaluation_assets.cli.requested_sessions import RequestedSessions

_LEVELS = ("clip", "category", "trajectory", "session")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedEvaluation:
    """The options of `evaluate`. `inputs` are files, folders and names of drops; `judges` are asked alone."""

    inputs: tuple[Path, ...]
    sessions: "RequestedSessions | None"
    all_drops: bool
    home: Installation
    panel: Panel
    judges: tuple[str, ...]
    settings: Settings
    suite: Path | None
    split_size: int | None
    budget_usd: float | None
    budget_calls: int | None
    agreed: bool
    preprocess_only: bool
    one_drop: bool
    format_name: str | None
    select: str | None
    name: str | None
    replace: bool
    output: Path | None
    quiet: bool
    verbose: bool

    @property
    def is_whole(self) -> bool:
        """Whether all assets of a drop are asked for, and no further files."""
        return self.selection is None and not self.preprocess_only and self.split_size is None

    @property
    def selection(self) -> str | None:
        """The selected assets: the tables of `judges` and what is made of them."""
        if not self.judges:
            return self.select
        tables = (f"{level}_verdicts/{judge}_{level}_verdicts+" for judge in self.judges for level in _LEVELS)
        return ",".join(tables)

    @property
    def asked_panel(self) -> Panel:
        """The judges that are asked."""
        asked = tuple(judge for judge in self.panel.judges if not self.judges or judge.name in self.judges)
        return self.panel.asking(self.judges).model_copy(update={"judges": asked})
