"""Detect judges that changed since the baseline, by their scores of the canary clips."""

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import fmean, variance

import scipy

from evaluation_assets.core.judging.canaries import MIN_ANSWERED
from evaluation_assets.core.system.frozen import Frozen

ALPHA = 0.02
"""Probability of a false alarm over all judges of a panel."""

NOISE = 0.1
"""Standard deviation of a verdict, assumed if no clip was judged twice; typical of model judges on short clips."""

LEAST_NOISE = 0.03
"""Lower bound of the standard deviation: two identical answers do not prove that a judge is deterministic."""

LEAST_CLIPS = 6

JUDGE_AGAIN = (
    "re-judge the baseline: name the model's present version in the panel, evaluate its drop again, promote it"
)

CanaryScores = Mapping[str, Sequence[float]]
"""Scores of a judge by canary clip, one for each repeat."""


class JudgeChange(Frozen):
    """A judge whose scores changed significantly. The means are over the clips with scores in both runs."""

    judge: str
    baseline: float
    current: float
    clips: int

    @property
    def words(self) -> str:
        """The reason why the drop cannot be compared, and what to do."""
        return (
            f"judge changed: {self.judge} scores {self.clips} canary clips {self.current:.2f} on average, "
            f"{self.baseline:.2f} at the baseline, beyond its noise over all clips; {JUDGE_AGAIN}"
        )


def changed_judges(baseline: Mapping[str, CanaryScores], current: Mapping[str, CanaryScores]) -> list[JudgeChange]:
    """The judges whose scores changed significantly. Judges without canary scores in both runs are skipped."""
    both = sorted(baseline.keys() & current.keys())
    changes = (_change(judge, baseline[judge], current[judge], ALPHA / len(both)) for judge in both)
    return [change for change in changes if change is not None]


def unknown_change(judge: str, baseline: CanaryScores, current: CanaryScores, asked: int) -> tuple[str, bool] | None:
    """Why it is unknown whether a judge with canary scores in the baseline changed, and whether it was asked."""
    answered = sum(bool(scores) for scores in current.values())
    if asked and answered < asked * MIN_ANSWERED:
        words = f"judge {judge} answered {answered} of {asked} canary clips, so it is unknown whether it changed"
        return f"{words}; evaluate again", True
    if sum(bool(baseline[clip]) and bool(current[clip]) for clip in baseline.keys() & current.keys()) >= LEAST_CLIPS:
        return None
    if not answered:
        return f"judge {judge} was not asked about canary clips, so it is unknown whether it changed", False
    words = f"judge {judge} has too few canary clips in common with the baseline"
    return f"{words}, so it is unknown whether it changed", False


def _change(judge: str, then: CanaryScores, now: CanaryScores, alpha: float) -> JudgeChange | None:
    """Two tests, each with half of alpha: of the mean over clips (t), and of all clips together (F)."""
    clips = sorted(clip for clip in then.keys() & now.keys() if then[clip] and now[clip])
    if len(clips) < LEAST_CLIPS:
        return None
    noise, degrees = _noise([side[clip] for side in (then, now) for clip in clips])
    differences = [fmean(now[clip]) - fmean(then[clip]) for clip in clips]
    weights = [1 / len(then[clip]) + 1 / len(now[clip]) for clip in clips]
    shift = abs(sum(differences)) / (noise * sqrt(sum(weights)))
    pattern = sum(d * d / w for d, w in zip(differences, weights, strict=True)) / (len(clips) * noise * noise)
    largest_shift = scipy.special.stdtrit(degrees, 1 - alpha / 4)
    if shift <= largest_shift and pattern <= scipy.special.fdtri(len(clips), degrees, 1 - alpha / 2):
        return None
    means = [fmean(fmean(side[clip]) for clip in clips) for side in (then, now)]
    return JudgeChange(judge=judge, baseline=means[0], current=means[1], clips=len(clips))


def _noise(scores: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Standard deviation of a verdict and its degrees of freedom, pooled over clips that were judged several times."""
    repeated = [own for own in scores if len(own) > 1]
    if not repeated:
        return NOISE, 1e6
    degrees = sum(len(own) - 1 for own in repeated)
    pooled = sum(variance(own) * (len(own) - 1) for own in repeated) / degrees
    return max(sqrt(pooled), LEAST_NOISE), degrees
