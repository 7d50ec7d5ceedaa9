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
    return LabelledSubjects(signals, ["general"] * len(number), [f"run {each:05}" for each in number], passes)
