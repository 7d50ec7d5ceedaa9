"""How the scores of one judge are related to recorded outcomes."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from evaluation_assets.core.lake.tables import CLIP_VERDICTS
from evaluation_assets.core.report.drop_tables import DropTables
from evaluation_assets.core.report.judges.judge_summary import judge_summary
from evaluation_assets.core.report.report import JudgeSummary
from evaluation_assets_tests.core.stored_rows import stored

WON, LOST = [f"won {number}" for number in range(6)], [f"lost {number}" for number in range(6)]
OUTCOMES = {**dict.fromkeys(WON, True), **dict.fromkeys(LOST, False)}
TASKS = {run: run.split()[1] for run in OUTCOMES}


def summary(folder: Path, scores: dict[str, Any], provider: str = "anthropic") -> JudgeSummary:
    rows: list[dict[str, Any]] = [
        {"trajectory_id": run, "provider": provider, "model": "m", "outcome": "scored", "scores": {"a": score}}
        for run, own in scores.items()
        for score in own
    ]
    tables = SimpleNamespace(verdicts={"clip": {"j": stored(folder, CLIP_VERDICTS, rows)}}, canary_verdicts={})
    return judge_summary("j", cast("DropTables", tables), TASKS, OUTCOMES)


def test_a_judge_that_scores_good_runs_higher_is_better_than_chance(tmp_path: Path) -> None:
    scores: dict[str, Any] = {run: [0.9, 0.7, None] for run in WON} | {run: [0.3] for run in LOST}
    scores["of no known outcome"] = [0.1]
    found = summary(tmp_path, scores).success
    assert found is not None and found.auroc == 1.0
    assert (found.n_succeeded, found.n_failed) == (6, 6)
    mixed = summary(tmp_path, {run: [score] for run, score in zip([*WON, *LOST], [0.2, 0.8] * 6, strict=True)}).success
    assert mixed is not None and mixed.auroc == pytest.approx(0.5)
    assert mixed.text.endswith("not shown to be better than chance")


def test_the_scores_of_rules_stand_with_the_process_score_and_few_outcomes_say_nothing(tmp_path: Path) -> None:
    assert summary(tmp_path, {run: [float(OUTCOMES[run])] for run in OUTCOMES}, "rules").success is None
    assert summary(tmp_path, {run: [0.5] for run in [*WON, *LOST[:4]]}).success is None
