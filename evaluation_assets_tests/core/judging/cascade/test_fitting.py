"""Fitted cascades hold what they promise on judges whose errors are known."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from upath import UPath

from evaluation_assets.core.judging.cascade.combining import combined
from evaluation_assets.core.judging.cascade.fitted import (
    InvalidCascade,
    read_cascade,
    write_cascade,
)
from evaluation_assets.core.judging.cascade.fitting import LabelledSubjects
from evaluation_assets_tests.core.judging.cascade.simulated import (
    PASS_SCORE,
    STAGES,
    cascade_of,
    drawn,
    fitted_to,
    of_scores,
    of_two_sizes,
)

ALPHA, DELTA = 0.12, 0.2


@pytest.mark.slow
def test_the_bound_holds_as_often_as_promised_on_everything_that_could_be_drawn() -> None:
    """Errors are counted on 20,000 new clusters, so that chance plays no part in them."""
    random = np.random.default_rng(11)
    everything = drawn(random, 20_000)
    errors, shares = [], []
    for _ in range(60):
        fitted = fitted_to(drawn(random, 300), STAGES, alpha=ALPHA, delta=DELTA)
        found = fitted.decisions(everything.subjects, PASS_SCORE)
        is_accepted = found.stage >= 0
        shares.append(is_accepted.mean())
        errors.append((found.passes != everything.passes)[is_accepted].mean() if is_accepted.any() else 0.0)
    assert np.mean(np.array(errors) > ALPHA) <= DELTA
    assert np.mean(np.array(shares) > 0) > 0.8, "a bound that accepts nothing would hold, too"
    accept_all = fitted_to(drawn(random, 200), STAGES, alpha=0.5, delta=DELTA)
    found = accept_all.decisions(everything.subjects, PASS_SCORE)
    assert (found.passes != everything.passes)[found.stage >= 0].mean() > ALPHA, "accepting all would break the bound"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "errors", "share_large"),
    [
        ((2, 20), (0.02, 0.25), 0.2),
        ((4, 12), (0.04, 0.18), 0.3),
        ((3, 8), (0.04, 0.17), 0.4),
        ((2, 20), (0.07, 0.07), 0.2),
        ((2, 2), (0.12, 0.12), 0.0),
    ],
)
def test_the_bound_holds_for_the_verdicts_of_large_clusters_too(
    sizes: tuple[int, int], errors: tuple[float, float], share_large: float
) -> None:
    """Most verdicts are of few large clusters: what most clusters show says little about them."""
    broken = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        subjects = of_two_sizes(random, 300, sizes, errors, share_large)
        fitted = fitted_to(subjects, (("one",),), alpha=0.1, delta=0.1)
        new = of_two_sizes(random, 3000, sizes, errors, share_large)
        found = fitted.decisions(new.subjects, PASS_SCORE)
        is_accepted = found.stage >= 0
        broken += bool(is_accepted.any() and (found.passes != new.passes)[is_accepted].mean() > 0.1)
    assert broken <= 6


def test_of_a_long_trajectory_only_the_first_subjects_are_accepted() -> None:
    """No number of labels shows that there is no trajectory that is longer than all others, with errors only."""
    random = np.random.default_rng(8)
    subjects = of_two_sizes(random, 300, (4, 40), (0.05, 0.05), 0.02)
    fitted = fitted_to(subjects, (("one",),), alpha=0.1, delta=0.1)
    assert fitted.most == 4
    found = fitted.decisions(of_scores({"one": np.ones(8)}), PASS_SCORE)
    assert list(found.stage) == [0] * 4 + [-1] * 4


def test_labels_of_some_clips_of_a_trajectory_count_its_places() -> None:
    """Labelled are two clips of each trajectory of twenty."""
    random = np.random.default_rng(9)
    clusters = [f"run {number // 2}" for number in range(600)]
    places = np.concatenate([np.sort(random.choice(20, 2, replace=False)) for _ in range(300)])
    passes = random.random(600) < 0.5
    subjects = LabelledSubjects(of_scores({"one": passes.astype(float)}, places=places), clusters, passes)
    fitted = fitted_to(subjects, (("one",),), alpha=0.1, delta=0.1)
    assert fitted.most >= 18, "the trajectories are longer than what is labelled of them"
    assert fitted.accepted > 0.9 * fitted.subjects


def test_more_errors_than_alpha_where_the_bound_was_tested_accept_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bets may have won before the errors came."""
    monkeypatch.setattr("evaluation_assets.core.judging.cascade.fitting.p_value", lambda *_, **__: 0.0)
    random = np.random.default_rng(3)
    subjects = of_two_sizes(random, 300, (2, 2), (0.3, 0.3), 0.0)
    fitted = fitted_to(subjects, (("one",),), alpha=0.1, delta=0.1)
    assert fitted.errors <= 0.1 * fitted.accepted


def test_a_stricter_bound_accepts_less() -> None:
    subjects = drawn(np.random.default_rng(2), 1500)
    accepted = [fitted_to(subjects, STAGES, alpha=alpha, delta=0.1).accepted for alpha in (0.05, 0.1, 0.2)]
    assert accepted[0] < accepted[1] < accepted[2]


