"""A figure of a report with its formula, and the figures that describe values: statistics, intervals, rates."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from statistics import fmean, median, pstdev
from urllib.parse import quote

from evaluation_assets.core.scoring.intervals import interval_of_mean, rate_interval

Value = float | int | bool | None

_STATISTICS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": fmean,
    "std": pstdev,
    "min": min,
    "median": median,
    "max": max,
}
_IN_WORDS = {
    "mean": "mean of",
    "std": "population standard deviation of",
    "min": "lowest of",
    "median": "median of",
    "max": "highest of",
    "n_scored": "number of known values among",
    "n_total": "number of",
}

Grouped = tuple[list[float], list[str]]
"""Values, and the task of each."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: its value, `n` values that it is computed from, the formula in words, and the rows it comes from."""

    address: str
    value: Value
    n: int
    formula: str
    rows: str


def address(*parts: str | int) -> str:
    """The address of a figure."""
    return "/".join(quote(str(part), safe=".=@ ") for part in parts)


def statistic(
    at: Sequence[str],
    values: Iterable[float | None],
    about: str,
    rows: str,
    tasks: Sequence[str] | None = None,
) -> Iterator[Figure]:
    """The statistics of values that may be missing, and the counts of their tenths; with tasks, the interval too."""
    every = list(values)
    known = known_of(every)
    found: dict[str, Value] = {name: of(known) if known else None for name, of in _STATISTICS.items()}
    found |= {"n_scored": len(known), "n_total": len(every)}
    for name, value in found.items():
        yield Figure(address(*at, name), value, len(known), f"{_IN_WORDS[name]} the {about}", rows)
    for tenth, count in enumerate(_tenths(known)):
        formula = f"number of the {about} from {tenth / 10} to {(tenth + 1) / 10}"
        yield Figure(address(*at, "tenths", tenth), count, len(known), formula, rows)
    if tasks is not None and known:
        yield from interval(at, with_tasks(every, tasks), f"mean of the {about}", rows)


def interval(at: Sequence[str], scores: Grouped, about: str, rows: str) -> Iterator[Figure]:
    """The 95% interval of a mean over tasks."""
    n, found = len(scores[0]), interval_of_mean([scores])
    method = "by Student's t with standard errors clustered by task, Wilson's where each task is only 0 or only 1"
    for name, value, formula in (
        ("ci_low", found.low, f"lower end of the 95% interval of the {about}, {method}"),
        ("ci_high", found.high, f"upper end of the 95% interval of the {about}, {method}"),
        ("n_tasks", found.n, f"number of tasks of the {about}"),
    ):
        yield Figure(address(*at, name), value, n, formula, rows)


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


def rate(measure: str, by_task: Mapping[str, Sequence[bool]], runs: int, rows: str) -> Iterator[Figure]:
    tasks = list(by_task.values())
    if not tasks:
        return
    n, count = sum(map(len, tasks)), sum(map(sum, tasks))
    low, high = rate_interval(tasks)
    interval = "of the 95% Wilson interval; the trials of a task do not count as independent"
    for name, value, formula in (
        ("count", count, "number of runs with the outcome true"),
        ("n", n, "number of runs with a known outcome"),
        ("n_tasks", len(tasks), "number of tasks with a known outcome"),
        ("n_unknown", runs - n, "number of runs without a known outcome"),
        ("rate", count / n, "runs with the outcome true divided by runs with a known outcome"),
        ("ci_low", low, f"lower end {interval}"),
        ("ci_high", high, f"upper end {interval}"),
    ):
        yield Figure(address("drop", "headline", "rates", measure, name), value, n, formula, rows)


def trials(place: Sequence[str], tasks: Sequence[Sequence[bool]], outcome: str, rows: str) -> Iterator[Figure]:
    """pass@k and pass^k of the trials of each task, for every k that all tasks have trials for."""
    for k in range(1, min(map(len, tasks), default=0) + 1):
        one = [1 - comb(len(own) - sum(own), k) / comb(len(own), k) for own in tasks]
        every = [comb(sum(own), k) / comb(len(own), k) for own in tasks]
        for name, value, formula in (
            ("k", k, "number of trials that are drawn"),
            ("pass_at", fmean(one), f"mean share of draws of {k} with a trial that {outcome}"),
            ("pass_hat", fmean(every), f"mean share of draws of {k} trials that all {outcome}"),
            ("n_tasks", len(tasks), "number of tasks with trials"),
        ):
            yield Figure(address(*place, str(k), name), value, len(tasks), formula, rows)
