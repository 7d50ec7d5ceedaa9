"""What a source states about itself, such as a total of tokens, compared with what was read of it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from evaluation_assets.core.text.counted import counted


@dataclass(frozen=True, slots=True)
class Difference:
    """All statements about one thing that do not agree with the reading: how many, and both sums.

    `what` is a noun in the singular, such as `input token`.
    """

    what: str
    times: int
    stated: int
    read: int

    @property
    def sentence(self) -> str:
        """Both sums."""
        where = f" in {self.times:,} places" if self.times > 1 else ""
        return f"{counted(self.stated, self.what)} stated by the source, {self.read:,} read{where}"


@dataclass(slots=True)
class Comparisons:
    """Compares what is stated with what was read, and keeps the differences."""

    _found: dict[tuple[str, bool], list[int]] = field(default_factory=dict)

    def compare(self, what: str, stated: int | None, read: int | None) -> None:
        """Note a difference; nothing is compared where either is unknown."""
        if stated is not None and read is not None and stated != read:
            self._add(what, 1, stated, read, is_more=read > stated)

    def update(self, other: "Comparisons") -> None:
        """Add the differences of another instance."""
        for (what, is_more), (times, stated, read) in other._found.items():
            self._add(what, times, stated, read, is_more=is_more)

    def __iter__(self) -> Iterator[Difference]:
        yield from (Difference(what, *sums) for (what, _), sums in self._found.items())

    def _add(self, what: str, times: int, stated: int, read: int, *, is_more: bool) -> None:
        sums = self._found.setdefault((what, is_more), [0, 0, 0])
        sums[:] = sums[0] + times, sums[1] + stated, sums[2] + read
