"""Constraints in the chain: tables, checks, report and review queue."""

import json
from pathlib import Path

import dagster as dg
import pytest
from upath import UPath

from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.sections.constraints.settings import InvalidChecks
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions
from evaluation_assets_tests.conftest import Workspace, failed_checks, record

EXAMPLES = Path(__file__).parents[2] / "examples" / "constraints"


def installed(tmp_path: Path, instance: dg.DagsterInstance, checks: str) -> Workspace:
    home = Installation.at(str(tmp_path / "home"))
    Path(home.root.path).mkdir()
    Path(home.checks_file.path).write_text(checks)
    return Workspace(home, build_definitions(home, Panel()), instance)


def test_violations_block_after_the_report_that_shows_them(
    tmp_path: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALUATION_REPORTS_URL", "https://reports.example.com/")
    workspace = installed(tmp_path, instance, (EXAMPLES / "checks.yaml").read_text())
    workspace.drop("support", (EXAMPLES / "support.jsonl").read_bytes())
    result = workspace.run("support")
    assert not result.success
    assert {"constraints_hold", "constraint_warnings"} <= failed_checks(result)
    (held,) = [c for c in result.get_asset_check_evaluations() if c.check_name == "constraints_hold"]
    assert (held.severity, held.blocking) == (dg.AssetCheckSeverity.ERROR, True)
    assert "identity_first in 1 run" in (held.description or "")
    assert held.metadata["report"].value == "https://reports.example.com/support/report.html#constraints"
    (warned,) = [c for c in result.get_asset_check_evaluations() if c.check_name == "constraint_warnings"]
    assert (warned.severity, warned.blocking) == (dg.AssetCheckSeverity.WARN, False)

    rows = workspace.rows("support", "constraint_results")
    assert len(rows) == 5 * 7
    failed = {(row["trajectory_id"], row["constraint"]): row["clip_index"] for row in rows if row["status"] == "failed"}
    assert failed == {
        ("refund_without_identity", "identity_first"): 1,
        ("refund_without_identity", "small_refunds"): 1,
        ("reads_outside", "inside_workspace"): 1,
        ("searches_on_and_on", "few_searches"): 3,
        ("searches_on_and_on", "confirmed"): None,
        ("searches_on_and_on", "answer_cites_a_result"): None,
        ("leaks_a_password", "no_passwords"): 1,
        ("leaks_a_password", "answer_cites_a_result"): None,
    }
    clips = {(row["trajectory_id"], row["clip_index"]): row["tool_name"] for row in workspace.rows("support", "clips")}
    assert clips["refund_without_identity", 1] == "refund"

    queue = {row["trajectory_id"]: row["reason"] for row in workspace.rows("support", "review_queue")}
    violating = {trajectory for trajectory, name in failed if name not in ("few_searches", "answer_cites_a_result")}
    assert {name for name, reason in queue.items() if reason == "violation"} == violating
    details = {row["trajectory_id"]: row["detail"] for row in workspace.rows("support", "review_queue")}
    assert details["refund_without_identity"] == "constraint identity_first, small_refunds; process score 0.05"

    folder = workspace.home.reports("support")
    report = json.loads((folder / "report.json").read_text())["constraints"]
    assert report["violating_trajectories"] == 4
    page = (folder / "report.html").read_text()
    assert 'id="constraints"' in page
    assert "#/run/refund_without_identity?clip=1" in page
    markdown = (folder / "report.md").read_text()
    assert "## Constraints" in markdown
    assert "Never call `refund` where `amount` is above `500`" in markdown.replace("\\", "")
    assert "tulip-9-harbour" not in json.dumps(report)


def test_an_installation_without_constraints_has_no_checks_of_them(installation: Workspace) -> None:
    installation.drop("d", record())
    result = installation.run("d")
    assert result.success
    assert {"constraints_hold", "constraint_warnings"}.isdisjoint(
        check.check_name for check in result.get_asset_check_evaluations()
    )
    assert installation.rows("d", "constraint_results") == []
    folder = installation.home.reports("d")
    assert json.loads((folder / "report.json").read_text())["constraints"] is None
    assert 'id="constraints"' not in (folder / "report.html").read_text()


def test_the_code_location_refuses_constraints_that_it_cannot_use(tmp_path: Path) -> None:
    (tmp_path / "checks.yaml").write_text("constraints: {a: {never: {tol: refund}}}\n")
    with pytest.raises(
        InvalidChecks, match=r"checks.yaml:1: constraints.a.never.tol: unknown field; did you mean 'tool"
    ):
        build_definitions(Installation(UPath(tmp_path), UPath(tmp_path / "lake")), Panel())
