"""With which arguments the tools of a drop are called."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Self, TypeVar

from evaluation_assets.core.traces.trajectories.model import Trajectory

Names = frozenset[str]

Form = tuple[str, Names]
"""A tool, and the names of the arguments of a call of it."""

_Key = TypeVar("_Key")

_MOST_FORMS = 1_000
_MOST_NAMES = 30

_ENOUGH = 10
"""Other calls of a tool that show which arguments it takes."""

_USUAL = 3
"""Calls of another tool that show that it takes just these arguments."""

_RARE = 20
"""One call of a tool in so many is no evidence of what it takes."""


class CallForms:
    """How many successful calls have each form, in a run or in all runs of a drop."""

    def __init__(self, counts: Counter[Form] | None = None) -> None:
        self._counts: Counter[Form] = Counter() if counts is None else counts

    @classmethod
    def of(cls, trajectories: Iterable[Trajectory]) -> Self:
        """The forms of all calls of these runs."""
        found = cls()
        for trajectory in trajectories:
            found.add(trajectory)
        return found

    @classmethod
    def of_rows(cls, rows: Iterable[tuple[str, Sequence[str], int]]) -> Self:
        """The forms that `rows` gave."""
        return cls(Counter({(tool, frozenset(names)): count for tool, names, count in rows}))

    def add(self, trajectory: Trajectory) -> None:
        """Count the calls of a run."""
        self._counts.update(_forms_in(trajectory))

    def rows(self) -> list[tuple[str, list[str], int]]:
        """Tool, names and number of calls of the most frequent forms."""
        return [(tool, sorted(names), count) for (tool, names), count in self._counts.most_common(_MOST_FORMS)]

    def with_replaced(self, old: Trajectory, new: Trajectory) -> "CallForms":
        """The forms of the drop with one run in the place of another."""
        counts = self._counts.copy()
        counts.subtract(_forms_in(old))
        counts.update(_forms_in(new))
        return CallForms(+counts)

    def are_foreign(self, tool: str, names: Names, *, itself: bool) -> bool:
        """Whether the tool is called elsewhere with none of these arguments, and another with just these.

        `itself` tells that the call is among those that were counted.
        """
        is_called = self._calls[tool] > itself
        knows_one = any(self._having[tool, name] > itself for name in names)
        return is_called and not knows_one and self._elsewhere(tool, names) > 0

    def are_usually_foreign(self, tool: str, names: Names) -> bool:
        """Whether many calls of the tool show that it does not take all of these, and several that another does.

        The call itself is among those that were counted. An agent may err more than once: what is rare shows nothing.
        """
        calls, elsewhere = self._calls[tool], self._elsewhere(tool, names)
        if calls <= _ENOUGH or elsewhere < _USUAL:
            return False
        rare = max(1, calls // _RARE)
        knows_all = all(self._having[tool, name] > rare for name in names)
        return self._counts[tool, names] <= rare and not knows_all

    def _elsewhere(self, tool: str, names: Names) -> int:
        return self._of_names[names] - self._counts[tool, names]

    @cached_property
    def _calls(self) -> Counter[str]:
        """Calls of each tool."""
        return _summed((tool, count) for (tool, _), count in self._counts.items())

    @cached_property
    def _having(self) -> Counter[tuple[str, str]]:
        """Calls of each tool that have an argument of a name."""
        return _summed(((tool, name), count) for (tool, names), count in self._counts.items() for name in names)

    @cached_property
    def _of_names(self) -> Counter[Names]:
        """Calls of any tool that have just these arguments."""
        return _summed((names, count) for (_, names), count in self._counts.items())


def _summed(counts: Iterable[tuple[_Key, int]]) -> Counter[_Key]:
    found: Counter[_Key] = Counter()
    for key, count in counts:
        found[key] += count
    return found


def _forms_in(trajectory: Trajectory) -> Iterator[Form]:
    for step in trajectory.calls:
        if step.call is not None and step.result is not None and step.result.error is None:
            names = trajectory.arguments(step.call) or {}
            if len(names) <= _MOST_NAMES:
                yield step.call.name, frozenset(names)
