"""Agent, version and model of a drop according to its trajectories, for drops whose sidecar does not name them."""

from collections import Counter
from collections.abc import Iterable, Sequence

from evaluation_assets.core.traces.trajectories.model import Agent

_FIELDS = {"agent": "name", "agent_version": "version", "model": "model"}
_LONGEST = 200


class Participants:
    """Collects agents, versions and models over the trajectories of a drop. Agents of a trajectory are joined."""

    def __init__(self) -> None:
        self._seen: dict[str, set[str]] = {field: set() for field in _FIELDS}
        self._names: Counter[str] = Counter()
        self._outcomes: dict[str, list[bool]] = {}

    def add(self, agents: Iterable[Agent], success: bool | None = None) -> None:
        """Add the agents of a trajectory, and whether it succeeded."""
        known = list(agents)
        self._names.update({agent.name for agent in known if agent.name})
        for field, name in _FIELDS.items():
            if value := _joined(known, name):
                self._seen[field].add(value)
        if success is not None and (version := version_of(known)):
            self._outcomes.setdefault(version, []).append(success)

    def agreed(self) -> dict[str, str]:
        """The fields with exactly one value over all trajectories that have a value."""
        return {
            field: next(iter(values))
            for field, values in self._seen.items()
            if len(values) == 1 and len(next(iter(values))) <= _LONGEST
        }

    @property
    def versions(self) -> list[str]:
        """The versions of the trajectories; a value for those that agents of several versions share."""
        return sorted(self._seen["agent_version"])

    @property
    def success_of_versions(self) -> list[str]:
        """The versions, with the runs of each that succeeded: `2.0 (success 13 of 25)`."""
        known = {version: self._outcomes.get(version, []) for version in self.versions}
        return [f"{name} (success {sum(own):,} of {len(own):,})" if own else name for name, own in known.items()]

    @property
    def names(self) -> list[str]:
        """The names of all agents, those of the most trajectories first."""
        return [name for name, _ in sorted(self._names.items(), key=lambda counted: (-counted[1], counted[0]))]


def version_of(agents: Iterable[Agent]) -> str:
    """The version of a trajectory: that of its agents, joined if these have several; empty if none is known."""
    return _joined(list(agents), "version")


def _joined(agents: Sequence[Agent], name: str) -> str:
    return ", ".join(sorted({value for agent in agents if (value := getattr(agent, name))}))
