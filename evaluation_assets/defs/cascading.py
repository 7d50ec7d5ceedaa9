"""The cascade of a panel, as the steps of judging and reviewing use it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evaluation_assets.core.judging.cascade.fitted import FittedCascade, later_judges
from evaluation_assets.core.judging.cascade.savings import left_to_people
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.lake.tables import Table
from evaluation_assets.core.pipeline.stage_gates import StageGate, stage_gates, stored_statements
from evaluation_assets.core.system.installation import Installation


@dataclass(frozen=True, slots=True)
class Cascading:
    """The stages of the panel's cascade, and the fitted cascade; without one, all judges are asked about everything."""

    stages: Sequence[Sequence[str]] = ()
    fitted: FittedCascade | None = None

    @property
    def fingerprint(self) -> str:
        """Part of a code version that changes with the fitted cascade; empty without one."""
        return "" if self.fitted is None else f"|{self.fitted.fingerprint}"

    def version(self, judge: str) -> str:
        """The same for what a judge is asked; empty for judges that are asked about everything."""
        return self.fingerprint if judge in later_judges(self.stages) else ""

    def gates(
        self, home: Installation, drop: str, table: Table, judges: Sequence[Judge], warn: Callable[[str], object]
    ) -> dict[str, StageGate]:
        """The gates of the judges of one run; none where the fitted cascade is not that of the panel."""
        if self.fitted is None or not self.stages:
            return {}
        if not self.fitted.fits(self.stages):
            warn("cascade.json was fitted for other stages, so all judges are asked about everything; fit it again")
            return {}
        running = [judge.name for judge in judges]
        others = [judge for stage in self.stages for judge in stage if judge not in running]
        stored = stored_statements(home, drop, table, others, self.fitted)
        return stage_gates(self.fitted, self.stages, running, stored)

    def undecided(self, home: Installation, drop: str) -> set[str]:
        """The trajectories of a drop that the cascade leaves to people."""
        return left_to_people(home, drop, self.fitted, self.stages)
