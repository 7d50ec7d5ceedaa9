"""Runs that broke where the agent is not to blame, in the chain: they count as runs, and their error is shown."""

import json
from pathlib import Path

from evaluation_assets.core.judging.panel import Panel, judges_of
from evaluation_assets.core.report.drop_tables import DropTables
from evaluation_assets.core.report.viewer.documents import documents
from evaluation_assets_tests.conftest import Workspace

ERRORED = Path(__file__).parents[1] / "fixtures" / "reported" / "samples_that_errored" / "input.json"


def test_a_sample_that_broke_before_its_first_message_is_evaluated_and_shown_with_its_error(
    installation: Workspace,
) -> None:
    log = json.loads(ERRORED.read_text())
    installation.drop("locks", json.dumps(log).encode())
    installation.run("locks")
    rows = {row["task_id"]: row for row in installation.rows("locks", "preprocessed_trajectories")}
    assert {name: (row["success"], row["flags"]) for name, row in rows.items()} == {
        "locks/upper": (True, []),
        "locks/lower": (False, ["failed"]),
        "locks/sea": (None, ["no_answer", "failed"]),
    }
    assert installation.rows("locks", "unreadable_records") == []
    report = json.loads((installation.home.reports("locks") / "report.json").read_text())
    assert report["headline"]["text"].startswith("success 1 of 2")
    assert "1 more without a known outcome" in report["headline"]["text"]
    tables = DropTables.of(installation.home, "locks", judges_of(Panel(), installation.home.ledger_url))
    shown = {one.row["task_id"]: one.content["error"] for one in documents(tables) if one.content}
    assert shown == {"locks/upper": "", "locks/lower": "ValueError('grader')", "locks/sea": "TimeoutError('no reply')"}
