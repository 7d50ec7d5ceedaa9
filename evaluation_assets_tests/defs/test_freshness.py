"""What Dagster shows as stale: a report is stale where what it is made from is."""

from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest
from upath import UPath

from evaluation_assets.core.intake.drops import Drop, scan
from evaluation_assets.core.intake.triggers.stale_drops import Results
from evaluation_assets.core.judging.panel import Panel, panel_of
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions
from evaluation_assets.defs import freshness
from evaluation_assets.resources.dagster_private import CODE_VERSION_TAG
from evaluation_assets_tests.conftest import SAMPLE, Workspace
from evaluation_assets_tests.model_judging import drop_of, installed, judge
from evaluation_assets_tests.model_server import ModelServer, rule

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
    """A drop with a fresh report, of a panel of two judges."""
    workspace = Workspace(
        installation.home, build_definitions(installation.home, two_judges(quorum=1)), installation.instance
    )
    evaluated(workspace, "a")
    return workspace


def evaluated(workspace: Workspace, drop: str) -> None:
    workspace.drop(drop, b"".join(LINES[:2]))
    assert workspace.run(drop).success
    assert status(workspace, REPORT, drop) == StaleStatus.FRESH


def test_a_report_is_stale_where_its_scores_would_be_others(reported: Workspace) -> None:
    evaluated(reported, "b")
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


def run_alone(workspace: Workspace, *names: str) -> dg.ExecuteInProcessResult:
    """Materialise some assets of the drop `a`, without their checks, as people do on the lineage page."""
    job = workspace.definitions.resolve_job_def("evaluate")
    keys = [dg.AssetKey.from_user_string(name) for name in names]
    return job.execute_in_process(partition_key="a", instance=workspace.instance, asset_selection=keys)


def stale_of_check(workspace: Workspace) -> str | None:
    """The stale assets that the check of the report of drop `a` names; `None` where it passes."""
    check = dg.AssetCheckKey(REPORT, "evaluated")
    history = workspace.instance.event_log_storage.get_asset_check_execution_history(check, limit=10)
    latest = next(each.event for each in history if each.partition == "a")
    assert latest is not None
    evaluation = latest.asset_check_evaluation
    assert evaluation is not None
    if evaluation.passed:
        return None
    assert (
        evaluation.description == "The report is out of date: what it is made from has changed. Run the job evaluate."
    )
    return str(evaluation.metadata["stale"].value)


def test_a_report_is_stale_where_scores_were_made_after_it(reported: Workspace) -> None:
    changed = Workspace(reported.home, build_definitions(reported.home, two_judges(quorum=2)), reported.instance)
    assert run_alone(changed, "clip_scores").success
    assert status(changed, SCORES) == StaleStatus.FRESH
    assert status(changed, REPORT) == StaleStatus.STALE
    named = (stale_of_check(changed) or "").split(", ")
    assert "evaluation_report" in named and "trajectory_scores" in named and "clip_scores" not in named
    assert changed.run("a").success
    assert status(changed, REPORT) == StaleStatus.FRESH
    assert stale_of_check(changed) is None


@pytest.mark.slow
def test_a_report_can_be_left_behind_again(reported: Workspace) -> None:
    for quorum in (2, 1):
        changed = Workspace(reported.home, build_definitions(reported.home, two_judges(quorum)), reported.instance)
        assert run_alone(changed, "clip_scores").success
        assert run_alone(changed, "clip_scores").success
        assert "evaluation_report" in (stale_of_check(changed) or "")
        assert changed.run("a").success
        assert stale_of_check(changed) is None


def test_a_report_made_from_stale_scores_is_stale(reported: Workspace) -> None:
    changed = Workspace(reported.home, build_definitions(reported.home, two_judges(quorum=2)), reported.instance)
    assert run_alone(changed, "evaluation_report").success
    assert status(changed, REPORT) == StaleStatus.STALE
    named = (stale_of_check(changed) or "").split(", ")
    assert {"clip_scores", "trajectory_scores", "evaluation_report"} <= set(named)


def test_a_judge_that_finds_nothing_new_makes_no_report_stale(reported: Workspace) -> None:
    assert run_alone(reported, "clip_verdicts/x_clip_verdicts").success
    assert status(reported, REPORT) == StaleStatus.FRESH
    assert stale_of_check(reported) is None


def test_first_judge_cards_make_no_report_stale(reported: Workspace) -> None:
    overview = reported.definitions.resolve_job_def("overview")
    assert overview.execute_in_process(instance=reported.instance).success
    assert status(reported, REPORT) == StaleStatus.FRESH


def test_a_report_is_stale_where_a_judge_has_answered_since(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    judged = installed(tmp_path, instance, judge(server))
    judged.drop("a", drop_of(1))
    server.script([rule("wrong_key")])
    judged.run("a")
    assert stale_of_check(judged) is None, "there are no other verdicts yet"
    server.script([])
    assert run_alone(judged, "clip_verdicts/one_clip_verdicts").success
    assert status(judged, REPORT) == StaleStatus.STALE
    assert "clip_scores" in (stale_of_check(judged) or "")
    assert judged.run("a").success
    assert run_alone(judged, "clip_verdicts/one_clip_verdicts").success
    assert status(judged, REPORT) == StaleStatus.FRESH
    assert stale_of_check(judged) is None


def test_of_many_drops_the_stale_ones_are_found(
    tmp_path: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some were never reported, one has other content, one was read but not reported, one reported by other code."""
    monkeypatch.setattr(freshness, "_AT_ONCE", 3)
    for number in range(9):
        (tmp_path / f"{number}.jsonl").write_bytes(LINES[0])
    drops = list(scan(UPath(tmp_path)).drops.values())

    def report(key: dg.AssetKey, drop: Drop, content: str, code: str = "now") -> None:
        metadata = {"content": content, "stamp": drop.stamp()}
        tags = {CODE_VERSION_TAG: code}
        instance.report_runless_asset_event(
            dg.AssetMaterialization(key, metadata=metadata, partition=drop.key, tags=tags)
        )

    monkeypatch.setattr(Results, "are_complete", lambda _, drop: True)
    for drop in drops[:7]:
        report(freshness.RAW, drop, "content")
        report(freshness.MEASURED, drop, "content")
    for drop in drops[:6]:
        report(REPORT, drop, "content", code="before")
        report(REPORT, drop, "other" if drop.key == "3" else "content", code="before" if drop.key == "5" else "now")
    assert [drop.key for drop in freshness.stale(instance, Installation.at(str(tmp_path)), drops, "now")] == [
        "3",
        "5",
        "6",
        "7",
        "8",
    ]
