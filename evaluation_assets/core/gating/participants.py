"""Who made a drop: what its trajectories say about agent, version and model, where the drop's sidecar says nothing."""

from collections.abc import Iterable

from evaluation_assets.core.trajectories.model import Agent

_FIELDS = {"agent": "name", "agent_version": "version", "model": "model"}
_LONGEST = 200


class Participants:
    """What the trajectories of a drop agree on. Agents of one trajectory are taken together."""

    def __init__(self) -> None:
        self._seen: dict[str, set[str]] = {field: set() for field in _FIELDS}

    def add(self, agents: Iterable[Agent]) -> None:
        """Take in the agents of a trajectory."""
        known = list(agents)
        for field, name in _FIELDS.items():
            if values := sorted({value for agent in known if (value := getattr(agent, name))}):
                self._seen[field].add(", ".join(values))

    def agreed(self) -> dict[str, str]:
        """The fields that have one value in all trajectories that have any."""
        return {
            field: next(iter(values))
            for field, values in self._seen.items()
            if len(values) == 1 and len(next(iter(values))) <= _LONGEST
        }
