"""A new judge on drops that were judged before, filled in by the backfill daemon of a real UI."""

from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from evaluation_assets.core.judging.panel import panel_of
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions
from evaluation_assets.runs.jobs import instance_of
from evaluation_assets_tests.conftest import call, command, record
from evaluation_assets_tests.test_ui import Server, wait_for

pytestmark = pytest.mark.slow

ONE: dict[str, Any] = {"judges": [{"name": "old", "provider": "rules"}]}
BOTH: dict[str, Any] = {"judges": [*ONE["judges"], {"name": "stub", "provider": "rules"}]}
DROPS = ("a", "b")
SELECTION = 'key:"*/stub_*"+ and not (group:"8_all_drops" or key:"labels" or key:"judge_cards" or key:"baseline")'
LAUNCH = """mutation($params: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $params) {
    __typename ... on LaunchBackfillSuccess {backfillId} ... on PythonError {message}
  }
}"""
STATUS = "query($id: String!) {partitionBackfillOrError(backfillId: $id) {... on PartitionBackfill {status}}}"


def asked(server: Server, query: str, **variables: Any) -> Any:
    return wait_for(lambda: server.ask(query, **variables), 60)


def backfilled(server: Server, keys: list[dg.AssetKey]) -> None:
    """A backfill of assets over all drops, as a click on "Materialize" asks for it."""
    params = {"assetSelection": [{"path": list(key.path)} for key in keys], "partitionNames": list(DROPS)}
    launched = asked(server, LAUNCH, params=params)["launchPartitionBackfill"]
    assert launched["__typename"] == "LaunchBackfillSuccess", launched

    def status() -> str | None:
        found = asked(server, STATUS, id=launched["backfillId"])["partitionBackfillOrError"]["status"]
        return found if found.startswith(("COMPLETED", "FAILED", "CANCELED")) else None

    assert wait_for(status, 400) == "COMPLETED_SUCCESS"


def test_one_backfill_adds_a_judge_to_all_drops_up_to_their_reports(tmp_path: Path) -> None:
    home = Installation.at(str(tmp_path / "home"))
    (tmp_path / "in").mkdir()
    for key in DROPS:
        (tmp_path / "in" / f"{key}.jsonl").write_bytes(record(key, call("x", "found") + "<answer>4</answer>"))
    (tmp_path / "home").mkdir()
    panel = tmp_path / "home" / "panel.yaml"
    panel.write_text(yaml.safe_dump(ONE))
    done = command("evaluate", tmp_path / "in", home=tmp_path / "home")
    assert done.returncode == 0, done.stderr
    panel.write_text(yaml.safe_dump(BOTH))
    old = {key: home.table(key, "clip_verdicts", "old").path.stat().st_mtime_ns for key in DROPS}
    graph = build_definitions(home, panel_of(BOTH, "test")).resolve_asset_graph()
    server = Server(tmp_path / "home")
    try:
        wait_for(lambda: server.ask("{assetNodes{assetKey{path}}}") or None, 120)
        backfilled(server, list(dg.AssetSelection.from_string(SELECTION).resolve(graph)))
    finally:
        server.stop()
    levels = ("clip", "category", "trajectory")
    for key in DROPS:
        counts = [len(list(home.table(key, f"{level}_verdicts", "stub").rows())) for level in levels]
        assert counts == [2, 1, 2]
        assert home.table(key, "session_verdicts", "stub").exists
        assert home.table(key, "clip_verdicts", "old").path.stat().st_mtime_ns == old[key], "nobody else has judged"
        for table in ("clip_scores", "category_assessments", "trajectory_scores"):
            assert {row["n_judges"] for row in home.table(key, table).rows()} == {2}
        assert "stub" in (home.reports(key) / "report.md").read_text("utf-8")
    with instance_of(home) as instance:
        runs = [run for run in instance.get_runs() if run.tags.get("dagster/backfill")]
    assert len(runs) == 1, "both drops in one run"
