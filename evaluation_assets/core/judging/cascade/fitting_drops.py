"""Fit a cascade on evaluated drops, to labels of people or to a judge as reference."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set

import numpy as np

from evaluation_assets.core.judging.cascade.evidence import Key, SaidAboutDrops, Statement, read_evidence, subjects_of
from evaluation_assets.core.judging.cascade.fitted import LABELS, PASSED, FittedCascade
from evaluation_assets.core.judging.cascade.fitting import LabelledSubjects, fit_criterion
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.nullable import mean_label
from evaluation_assets.core.text.user_error import UserError

Truth = dict[tuple[str, str], dict[Key, bool]]
"""By level and criterion: which subjects pass."""


class CannotFit(UserError, ValueError):
    """There are no labels, or judges were not asked about everything; the message says what to do."""


def fit_cascade(
    home: Installation,
    drops: Sequence[str],
    stages: Sequence[Sequence[str]],
    labels: Iterable[Row],
    *,
    reference: str | None,
    alpha: float,
    delta: float,
    unit: str,
    pass_score: float,
) -> FittedCascade:
    """Fit every criterion that has labels; without a `reference` judge these are the rows of the table `labels`.

    The reference itself is no stage: what no stage before it accepts is its to decide.

    Raises:
        CannotFit: no subject of these drops has both a label and a verdict, or a judge was spared some.
    """
    stages = [tuple(judge for judge in stage if judge != reference) for stage in stages]
    stages = [stage for stage in stages if stage]
    judges = [judge for stage in stages for judge in stage]
    everyone = judges if reference is None else [*judges, reference]
    said = read_evidence(home, drops, everyone, pass_score=pass_score)
    truth = _labelled(labels, said) if reference is None else _judged(said, reference, pass_score)
    known = {name for each in said.subjects.values() for one in each.statements.values() for name in one.scores}
    truth = {criterion: subjects for criterion, subjects in truth.items() if criterion[1] in {*known, PASSED}}
    if not truth:
        whose = "labels of people" if reference is None else f"verdicts of {reference}"
        raise CannotFit(f"the drops {', '.join(drops)} have no subject with {whose} and a verdict of a stage")
    if reference is None:
        _refuse_spared(said, judges, {key for subjects in truth.values() for key in subjects})
    else:
        levels = {level for level, _ in truth}
        _refuse_spared(said, [*judges, reference], {key for key in said.subjects if key.level in levels})
    cluster = _clusters(home, drops, unit)
    return FittedCascade(
        version=2,
        alpha=alpha,
        delta=delta,
        reference=reference or LABELS,
        unit=unit,
        pass_score=pass_score,
        stages=tuple(stages),
        with_probability=tuple(judge for judge in said.with_probability if judge in judges),
        criteria=tuple(
            fit_criterion(
                level,
                criterion,
                _subjects(said, judges, criterion, passes, cluster),
                stages,
                alpha=alpha,
                delta=delta,
                pass_score=pass_score,
            )
            for (level, criterion), passes in sorted(truth.items())
        ),
    )


def _refuse_spared(said: SaidAboutDrops, judges: Sequence[str], subjects: Set[Key]) -> None:
    """A judge that was asked only where others were unsure looks worse than it is."""
    for judge in judges:
        spared = sum(judge not in said.subjects[key].statements for key in subjects)
        if spared:
            raise CannotFit(
                f"judge {judge} was not asked about {spared} of {len(subjects)} subjects to fit to; evaluate "
                "these drops without cascade.json, with all judges at these levels, and fit again"
            )


def _labelled(labels: Iterable[Row], said: SaidAboutDrops) -> Truth:
    """Labels of people by the names they have there: `passed`, `<criterion>`, of answers `answer.<criterion>`."""
    given: dict[tuple[str, str], dict[Key, list[float]]] = {}
    for row in labels:
        level, dot, name = row["criterion"].partition(".")
        level, name = (level, name) if dot else ("trajectory", row["criterion"])
        key = Key(row["drop"], row["trajectory_id"], level, level)
        if row["clip_index"] is not None:
            level, name = "clip", row["criterion"]
            key = Key(row["drop"], row["trajectory_id"], level, str(row["clip_index"]))
        if key in said.subjects:
            given.setdefault((level, name), {}).setdefault(key, []).append(row["label"])
    return {
        criterion: {key: mean >= 0.5 for key, values in subjects.items() if (mean := mean_label(values)) is not None}
        for criterion, subjects in given.items()
    }


def _judged(said: SaidAboutDrops, reference: str, pass_score: float) -> Truth:
    truth: Truth = {}
    for key, evidence in said.subjects.items():
        for criterion, score in evidence.statements.get(reference, Statement()).scores.items():
            truth.setdefault((key.level, criterion), {})[key] = score >= pass_score
    return truth


def _subjects(
    said: SaidAboutDrops,
    judges: Sequence[str],
    criterion: str,
    passes: Mapping[Key, bool],
    cluster: Callable[[Key], str],
) -> LabelledSubjects:
    chosen = sorted(passes)
    return LabelledSubjects(
        subjects_of([said.subjects[key] for key in chosen], judges, criterion),
        list(map(cluster, chosen)),
        np.array([passes[key] for key in chosen]),
    )


def _clusters(home: Installation, drops: Sequence[str], unit: str) -> Callable[[Key], str]:
    if unit == "trajectory":
        return lambda key: f"{key.drop}/{key.trajectory_id}"
    tasks = {
        (drop, row["trajectory_id"]): row["task_id"]
        for drop in drops
        for row in home.table(drop, "preprocessed_trajectories").rows(["trajectory_id", "task_id"])
    }
    return lambda key: tasks[key.drop, key.trajectory_id]