@pytest.mark.parametrize(("alpha", "by_stage"), [(0.2, (False, True, False)), (0.35, (True, False, False))])
def test_a_stage_that_errs_more_has_to_be_surer_unless_its_errors_are_tolerated(
    alpha: float, by_stage: tuple[bool, ...]
) -> None:
    """With one threshold for all, what lets the panel decide against the weak judge lets the weak one decide all."""
    random = np.random.default_rng(12)
    passes = random.random(3000) < 0.5
    signals = {
        judge: np.where(random.random(3000) < wrong, ~passes, passes).astype(float)
        for judge, wrong in (("weak", 0.25), ("panel", 0.15))
    }
    signals["last"] = signals["panel"]
    clusters = [f"run {number // 2}" for number in range(3000)]
    subjects = LabelledSubjects(of_scores(signals, places=np.arange(3000) % 2), clusters, passes)
    fitted = fitted_to(subjects, (("weak",), ("panel",), ("last",)), alpha=alpha, delta=0.1)
    assert tuple(count > 0.9 * fitted.subjects for count in fitted.by_stage) == by_stage


def test_labels_of_few_clusters_accept_nothing() -> None:
    subjects = drawn(np.random.default_rng(3), 12, mean_size=50)
    fitted = fitted_to(subjects, STAGES, alpha=0.1, delta=0.1)
    assert not fitted.thresholds
    assert fitted.accepted == 0
    assert not (fitted.decisions(subjects.subjects, PASS_SCORE).stage >= 0).any()


def test_a_stage_whose_judges_said_nothing_accepts_nothing() -> None:
    subjects = drawn(np.random.default_rng(5), 1500)
    fitted = fitted_to(subjects, STAGES, alpha=0.2, delta=0.1)
    silent = {"small": np.array([np.nan, 0.99]), "one": np.full(2, np.nan), "other": np.full(2, np.nan)}
    found = fitted.decisions(replace(of_scores(silent), kinds=["general", "of another kind"]), PASS_SCORE)
    assert found.stage[0] == -1
    assert found.stage[1] in (-1, 0)


def test_a_judge_that_only_passes_and_fails_is_trusted_as_far_as_each_verdict_was_right() -> None:
    random = np.random.default_rng(7)
    passes = random.random(4000) < 0.5
    # Its passes are wrong in a third of the cases, its fails almost never.
    said = np.where(passes, 1.0, np.where(random.random(4000) < 0.5, 1.0, 0.0))
    clusters = [f"run {number // 4}" for number in range(4000)]
    subjects = LabelledSubjects(of_scores({"strict": said}, places=np.arange(4000) % 4), clusters, passes)
    fitted = fitted_to(subjects, (("strict",),), alpha=0.1, delta=0.1)
    found = fitted.decisions(of_scores({"strict": np.array([0.0, 1.0])}), PASS_SCORE)
    assert list(found.stage) == [0, -1]
    assert not found.passes[0]


def test_what_the_judges_are_known_to_get_wrong_is_not_accepted_since_their_scores_are_what_is_kept() -> None:
    random = np.random.default_rng(7)
    passes = random.random(4000) < 0.5
    # It passes everything, and is less enthusiastic about nearly all that should fail.
    said = np.where(passes ^ (random.random(4000) < 0.02), 1.0, 0.7)
    clusters = [f"run {number // 4}" for number in range(4000)]
    subjects = LabelledSubjects(of_scores({"lenient": said}, places=np.arange(4000) % 4), clusters, passes)
    fitted = fitted_to(subjects, (("lenient",),), alpha=0.1, delta=0.1)
    found = fitted.decisions(of_scores({"lenient": np.array([0.7, 1.0])}), PASS_SCORE)
    assert list(found.stage) == [-1, 0]
    assert fitted.errors < 0.1 * fitted.accepted < 0.1 * 0.6 * fitted.subjects


def test_the_verdict_of_a_stage_is_the_mean_of_its_own_judges() -> None:
    random = np.random.default_rng(8)
    passes = random.random(6000) < 0.5
    lenient = np.where(random.random(6000) < 0.9, 0.9, 0.1)
    exact, also = np.where(passes, 0.7, 0.3), np.where(passes, 0.6, 0.1)
    clusters = [f"run {number // 4}" for number in range(6000)]
    said = {"lenient": lenient, "exact": exact, "also": also}
    subjects = LabelledSubjects(of_scores(said, places=np.arange(6000) % 4), clusters, passes)
    fitted = fitted_to(subjects, (("lenient",), ("exact", "also")), alpha=0.1, delta=0.1)
    new = {"lenient": [0.9, 0.9, 0.1, 0.1, 0.9], "exact": [0.7, 0.3, 0.7, 0.3, 0.3], "also": [0.6, 0.1, 0.6, 0.1, 0.6]}
    found = fitted.decisions(of_scores({judge: np.array(own) for judge, own in new.items()}), PASS_SCORE)
    assert list(found.stage[:4]) == [1] * 4
    assert list(found.passes[:4]) == [True, False, True, False]
    assert found.stage[4] == -1, "their mean fails it, while one of them passes it: which is right was never seen"


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
    subjects = LabelledSubjects(of_scores({"small": np.ones(300)}, places=np.zeros(300)), clusters, np.ones(300, bool))
    fitted = fitted_to(subjects, (("small",),), alpha=0.1, delta=0.1)
    assert fitted.accepted == fitted.subjects
    assert fitted.errors == 0


def test_a_cascade_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = UPath(tmp_path / "cascade.json")
    assert read_cascade(file) is None
    one = fitted_to(drawn(np.random.default_rng(1), 400), STAGES, alpha=0.2, delta=0.1)
    cascade = cascade_of(STAGES, [one], alpha=0.2)
    write_cascade(file, cascade)
    assert read_cascade(file) == cascade
    file.write_text("{}")
    with pytest.raises(InvalidCascade, match=r"cascade\.json holds no fitted cascade .* run `evaluation-assets"):
        read_cascade(file)
