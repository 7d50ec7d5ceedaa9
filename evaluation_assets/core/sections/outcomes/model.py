"""Logistic regression of the outcome on traits of runs, cross-validated by task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
import scipy

from evaluation_assets.core.sections.outcomes.agreement import AGREEMENTS, agreements
from evaluation_assets.core.sections.outcomes.discrimination import Auroc, auroc
from evaluation_assets.core.sections.outcomes.traits import BUCKETS, Traits

Item = TypeVar("Item")

LEAST_RUNS, LEAST_TASKS, LEAST_OF_EACH = 30, 10, 8
"""Runs with a recorded outcome, tasks, and runs of each outcome that a model needs."""

LEAST_AUROC = 0.6
"""Predictions are made if the lower bound of the AUROC is above."""

_PENALTY = 0.5
"""Inverse strength of the ridge, as in scikit-learn."""

_FOLDS, _REPEATS, _SEED = 10, 5, 0
_FURTHEST = 3.0
"""Standard deviations at which a figure is cut: a run unlike all others is not judged by one of its figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeModel:
    """A fitted model, and how well it did on tasks that it was not fitted on."""

    runs: int
    tasks: int
    auroc: Auroc
    encoding: "Encoding"
    weights: np.ndarray
    intercept: float
    calibration: tuple[float, float]

    @property
    def is_trusted(self) -> bool:
        """Whether its predictions may be shown."""
        return self.auroc.low > LEAST_AUROC

    def probabilities(self, runs: Sequence[Traits], agreed: Sequence[Mapping[str, float]]) -> np.ndarray:
        """By run, the calibrated probability that it has succeeded; `agreed` is its agreement with others."""
        slope, offset = self.calibration
        scores = self.encoding.matrix(runs, agreed) @ self.weights + self.intercept
        return scipy.special.expit(slope * scores + offset)


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """Traits as columns: figures and agreements in standard deviations, then n-grams by their inverse frequency."""

    names: tuple[str, ...]
    means: np.ndarray
    deviations: np.ndarray
    rarity: np.ndarray

    @classmethod
    def of(cls, runs: Sequence[Traits], agreed: Sequence[Mapping[str, float]]) -> "Encoding":
        """The encoding that is learned from runs."""
        names = (*sorted({name for run in runs for name in run.figures}), *AGREEMENTS)
        figures = _figures(runs, agreed, names)
        means = _means(figures)
        deviations = np.sqrt(_means((figures - means) ** 2))
        seen = np.zeros(BUCKETS)
        for run in runs:
            seen[run.ngrams] += 1
        return cls(
            names=names,
            means=means,
            deviations=np.where(deviations > 0, deviations, np.inf),
            rarity=np.log((1 + len(runs)) / (1 + seen)) + 1,
        )

    def matrix(self, runs: Sequence[Traits], agreed: Sequence[Mapping[str, float]]) -> "scipy.sparse.csr_array":
        """A row for each run."""
        figures = (_figures(runs, agreed, self.names) - self.means) / self.deviations
        known = np.clip(np.nan_to_num(figures), -_FURTHEST, _FURTHEST)
        return scipy.sparse.hstack([scipy.sparse.csr_array(known), self._ngrams(runs)], format="csr")

    def _ngrams(self, runs: Sequence[Traits]) -> "scipy.sparse.csr_array":
        columns = np.concatenate([run.ngrams for run in runs]).astype(np.int32)
        ends = np.cumsum([0, *(len(run.ngrams) for run in runs)], dtype=np.int32)
        values = self.rarity[columns]
        for start, end in pairwise(ends):
            values[start:end] /= np.linalg.norm(values[start:end]) or 1.0
        return scipy.sparse.csr_array((values, columns, ends), shape=(len(runs), BUCKETS))


