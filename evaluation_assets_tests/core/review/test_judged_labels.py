"""Labels joined with stored verdicts."""

from pathlib import Path

import pytest

from evaluation_assets.core.lake.stored import Stream, batched, write
from evaluation_assets.core.lake.tables import TRAJECTORY_VERDICTS
from evaluation_assets.core.review.judged_labels import card_rows
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
    cards = {card["judge"]: card for card in card_rows(home, ["all", "sampled"], labels, ReviewSettings())}
    assert cards["all"]["coverage"] == pytest.approx(2 / 3)
    assert cards["sampled"]["coverage"] == 1.0
