"""Findings in the chain: the table and its check."""

import json
from pathlib import Path
from typing import Any

import dagster as dg

from evaluation_assets_tests.conftest import Workspace
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


def test_each_run_has_a_process_score_with_what_weighs_most(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    workspace = installed(tmp_path, instance, (EXAMPLES / "checks.yaml").read_text())
    workspace.drop("support", (EXAMPLES / "support.jsonl").read_bytes())
    workspace.run("support")
    rows = {row["trajectory_id"]: row for row in workspace.rows("support", "process_scores")}
    assert rows.keys() == {row["trajectory_id"] for row in workspace.rows("support", "raw_trajectories")}
    broken = rows["refund_without_identity"]
    assert broken["heaviest_kind"] == "broken_rule"
    assert broken["heaviest_clip"] == 1
    assert broken["rules"] < 0.5
    assert broken["score"] <= broken["rules"]
    right = [row for row in rows.values() if row["findings"] == 0]
    assert right
    assert all(row["score"] == 1 and row["heaviest_kind"] is None for row in right)


def test_the_claims_of_agents_are_listed_and_counted(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    workspace = installed(tmp_path, instance, (EXAMPLES / "checks.yaml").read_text())
    told = (EXAMPLES / "support.jsonl").read_text().replace("Your refund R-311 of", "Your refund R-317 of")
    workspace.drop("support", told.encode())
    workspace.run("support")
    claims = {row["claim"]: row["verdict"] for row in workspace.rows("support", "claims")}
    assert claims == {
        "Your refund R-317 of 49.90 is on its way.": "contradicted",
        "Refund R-312 is done.": "supported",
        "You can return it within 30 days, with form RET-7.": "supported",
    }
    report = workspace.home.reports("support") / "report.md"
    assert "detectors in 3 runs: 2 supported, 0 not found, 1 contradicted." in report.read_text()


def test_a_call_with_the_arguments_of_another_tool_is_found_by_the_other_runs(installation: Workspace) -> None:
    usual = [("book", {"flight": "F1", "user_id": "u1"}), ("change", {"booking": "B1", "flight": "F1"})]
    swapped = [("change", {"flight": "F1", "user_id": "u1"})]
    runs = {**{f"usual{number}": usual for number in range(10)}, "swapped": swapped}
    installation.drop("flights", b"".join(record_of(name, calls) for name, calls in runs.items()))
    installation.run("flights")
    rows = installation.rows("flights", "findings")
    found = [(row["trajectory_id"], row["evidence"]) for row in rows if row["kind"] == "unsuitable_tool"]
    assert found == [("swapped", '{"flight": "F1", "user_id": "u1"}')]


def record_of(task_id: str, calls: list[tuple[str, dict[str, str]]]) -> bytes:
    """A run in the messages of OpenAI."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Take me there."}]
    for tool, arguments in calls:
        function = {"name": tool, "arguments": json.dumps(arguments)}
        messages.append({"role": "assistant", "tool_calls": [{"id": tool, "function": function}]})
        messages.append({"role": "tool", "tool_call_id": tool, "content": '{"ok": true}'})
    messages.append({"role": "assistant", "content": "Done."})
    return json.dumps({"task_id": task_id, "messages": messages}).encode() + b"\n"
