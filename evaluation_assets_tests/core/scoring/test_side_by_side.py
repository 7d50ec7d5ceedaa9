"""Judges side by side: offsets, agreement, effective number, disagreements."""

import pytest

from evaluation_assets.core.scoring.side_by_side import (
    JudgedSubject,
    Labels,
    of_whole_trajectories,
    side_by_side,
)


def subject(run: str, index: int, common: dict[str, float], task: str | None = None) -> JudgedSubject:
    outcomes = {judge: ["scored"] for judge in common}
    criteria = {"quality": common}
    beside = common if len(common) > 1 else {}
    return JudgedSubject(run, task or run, str(index), common, beside, criteria, outcomes)


SUBJECTS = [
    subject(f"run {number // 2}", number % 2, {"strict": share - 0.1, "mild": share + 0.1})
    for number, share in enumerate([0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.3, 0.9, 0.2, 0.6, 0.5, 0.4])
]


def test_each_judge_has_its_mean_interval_offset_agreement_and_spread() -> None:
    found = side_by_side("clip", SUBJECTS, ["strict", "mild", "silent"], None, 5)
    strict, mild, silent = found.judges
    assert (strict.offset, mild.offset) == (pytest.approx(-0.1), pytest.approx(0.1))
    assert strict.mean == pytest.approx(mild.mean - 0.2 if mild.mean is not None else None)
    assert strict.n_tasks == 6 and strict.ci_low is not None
    assert strict.agreement == pytest.approx(found.alpha)
    assert mild.agreement == pytest.approx(found.alpha)
    assert strict.spread == pytest.approx(mild.spread)
    assert (silent.mean, silent.offset, silent.agreement, silent.scored) == (None, None, None, 0)
    assert (strict.scored, strict.abstained, strict.failed, strict.not_run) == (12, 0, 0, 0)


def test_judges_that_differ_by_an_offset_only_are_worth_one() -> None:
    found = side_by_side("clip", SUBJECTS, ["strict", "mild"], None, 5)
    assert found.effective is not None
    assert found.effective.value == pytest.approx(1.0)
    assert (found.effective.basis, found.effective.n_judges) == ("verdicts", 2)
    assert found.effective_by_criterion["quality"] == found.effective


def test_labels_replace_the_bound_where_a_trajectory_is_one_subject() -> None:
    scores = [0.9, 0.8, 0.2, 0.3, 0.7, 0.1, 0.95, 0.4, 0.6, 0.15, 0.85, 0.25]
    others = [0.8, 0.9, 0.3, 0.1, 0.9, 0.3, 0.70, 0.2, 0.8, 0.35, 0.65, 0.05]
    subjects = [
        subject(f"run {index}", 0, {"one": one, "other": other})
        for index, (one, other) in enumerate(zip(scores, others, strict=True))
    ]
    labels = Labels("recorded outcomes", {f"run {index}": float(score > 0.5) for index, score in enumerate(scores)})
    with_labels = side_by_side("clip", subjects, ["one", "other"], labels, 5).effective
    without = side_by_side("clip", subjects, ["one", "other"], None, 5).effective
    assert with_labels is not None and without is not None
    assert (with_labels.basis, with_labels.is_bound, without.is_bound) == ("recorded outcomes", False, True)
    assert with_labels.value > without.value


def test_the_largest_disagreements_come_first_and_one_of_each_trajectory() -> None:
    subjects = [
        subject("a", 0, {"x": 0.5, "y": 0.6}),
        subject("a", 1, {"x": 0.0, "y": 0.9}),
        subject("b", 0, {"x": 1.0, "y": 0.0}),
        subject("c", 0, {"x": 0.5, "y": 0.5}),
        subject("d", 0, {"x": 0.2}),
    ]
    found = side_by_side("clip", subjects, ["x", "y"], None, 5)
    assert [(each.trajectory_id, each.subject, each.range) for each in found.disagreements] == [
        ("b", "0", 1.0),
        ("a", "1", 0.9),
    ]
    assert [each.trajectory_id for each in side_by_side("clip", subjects, ["x", "y"], None, 1).disagreements] == ["b"]
    assert found.n_compared == 4


def test_a_whole_trajectory_is_the_mean_of_its_clips() -> None:
    first, *_ = of_whole_trajectories(SUBJECTS)
    assert first.common == {"strict": pytest.approx(0.2), "mild": pytest.approx(0.4)}
    assert [found.trajectory_id for found in of_whole_trajectories(SUBJECTS)] == [f"run {n}" for n in range(6)]
