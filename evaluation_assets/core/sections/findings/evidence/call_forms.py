"""With which arguments the tools of a drop are called."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Self

from evaluation_assets.core.traces.trajectories.model import Trajectory

Names = frozenset[str]

Form = tuple[str, Names]
"""A tool, and the names of the arguments of a call of it."""

FormRow = tuple[str, Sequence[str], int]
"""A form as it is stored, with the number of its calls."""

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

    def __init__(self, counts: Counter[Form]) -> None:
        self.counts = counts
        self._calls: Counter[str] = Counter()
        self._having: Counter[tuple[str, str]] = Counter()
        self._of_names: Counter[Names] = Counter()
        for (tool, names), count in counts.items():
            self._calls[tool] += count
            self._of_names[names] += count
            for name in names:
                self._having[tool, name] += count

    @classmethod
    def of(cls, trajectories: Iterable[Trajectory]) -> Self:
        """The forms of all calls of these runs."""
        return cls(Counter(form for trajectory in trajectories for form in forms_in(trajectory)))

    @classmethod
    def of_rows(cls, rows: Iterable[FormRow]) -> Self:
        """The forms that `form_rows` gave."""
        return cls(Counter({(tool, frozenset(names)): count for tool, names, count in rows}))

    @property
    def tools(self) -> set[str]:
        """The names of all tools."""
        return set(self._calls)

    def with_replaced(self, old: Trajectory, new: Trajectory) -> "CallForms":
        """The forms of the drop with one run in the place of another."""
        counts = self.counts.copy()
        counts.subtract(forms_in(old))
        counts.update(forms_in(new))
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
        return self.counts[tool, names] <= rare and not knows_all

    def _elsewhere(self, tool: str, names: Names) -> int:
        return self._of_names[names] - self.counts[tool, names]


NO_FORMS = CallForms(Counter())
"""What is known of a drop that an earlier version read."""


def forms_in(trajectory: Trajectory) -> Iterator[Form]:
    """The forms of the successful calls of a run."""
    for step in trajectory.calls:
        if step.call is not None and step.result is not None and step.result.error is None:
            names = trajectory.arguments(step.call) or {}
            if len(names) <= _MOST_NAMES:
                yield step.call.name, frozenset(names)


def form_rows(counts: Counter[Form]) -> list[FormRow]:
    """The most frequent forms, as they are stored."""
    return [(tool, sorted(names), count) for (tool, names), count in counts.most_common(_MOST_FORMS)]
