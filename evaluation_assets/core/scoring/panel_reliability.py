"""Panel reliability: inter-rater agreement on one drop, per criterion."""

from array import array
from collections.abc import Iterable, Iterator, Mapping
from statistics import fmean
from typing import Any

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Stored, grouped
from evaluation_assets.core.scoring.averages import Leniency, samples_of
from evaluation_assets.core.scoring.effective_number import VerdictCorrelations
from evaluation_assets.core.scoring.reliability import alpha_of, components, influence, retest_std, table_of

Subject = tuple[Any, ...]


def reliability_rows(drop: str, verdicts: Mapping[str, Mapping[str, Stored]]) -> Iterator[Row]:
    """Rows of `panel_reliability`, from verdict tables by level and judge.

    A panel of one has rows only if its judge has repeats.
    """
    for level, tables in verdicts.items():
        if len(tables) < 2 and not any(any(table.values("sample")) for table in tables.values()):
            continue
        for criterion, samples in sorted(_samples(tables).items()):
            repeated = {judge: samples.repeated(judge) for judge in tables}
            if len(tables) < 2 and not any(repeated.values()):
                continue
            means = samples.means()
            scores = {judge: [own.get(judge) for own in means] for judge in tables}
            table = table_of(scores)
            leniency = Leniency(list(tables))
            for own in means:
                leniency.add(criterion, own)
            effects, moves = leniency.effects(criterion), influence(scores)
            reliability = components(table)
            correlations = VerdictCorrelations()
            for own in means:
                correlations.add(own)
            effective = correlations.effective()
            for judge in tables:
                yield {
                    "drop": drop,
                    "level": level,
                    "criterion": criterion,
                    "judge": judge,
                    "n_subjects": sum(len(own) >= 2 for own in means),
                    "alpha": alpha_of(table),
                    "icc_single": reliability.icc_single,
                    "icc_panel": reliability.icc_panel,
                    "effective_judges": None if effective is None else effective.value,
                    "leniency": effects.get(judge),
                    "influence": moves[judge],
                    "retest_std": retest_std(repeated[judge]),
                    "n_retested": len(repeated[judge]),
                }


def largest_retest_std(rows: Iterable[Row]) -> dict[str, float]:
    """The largest retest standard deviation over criteria of each judge with repeats, from `panel_reliability`."""
    figures: dict[str, float] = {}
    for row in rows:
        if row["retest_std"] is not None:
            name = f"largest_retest_std_{row['judge']}"
            figures[name] = max(figures.get(name, 0.0), row["retest_std"])
    return figures


class _Samples:
    """The scores of one criterion. Of a big drop, those of a judge without repeats are numbers in an array."""

    def __init__(self) -> None:
        self._places: dict[Subject, int] = {}
        self._means: dict[str, tuple[array[int], array[float]]] = {}
        self._repeated: dict[str, dict[int, list[float]]] = {}

    def add(self, judge: str, subject: Subject, samples: list[float]) -> None:
        """Add a judge's samples of a subject, at least one."""
        place = self._places.setdefault(subject, len(self._places))
        places, means = self._means.setdefault(judge, (array("q"), array("d")))
        places.append(place)
        means.append(fmean(samples))
        if len(samples) > 1:
            self._repeated.setdefault(judge, {})[place] = samples

    def repeated(self, judge: str) -> list[list[float]]:
        """The samples of subjects that the judge scored more than once, in the order in which subjects came."""
        return [samples for _, samples in sorted(self._repeated.get(judge, {}).items())]

    def means(self) -> list[dict[str, float]]:
        """The mean of each judge by subject, subjects sorted."""
        by_place: list[dict[str, float]] = [{} for _ in self._places]
        for judge, (places, means) in self._means.items():
            for place, mean in zip(places, means, strict=True):
                by_place[place][judge] = mean
        return [by_place[self._places[subject]] for subject in sorted(self._places)]


def _samples(tables: Mapping[str, Stored]) -> dict[str, _Samples]:
    """Scores by criterion."""
    by_criterion: dict[str, _Samples] = {}
    subjects: dict[Subject, Subject] = {}
    for judge, table in tables.items():
        place = "clip_index" if "clip_index" in table.table.schema.names else "subject"
        for trajectory_id, of_trajectory in grouped(table.rows(["trajectory_id", place, "outcome", "scores"])):
            for name, verdicts in grouped(of_trajectory, place):
                prefix = "answer." if name == "answer" else ""
                subject = subjects.setdefault((trajectory_id, name), (trajectory_id, name))
                for criterion, samples in samples_of(verdicts).items():
                    if samples:
                        by_criterion.setdefault(prefix + criterion, _Samples()).add(judge, subject, samples)
    return by_criterion
