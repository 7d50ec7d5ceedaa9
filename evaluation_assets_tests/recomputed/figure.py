"""What all recomputed figures share: pairs of address and value, of statistics, intervals, rates and trials."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import comb
from statistics import fmean, median, pstdev

from evaluation_assets.core.report.provenance.stated import Value, address
from evaluation_assets.core.scoring.intervals import interval_of_mean, rate_interval

Figures = Iterator[tuple[str, Value]]

_STATISTICS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": fmean,
    "std": pstdev,
    "min": min,
    "median": median,
    "max": max,
}

Grouped = tuple[list[float], list[str]]
"""Values, and the task of each."""


def at_place(at: Sequence[str], values: Mapping[str, Value]) -> Figures:
    """Values under their names at a place."""
    yield from ((address(*at, name), value) for name, value in values.items())


def statistic(at: Sequence[str], values: Iterable[float | None], tasks: Sequence[str] | None = None) -> Figures:
    """The statistics of values that may be missing, and the counts of their tenths; with tasks, the interval too."""
    every = list(values)
    known = known_of(every)
    yield from at_place(at, {name: of(known) if known else None for name, of in _STATISTICS.items()})
    yield from at_place(at, {"n_scored": len(known), "n_total": len(every)})
    yield from at_place((*at, "tenths"), {str(tenth): count for tenth, count in enumerate(_tenths(known))})
    if tasks is not None and known:
        yield from interval(at, with_tasks(every, tasks))


def interval(at: Sequence[str], scores: Grouped) -> Figures:
    """The 95% interval of a mean over tasks."""
    found = interval_of_mean([scores])
    yield from at_place(at, {"ci_low": found.low, "ci_high": found.high, "n_tasks": found.n})


def with_tasks(values: Sequence[float | None], tasks: Sequence[str]) -> Grouped:
    """The values that are known, and the task of each."""
    pairs = [(value, task) for value, task in zip(values, tasks, strict=True) if value is not None]
    return [value for value, _ in pairs], [task for _, task in pairs]


def _tenths(scores: Sequence[float]) -> list[int]:
    """How many scores are in each tenth of the scale, 1.0 in the last; empty where one is not on the scale."""
    if not scores or min(scores) < 0 or max(scores) > 1:
        return []
    counts = Counter(min(int(score * 10), 9) for score in scores)
    return [counts[tenth] for tenth in range(10)]


def known_of(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def mean_of(values: Iterable[float | None]) -> float | None:
    """The mean of the known values."""
    known = known_of(values)
    return fmean(known) if known else None


def rate(measure: str, by_task: Mapping[str, Sequence[bool]], runs: int) -> Figures:
    tasks = list(by_task.values())
    if not tasks:
        return
    n, count = sum(map(len, tasks)), sum(map(sum, tasks))
    low, high = rate_interval(tasks)
    found = {
        "count": count, "n": n, "n_tasks": len(tasks), "n_unknown": runs - n,
        "rate": count / n, "ci_low": low, "ci_high": high,
    }  # fmt: skip
    yield from at_place(("drop", "headline", "rates", measure), found)


def trials(place: Sequence[str], tasks: Sequence[Sequence[bool]]) -> Figures:
    """pass@k and pass^k of the trials of each task, for every k that all tasks have trials for."""
    for k in range(1, min(map(len, tasks), default=0) + 1):
        one = [1 - comb(len(own) - sum(own), k) / comb(len(own), k) for own in tasks]
        every = [comb(sum(own), k) / comb(len(own), k) for own in tasks]
        found = {"k": k, "pass_at": fmean(one), "pass_hat": fmean(every), "n_tasks": len(tasks)}
        yield from at_place((*place, str(k)), found)
