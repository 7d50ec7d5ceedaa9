"""Fitted cascades hold what they promise on judges whose errors are known."""

from pathlib import Path

import numpy as np
import pytest
from upath import UPath

from evaluation_assets.core.judging.cascade.combining import combined
from evaluation_assets.core.judging.cascade.fitted import (
    LABELS,
    FittedCascade,
    InvalidCascade,
    read_cascade,
    write_cascade,
)
from evaluation_assets.core.judging.cascade.fitting import LabelledSubjects, fit_criterion
from evaluation_assets_tests.core.judging.cascade.simulated import STAGES, drawn

ALPHA, DELTA = 0.12, 0.2


@pytest.mark.slow
def test_the_bound_holds_as_often_as_promised_on_everything_that_could_be_drawn() -> None:
    """Errors are counted on 20,000 new clusters, so that chance plays no part in them."""
    random = np.random.default_rng(11)
    everything = drawn(random, 20_000)
    errors, shares = [], []
    for _ in range(60):
        fitted = fit_criterion("clip", "c", drawn(random, 300), STAGES, alpha=ALPHA, delta=DELTA)
        found = fitted.decisions(everything.signals, everything.kinds)
        is_accepted = found.stage >= 0
        shares.append(is_accepted.mean())
        errors.append((found.passes != everything.passes)[is_accepted].mean() if is_accepted.any() else 0.0)
    assert np.mean(np.array(errors) > ALPHA) <= DELTA
    assert np.mean(np.array(shares) > 0) > 0.8, "a bound that accepts nothing would hold, too"
    accept_all = fit_criterion("clip", "c", drawn(random, 200), STAGES, alpha=0.5, delta=DELTA)
    found = accept_all.decisions(everything.signals, everything.kinds)
    assert (found.passes != everything.passes)[found.stage >= 0].mean() > ALPHA, "accepting all would break the bound"


def test_a_stricter_bound_accepts_less() -> None:
    subjects = drawn(np.random.default_rng(2), 1500)
    accepted = [
        fit_criterion("clip", "c", subjects, STAGES, alpha=alpha, delta=0.1).accepted for alpha in (0.05, 0.1, 0.2)
    ]
    assert accepted[0] < accepted[1] < accepted[2]


def test_labels_of_few_clusters_accept_nothing() -> None:
    subjects = drawn(np.random.default_rng(3), 12, mean_size=50)
    fitted = fit_criterion("clip", "c", subjects, STAGES, alpha=0.1, delta=0.1)
    assert fitted.threshold is None
    assert fitted.accepted == 0
    assert not (fitted.decisions(subjects.signals, subjects.kinds).stage >= 0).any()


def test_a_stage_whose_judges_said_nothing_accepts_nothing() -> None:
    subjects = drawn(np.random.default_rng(5), 1500)
    fitted = fit_criterion("clip", "c", subjects, STAGES, alpha=0.2, delta=0.1)
    silent = {"small": np.array([np.nan, 0.99]), "one": np.full(2, np.nan), "other": np.full(2, np.nan)}
    found = fitted.decisions(silent, ["general", "of another kind"])
    assert found.stage[0] == -1
    assert found.stage[1] in (-1, 0)


def test_a_judge_that_only_passes_and_fails_is_trusted_as_far_as_each_verdict_was_right() -> None:
    random = np.random.default_rng(7)
    passes = random.random(4000) < 0.5
    # Its passes are wrong in a third of the cases, its fails almost never.
    said = np.where(passes, 1.0, np.where(random.random(4000) < 0.5, 1.0, 0.0))
    clusters = [f"run {number // 4}" for number in range(4000)]
    subjects = LabelledSubjects({"strict": said}, ["general"] * 4000, clusters, passes)
    fitted = fit_criterion("clip", "c", subjects, (("strict",),), alpha=0.1, delta=0.1)
    found = fitted.decisions({"strict": np.array([0.0, 1.0])}, ["general"] * 2)
    assert list(found.stage) == [0, -1]
    assert not found.passes[0]


def test_equally_good_judges_weigh_the_same_although_few_labels_say_otherwise() -> None:
    random = np.random.default_rng(5)
    passes = random.random(60) < 0.5
    signals = {f"j{number}": np.where(random.random(60) < 0.8, passes, ~passes).astype(float) for number in range(4)}
    found = combined(signals, ["general"] * 30 + ["other"] * 30, passes)
    weights = list(found.weights.values())
    assert 0 < max(weights) < 1.1 * min(weights)
    assert max(map(abs, found.kinds.values())) < 0.1


def test_labels_of_one_class_can_be_fitted() -> None:
    clusters = [f"run {number}" for number in range(300)]
    subjects = LabelledSubjects({"small": np.ones(300)}, ["general"] * 300, clusters, np.ones(300, bool))
    fitted = fit_criterion("clip", "c", subjects, (("small",),), alpha=0.1, delta=0.1)
    assert fitted.accepted == fitted.subjects
    assert fitted.errors == 0


def test_a_cascade_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = UPath(tmp_path / "cascade.json")
    assert read_cascade(file) is None
    one = fit_criterion("clip", "c", drawn(np.random.default_rng(1), 400), STAGES, alpha=0.2, delta=0.1)
    cascade = FittedCascade(
        alpha=0.2,
        delta=0.1,
        reference=LABELS,
        unit="trajectory",
        pass_score=0.6,
        stages=tuple(map(tuple, STAGES)),
        criteria=(one,),
    )
    write_cascade(file, cascade)
    assert read_cascade(file) == cascade
    file.write_text("{}")
    with pytest.raises(InvalidCascade, match=r"cascade\.json holds no fitted cascade .* run `evaluation-assets"):
        read_cascade(file)
