"""Means of samples: their intervals hold the mean of the population, on simulated judges and on real runs."""

import asyncio
from statistics import fmean

import numpy as np
import pytest
from upath import UPath

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.intake.drops import one_file
from evaluation_assets.core.judging.judge import judge_chains
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.judging.rules.judge import RulesJudge
from evaluation_assets.core.judging.selection import is_sampled
from evaluation_assets.core.judging.subjects import clip_chain
from evaluation_assets.core.scoring.intervals import sampled_mean
from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets_tests.third_party import data

DRAWS = 200

Scores = dict[str, list[float]]
"""A judge's scores by trajectory."""


def coverage(scores: Scores, share: float) -> float:
    """In which share of the draws the interval holds the mean of all. A draw is other IDs of the same trajectories."""
    full = fmean(score for own in scores.values() for score in own)
    held = []
    for draw in range(DRAWS):
        kept = [name for name in scores if is_sampled(f"{draw}/{name}", share)]
        values = [(score, name) for name in kept for score in scores[name]]
        found = sampled_mean([score for score, _ in values], [name for _, name in values], population=len(scores))
        assert found.low is not None and found.high is not None
        held.append(found.low <= full <= found.high)
    return fmean(held)


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_a_simulated_judge_with_trajectories_of_many_lengths(share: float) -> None:
    random = np.random.default_rng(7)
    scores: Scores = {}
    for number in range(150):
        level = random.beta(4, 2)
        count = int(random.integers(1, 15))
        scores[f"t{number}"] = list(np.clip(level + random.normal(0, 0.15, count), 0, 1))
    assert coverage(scores, share) >= 0.95


def embedded_scores(path: UPath) -> Scores:
    """The embedded judge's mean score of every clip."""
    rubrics = load_rubrics()
    drop = one_file(path)
    kept = [each for each in read_trajectories(drop.sources, UnmappedFields()) if not isinstance(each, Rejection)]
    chains = [clip_chain(trajectory, clips_of(trajectory), rubrics) for trajectory in kept]

    async def judged() -> Scores:
        found: Scores = {}
        async for judgements in judge_chains(RulesJudge(), chains):
            for judgement in judgements:
                known = [score for score in judgement.verdict.scores.values() if score is not None]
                if known:
                    found.setdefault(judgement.subject.trajectory.id, []).append(fmean(known))
        return found

    return asyncio.run(judged())


def test_the_embedded_judge_on_recorded_conversations() -> None:
    scores = embedded_scores(UPath(data("tau-bench/gpt-4o-airline.even-tasks.json")))
    assert coverage(scores, 0.4) >= 0.95


def test_a_sample_of_everything_has_no_uncertainty_and_one_cluster_has_no_interval() -> None:
    whole = sampled_mean([0.1, 0.5, 0.9], ["a", "b", "b"], population=2)
    assert (whole.mean, whole.low, whole.high) == (pytest.approx(0.5), pytest.approx(0.5), pytest.approx(0.5))
    assert sampled_mean([0.1, 0.5], ["a", "a"], population=2).low is None


def test_a_sample_that_does_not_vary_has_no_interval() -> None:
    flat = sampled_mean([1.0] * 20, [f"t{number}" for number in range(20)], population=200)
    assert (flat.mean, flat.low, flat.high) == (1.0, None, None), "one trajectory in twenty may fail unseen"
    assert sampled_mean([1.0] * 20, [f"t{number}" for number in range(20)], population=20).low == 1.0
