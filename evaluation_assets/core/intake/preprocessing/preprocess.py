"""Preprocess raw trajectories: apply the rules, then repair; every record is accounted for."""

from collections import Counter
from dataclasses import dataclass, field, replace

from evaluation_assets.core.intake.preprocessing.repair import changes_text, repaired
from evaluation_assets.core.intake.preprocessing.rules import Rule, Settings, repetition, violation
from evaluation_assets.core.traces.trajectories.model import Trajectory

FLAGS: dict[Rule, str] = {"frequency": "too_many_calls", "duplicates": "duplicate_calls"}


@dataclass(frozen=True, slots=True)
class Removal:
    """A readable trajectory that a rule took out."""

    trajectory: Trajectory
    reason: Rule
    detail: str


@dataclass(slots=True)
class Statistics:
    """What happened to the records of a drop. `total = kept + removed + unreadable`, always.

    `repaired` counts kept records whose text changed; `repairs` every tag that was amiss, also where the text stayed.
    """

    unreadable: Counter[str] = field(default_factory=Counter)
    removed: Counter[str] = field(default_factory=Counter)
    flagged: Counter[str] = field(default_factory=Counter)
    repairs: Counter[str] = field(default_factory=Counter)
    kept: int = 0
    repaired: int = 0
    duplicates: int = 0
    retries: int = 0

    @property
    def total(self) -> int:
        """All records of the drop."""
        return self.kept + self.removed.total() + self.unreadable.total()

    @property
    def kept_rate(self) -> float | None:
        """Share of records kept; `None` for an empty drop."""
        return self.kept / self.total if self.total else None


class Preprocessor:
    """Applies the rules to one trajectory after the other and keeps count."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.statistics = Statistics()

    def process(self, trajectory: Trajectory) -> Trajectory | Removal:
        """The trajectory repaired (and flagged, where rules flag), or its removal."""
        counts = self.statistics
        repeated = repetition(trajectory)
        counts.duplicates += repeated.duplicates
        counts.retries += repeated.retries
        broken = violation(trajectory, repeated, self.settings)
        if broken is not None:
            rule, detail = broken
            if self.settings.on_violation == "remove":
                counts.removed[rule] += 1
                return Removal(trajectory, rule, detail)
            counts.flagged[rule] += 1
            trajectory = replace(trajectory, flags=(*trajectory.flags, FLAGS[rule]))
        counts.repairs.update(f"{repair.tag} {repair.action}" for repair in trajectory.repairs)
        counts.repaired += changes_text(repair.action for repair in trajectory.repairs)
        counts.kept += 1
        return repaired(trajectory)
