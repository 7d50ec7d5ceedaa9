"""Judges with a known error rate, on clusters whose subjects are correlated."""

from collections.abc import Mapping, Sequence

import numpy as np

from evaluation_assets.core.judging.cascade.fitted import LABELS, FittedCascade, FittedCriterion, Subjects
from evaluation_assets.core.judging.cascade.fitting import LabelledSubjects, fit_criterion
from evaluation_assets_tests.judging_alone import CLIPS, chains

STAGES: Sequence[Sequence[str]] = (("small",), ("one", "other"))
PASS_SCORE = 0.5
NO_CRITERIA: Mapping[str, str] = {}


def of_scores(scores: Mapping[str, np.ndarray], *, kind: str = "general", places: np.ndarray | None = None) -> Subjects:
    """Subjects about which judges said no more than scores."""
    count = len(next(iter(scores.values())))
    return Subjects(scores, scores, [kind] * count, np.arange(count) if places is None else places)


def fitted_to(
    subjects: LabelledSubjects, stages: Sequence[Sequence[str]], *, alpha: float, delta: float
) -> FittedCriterion:
    """Fitted to these labels."""
    return fit_criterion("clip", "c", subjects, stages, alpha=alpha, delta=delta, pass_score=PASS_SCORE)


def accepting(
    stages: Sequence[Sequence[str]], own: Mapping[str, str] = NO_CRITERIA, *, unsure: float = 0.5
) -> FittedCascade:
    """Accepts what a judge scores with 1 and not what it scores `unsure`, at all criteria of the clips of `chains`.

    `own` names the judges that score a criterion of their own only, here of clips with a browser.
    """
    random = np.random.default_rng(1)
    said = random.choice([unsure, 1.0], 2000)
    passes = (said == 1.0) | (random.random(2000) < 0.5)
    clusters = [f"run {number}" for number in range(2000)]
    asked = [(each.key, clip.rubric.name) for chain in chains(1) for clip in chain.subjects for each in clip.criteria]
    fitted = []
    for name, rubric in dict([*asked, *((name, "browser_use") for name in own.values())]).items():
        silent = np.full(2000, np.nan)
        scores = {judge: said if own.get(judge, name) == name else silent for stage in stages for judge in stage}
        subjects = of_scores(scores, kind=rubric, places=np.arange(2000) % CLIPS)
        labelled = LabelledSubjects(subjects, clusters, passes)
        fitted.append(fit_criterion("clip", name, labelled, stages, alpha=0.05, delta=0.1, pass_score=0.6))
    return cascade_of(stages, fitted, alpha=0.05)


def cascade_of(stages: Sequence[Sequence[str]], criteria: Sequence[FittedCriterion], *, alpha: float) -> FittedCascade:
    """A cascade with these stages, fitted to labels of trajectories."""
    return FittedCascade(
        version=2,
        alpha=alpha,
        delta=0.1,
        reference=LABELS,
        unit="trajectory",
        pass_score=0.6,
        stages=tuple(map(tuple, stages)),
        criteria=tuple(criteria),
    )


def drawn(random: np.random.Generator, clusters: int, *, mean_size: int = 6) -> LabelledSubjects:
    """Subjects of clusters. Some clusters are hard, which come last by name: there judges err more, and together."""
    sizes = 1 + random.poisson(mean_size - 1, clusters)
    number = np.repeat(np.arange(clusters), sizes)
    hardness = np.sort(random.beta(0.5, 1.5, clusters))[number]
    passes = random.random(len(number)) < 0.65
    misled = random.random(len(number)) < 0.35 * hardness
    signals = {}
    for judge, skill in (("small", 0.6), ("one", 0.8), ("other", 0.75)):
        is_wrong = misled | (random.random(len(number)) < (1 - skill) * hardness)
        sure = np.clip(0.55 + 0.4 * skill * (1 - hardness) + 0.1 * random.standard_normal(len(number)), 0.5, 1.0)
        said = np.where(passes ^ is_wrong, sure, 1 - sure)
        signals[judge] = np.where(random.random(len(number)) < 0.05, np.nan, said)
    places = np.concatenate([np.arange(size) for size in sizes])
    return LabelledSubjects(of_scores(signals, places=places), [f"run {each:05}" for each in number], passes)


def of_two_sizes(
    random: np.random.Generator, clusters: int, sizes: tuple[int, int], errors: tuple[float, float], share_large: float
) -> LabelledSubjects:
    """One judge, as sure of every verdict; it errs more often in large clusters than in small ones."""
    is_large = random.random(clusters) < share_large
    size = np.where(is_large, sizes[1], sizes[0])
    number = np.repeat(np.arange(clusters), size)
    passes = random.random(len(number)) < 0.6
    is_wrong = random.random(len(number)) < np.where(is_large, errors[1], errors[0])[number]
    score = np.where(passes ^ is_wrong, random.uniform(0.6, 1.0, len(number)), random.uniform(0.0, 0.4, len(number)))
    names = [f"run {each:05}" for each in random.permutation(clusters)[number]]
    places = np.concatenate([np.arange(each) for each in size])
    return LabelledSubjects(of_scores({"one": score.round(1)}, places=places), names, passes)
