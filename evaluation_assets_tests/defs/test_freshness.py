"""What Dagster shows as stale: a report is stale where what it is made from is."""

import dagster as dg
import pytest
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest

from evaluation_assets.core.judging.panel import Panel, panel_of
from evaluation_assets.definitions import build_definitions
from evaluation_assets_tests.conftest import SAMPLE, Workspace

REPORT, SCORES = dg.AssetKey("evaluation_report"), dg.AssetKey("clip_scores")
LINES = SAMPLE.read_bytes().splitlines(keepends=True)


def status(workspace: Workspace, key: dg.AssetKey, drop: str = "a") -> StaleStatus:
    instance = workspace.instance
    graph = workspace.definitions.resolve_asset_graph()
    return CachingStaleStatusResolver(instance, graph, LoadingContextForTest(instance)).get_status(key, drop)


def two_judges(quorum: int) -> Panel:
    return panel_of({"quorum": quorum, "judges": [{"name": name, "provider": "rules"} for name in ("x", "y")]}, "test")


@pytest.fixture
def reported(installation: Workspace) -> Workspace:
    """Two drops with a fresh report, of a panel of two judges."""
    workspace = Workspace(
        installation.home, build_definitions(installation.home, two_judges(quorum=1)), installation.instance
    )
    for drop in ("a", "b"):
        workspace.drop(drop, b"".join(LINES[:2]))
        assert workspace.run(drop).success
        assert status(workspace, REPORT, drop) == StaleStatus.FRESH
    return workspace


def test_a_report_is_stale_where_its_scores_would_be_others(reported: Workspace) -> None:
    changed = Workspace(reported.home, build_definitions(reported.home, two_judges(quorum=2)), reported.instance)
    assert status(changed, SCORES) == StaleStatus.STALE
    assert status(changed, REPORT) == StaleStatus.STALE
    assert changed.run("a").success
    assert [status(changed, key) for key in (SCORES, REPORT)] == [StaleStatus.FRESH, StaleStatus.FRESH]
    assert status(changed, REPORT, "b") == StaleStatus.STALE


def test_a_report_is_stale_where_its_drop_was_read_anew(reported: Workspace) -> None:
    reported.drop("a", b"".join(LINES[:3]))
    read = [dg.AssetKey("raw_trajectories"), dg.AssetKey("unreadable_records")]
    job = reported.definitions.resolve_job_def("evaluate")
    assert job.execute_in_process(partition_key="a", instance=reported.instance, asset_selection=read).success
    assert status(reported, dg.AssetKey("preprocessed_trajectories")) == StaleStatus.STALE
    assert status(reported, REPORT) == StaleStatus.STALE
    assert status(reported, REPORT, "b") == StaleStatus.FRESH
