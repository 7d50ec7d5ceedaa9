"""Folders of recorded runs as people have them, from the drop to the report, with the embedded judge."""

import json
import shutil
from pathlib import Path

import pytest

from evaluation_assets_tests.conftest import Workspace
from evaluation_assets_tests.third_party import data

pytestmark = pytest.mark.slow

FOLDERS = {
    "agentdataeva": 6,
    "atif/golden": 2,
    "inspect-logs": 7,
    "mast": 19,
    "mini-swe-agent": 26,
    "otel-agentevals": 2,
    "swe-agent": 1,
    "tau-bench": 100,
    "tau2-bench/ab": 40,
    "trail": 12,
    "who-and-when": 92,
}
"""How many trajectories are in each."""


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_is_evaluated_to_its_report(installation: Workspace, folder: str) -> None:
    drop = Path(installation.home.drops.path) / "d"
    shutil.copytree(data(folder), drop, ignore=shutil.ignore_patterns("few_shot_data"))
    for path in (drop, *drop.rglob("*")):
        path.chmod(0o755)
    (drop / "_drop.yaml").write_text("")
    installation.run("d", ops={"evaluate_drop": {"config": {"on_violation": "flag"}}})
    report = json.loads((installation.home.reports("d") / "report.json").read_text())
    trajectories = installation.rows("d", "preprocessed_trajectories")
    clips = installation.rows("d", "clips")
    assert len(trajectories) == report["trajectories_total"] == FOLDERS[folder]
    calls = sum(row["n_tool_calls"] for row in trajectories)
    assert len(clips) == report["total_clips"] == calls + sum(clip["is_final"] for clip in clips)
    assert report["overall"]["mean"] is not None
    assert (installation.home.reports("d") / "report.html").exists()
