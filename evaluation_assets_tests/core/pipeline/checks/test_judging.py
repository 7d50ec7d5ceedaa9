"""Whether judges answered enough, were shown enough, and agree."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.judging.tally import COUNTED, Tally
from evaluation_assets.core.lake.tables import CLIP_SCORES, CLIP_VERDICTS, CLIPS
from evaluation_assets.core.pipeline.checks.judging import (
    coverage,
    enough_scored,
    judges_answered,
    panel_agreement,
    text_seen,
)
from evaluation_assets_tests.core.stored_rows import stored


@pytest.mark.parametrize(
    ("outcomes", "passed"),
    [
        ({"scored": 9, "failed": 1}, True),
        ({"scored": 5, "abstained": 4, "not_run": 1}, True),
        ({"scored": 89, "failed": 11}, False),
        ({"not_run": 1}, False),
    ],
)
def test_a_judge_has_to_answer_nine_of_ten_subjects(outcomes: dict[str, int], passed: bool) -> None:
    found = coverage(
        Tally(outcomes=Counter(outcomes), errors=+Counter({("timeout", "late"): outcomes.get("failed", 0)}))
    )
    assert (found.passed, found.severity) == (passed, "error")
    answered = outcomes.get("scored", 0) + outcomes.get("abstained", 0)
    assert found.metadata == {"coverage": answered / sum(outcomes.values())}, "the materialisation has the counts"
    assert f"{outcomes.get('failed', 0)} failed and {outcomes.get('not_run', 0)} were not run" in str(found.description)


def row(outcome: str, kind: str | None = None, error: str | None = None) -> dict[str, Any]:
    return dict.fromkeys(COUNTED) | {
        "outcome": outcome,
        "error_kind": kind,
        "error": error,
        "attempts": 0,
        "from_ledger": False,
    }


def test_coverage_says_what_to_do() -> None:
    tally = Tally()
    for _ in range(3):
        tally.add(row("not_run", "auth", "no API key: set the variable SKY_KEY"))
    assert str(coverage(tally).description).endswith(
        "(3 auth); the minimum is 90%. The main error: no API key: set the variable SKY_KEY. Fix this and re-run; "
        "paid replies are kept."
    )


@pytest.mark.parametrize(("scored", "severity"), [(80, "error"), (99, "warn")])
def test_a_budget_that_is_spent_is_a_failed_check_however_little_is_missing(scored: int, severity: str) -> None:
    tally = Tally()
    for _ in range(scored):
        tally.add(row("scored"))
    for _ in range(100 - scored):
        tally.add(row("not_run", "budget", "the budget is spent"))
    found = coverage(tally)
    assert (found.passed, found.severity) == (False, severity)
    assert "the budget is spent. Raise the budget and re-run; paid replies are kept." in str(found.description)


@pytest.mark.parametrize(("seen", "shown", "passed"), [(9.5, 10, True), (9.4, 10, False)])
def test_a_judge_has_to_be_shown_the_text(seen: float, shown: int, passed: bool) -> None:
    found = text_seen(Tally(share_seen=seen, shown=shown))
    assert found.passed == passed and found.metadata == {"share_seen": seen / shown}


def test_where_there_is_nothing_to_check_no_figure_stands_for_it(tmp_path: Path) -> None:
    nothing = [coverage(Tally()), text_seen(Tally()), panel_agreement(stored(tmp_path, CLIP_SCORES, []))]
    assert all(found.passed for found in nothing)
    assert [found.description for found in nothing if any(map(str.isdigit, str(found.description)))] == []


def scores(folder: Path, means: list[float | None]):
    rows = [{"trajectory_id": "t", "clip_index": index, "mean": mean} for index, mean in enumerate(means)]
    return stored(folder, CLIP_SCORES, [*rows, *rows])


def test_nine_of_ten_clips_need_a_score(tmp_path: Path) -> None:
    clips = stored(tmp_path, CLIPS, ({"trajectory_id": "t", "clip_index": index} for index in range(10)))
    enough, short = [0.5] * 9 + [None], [0.5] * 8 + [None] * 2
    assert enough_scored(clips, scores(tmp_path, enough)).passed
    found = enough_scored(clips, scores(tmp_path, short))
    assert not found.passed and found.severity == "error"
    assert found.metadata == {"clips": 10, "scored": 8, "scored_share": 0.8}


def test_what_no_judge_is_asked_about_is_not_missing_and_a_drop_without_clips_is(tmp_path: Path) -> None:
    clips, nothing = stored(tmp_path, CLIPS, [{"trajectory_id": "t", "clip_index": 0}]), stored(tmp_path, CLIPS, [])
    none = scores(tmp_path, [])
    assert enough_scored(clips, none, None).passed
    assert enough_scored(clips, none, lambda _: False).passed
    assert not enough_scored(clips, none).passed
    for asked in (None, lambda _: True):
        found = enough_scored(nothing, none, asked)
        assert not found.passed and "no clips" in str(found.description)


def test_clips_in_which_rules_have_nothing_to_check_are_not_missing(tmp_path: Path) -> None:
    clips = stored(tmp_path, CLIPS, ({"trajectory_id": "t", "clip_index": index} for index in range(10)))
    some, none = scores(tmp_path / "some", [0.5] * 5), scores(tmp_path / "none", [])
    assert enough_scored(clips, some, unchecked=5).metadata == {"clips": 5, "scored": 5, "scored_share": 1.0}
    assert not enough_scored(clips, some, unchecked=4).passed
    assert enough_scored(clips, none, unchecked=10).description == "In no clip was there anything that the rules check."
    assert not enough_scored(clips, none, unchecked=9).passed


def test_a_judge_that_answered_nothing_is_named(tmp_path: Path) -> None:
    def verdicts(*outcomes: str):
        rows = [{"outcome": outcome, "scores": {}, "from_ledger": False, "attempts": 0} for outcome in outcomes]
        return [stored(tmp_path, CLIP_VERDICTS, rows)]

    found = judges_answered(
        {"one": verdicts("scored", "failed"), "two": verdicts("failed", "not_run"), "three": verdicts()}
    )
    assert not found.passed and found.severity == "error"
    assert found.description == "judge two scored nothing."
    assert found.metadata == {"judges": 3, "lost": 1}
    assert judges_answered({"one": verdicts("scored")}).passed


def test_judges_that_disagree_are_a_warning(tmp_path: Path) -> None:
    def of(criterion: str, std: float) -> list[dict[str, object]]:
        means = [0.1, 0.5, 0.9, 0.2, 0.8]
        return [{"criterion": criterion, "mean": mean, "std": std, "n_scored": 2} for mean in means]

    rows = stored(tmp_path, CLIP_SCORES, [*of("same", 0.0), *of("other", 0.4)])
    found = panel_agreement(rows)
    assert not found.passed and found.severity == "warn"
    assert "other" in str(found.description) and "same" not in str(found.description)
    assert found.metadata["alpha_same"] == pytest.approx(1.0)
    assert panel_agreement(rows, by_majority={"other"}).passed
