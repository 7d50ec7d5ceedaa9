"""The sensors of sources: what a tick makes, says and keeps."""

import json
import shutil
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from evaluation_assets.core.intake.drops import scan
from evaluation_assets.core.intake.sources.settings import InvalidSources
from evaluation_assets.core.intake.sources.store import StoreError
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets_tests.conftest import Workspace, call, record


def home_with(folder: Path, **sources: dict[str, Any]) -> Installation:
    home = Installation.at(str(folder / "home"))
    home.root.mkdir(exist_ok=True)
    home.sources_file.write_text(yaml.safe_dump({"sources": sources}))
    return home


def tick(home: Installation, instance: dg.DagsterInstance, name: str, cursor: str | None = None) -> Any:
    sensor = build_definitions(home, Panel()).resolve_sensor_def(name)
    with dg.build_sensor_context(
        instance=instance, cursor=cursor, resources={"home": HomeResource(url=str(home.root))}
    ) as context:
        return sensor.evaluate_tick(context)


def test_each_source_has_a_running_sensor(tmp_path: Path) -> None:
    folder = {"type": "folder", "path": str(tmp_path)}
    home = home_with(tmp_path, logs=folder | {"every_seconds": 300}, other=folder)
    definitions = build_definitions(home, Panel())
    sensor = definitions.resolve_sensor_def("source_logs")
    assert (sensor.minimum_interval_seconds, sensor.default_status.value) == (300, "RUNNING")
    assert sensor.description is not None and str(tmp_path) in sensor.description
    assert definitions.resolve_sensor_def("source_other").minimum_interval_seconds == 60


def test_a_tick_makes_drops_and_the_next_one_makes_none(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "a.jsonl").write_bytes(record())
    home = home_with(tmp_path, logs={"type": "folder", "path": str(logs), "quiet_minutes": 0})
    first = tick(home, instance, "source_logs")
    assert first.skip_message == "1 trace into 1 drop"
    (drop,) = scan(home.drops).drops.values()
    assert drop.sidecar().suite == "logs"
    second = tick(home, instance, "source_logs", first.cursor)
    assert second.skip_message == "0 traces into 0 drops"
    assert second.cursor > first.cursor
    shutil.rmtree(home.drops.path)
    assert tick(home, instance, "source_logs", second.cursor).skip_message == "1 trace into 1 drop"


def test_the_report_says_which_runs_of_a_source_were_taken(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    searched = record("t2", call("tax", "none") + "<answer>4</answer>")
    (logs / "a.jsonl").write_bytes(record("t1") + searched + record("t3"))
    settings = {"type": "folder", "path": str(logs), "quiet_minutes": 0, "only": {"calls": "browser_search_google"}}
    home = home_with(tmp_path, logs=settings)
    tick(home, instance, "source_logs")
    (drop,) = scan(home.drops).drops
    workspace = Workspace(home, build_definitions(home, Panel()), instance)
    assert workspace.run(drop).success
    for table in ("raw_trajectories", "preprocessed_trajectories", "findings"):
        assert {row["trajectory_id"] for row in workspace.rows(drop, table)} <= {"t2"}
    for name in ("report.json", "report.html", "report.md"):
        said = (home.reports(drop) / name).read_text("utf-8")
        assert "1 of 3 runs evaluated" in said and "2 do not fulfil" in said, name


def test_a_store_that_gives_no_traces_fails_the_tick(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    """The daemon keeps the cursor of a tick that failed."""
    home = home_with(tmp_path, logs={"type": "phoenix", "url": "http://127.0.0.1:9", "api_key_env": "NO_SUCH_KEY"})
    with pytest.raises(StoreError, match="NO_SUCH_KEY is not set"):
        tick(home, instance, "source_logs")


def test_a_wrong_sources_file_is_an_error_when_the_definitions_load(tmp_path: Path) -> None:
    home = home_with(tmp_path, logs={"type": "folder"})
    with pytest.raises(InvalidSources) as raised:
        build_definitions(home, Panel())
    assert str(raised.value) == f"{home.sources_file}: sources.logs: path: is missing"


def test_the_cursor_has_a_constant_size(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for number in range(50):
        (logs / f"{number}.jsonl").write_text(json.dumps({}))
    home = home_with(tmp_path, logs={"type": "folder", "path": str(logs), "quiet_minutes": 0})
    assert len(tick(home, instance, "source_logs").cursor) < 40
