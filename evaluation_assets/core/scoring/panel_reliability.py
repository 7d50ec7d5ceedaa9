"""What the judges of a panel are worth to each other on one drop, criterion by criterion."""

from collections.abc import Iterator, Mapping
from typing import Any

from evaluation_assets.core.lake import Stored
from evaluation_assets.core.scoring.averages import Leniency
from evaluation_assets.core.scoring.reliability import alpha_of, components, influence, table_of

Row = dict[str, Any]


def reliability_rows(drop: str, verdicts: Mapping[str, Mapping[str, Stored]]) -> Iterator[Row]:
    """Rows of `panel_reliability`, from verdict tables by level and judge. A panel of one has none."""
    for level, tables in verdicts.items():
        if len(tables) < 2:
            continue
        for criterion, by_subject in sorted(_scores(tables).items()):
            scores = {judge: [by_subject[subject].get(judge) for subject in sorted(by_subject)] for judge in tables}
            table = table_of(scores)
            leniency = Leniency(list(tables))
            for own in by_subject.values():
                leniency.add(criterion, own)
            effects, moves = leniency.effects(criterion), influence(scores)
            reliability = components(table)
            for judge in tables:
                yield {
                    "drop": drop,
                    "level": level,
                    "criterion": criterion,
                    "judge": judge,
                    "n_subjects": sum(len(own) >= 2 for own in by_subject.values()),
                    "alpha": alpha_of(table),
                    "icc_single": reliability.icc_single,
                    "icc_panel": reliability.icc_panel,
                    "leniency": effects.get(judge),
                    "influence": moves[judge],
                }


def _scores(tables: Mapping[str, Stored]) -> dict[str, dict[tuple[Any, ...], dict[str, float]]]:
    """Scores by criterion, subject and judge."""
    found: dict[str, dict[tuple[Any, ...], dict[str, float]]] = {}
    for judge, table in tables.items():
        place = "clip_index" if "clip_index" in table.table.schema.names else "subject"
        for row in table.rows(["trajectory_id", place, "outcome", "scores"]):
            if row["outcome"] != "scored":
                continue
            prefix = "answer." if row[place] == "answer" else ""
            for criterion, score in (row["scores"] or {}).items():
                if score is not None:
                    subjects = found.setdefault(prefix + criterion, {})
                    subjects.setdefault((row["trajectory_id"], row[place]), {})[judge] = score
    return found
