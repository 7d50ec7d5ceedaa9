"""What judges said about the subjects of drops, as evidence for the stages of a cascade."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from statistics import fmean
from typing import NamedTuple

import numpy as np

from evaluation_assets.core.judging.cascade.fitted import PASSED, FittedCascade, Subjects
from evaluation_assets.core.judging.verdicts import Distribution, ScoreProbability
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.tables.verdicts import BY_LEVEL, VerdictLevel
from evaluation_assets.core.system.installation import Installation

_COLUMNS = ("trajectory_id", "rubric", "outcome", "scores", "probabilities", "distributions", "cost_usd")


class Key(NamedTuple):
    """A subject: `name` is the clip's index, the category, or the level itself."""

    drop: str
    trajectory_id: str
    level: str
    name: str


class Statement(NamedTuple):
    """What one judge said about a subject, by criterion: 0..1, the mean of several samples.

    A signal is its probability, else its score.
    """

    signals: Mapping[str, float] = {}
    scores: Mapping[str, float] = {}


Given = Mapping[str, float | None]
"""One sample, by criterion."""


def statement_of(samples: Sequence[tuple[Given, Given]]) -> Statement:
    """That of several samples, the signals and the scores of each."""
    return Statement(*(_means(given) for given in zip(*samples, strict=True))) if samples else Statement()


@dataclass(slots=True)
class Evidence:
    """What judges said about one subject.

    `kind` is the rubric; `criteria` are all that were asked, with judges' own; `place` counts from 0 the subjects of
    its level in its trajectory.
    """

    kind: str
    criteria: tuple[str, ...]
    statements: dict[str, Statement] = field(default_factory=dict)
    place: int = 0


def subjects_of(evidence: Sequence[Evidence], judges: Iterable[str], criterion: str) -> Subjects:
    """What these judges said about one criterion. `passed` is the mean over the criteria that a judge scored."""
    said = {judge: [each.statements.get(judge, Statement()) for each in evidence] for judge in judges}
    return Subjects(
        {judge: np.array([_of(each.signals, criterion) for each in own]) for judge, own in said.items()},
        {judge: np.array([_of(each.scores, criterion) for each in own]) for judge, own in said.items()},
        [each.kind for each in evidence],
        np.array([each.place for each in evidence]),
    )


def _of(given: Mapping[str, float], criterion: str) -> float:
    """NaN where there is none."""
    if criterion != PASSED:
        return given.get(criterion, np.nan)
    return fmean(given.values()) if given else np.nan


@dataclass(slots=True)
class SaidAboutDrops:
    """The evidence on all subjects of some drops, and what the judges' verdicts cost.

    `costs` holds by judge and level the known costs. `with_probability` are the judges that report probabilities; of
    the others the scores are used.
    """

    subjects: dict[Key, Evidence] = field(default_factory=dict)
    costs: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    with_probability: tuple[str, ...] = ()

    def at(self, level: str) -> dict[Key, Evidence]:
        """The subjects of one level."""
        return {key: evidence for key, evidence in self.subjects.items() if key.level == level}

    @property
    def levels(self) -> list[str]:
        """All levels with subjects."""
        return sorted({key.level for key in self.subjects})


def read_evidence(
    home: Installation, drops: Sequence[str], judges: Sequence[str], *, pass_score: float
) -> SaidAboutDrops:
    """Read the verdict tables of drops. Of a distribution, scores from `pass_score` up pass."""
    evidence = SaidAboutDrops()
    for judge in judges:
        rows: dict[Key, list[Row]] = {}
        for drop in drops:
            for level, table in BY_LEVEL.items():
                place = "clip_index" if level == "clip" else "subject"
                for row in home.table(drop, table.name, judge).rows([place, *_COLUMNS]):
                    name = str(row[place])
                    key = Key(drop, row["trajectory_id"], _level(level, name), name)
                    rows.setdefault(key, []).append(row)
        _add(evidence, judge, rows, pass_score)
    names: dict[tuple[str, str, str], list[str]] = {}
    for key in evidence.subjects:
        names.setdefault(key[:3], []).append(key.name)
    for where, own in names.items():
        for name, place in places(own).items():
            evidence.subjects[Key(*where, name)].place = place
    return evidence


def places(names: Iterable[str]) -> dict[str, int]:
    """Place of each of the subjects of one level in one trajectory; clips, named by their index, are in its order."""
    return {name: place for place, name in enumerate(sorted(names, key=lambda name: (len(name), name)))}


def _add(said: SaidAboutDrops, judge: str, rows: Mapping[Key, Sequence[Row]], pass_score: float) -> None:
    everything = [row for own in rows.values() for row in own]
    has_probability = any(row.get("probabilities") or row.get("distributions") for row in everything)
    if has_probability:
        said.with_probability = (*said.with_probability, judge)
    for key, own in rows.items():
        criteria = tuple(dict.fromkeys(name for row in own for name in row["scores"] or {}))
        evidence = said.subjects.setdefault(key, Evidence(own[0]["rubric"], ()))
        evidence.criteria = tuple(dict.fromkeys((*evidence.criteria, *criteria)))
        known = [row["cost_usd"] for row in own if row["cost_usd"] is not None]
        said.costs.setdefault((judge, key.level), []).extend(known)
        scored = [row for row in own if row["outcome"] == "scored"]
        evidence.statements[judge] = statement_of(
            [
                (stored_probabilities(row, pass_score) if has_probability else row["scores"], row["scores"])
                for row in scored
            ]
        )


def stored_probabilities(row: Row, pass_score: float) -> Given:
    """The same of a row of a table of verdicts."""
    given: Mapping[str, list[dict[str, float]]] = row.get("distributions") or {}
    distributions = {name: [ScoreProbability(**each) for each in own] for name, own in given.items()}
    return probabilities_of_passing(row.get("probabilities"), distributions, pass_score)


def probabilities_of_passing(
    reported: Given | None, distributions: Mapping[str, Distribution] | None, pass_score: float
) -> Given:
    """How likely a judge finds it that each criterion passes: as it reports it, else by the distribution of its scores.

    Empty if it says neither.
    """
    return reported or {
        name: min(1.0, fsum(each.probability for each in own if each.score >= pass_score))
        for name, own in (distributions or {}).items()
    }


def _means(samples: Iterable[Given]) -> dict[str, float]:
    """The mean over samples of each criterion that was given."""
    values: dict[str, list[float]] = {}
    for sample in samples:
        for name, value in sample.items():
            if value is not None:
                values.setdefault(name, []).append(value)
    return {name: fmean(given) for name, given in values.items()}


def accepting_stages(cascade: FittedCascade, level: str, evidence: Sequence[Evidence]) -> list[int | None]:
    """By subject, the position of the first stage at which all its fitted criteria are accepted; `None` where none is.

    Criteria that were not fitted, because nobody labelled them, do not count; no stage accepts a subject without a
    fitted one.
    """
    fitted = cascade.of_level(level)
    judges = [judge for stage in cascade.stages for judge in stage]
    stages = {
        name: one.decisions(subjects_of(evidence, judges, name), cascade.pass_score).stage
        for name, one in fitted.items()
    }
    accepting: list[int | None] = []
    for position, each in enumerate(evidence):
        own = [int(stage[position]) for name, stage in stages.items() if name == PASSED or name in each.criteria]
        accepting.append(max(own) if own and min(own) >= 0 else None)
    return accepting


def _level(level: VerdictLevel, name: str) -> str:
    if level == "trajectory":
        return name
    if level == "session":
        return "session" if name == "session" else "interaction" if "/interaction/" in name else "turn"
    return level
