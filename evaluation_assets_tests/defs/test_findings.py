"""Findings in the chain: the table and its check."""

from pathlib import Path

import dagster as dg

from evaluation_assets_tests.defs.test_constraints import EXAMPLES, installed


def test_a_drop_has_its_findings_with_quotations(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    workspace = installed(tmp_path, instance, (EXAMPLES / "checks.yaml").read_text())
    workspace.drop("support", (EXAMPLES / "support.jsonl").read_bytes())
    result = workspace.run("support")
    (check,) = [each for each in result.get_asset_check_evaluations() if each.check_name == "quotations"]
    assert check.passed
    rows = workspace.rows("support", "findings")
    broken = {(row["trajectory_id"], row["clip_index"]) for row in rows if row["kind"] == "broken_rule"}
    assert {("refund_without_identity", 1), ("searches_on_and_on", 3), ("searches_on_and_on", None)} <= broken
    assert all(row["evidence"] and row["detector"] and row["false_alarm_rate"] is None for row in rows)
