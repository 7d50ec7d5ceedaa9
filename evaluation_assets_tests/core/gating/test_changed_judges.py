"""A judge that moved is told from one that is noisy, and from an agent that is worse."""

import numpy as np
import pytest

from evaluation_assets.core.gating.changed_judges import changed_judges, unknown_change
from evaluation_assets.core.judging.canaries import canaries, canary_subjects
from evaluation_assets.core.judging.rubrics.model import load_rubrics

LEVELS = np.array([0.9, 0.6, 0.2] * 4)
Scores = dict[str, list[float]]


def scores(rng: np.random.Generator, repeats: int, noise: float, moved: np.ndarray | float = 0.0) -> dict[str, Scores]:
    """A judge's scores in tenths, as rubrics have them."""
    drawn = LEVELS + moved + rng.normal(0, noise, (repeats, len(LEVELS)))
    tenths = np.clip(np.round(drawn, 1), 0, 1).T
    return {"j": {f"c{number}": list(map(float, own)) for number, own in enumerate(tenths)}}


def alarms(repeats: int, noise: float, moved: np.ndarray | float, pairs: int = 1000) -> float:
    rng = np.random.default_rng(7)
    found = [
        bool(changed_judges(scores(rng, repeats, noise), scores(rng, repeats, noise, moved))) for _ in range(pairs)
    ]
    return sum(found) / pairs


@pytest.mark.parametrize(("repeats", "noise"), [(1, 0.0), (1, 0.05), (1, 0.1), (2, 0.1), (3, 0.05), (3, 0.2), (5, 0.2)])
def test_noise_alone_raises_no_alarm(repeats: int, noise: float) -> None:
    assert alarms(repeats, noise, 0.0) <= 0.05


@pytest.mark.parametrize(("repeats", "noise", "moved"), [(1, 0.05, -0.2), (3, 0.1, -0.1), (3, 0.0, 0.1)])
def test_a_change_of_leniency_is_found(repeats: int, noise: float, moved: float) -> None:
    assert alarms(repeats, noise, moved) >= 0.9


def test_a_judge_that_turns_its_scores_around_is_found_though_its_mean_is_the_same() -> None:
    assert alarms(1, 0.05, np.array([-0.4, 0.0, 0.4] * 4)) >= 0.95


def test_without_enough_clips_on_both_sides_nothing_is_said() -> None:
    few = {"j": {f"c{number}": [0.0] for number in range(5)}}
    assert changed_judges(few, {"j": {name: [1.0] for name in few["j"]}}) == []
    assert changed_judges({}, few) == [] and changed_judges(few, {"k": few["j"]}) == []


def test_silence_is_told_from_not_being_asked() -> None:
    full = {f"c{number}": [0.5] for number in range(12)}

    def said(baseline: Scores, answered: int, asked: int) -> tuple[str, bool]:
        found = unknown_change("j", baseline, dict(list(full.items())[:answered]), asked)
        return ("", False) if found is None else found

    assert said(full, 12, 12) == said(full, 6, 12) == ("", False)
    assert said(full, 12, 0) == ("", False), "scores of tables that do not hold the number asked"
    assert said(full, 5, 12)[0].startswith("judge j answered 5 of 12 canary clips") and said(full, 5, 12)[1]
    assert said(full, 0, 12)[1] and not said(full, 0, 0)[1]
    assert "was not asked about canary clips" in said(full, 0, 0)[0]
    words, unanswered = said({"c1": [0.5]}, 12, 12)
    assert "too few canary clips in common" in words and not unanswered


def test_there_are_twelve_canaries_of_several_tool_types_each_of_one_clip() -> None:
    subjects = canary_subjects(load_rubrics())
    assert len({canary.id for canary in canaries()}) == len(subjects) == 12
    assert {len(subject.clips) for subject in subjects} == {1}
    types = [subject.focus[0].tool_type for subject in subjects]
    assert {name: types.count(name) for name in types} == {
        "browser_use": 3,
        "microsandbox": 3,
        "deepsearch": 3,
        "final": 3,
    }
    assert not any(canary.repairs for canary in canaries())
