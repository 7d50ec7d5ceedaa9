"""Which trajectories a constraint is about."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from evaluation_assets.core.intake.sidecar import Sidecar
from evaluation_assets.core.sections.constraints.patterns import has_name
from evaluation_assets.core.sections.constraints.settings import Where
from evaluation_assets.core.traces.trajectories.model import Trajectory


@dataclass(frozen=True, slots=True)
class DropScope:
    """What the sidecar says about all trajectories of a drop."""

    suite: str | None = None
    agent: str | None = None
    tags: frozenset[str] = frozenset()

    @classmethod
    def of(cls, sidecar: Sidecar) -> Self:
        """The scope that a sidecar describes."""
        tags = (sidecar.model_extra or {}).get("tags")
        return cls(sidecar.suite, sidecar.agent, frozenset(_tags(tags, sidecar.labels)))


def is_in_scope(where: Where, trajectory: Trajectory, drop: DropScope) -> bool:
    """Whether a constraint with this `where` is about a trajectory of a drop."""
    if where.suites is not None and not _any_of(where.suites, [drop.suite]):
        return False
    if where.tasks is not None and not _any_of(where.tasks, [trajectory.task_id]):
        return False
    if where.formats is not None and not _any_of(where.formats, [trajectory.format]):
        return False
    if where.agents is not None:
        acting = {interaction.agent_id for turn in trajectory.turns for interaction in turn.interactions}
        names = [name for agent in trajectory.agents if agent.id in acting for name in (agent.id, agent.name)]
        if not _any_of(where.agents, [drop.agent, *acting, *names]):
            return False
    own = _tags(trajectory.extra.get("tags"), trajectory.labels)
    return where.tags is None or _any_of(where.tags, [*drop.tags, *own])


def _any_of(patterns: Iterable[str], names: Iterable[str | None]) -> bool:
    known = [name for name in names if name is not None]
    return any(has_name(pattern, name) for pattern in patterns for name in known)


def _tags(tags: Any, labels: Mapping[str, Any]) -> set[str]:
    texts = {str(tag) for tag in tags} if isinstance(tags, list | tuple) else set()
    return texts | {
        f"{name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, value in labels.items()
        if isinstance(value, bool | int | float | str)
    }
