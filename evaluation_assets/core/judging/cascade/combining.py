"""The probability that a subject passes, from what several judges said about it; learned from labels."""

from collections.abc import Mapping, Sequence

import numpy as np
import scipy

from evaluation_assets.core.system.configuration import Section

_CLIP = 0.01
"""A judge that was always right so far is not sure."""

_OWN_WEIGHT = 1e-3
"""Prior variance of the weights of single judges, of silence and of kinds; that of the mean of all judges is 1.

The evidence of each judge is calibrated, so weights only have to tell how much judges repeat each other.
"""


class Curve(Section):
    """A judge's signals in increasing order, and the probability that a subject with each passes."""

    signals: tuple[float, ...]
    probabilities: tuple[float, ...]

    def evidence(self, signals: np.ndarray) -> np.ndarray:
        """Log-odds that subjects pass; signals in between are interpolated."""
        return scipy.special.logit(np.interp(signals, self.signals, self.probabilities))


class Combination(Section):
    """A logistic regression on the log-odds of judges and on the kind of subject.

    A judge that said nothing adds `silent` instead of its evidence; a kind that was not seen adds nothing.
    """

    intercept: float
    curves: dict[str, Curve]
    weights: dict[str, float]
    silent: dict[str, float]
    kinds: dict[str, float]

    def probabilities(self, signals: Mapping[str, np.ndarray], kinds: Sequence[str]) -> np.ndarray:
        """By subject, the probability that it passes; `signals` are by judge, NaN where it said nothing."""
        total = np.array([self.kinds.get(kind, 0.0) for kind in kinds]) + self.intercept
        for judge, curve in self.curves.items():
            said = signals[judge]
            is_silent = np.isnan(said)
            evidence = curve.evidence(np.where(is_silent, curve.signals[0], said))
            total += np.where(is_silent, self.silent[judge], self.weights[judge] * evidence)
        return scipy.special.expit(total)


def combined(signals: Mapping[str, np.ndarray], kinds: Sequence[str], passes: np.ndarray) -> Combination:
    """Learn from subjects with labels: isotonic regression of each judge, then a ridge logistic regression over them.

    Source: isotonic calibration as in Zadrozny and Elkan (2002), stacking as in Wolpert (1992). The regression weighs
    judges that repeat each other down, which a product of their probabilities would not. It shrinks towards one weight
    for all of them, which a few labels can tell.
    """
    known, judges = sorted(set(kinds)), list(signals)
    curves = {judge: _curve(said, passes) for judge, said in signals.items()}
    columns = [
        np.where(np.isnan(said), 0.0, curves[judge].evidence(np.nan_to_num(said))) for judge, said in signals.items()
    ]
    columns += [np.isnan(said).astype(float) for said in signals.values()]
    columns += [np.array([kind == each for kind in kinds], float) for each in known]
    shared = _OWN_WEIGHT**-0.5 / len(judges)
    columns.append(shared * sum(columns[: len(judges)]))
    if passes.min() == passes.max():
        # One class only: nothing can be regressed, and the prior of one subject of the other class remains.
        share = (passes.sum() + 0.5) / (len(passes) + 1)
        intercept, weights = float(scipy.special.logit(share)), np.zeros(len(columns))
    else:
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  (a second that runs need not wait for)

        model = LogisticRegression(C=_OWN_WEIGHT, max_iter=1000).fit(np.array(columns).T, passes)
        intercept, weights = float(model.intercept_[0]), model.coef_[0]
    weights[: len(judges)] += shared * weights[-1]
    return Combination(
        intercept=intercept,
        curves=curves,
        weights=dict(zip(judges, map(float, weights), strict=False)),
        silent=dict(zip(judges, map(float, weights[len(judges) :]), strict=False)),
        kinds=dict(zip(known, map(float, weights[2 * len(judges) : -1]), strict=True)),
    )


def _curve(said: np.ndarray, passes: np.ndarray) -> Curve:
    is_known = ~np.isnan(said)
    if not is_known.any():
        return Curve(signals=(0.0,), probabilities=(0.5,))
    from sklearn.isotonic import IsotonicRegression  # noqa: PLC0415  (see above)

    model = IsotonicRegression(y_min=_CLIP, y_max=1 - _CLIP, out_of_bounds="clip").fit(
        said[is_known], passes[is_known].astype(float)
    )
    return Curve(signals=tuple(map(float, model.X_thresholds_)), probabilities=tuple(map(float, model.y_thresholds_)))
