"""Labels joined with stored verdicts."""

from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.judging.recorded import RecordedJudge
from evaluation_assets.core.lake.stored import Stream, batched, write
from evaluation_assets.core.lake.tables import REVIEW_QUEUE, TRAJECTORY_SCORES, TRAJECTORY_VERDICTS, Table
from evaluation_assets.core.review.judged_labels import card_rows, pass_rate_rows
from evaluation_assets.core.review.settings import ReviewSettings
from evaluation_assets.core.system.installation import Installation


def test_what_a_judge_was_not_asked_about_is_not_missing(tmp_path: Path) -> None:
    """A sampled judge, or a later stage of a cascade, has no row for what nobody asked it about."""
    home = Installation.at(str(tmp_path))
    for judge, outcomes in {"all": ["scored", "scored", "failed"], "sampled": ["scored", "scored"]}.items():
        rows = [
            dict.fromkeys(TRAJECTORY_VERDICTS.schema.names)
            | {
                "drop": "d",
                "trajectory_id": f"t{number}",
                "subject": "trajectory",
                "judge": judge,
                "provider": "recorded",
                "sample": 0,
                "attempts": 1,
                "from_ledger": False,
                "outcome": outcome,
                "scores": {"answer_correctness": 0.9} if outcome == "scored" else None,
            }
            for number, outcome in enumerate(outcomes)
        ]
        path = home.table("d", "trajectory_verdicts", judge).path
        write(path, Stream(TRAJECTORY_VERDICTS, batched(rows, TRAJECTORY_VERDICTS)))
    labels = [
        {"drop": "d", "trajectory_id": f"t{number}", "clip_index": None, "criterion": "passed", "label": 1.0}
        for number in range(3)
    ]
    judges = [RecordedJudge(name, name) for name in ("all", "sampled")]
    cards = {card["judge"]: card for card in card_rows(home, judges, labels, ReviewSettings())}
    assert cards["all"]["coverage"] == pytest.approx(2 / 3)
    assert cards["sampled"]["coverage"] == 1.0


def a_reviewed_drop(home: Installation, strata: dict[str, int]) -> None:
    """A drop whose panel passes all trajectories; those of the stratum `rest` are not in the queue."""
    names = [f"{stratum} {number}" for stratum, count in strata.items() for number in range(count)]
    queue = [
        {"trajectory_id": name, "stratum": name.split()[0], "reason": "low"} for name in names if "rest" not in name
    ]
    scores = [{"trajectory_id": name, "criterion": "overall", "adjusted_mean": 1.0} for name in names]
    _store(home, REVIEW_QUEUE, queue)
    _store(home, TRAJECTORY_SCORES, scores)


def _store(home: Installation, table: Table, rows: list[dict[str, Any]]) -> None:
    whole = [dict.fromkeys(table.schema.names) | {"drop": "d"} | row for row in rows]
    write(home.table("d", table.name).path, Stream(table, batched(whole, table)))


def labelled(**by_stratum: tuple[int, float]) -> list[dict[str, Any]]:
    return [
        {"drop": "d", "trajectory_id": f"{stratum} {number}", "clip_index": None, "criterion": "passed", "label": label}
        for stratum, (count, label) in by_stratum.items()
        for number in range(count)
    ]


def test_likely_failures_that_are_labelled_first_count_for_themselves(tmp_path: Path) -> None:
    """All four likely failures failed, and are labelled; of the 36 others a few are, and all of those passed."""
    home = Installation.at(str(tmp_path))
    a_reviewed_drop(home, {"likely_failure": 4, "chosen": 16, "random": 5, "rest": 15})
    labels = labelled(likely_failure=(4, 0.0), chosen=(4, 1.0), random=(4, 1.0))
    (row,) = pass_rate_rows(home, [], labels, ReviewSettings())
    assert row["raw"] == 1.0
    assert row["corrected"] == pytest.approx(36 / 40, abs=0.01)


def test_a_single_likely_failure_does_not_prevent_the_correction(tmp_path: Path) -> None:
    home = Installation.at(str(tmp_path))
    a_reviewed_drop(home, {"likely_failure": 1, "chosen": 9, "random": 5, "rest": 5})
    labels = labelled(likely_failure=(1, 0.0), chosen=(9, 1.0), random=(5, 1.0))
    (row,) = pass_rate_rows(home, [], labels, ReviewSettings())
    assert row["corrected"] == pytest.approx(19 / 20, abs=0.01)


@pytest.mark.parametrize("has_clips", [True, False])
def test_the_panel_passes_what_its_judges_pass_whether_or_not_they_judge_clips(tmp_path: Path, has_clips: bool) -> None:
    """Of the trajectory, one of two criteria is met in full; its clips are all poor, its answer too."""
    home = Installation.at(str(tmp_path))
    _store(home, REVIEW_QUEUE, [])
    of_panel = {"correctness": 0.9, "goal": 0.7, "answer.conciseness": 0.0} | ({"overall": 0.1} if has_clips else {})
    scores = [{"trajectory_id": "t", "criterion": name, "adjusted_mean": mean} for name, mean in of_panel.items()]
    _store(home, TRAJECTORY_SCORES, scores)
    verdict = {"subject": "trajectory", "outcome": "scored", "scores": {"correctness": 0.9, "goal": 0.7}, "sample": 0}
    row = (
        dict.fromkeys(TRAJECTORY_VERDICTS.schema.names) | {"drop": "d", "trajectory_id": "t", "judge": "one"} | verdict
    )
    path = home.table("d", "trajectory_verdicts", "one").path
    write(path, Stream(TRAJECTORY_VERDICTS, batched([row], TRAJECTORY_VERDICTS)))
    rates = {row["judge"]: row["raw"] for row in pass_rate_rows(home, ["one"], [], ReviewSettings())}
    assert rates == {"panel": 1.0, "one": 1.0}
