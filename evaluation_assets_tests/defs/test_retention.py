"""Old runs are forgotten, and the state of every asset, partition and check stays."""

import time
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.definitions.run_request import InstigatorType
from dagster._core.remote_origin import RegisteredCodeLocationOrigin, RemoteRepositoryOrigin
from dagster._core.scheduler.instigation import TickStatus
from pydantic import ValidationError

from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.intake.drops import scan
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.pipeline.settings import InvalidSettings, load_settings
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions, current_key
from evaluation_assets.defs.deleted_drops import forget
from evaluation_assets.defs.freshness import REPORT, stale
from evaluation_assets.defs.names import EVALUATE, JOBS, PRUNE_HISTORY
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.defs.retention import PruneConfig, forget_runs
from evaluation_assets.runs.jobs import instance_of
from evaluation_assets_tests.conftest import Workspace, record


def test_the_runs_of_every_job_are_forgotten(kept: Workspace) -> None:
    jobs = {job.name for job in kept.definitions.resolve_all_job_defs()}
    assert jobs - {"__ASSET_JOB"} <= set(JOBS)


def state(kept: Workspace) -> dict[str, Any]:
    """What the pages of all assets show: status and newest materialisation by partition, and the checks."""
    instance, found = kept.instance, dict[str, Any]()
    for asset in kept.definitions.resolve_asset_graph().get_all_asset_keys():
        name = asset.to_user_string()
        found[name] = sorted(instance.get_materialized_partitions(asset))
        found[f"{name} status"] = instance.get_status_by_partition(
            asset, instance.get_dynamic_partitions("drops"), DROPS
        )
        for partition in (None, *found[name]):
            wanted = dg.AssetRecordsFilter(asset_key=asset, asset_partitions=None if partition is None else [partition])
            newest = instance.fetch_materializations(wanted, limit=1).records
            found[f"{name} {partition}"] = [(each.run_id, each.asset_materialization) for each in newest]
    for check in kept.definitions.resolve_asset_graph().asset_check_keys:
        latest = instance.event_log_storage.get_latest_asset_check_execution_by_key([check])
        found[check.to_user_string()] = [(each.run_id, each.status) for each in latest.values()]
    return found


def runs_of(kept: Workspace) -> set[str]:
    return {run.run_id for run in kept.instance.get_runs()}


@pytest.mark.slow
def test_old_runs_go_and_every_page_stays_as_it_is(kept: Workspace) -> None:
    kept.drop("d", record())
    first = kept.run("d").run_id
    partial = kept.run("d", "preprocess_only").run_id
    again = kept.run("d", "preprocess_only").run_id
    second = kept.run("d").run_id
    job = kept.definitions.resolve_job_def(EVALUATE)
    report_alone = job.execute_in_process(instance=kept.instance, partition_key="d", asset_selection=[REPORT]).run_id
    kept.drop("broken", b"")
    broken = kept.run("broken").run_id
    assert kept.instance.all_logs(first) and kept.instance.all_logs(partial)
    before = state(kept)
    assert forget_runs(kept.instance, time.time() - 3600) == [], "none is that old"
    assert runs_of(kept) == {first, partial, again, second, report_alone, broken}

    assert forget_runs(kept.instance, time.time()) == [first, partial]
    assert runs_of(kept) == {again, second, report_alone, broken}, "the tables of the second run are the current ones"
    assert kept.instance.all_logs(first) == kept.instance.all_logs(partial) == []
    assert state(kept) == before
    (drop,) = (each for each in scan(kept.home.drops).drops.values() if each.key == "d")
    assert list(stale(kept.instance, kept.home, [drop], current_key(kept.home, Panel()))) == []
    assert forget_runs(kept.instance, time.time()) == [], "what is left is needed"


@pytest.mark.slow
def test_a_run_of_many_drops_goes_when_none_of_them_needs_it(kept: Workspace) -> None:
    for key in "ab":
        kept.drop(key, record(key))
        kept.instance.add_dynamic_partitions("drops", [key])
    job, drops = (
        kept.definitions.resolve_job_def(EVALUATE),
        {"ops": {"evaluate_drop": {"config": {"drops": ["a", "b"]}}}},
    )
    many, more = (job.execute_in_process(instance=kept.instance, run_config=drops).run_id for _ in range(2))
    assert forget_runs(kept.instance, time.time()) == [many]
    only = kept.run("a").run_id
    assert forget_runs(kept.instance, time.time()) == [], "the second one has the tables of b"
    last = kept.run("b").run_id
    before = state(kept)
    assert forget_runs(kept.instance, time.time()) == [more]
    assert runs_of(kept) == {only, last}
    assert state(kept) == before