def too_few(succeeded: Sequence[bool], tasks: Sequence[str]) -> str | None:
    """Why no model can be fitted to runs with these outcomes and tasks; `None` if one can."""
    won, needed = sum(succeeded), f"{LEAST_RUNS} of {LEAST_TASKS} tasks, {LEAST_OF_EACH} of each outcome"
    distinct = len(set(tasks))
    if (
        len(succeeded) >= LEAST_RUNS
        and distinct >= LEAST_TASKS
        and LEAST_OF_EACH <= won <= len(succeeded) - LEAST_OF_EACH
    ):
        return None
    return f"{len(succeeded)} runs of {distinct} tasks have a recorded outcome, {won} succeeded; needed are {needed}"


def fit(runs: Sequence[Traits], succeeded: Sequence[bool]) -> OutcomeModel:
    """Fit a model to runs with a recorded outcome, and measure it on tasks that were left out.

    The outcomes of all runs of a task are left out together. Probabilities are calibrated on the scores that runs got
    while their tasks were left out (Platt, 1999). Agreement with other runs needs no outcome.
    """
    from sklearn.model_selection import StratifiedGroupKFold  # noqa: PLC0415  (a second that runs need not wait for)

    outcomes = np.array(succeeded, bool)
    tasks = np.array([run.task_id for run in runs])
    agreed = agreements(runs)
    scores = []
    rarer = min(int(outcomes.sum()), int((~outcomes).sum()))
    for repeat in range(_REPEATS):
        folds = StratifiedGroupKFold(min(_FOLDS, len(set(tasks)), rarer), shuffle=True, random_state=_SEED + repeat)
        unseen = np.zeros(len(runs))
        for known, left_out in folds.split(outcomes, outcomes, tasks):
            encoding, weights, intercept = _fitted(_at(runs, known), _at(agreed, known), outcomes[known])
            unseen[left_out] = encoding.matrix(_at(runs, left_out), _at(agreed, left_out)) @ weights + intercept
        scores.append(unseen)
    encoding, weights, intercept = _fitted(runs, agreed, outcomes)
    return OutcomeModel(
        runs=len(runs),
        tasks=len(set(tasks)),
        auroc=auroc(scores, outcomes, tasks),
        encoding=encoding,
        weights=weights,
        intercept=intercept,
        calibration=_calibration(np.concatenate(scores), np.tile(outcomes, _REPEATS)),
    )


def _fitted(
    runs: Sequence[Traits], agreed: Sequence[Mapping[str, float]], succeeded: np.ndarray
) -> tuple[Encoding, np.ndarray, float]:
    """The encoding, the weights of its columns, and the intercept; with one outcome only, weights of 0."""
    encoding = Encoding.of(runs, agreed)
    matrix = encoding.matrix(runs, agreed)
    if succeeded.all() or not succeeded.any():
        return encoding, np.zeros(matrix.shape[1]), 0.0
    weights, intercept = _regression(matrix, succeeded, _PENALTY)
    return encoding, weights, intercept


def _calibration(scores: np.ndarray, succeeded: np.ndarray) -> tuple[float, float]:
    weights, intercept = _regression(scores[:, None], succeeded, 1.0)
    return float(weights[0]), intercept


def _regression(
    columns: "np.ndarray | scipy.sparse.csr_array", succeeded: np.ndarray, penalty: float
) -> tuple[np.ndarray, float]:
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  (see above)

    # liblinear uses no threads: those of other solvers are seven times slower than one on a busy machine.
    model = LogisticRegression(C=penalty, solver="liblinear", intercept_scaling=10).fit(columns, succeeded)
    return model.coef_[0], float(model.intercept_[0])


def _figures(runs: Sequence[Traits], agreed: Sequence[Mapping[str, float]], names: Sequence[str]) -> np.ndarray:
    """Figures by run and name: what was not found is 0, and without another run of the task, agreement is unknown."""
    return np.array(
        [
            [own.get(name, np.nan) if name in AGREEMENTS else run.figures.get(name, 0.0) for name in names]
            for run, own in zip(runs, agreed, strict=True)
        ]
    )


def _means(figures: np.ndarray) -> np.ndarray:
    """By column, the mean of what is known; 0 where nothing is."""
    known = ~np.isnan(figures)
    return np.where(known, figures, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)


def _at(items: Sequence[Item], places: np.ndarray) -> list[Item]:
    return [items[place] for place in places]
