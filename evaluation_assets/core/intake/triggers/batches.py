"""How many drops one run evaluates, and which ones."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.system.chunks import chunks

RUN_SECONDS = 60.0
"""What a run of many drops should take. A new drop waits at most so long for one of them to end; to start a run takes
about 8 s on a busy machine, which is then a seventh of the time."""


@dataclass(frozen=True, slots=True)
class PastEvaluation:
    """A run that ended: its seconds, and the drops that it evaluated."""

    seconds: float
    drops: int


def drops_per_run(past: Sequence[PastEvaluation], most: int) -> int:
    """So many drops take `RUN_SECONDS`, by what they took in the last runs; one as long as nothing was measured."""
    drops = sum(run.drops for run in past)
    seconds = sum(run.seconds for run in past)
    if not drops:
        return 1
    return most if seconds * most <= RUN_SECONDS * drops else max(1, int(RUN_SECONDS * drops / seconds))


def batches(groups: Mapping[str, Hashable], size: int) -> list[list[str]]:
    """Drops that can be evaluated by one run, at most `size` of them, in the order of `groups`.

    Args:
        groups: by drop, what its run must have in common with those of others.
        size: most drops of a run.
    """
    by_group = by_key((group, drop) for drop, group in groups.items())
    return [some for drops in by_group.values() for some in chunks(drops, size)]
