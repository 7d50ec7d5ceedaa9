"""Many drops in one run: what fails with one of them, what is recorded of each, and what a run of one writes."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.data_version import CachingStaleStatusResolver
from dagster._core.loader import LoadingContextForTest
from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG

from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.pipeline.checks.names import CONSTRAINTS_HOLD
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions
from evaluation_assets.defs.partitions import DROPS, add_partitions
from evaluation_assets.resources.drop_lock import alone
from evaluation_assets_tests.conftest import Workspace, call, record

EXAMPLES = Path(__file__).parents[2] / "examples" / "constraints"
REPORT = dg.AssetKey("evaluation_report")
GOOD = record("t", call("x", "found") + "<answer>4</answer>")


def run(installation: Workspace, *keys: str, job: str = "evaluate") -> dg.ExecuteInProcessResult:
    """One run over all drops, as a backfill starts it."""
    add_partitions(installation.instance, DROPS, keys)
    return installation.definitions.resolve_job_def(job).execute_in_process(
        instance=installation.instance,
        raise_on_error=False,
        tags={ASSET_PARTITION_RANGE_START_TAG: keys[0], ASSET_PARTITION_RANGE_END_TAG: keys[-1]},
    )


def failure_of(result: dg.ExecuteInProcessResult) -> str:
    (event,) = [event for event in result.all_events if event.is_step_failure]
    failed = event.step_failure_data.user_failure_data
    assert failed is not None
    return failed.description or ""


def test_an_asset_alone_is_not_made_of_tables_that_the_drop_does_not_have(installation: Workspace) -> None:
    """Chosen alone in the UI, the report of a drop that was never read was written, and said that it has no clips."""
    installation.drop("a", GOOD)
    add_partitions(installation.instance, DROPS, ["a"])
    job = installation.definitions.resolve_implicit_global_asset_job_def()
    result = job.execute_in_process(
        partition_key="a", asset_selection=[REPORT], instance=installation.instance, raise_on_error=False
    )
    said = failure_of(result)
    assert said.startswith("evaluation_report is made from this drop's raw_trajectories, which were never read. ")
    assert said.endswith("Materialise everything upstream of it too, or run the job evaluate.")
    assert not result.get_asset_materialization_events()


def test_a_drop_that_cannot_be_read_leaves_the_others_of_its_run_alone(installation: Workspace) -> None:
    installation.drop("a", GOOD)
    installation.drop("b", b"garbage\n")
    installation.drop("c", GOOD)
    result = run(installation, "a", "b", "c")
    assert not result.success
    said = failure_of(result)
    assert said.startswith("1 drop of 3 failed; the others are evaluated. b: ") and "not valid JSON" in said
    assert installation.instance.get_materialized_partitions(REPORT) == {"a", "c"}
    assert not installation.home.table("b", "clips").exists
    (reason,) = [
        check.description
        for check in result.get_asset_check_evaluations()
        if check.check_name == "evaluated" and not check.passed
    ]
    assert reason is not None and reason.startswith("b.jsonl is not valid JSON")
    evaluated = {
        check.partition for check in result.get_asset_check_evaluations() if check.check_name == "enough_scored"
    }
    assert evaluated == {"a", "c"}


def test_a_run_without_a_partition_says_what_to_choose(installation: Workspace) -> None:
    installation.drop("a", GOOD)
    job = installation.definitions.resolve_job_def("evaluate")
    result = job.execute_in_process(instance=installation.instance, raise_on_error=False)
    assert failure_of(result) == "No drop was chosen. Choose a partition: the name of a drop."


def run_of(installation: Workspace, *keys: str, **tags: str) -> dg.ExecuteInProcessResult:
    """One run over all drops, as the sensor asks for it."""
    add_partitions(installation.instance, DROPS, keys)
    return installation.definitions.resolve_job_def("evaluate").execute_in_process(
        instance=installation.instance,
        raise_on_error=False,
        tags=tags,
        run_config={"ops": {"evaluate_drop": {"config": {"drops": list(keys)}}}},
    )


def test_a_run_evaluates_the_drops_that_its_settings_name(installation: Workspace) -> None:
    for key in ("a", "between", "c"):
        installation.drop(key, GOOD)
    installation.drop("b", b"garbage\n")
    result = run_of(installation, "a", "b", "c")
    assert failure_of(result).startswith("1 drop of 3 failed; the others are evaluated. b: ")
    assert installation.instance.get_materialized_partitions(REPORT) == {"a", "c"}
    evaluated = {
        check.partition: check.passed
        for check in result.get_asset_check_evaluations()
        if check.check_name == "evaluated"
    }
    assert evaluated == {"a": True, "b": False, "c": True}


def test_a_run_of_many_drops_writes_no_events_for_each_before_it_starts(kept: Workspace) -> None:
    keys = [f"d{number}" for number in range(5)]
    for key in keys:
        kept.drop(key, GOOD)
    result = run_of(kept, *keys)
    assert result.success
    planned = kept.instance.all_logs(result.run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED)
    assert len(planned) < 30


def test_a_check_that_blocks_fails_the_run_when_all_drops_are_evaluated(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    home = Installation.at(str(tmp_path / "home"))
    Path(home.root.path).mkdir()
    Path(home.checks_file.path).write_text((EXAMPLES / "checks.yaml").read_text())
    installation = Workspace(home, build_definitions(home, Panel()), instance)
    well_done, refund_to_a_stranger, *_ = (EXAMPLES / "support.jsonl").read_bytes().splitlines()
    installation.drop("a", refund_to_a_stranger)
    installation.drop("b", well_done)
    result = run(installation, "a", "b")
    assert not result.success
    held = {
        check.partition: check.passed
        for check in result.get_asset_check_evaluations()
        if check.blocking and check.check_name == CONSTRAINTS_HOLD
    }
    assert held == {"a": False, "b": True}
    assert instance.get_materialized_partitions(REPORT) == {"a", "b"}


def test_a_run_of_many_drops_records_what_runs_of_one_record(installation: Workspace) -> None:
    for key in ("a", "b"):
        installation.drop(key, GOOD)
    assert run(installation, "a", "b").success
    graph = installation.definitions.resolve_asset_graph()

    def stale(key: dg.AssetKey, drop: str) -> list[str]:
        resolver = CachingStaleStatusResolver(
            installation.instance, graph, LoadingContextForTest(installation.instance)
        )
        return [cause.reason for cause in resolver.get_stale_causes(key, drop)]

    of_drops = [key for key in graph.materializable_asset_keys if graph.get(key).is_partitioned]
    assert all(not stale(key, "a") for key in of_drops)
    installation.drop("a", record("other", "<answer>5</answer>"))
    preprocessed = dg.AssetKey("preprocessed_trajectories")
    read = [dg.AssetKey("raw_trajectories"), dg.AssetKey("unreadable_records")]
    job = installation.definitions.resolve_job_def("evaluate")
    assert job.execute_in_process(partition_key="a", instance=installation.instance, asset_selection=read).success
    assert set(stale(preprocessed, "a")) == {"has a new dependency data version"}
    assert stale(preprocessed, "b") == []


def test_a_run_waits_for_another_run_of_its_drop(kept: Workspace) -> None:
    kept.drop("a", GOOD)
    waiting = threading.Event()
    with ThreadPoolExecutor(1) as other:
        with alone(kept.home, "a", print):
            done = other.submit(lambda: alone_in(kept, "a", waiting))
            assert waiting.wait(20)
            assert not done.done()
        assert done.result(20)
    assert kept.run("a").success


def alone_in(workspace: Workspace, drop: str, waiting: threading.Event) -> bool:
    with alone(workspace.home, drop, lambda _: waiting.set()):
        return True


@pytest.mark.parametrize("job", ["evaluate", "rescore"])
def test_a_run_of_one_drop_is_one_step_with_few_events(kept: Workspace, job: str) -> None:
    kept.drop("d", GOOD)
    assert kept.run("d").success
    result = kept.run("d", job)
    assert {event.step_key for event in result.all_events if event.step_key} == {"evaluate_drop"}
    assert len(kept.instance.all_logs(result.run_id)) <= 120


def test_a_launchpad_shows_the_installation_once(installation: Workspace) -> None:
    """Its folder stood there twice, and a run could be given one of both."""
    job = installation.definitions.resolve_job_def("evaluate")
    resources = job.run_config_schema.config_type
    assert isinstance(resources, dg.Shape)
    shown = resources.fields["resources"].default_value
    places = [name for name, resource in shown.items() if str(installation.home.root) in str(resource)]
    assert places == ["home"]
