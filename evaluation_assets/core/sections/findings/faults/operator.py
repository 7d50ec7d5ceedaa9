"""What an operator is: it plants one fault into a copy of a run, or changes nothing of meaning as a control."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from random import Random

from evaluation_assets.core.sections.findings.finding import Place
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

INJECTED = "injected"
"""The label of a run with a planted fault."""


class NotApplicable(ValueError):
    """A run has nothing that the operator could change; the message says what is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A changed run: `place` is that of the change, `origin` the same place in the run as it was."""

    trajectory: Trajectory
    place: Place
    origin: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """Plants faults of one `kind` of finding; a control has none. `also` are kinds that such a fault can be found as.

    `change` makes the changed run. It raises `NotApplicable` if the run has nothing to change.
    """

    name: str
    description: str
    kind: str | None
    change: Callable[[Trajectory, Random], Changed]
    also: tuple[str, ...] = ()

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of findings that notice the fault; none for a control."""
        return frozenset() if self.kind is None else frozenset((self.kind, *self.also))

    @property
    def is_control(self) -> bool:
        """Whether it changes nothing of meaning."""
        return self.kind is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A run, and its copy that one operator changed at a known place."""

    operator: Operator
    original: Trajectory
    changed: Trajectory
    place: Place
    origin: Place


def injected(trajectory: Trajectory, operator: Operator, seed: int) -> Pair:
    """The run and its changed copy, which depend on the operator, the seed and the run's ID alone.

    The copy has an ID of its own, the same task, and the label `injected`. A planted fault takes the recorded outcome
    and other labels away: they are about another run.

    Raises:
        NotApplicable: the run has nothing that the operator could change.
    """
    drawn = Random(int(digest(operator.name, str(seed), trajectory.id), 16))  # noqa: S311  (not for cryptography)
    change = operator.change(trajectory, drawn)
    label: JsonObject = {
        "operator": operator.name,
        "kind": operator.kind,
        "of": trajectory.id,
        "seed": seed,
        "place": _plain(change.place),
    }
    changed = replace(change.trajectory, id=f"{trajectory.id}~{operator.name}", source=None)
    if operator.is_control:
        changed = replace(changed, labels={**trajectory.labels, INJECTED: label})
    else:
        changed = replace(changed, labels={INJECTED: label}, success=None)
    return Pair(operator=operator, original=trajectory, changed=changed, place=change.place, origin=change.origin)


def _plain(place: Place) -> JsonObject:
    """A place as JSON gives it back."""
    known = {name: value for name, value in asdict(place).items() if value is not None}
    return known if place.span is None else {**known, "span": list(place.span)}
