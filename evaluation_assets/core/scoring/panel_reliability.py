"""Panel reliability: inter-rater agreement on one drop, per criterion."""

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
        for criterion, by_subject in sorted(_samples(tables).items()):
            repeated = {
                judge: [own[judge] for own in by_subject.values() if len(own.get(judge, ())) > 1] for judge in tables
            }
            if len(tables) < 2 and not any(repeated.values()):
                continue
            means = [
                {judge: fmean(samples) for judge, samples in by_subject[subject].items()}
                for subject in sorted(by_subject)
            ]
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


def _samples(tables: Mapping[str, Stored]) -> dict[str, dict[Subject, dict[str, list[float]]]]:
    """Scores by criterion, subject and judge; several per judge if it has repeats."""
    found: dict[str, dict[Subject, dict[str, list[float]]]] = {}
    for judge, table in tables.items():
        place = "clip_index" if "clip_index" in table.table.schema.names else "subject"
        for trajectory_id, of_trajectory in grouped(table.rows(["trajectory_id", place, "outcome", "scores"])):
            for name, verdicts in grouped(of_trajectory, place):
                prefix = "answer." if name == "answer" else ""
                for criterion, samples in samples_of(verdicts).items():
                    if samples:
                        found.setdefault(prefix + criterion, {}).setdefault((trajectory_id, name), {})[judge] = samples
    return found