@pytest.mark.slow
def test_of_a_deleted_drop_its_own_runs_go_and_what_others_show_stays(kept: Workspace) -> None:
    for key in "ab":
        kept.drop(key, record(key))
        kept.instance.add_dynamic_partitions("drops", [key])
    config = {"ops": {"evaluate_drop": {"config": {"drops": ["a", "b"]}}}}
    many = kept.definitions.resolve_job_def(EVALUATE).execute_in_process(instance=kept.instance, run_config=config)
    of_b = state(kept)
    kept.run("a")
    assert forget(kept.instance, "a") == 1
    assert runs_of(kept) == {many.run_id}
    now = state(kept)
    assert {name: now[name] for name in of_b if name.endswith(" b")} == {
        name: of_b[name] for name in of_b if name.endswith(" b")
    }
    newest = kept.instance.get_latest_materialization_event(dg.AssetKey("clips"))
    assert newest is not None and newest.run_id == many.run_id


def test_runs_of_other_code_locations_are_left_to_them(kept: Workspace) -> None:
    """Another location may have a job of the same name. Runs without any were started by commands."""
    runs: dict[str | None, str] = {}
    for location in ("theirs", "ours", None):
        origin = None if location is None else RegisteredCodeLocationOrigin(location)
        job = None if origin is None else RemoteRepositoryOrigin(origin, "__repository__").get_job_origin(PRUNE_HISTORY)
        made = kept.definitions.resolve_job_def(PRUNE_HISTORY)
        run = kept.instance.create_run_for_job(made, status=dg.DagsterRunStatus.CANCELED, remote_job_origin=job)
        runs[location] = run.run_id
    last = kept.instance.create_run_for_job(made, status=dg.DagsterRunStatus.CANCELED).run_id
    assert set(forget_runs(kept.instance, time.time() + 1, "ours")) == {runs["ours"], runs[None]}
    assert runs_of(kept) == {runs["theirs"], last}


def test_the_job_forgets_after_the_days_of_the_settings(kept: Workspace) -> None:
    Path(kept.home.root.path).mkdir()
    kept.home.gate_file.write_text("retention: {run_days: 30}\nschedules: {prune: '15 4 * * *'}")
    definitions = build_definitions(kept.home, Panel())
    schedule = definitions.resolve_schedule_def("nightly_prune_history")
    assert schedule.cron_schedule == "15 4 * * *"
    assert schedule.default_status == dg.DefaultScheduleStatus.RUNNING
    job = definitions.resolve_job_def(PRUNE_HISTORY)
    runs = [job.execute_in_process(instance=kept.instance).run_id for _ in range(3)]
    assert runs_of(kept) == set(runs), "30 days are not over"
    config = {"ops": {"delete_old_runs": {"config": {"run_days": 0}}}}
    last = job.execute_in_process(instance=kept.instance, run_config=config).run_id
    assert runs_of(kept) == {last}


@pytest.mark.parametrize("days", [-1, 1_000_000])
def test_a_run_that_forgets_others_refuses_days_of_which_no_date_is_known(days: int) -> None:
    with pytest.raises(ValidationError, match="run_days"):
        PruneConfig(run_days=days)


def test_days_of_which_no_date_is_known_are_refused(kept: Workspace) -> None:
    Path(kept.home.root.path).mkdir()
    kept.home.gate_file.write_text("retention: {run_days: 1000000}")
    with pytest.raises(InvalidSettings, match=r"retention\.run_days: must be less than or equal to 36500"):
        load_settings(kept.home.gate_file)


def test_history_is_kept_for_ever_where_the_settings_say_so(kept: Workspace) -> None:
    Path(kept.home.root.path).mkdir()
    kept.home.gate_file.write_text("retention: {run_days: null}")
    definitions = build_definitions(kept.home, Panel())
    assert PRUNE_HISTORY not in {job.name for job in definitions.resolve_all_job_defs()}
    assert "nightly_prune_history" not in {each.name for each in definitions.schedules or ()}


@pytest.mark.parametrize("kind", [InstigatorType.SENSOR, InstigatorType.SCHEDULE])
def test_no_tick_is_kept_for_ever(tmp_path: Path, kind: InstigatorType) -> None:
    home = Installation.at(str(tmp_path / "home"))
    prepare(home)
    with instance_of(home) as instance:
        days = instance.get_tick_retention_settings(kind)
    assert set(days) == set(TickStatus) and all(0 < kept <= 90 for kept in days.values())
