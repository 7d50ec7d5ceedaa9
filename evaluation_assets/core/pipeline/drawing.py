"""Which trajectories of a drop are evaluated: a share of them, and those that fulfil a condition of the sidecar."""

from collections import Counter
from collections.abc import Mapping
from typing import Self

from evaluation_assets.core.intake.drops import Drop, InvalidDrop
from evaluation_assets.core.intake.sidecar import Sidecar
from evaluation_assets.core.intake.sources.settings import InvalidSources, SourceSettings, load_sources
from evaluation_assets.core.sections.constraints.conditions import is_meant
from evaluation_assets.core.sections.constraints.scope import DropScope, is_in_scope
from evaluation_assets.core.sections.constraints.seen_calls import seen_calls
from evaluation_assets.core.sections.constraints.settings import Calls, Where
from evaluation_assets.core.suites.bounded import NotChecked
from evaluation_assets.core.system.configuration import validated
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.counted import counted, percent
from evaluation_assets.core.traces.formats.files.drop_files import relative
from evaluation_assets.core.traces.trajectories.identity import fraction_of
from evaluation_assets.core.traces.trajectories.model import Trajectory

_SHARE, _ONLY, _UNCHECKED = "share", "only", "only_not_checked"


class Only(Where):
    """The trajectories that are evaluated: those that match all of the fields, which are those of `checks.yaml`.

    Attributes:
        calls: Calls, of which the trajectory has one: the name of a tool, or a pattern such as `{fails: true}`. `null`:
            any trajectory.
    """

    calls: Calls | None = None


class Drawing:
    """Takes the trajectories of a drop that are evaluated, and counts those that are not.

    The share is drawn by the IDs of the trajectories, so that the same ones are taken again.
    """

    def __init__(self, share: float = 1.0, only: Only | None = None, scope: DropScope = DropScope()) -> None:
        self._share, self._only, self._scope = share, only, scope
        self.not_taken: Counter[str] = Counter()

    @classmethod
    def of(cls, drop: Drop, sidecar: Sidecar) -> Self:
        """What the sidecar of a drop says.

        Raises:
            InvalidDrop: its `only` has an unknown field, or a pattern that is none.
        """
        if sidecar.only is None:
            return cls(sidecar.share)
        place = drop.key if drop.sidecar_file is None else relative(drop.sidecar_file, drop.root)
        return cls(sidecar.share, validated(sidecar.only, Only, f"{place}: only", InvalidDrop), DropScope.of(sidecar))

    def takes(self, trajectory: Trajectory) -> bool:
        """Whether a trajectory is evaluated."""
        why_not = self._why_not(trajectory)
        if why_not is not None:
            self.not_taken[why_not] += 1
        return why_not is None

    def _why_not(self, trajectory: Trajectory) -> str | None:
        if fraction_of(f"run {trajectory.id}") >= self._share:  # else a source's share of the same IDs would decide
            return _SHARE
        if self._only is None:
            return None
        if not is_in_scope(self._only, trajectory, self._scope):
            return _ONLY
        calls = self._only.calls
        try:
            return None if calls is None or any(is_meant(calls, call) for call in seen_calls(trajectory)) else _ONLY
        except NotChecked:
            return _UNCHECKED


def drawn(sidecar: Sidecar, not_taken: Mapping[str, int], taken: int) -> str | None:
    """What was evaluated of a drop, in words; `None` if that is all of it."""
    total = taken + sum(not_taken.values())
    if total == taken:
        return None
    said = {
        _SHARE: f"outside of the {percent(sidecar.share)} drawn by their IDs",
        _ONLY: "do not fulfil `only`",
        _UNCHECKED: "could not be compared with `only`",
    }
    why = "; ".join(f"{not_taken[reason]:,} {words}" for reason, words in said.items() if not_taken.get(reason))
    return f"{taken:,} of {counted(total, 'run')} evaluated: {why}"


def sources_of(home: Installation) -> dict[str, SourceSettings]:
    """The sources of an installation by name, whose conditions can be used.

    Raises:
        InvalidSources: as `load_sources`, or an `only` cannot be used.
    """
    sources = load_sources(home.sources_file)
    for name, settings in sources.items():
        if settings.only is not None:
            validated(settings.only, Only, f"{home.sources_file}: sources.{name}.only", InvalidSources)
    return sources
