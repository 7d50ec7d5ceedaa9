"""What a source states about itself, such as a total of tokens, compared with what was read of it."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isclose

from evaluation_assets.core.text.counted import counted

_ROUNDING, _CENT_FRACTION = 1e-3, 1e-6
"""Errors of a sum of rounded costs: relative, and in dollars."""

OUTCOME = "outcome of a run"
"""Begins the name of what sources state of an outcome."""

ANSWERS = "answer"
"""Answers, compared with those whose tokens the source has."""


@dataclass(frozen=True, slots=True)
class Difference:
    """All statements about one thing that do not agree with the reading: how many, and both sums.

    `what` is a noun in the singular, such as `input token`.
    """

    what: str
    times: int
    stated: float
    read: float

    @property
    def sentence(self) -> str:
        """Both sums."""
        where = f" in {self.times:,} places" if self.times > 1 else ""
        stated, read = (_plain(number) for number in (self.stated, self.read))
        if self.what == ANSWERS:
            return f"{counted(stated - read, self.what)} of {stated:,} without tokens"
        return f"{counted(stated, self.what)} stated by the source, {read:,} read{where}"


def _are_equal(one: float, other: float) -> bool:
    if isinstance(one, int) and isinstance(other, int):
        return one == other
    return isclose(one, other, rel_tol=_ROUNDING, abs_tol=_CENT_FRACTION)


def _plain(number: float) -> float:
    """An integer, or an amount with the digits that matter."""
    return int(number) if number == int(number) else round(number, 6)


@dataclass(slots=True)
class Comparisons:
    """Compares what is stated with what was read, and keeps what does not agree.

    `contradictions` counts statements that cannot all be true, by what they are about, such as `outcome`.
    """

    contradictions: Counter[str] = field(default_factory=Counter)
    _found: dict[tuple[str, bool], list[float]] = field(default_factory=dict)

    def compare(self, what: str, stated: float | None, read: float | None) -> None:
        """Note a difference; nothing is compared where either is unknown. Sums of costs agree within rounding."""
        if stated is not None and read is not None and not _are_equal(stated, read):
            self._add(what, 1, stated, read, is_more=read > stated)

    def agree(self, what: str, *statements: Hashable) -> bool:
        """Note a contradiction if these statements about the same thing differ; `None` states nothing."""
        agree = len({each for each in statements if each is not None}) < 2
        self.contradictions[what] += not agree
        return agree

    @property
    def disputed_outcomes(self) -> int:
        """How often two statements about the outcome of a run differed."""
        return sum(times for what, times in self.contradictions.items() if what.startswith(OUTCOME))

    def steps_in_sequence(self, numbers: Sequence[int | None]) -> None:
        """Note the numbers of steps that are left out. Numbering may begin again."""
        known = [number for number in numbers if number is not None]
        missing = sum(max(0, after - before - 1) for before, after in pairwise(known))
        self.compare("step", len(known) + missing, len(known))

    def update(self, other: "Comparisons") -> None:
        """Add the differences of another instance."""
        for (what, is_more), (times, stated, read) in other._found.items():
            self._add(what, int(times), stated, read, is_more=is_more)
        self.contradictions.update(other.contradictions)

    def __iter__(self) -> Iterator[Difference]:
        yield from (
            Difference(what, int(times), stated, read) for (what, _), (times, stated, read) in self._found.items()
        )

    def _add(self, what: str, times: int, stated: float, read: float, *, is_more: bool) -> None:
        sums = self._found.setdefault((what, is_more), [0, 0, 0])
        sums[:] = sums[0] + times, sums[1] + stated, sums[2] + read
