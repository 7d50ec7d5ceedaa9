"""Test which single tasks fell or rose significantly, with the false discovery rate controlled over all tasks."""

import numpy as np
import scipy

HEAVY_TAILS = 4
"""Upper limit of the degrees of freedom: tasks differ in noise, so their pooled distribution has heavy tails."""


def p_scores(differences: np.ndarray) -> np.ndarray:
    """One-sided p-values of "no decrease" for each task (last axis). The noise is estimated from the tasks that rose.

    The median is subtracted first. The noise is the root mean square of the rises, which a fallen task cannot inflate.
    With `k` normally distributed rises the ratio follows Student's t with `k` degrees of freedom. If no task rose, the
    noise is unknown and every p-value is 1.
    """
    centred = differences - np.median(differences, axis=-1, keepdims=True)
    rose = centred > 1e-9
    count = rose.sum(axis=-1, keepdims=True)
    squares = np.where(rose, centred**2, 0.0).sum(axis=-1, keepdims=True)
    noise = np.sqrt(squares / np.maximum(count, 1))
    ratio = centred / np.where(count > 0, noise, 1.0)
    return np.where(count > 0, scipy.special.stdtr(np.clip(count, 1, HEAVY_TAILS), ratio), 1.0)


def p_outcomes(
    baseline: np.ndarray, baseline_trials: np.ndarray | int, current: np.ndarray, current_trials: np.ndarray | int
) -> np.ndarray:
    """The same for success rates over trials: Fisher's exact test per task, which has no power with one trial each."""
    before, now = np.rint(baseline * baseline_trials), np.rint(current * current_trials)
    before_trials, now_trials = np.broadcast_arrays(
        np.asarray(baseline_trials, float), np.asarray(current_trials, float)
    )
    passed, most = before + now, int(np.max(now, initial=0.0))
    total = np.zeros(np.broadcast_shapes(before.shape, before_trials.shape))
    everything = _log_choose(before_trials + now_trials, passed)
    for successes in range(most + 1):
        possible = (successes <= now) & (successes <= now_trials) & (passed - successes <= before_trials)
        ways = _log_choose(now_trials, np.minimum(successes, now_trials)) + _log_choose(
            before_trials, np.clip(passed - successes, 0, before_trials)
        )
        total += np.where(possible, np.exp(ways - everything), 0.0)
    return np.minimum(total, 1.0)


def _log_choose(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    return scipy.special.gammaln(n + 1) - scipy.special.gammaln(k + 1) - scipy.special.gammaln(n - k + 1)


def benjamini_hochberg(p_values: np.ndarray) -> np.ndarray:
    """Adjusted p-values along the last axis. Source: Benjamini and Hochberg, JRSS B 57 (1995)."""
    size = p_values.shape[-1]
    if size == 0:
        return p_values
    order = np.argsort(p_values, axis=-1)
    scaled = np.take_along_axis(p_values, order, -1) * size / np.arange(1, size + 1)
    lowest = np.minimum.accumulate(scaled[..., ::-1], axis=-1)[..., ::-1]
    adjusted = np.empty_like(lowest)
    np.put_along_axis(adjusted, order, np.minimum(lowest, 1.0), -1)
    return adjusted
