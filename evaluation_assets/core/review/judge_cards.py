"""Judge cards: accuracy and bias of a judge against human labels, and whether it may gate."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.review.labels import PASSED
from evaluation_assets.core.review.settings import ReviewSettings
from evaluation_assets.core.scoring.intervals import rate_interval
from evaluation_assets.core.scoring.reliability import alpha_interval, alpha_of, cohen_kappa, kappa_interval, retest_std
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.system.installation import Installation

Interval = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCard:
    """A judge on one criterion, against labels of people (several of one subject are averaged).

    A score of `pass_score` or more is a pass, a label of one half or more too; what people contradict each other in has
    none. `kappa` is agreement on pass and fail beyond chance, `alpha` Krippendorff's on scores. `sensitivity` is the
    share of good ones passed, `specificity` that of bad ones failed, each with Wilson's interval over tasks; `bias` is
    the judge's pass rate less that of people. `retest_std` is how far repeated verdicts on the same subject lie apart.
    `coverage` is the share that it scored of the labelled subjects it was asked about. `may_gate` is false below the
    configured kappa; `None` with too few labels to tell. `cost_usd` is the mean cost of a verdict.
    """

    judge: str
    criterion: str
    n_labels: int
    kappa: float | None
    kappa_interval: Interval
    alpha: float | None
    alpha_interval: Interval
    agreed: int
    sensitivity: float | None
    sensitivity_interval: Interval
    specificity: float | None
    specificity_interval: Interval
    bias: float | None
    retest_std: float | None
    coverage: float | None
    cost_usd: float | None
    may_gate: bool | None


def judge_card(
    judge: str,
    criterion: str,
    labels: Mapping[str, float],
    scores: Mapping[str, Sequence[float]],
    settings: ReviewSettings,
    costs: Iterable[float] = (),
    asked: int | None = None,
    tasks: Mapping[str, Hashable] | None = None,
) -> JudgeCard:
    """The card of a judge from people's labels and its scores, both by subject; several scores are repeats.

    `asked` is the number of labelled subjects that it was asked about; by default all of them. `tasks` are those of
    the subjects, over which agreement is correlated; by default each subject is a task of its own.
    """
    both = [subject for subject in labels if scores.get(subject)]
    truth = [labels[subject] >= 0.5 for subject in both]
    given = [fmean(scores[subject]) for subject in both]
    judged = [score >= settings.pass_score for score in given]
    right = [verdict for verdict, good in zip(judged, truth, strict=True) if good]
    wrong = [not verdict for verdict, good in zip(judged, truth, strict=True) if not good]
    ratings = np.array([[labels[subject] for subject in both], given], float).T.reshape(-1, 2)
    kappa = cohen_kappa(judged, truth)
    clusters = None if tasks is None else [tasks.get(subject, subject) for subject in both]
    prices = list(costs)
    asked = len(labels) if asked is None else asked
    return JudgeCard(
        judge=judge,
        criterion=criterion,
        n_labels=len(both),
        kappa=kappa,
        kappa_interval=(None, None) if kappa is None else kappa_interval(judged, truth, clusters),
        alpha=alpha_of(ratings),
        alpha_interval=alpha_interval(ratings, clusters),
        agreed=sum(verdict == good for verdict, good in zip(judged, truth, strict=True)),
        sensitivity=fmean(right) if right else None,
        sensitivity_interval=_rate_interval(judged, truth, clusters, good=True),
        specificity=fmean(wrong) if wrong else None,
        specificity_interval=_rate_interval(judged, truth, clusters, good=False),
        bias=fmean(judged) - fmean(truth) if both else None,
        retest_std=retest_std(scores.values()),
        coverage=len(both) / asked if asked else None,
        cost_usd=fmean(prices) if prices else None,
        may_gate=None if kappa is None or len(both) < settings.min_labels else kappa >= settings.min_kappa,
    )


def _rate_interval(
    judged: Sequence[bool], truth: Sequence[bool], tasks: Sequence[Hashable] | None, *, good: bool
) -> Interval:
    """The interval of the share of the good (or bad) ones that the judge passes (or fails), over tasks."""
    by_task = by_key(
        (at if tasks is None else tasks[at], verdict is good)
        for at, (verdict, is_good) in enumerate(zip(judged, truth, strict=True))
        if is_good is good
    )
    return rate_interval(by_task.values()) if by_task else (None, None)


def disqualified_judges(home: Installation, settings: ReviewSettings) -> dict[str, str]:
    """The judges that may not gate, with the reason, from the stored `judge_cards`."""
    return kept_out(home.whole_table("judge_cards").rows(), settings)


def kept_out(card_rows: Iterable[Row], settings: ReviewSettings) -> dict[str, str]:
    """The judges that may not gate, with the reason, from rows of `judge_cards`: their kappa on whole trajectories."""
    return {
        row["judge"]: f"kappa {row['kappa']:z.2f} on {row['n_labels']} labels is below {settings.min_kappa:.2f}"
        for row in card_rows
        if row["criterion"] == PASSED and row["may_gate"] is False
    }
