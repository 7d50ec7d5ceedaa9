"""How well planted faults are noticed: each damaged run is compared with the run that it was made of."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import fmean

from evaluation_assets.core.scoring.intervals import interval_of_mean

_EQUAL = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed:
    """What one judge or detector made of one pair. `cluster` is the task of the run.

    `before` and `after` are the scores of the run as it was and as it was changed; lower is worse. `is_found` says
    whether the place of the fault was found, `is_flagged` whether the changed run was given such a finding at all;
    `None` where this cannot be said.
    """

    cluster: Hashable
    before: float
    after: float
    is_found: bool | None = None
    is_flagged: bool | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """A share, or a difference of shares, with its 95% interval over tasks; ends are `None` if there is none."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Discrimination:
    """Shares of `pairs`: the score falls, rises; and `net`, the difference of both.

    `net` is 1 if every fault lowers the score, and 0 for what scores or flags every run alike. `found` is the share of
    faults whose place was found, `recall` the share of changed runs that were flagged.
    """

    pairs: int
    falls: Share
    rises: Share
    net: Share
    found: Share | None
    recall: Share | None


def discrimination(noticed: Sequence[Noticed]) -> Discrimination | None:
    """The figures over pairs; `None` without any."""
    if not noticed:
        return None
    signs = [_sign(pair.before - pair.after) for pair in noticed]
    tasks = [pair.cluster for pair in noticed]
    halves = _share([(sign + 1) / 2 for sign in signs], tasks)
    return Discrimination(
        pairs=len(noticed),
        falls=_share([float(sign > 0) for sign in signs], tasks),
        rises=_share([float(sign < 0) for sign in signs], tasks),
        net=Share(2 * halves.value - 1, _doubled(halves.low), _doubled(halves.high)),
        found=_known([pair.is_found for pair in noticed], tasks),
        recall=_known([pair.is_flagged for pair in noticed], tasks),
    )


def _sign(difference: float) -> int:
    return 0 if abs(difference) < _EQUAL else 1 if difference > 0 else -1


def _known(values: Sequence[bool | None], tasks: Sequence[Hashable]) -> Share | None:
    known = [(float(value), task) for value, task in zip(values, tasks, strict=True) if value is not None]
    return _share([value for value, _ in known], [task for _, task in known]) if known else None


def _share(values: Sequence[float], tasks: Sequence[Hashable]) -> Share:
    interval = interval_of_mean([(values, tasks)])
    return Share(fmean(values), interval.low, interval.high)


def _doubled(end: float | None) -> float | None:
    return None if end is None else 2 * end - 1
