"""Judges with a known error rate, on clusters whose subjects are correlated."""

from collections.abc import Sequence

import numpy as np

from evaluation_assets.core.judging.cascade.fitting import LabelledSubjects

STAGES: Sequence[Sequence[str]] = (("small",), ("one", "other"))


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
    return LabelledSubjects(signals, ["general"] * len(number), [f"run {each:05}" for each in number], places, passes)


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
    return LabelledSubjects({"one": score.round(1)}, ["general"] * len(number), names, places, passes)
