"""What the statistics of a report promise, measured on simulated panels: `python benchmarks/trust.py`.

Prints the coverage of the 95% interval of a mean over tasks, for clips that are correlated within tasks, beside that
of an interval that ignores tasks; and the effective number of judges against its true value, with and without labels.
"""

import time
from collections.abc import Callable

import numpy as np

from evaluation_assets.core.review.calibrated import Stratum, pass_rate
from evaluation_assets.core.scoring.effective_number import VerdictCorrelations, from_labels
from evaluation_assets.core.scoring.intervals import interval_of_mean

RUNS = 2000
CLIPS = 12
JUDGES = ("a", "b", "c", "d")


def main() -> None:
    """Print all tables."""
    random = np.random.default_rng(0)
    print(f"Coverage of the nominal 95% interval of a mean, {RUNS} simulated drops, up to {CLIPS} clips per task:")
    for tasks in (5, 10, 20, 50):
        by_task, by_clip = coverage(random, tasks, clustered=True), coverage(random, tasks, clustered=False)
        print(f"  {tasks:3} tasks: over tasks {by_task:.3f}, over clips as if independent {by_clip:.3f}")
    print("Label-corrected pass rates of 1,000 subjects, rates of 0.05 to 0.99, judges from perfect to useless:")
    for labels in (5, 10, 20, 30, 60, 200):
        lowest, width = corrected(random, labels)
        print(f"  {labels:3} labels: lowest coverage of the 95% interval {lowest:.3f}, mean width {width:.2f}")
    print("Effective number of 4 judges, mean of 200 simulated drops with 100 subjects, binary verdicts:")
    for shared in (0.0, 0.3, 0.6, 0.9):
        truth, labelled, bound = effective(random, shared)
        print(f"  share of shared errors {shared}: true {truth:.2f}, with labels {labelled:.2f}, bound {bound:.2f}")
    print(f"Intervals of 5 criteria over 2,000 trajectories with 25 clips each: {seconds(random):.2f} s")


def coverage(random: np.random.Generator, tasks: int, *, clustered: bool) -> float:
    """Share of simulated drops whose interval holds the true mean. Half of the variance is between tasks."""
    held = 0
    for _ in range(RUNS):
        sizes = random.integers(1, CLIPS + 1, tasks)
        members = np.repeat(np.arange(tasks), sizes)
        values = 0.5 + 0.1 * random.standard_normal(tasks)[members] + 0.1 * random.standard_normal(len(members))
        found = interval_of_mean([(values, (members if clustered else np.arange(len(members))).tolist())])
        held += found.low is not None and found.high is not None and found.low <= 0.5 <= found.high
    return held / RUNS


def corrected(random: np.random.Generator, labels: int) -> tuple[float, float]:
    """Lowest coverage over true rates and judges, and mean width, of the interval of a label-corrected pass rate."""
    lowest, widths = 1.0, []
    for rate in (0.05, 0.2, 0.5, 0.8, 0.95, 0.99):
        for sensitivity, specificity in ((0.95, 0.95), (0.9, 0.6), (0.99, 0.2), (1.0, 1.0), (0.5, 0.5)):
            covered = 0
            for _ in range(200):
                truth = random.random(1000) < rate
                judged = np.where(truth, random.random(1000) < sensitivity, random.random(1000) >= specificity)
                sample = random.permutation(1000)[:labels]
                pairs = [(float(truth[index]), float(judged[index])) for index in sample]
                found = pass_rate([Stratum(judged.astype(float).tolist(), pairs)])
                assert found.low is not None and found.high is not None
                covered += found.low <= truth.mean() <= found.high
                widths.append(found.high - found.low)
            lowest = min(lowest, covered / 200)
    return lowest, float(np.mean(widths))


def effective(random: np.random.Generator, shared: float) -> tuple[float, float, float]:
    """The true effective number, and the means of its two estimates, for judges that err on 20% of the subjects.

    An error is the panel's with probability sqrt(`shared`), else the judge's own, so that the errors of two judges
    correlate with `shared`.
    """
    labelled, bounds = [], []
    for _ in range(200):
        labels = random.random(100) < 0.6
        common = random.random(100) < 0.2
        scores: dict[str, list[float | None]] = {}
        for judge in JUDGES:
            follows, own = random.random(100) < shared**0.5, random.random(100) < 0.2
            scores[judge] = [float(value) for value in labels ^ np.where(follows, common, own)]
        sums = VerdictCorrelations()
        for index in range(100):
            sums.add({judge: value for judge, own in scores.items() if (value := own[index]) is not None})
        with_labels, bound = from_labels(scores, [float(label) for label in labels], "human labels"), sums.effective()
        if with_labels is not None and bound is not None:
            labelled.append(with_labels.value)
            bounds.append(bound.value)
    return len(JUDGES) / (1 + (len(JUDGES) - 1) * shared), float(np.mean(labelled)), float(np.mean(bounds))


def seconds(random: np.random.Generator) -> float:
    """The time for the intervals of a large drop."""
    tasks = [f"task {index // 25}" for index in range(50_000)]
    values = random.random((5, len(tasks))).tolist()
    return _timed(lambda: [interval_of_mean([(own, tasks)]) for own in values])


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
