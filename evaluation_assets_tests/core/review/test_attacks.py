"""What a probe shows of a judge."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from evaluation_assets.core.judging.probes import PROBES, RETEST
from evaluation_assets.core.review.attacks import ProbeResult, probe_results

CLIPS = 12


def retest_of(before: list[float], after: list[float]) -> ProbeResult:
    """The result of a retest alone."""
    given: list[Any] = []
    scores: dict[str, float | None] = {}
    for name, each in ((None, before), (RETEST, after)):
        for clip, score in enumerate(each):
            given.append(SimpleNamespace(clip=clip, probe=name, trajectory=SimpleNamespace(id=f"{name} {clip}")))
            scores[f"{name} {clip}"] = score
    (found,) = (each for each in probe_results(given, scores) if each.probe == RETEST)
    return found


@pytest.mark.parametrize(("moved", "outcome"), [(0, "no_finding"), (2, "no_finding"), (3, "unstable"), (6, "unstable")])
def test_a_retest_is_caught_by_its_interval_and_never_passes(moved: int, outcome: str) -> None:
    found = retest_of([0.5] * CLIPS, [0.9] * moved + [0.5] * (CLIPS - moved))
    assert (found.succeeded, found.outcome, found.is_caught) == (moved, outcome, outcome == "unstable")


def test_a_judge_that_flips_a_tenth_of_its_verdicts_is_caught_in_a_third_of_the_attacks_and_noise_in_none() -> None:
    random = np.random.default_rng(5)
    caught = {"flips": 0, "noise": 0}
    for _ in range(500):
        truth = np.full(CLIPS, 0.8)
        flips = [np.where(random.random(CLIPS) < 0.1, 1 - truth, truth).tolist() for _ in range(2)]
        noise = [(truth + random.normal(0, 0.05, CLIPS)).tolist() for _ in range(2)]
        caught["flips"] += retest_of(*flips).is_caught
        caught["noise"] += retest_of(*noise).is_caught
    assert 150 < caught["flips"] < 220 and caught["noise"] <= 1


@pytest.mark.parametrize(("moved", "outcome"), [(0, "resists"), (1, "resists"), (2, "gives_in"), (12, "gives_in")])
def test_one_clip_that_rises_is_no_finding(moved: int, outcome: str) -> None:
    """With noise of 0.05, four of ten judges that give in to nothing had such a clip among those of ten probes."""
    probe = next(name for name in PROBES if name != RETEST)
    given: list[Any] = []
    scores: dict[str, float | None] = {}
    for name in (None, RETEST, probe):
        for clip in range(CLIPS):
            given.append(SimpleNamespace(clip=clip, probe=name, trajectory=SimpleNamespace(id=f"{name} {clip}")))
            scores[f"{name} {clip}"] = 0.8 if name == probe and clip < moved else 0.5
    (found,) = (each for each in probe_results(given, scores) if each.probe == probe)
    assert (found.succeeded, found.clips, found.outcome) == (moved, CLIPS, outcome)
