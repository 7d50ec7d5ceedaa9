"""Big drops: what parts change of the tables (nothing), and runs that take parts over."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow.parquet as pq
import pytest

from evaluation_assets.core.judging.panel import Panel, panel_of
from evaluation_assets.core.pipeline.parts import Announcement, Parts, announced
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions
from evaluation_assets.defs.big_drops import parts_of_big_drops
from evaluation_assets.defs.evaluation_runs import free_runs
from evaluation_assets.defs.names import JUDGE_PART, PART
from evaluation_assets.resources.drop_lock import claimed
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets_tests.conftest import KEY, SAMPLE, Workspace, materialization
from evaluation_assets_tests.model_judging import drop_of, judge
from evaluation_assets_tests.model_server import ModelServer, model_server
from evaluation_assets_tests.test_ui import wait_for

pytestmark = pytest.mark.slow


def workspace(folder: Path, instance: dg.DagsterInstance, panel: Panel, clips_per_part: int | None = None) -> Workspace:
    home = Installation.at(str(folder))
    folder.mkdir()
    if clips_per_part is not None:
        (folder / "gate.yaml").write_text(f"big_drops: {{clips_per_part: {clips_per_part}}}\n")
    return Workspace(home, build_definitions(home, panel), instance)


def tables(installed: Workspace) -> dict[str, list[dict]]:
    """All tables of an installation but the time of evaluation."""
    lake = Path(installed.home.lake.path)
    found = {path.relative_to(lake).as_posix(): path for path in lake.rglob("*.parquet")}
    return {
        name: [
            {key: value for key, value in row.items() if key not in ("evaluated_at", "latency_ms")}
            for row in pq.read_table(path).to_pylist()
        ]
        for name, path in found.items()
    }


def test_tables_and_figures_of_the_embedded_judge_are_the_same_with_and_without_parts(tmp_path: Path) -> None:
    found: list[tuple[dict[str, list[dict]], dict[str, Any]]] = []
    for clips_per_part in (None, 7):
        with dg.DagsterInstance.ephemeral() as instance:
            installed = workspace(tmp_path / f"{clips_per_part}", instance, Panel(), clips_per_part)
            installed.drop("d", SAMPLE.read_bytes())
            result = installed.run("d")
            assert result.success
            assert any(said.startswith("judging d in ") for said in said_by(instance, result.run_id)) == (
                clips_per_part == 7
            )
            noted = materialization(result, "clip_verdicts", "rules_clip_verdicts").metadata
            figures = {key: noted[key].value for key in noted.keys() - {"dagster/uri", "size", "preview"}}
            found.append((tables(installed), figures))
            assert not list(installed.home.lake.glob(".parts/*"))
    assert found[0][0].keys() == found[1][0].keys()
    for name, rows in found[0][0].items():
        assert found[1][0][name] == rows, name
    assert found[0][1] == found[1][1]


def test_models_are_asked_the_same_questions_with_and_without_parts(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALUATION_LEDGER_URL", f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    panel = panel_of({"judges": [judge(server, "one"), judge(server, "two", repeats=2)]}, "test")
    scores: list[list[dict]] = []
    asked_before = 0
    for clips_per_part in (None, 7):
        with dg.DagsterInstance.ephemeral() as instance:
            installed = workspace(tmp_path / f"{clips_per_part}", instance, panel, clips_per_part)
            installed.drop("d", SAMPLE.read_bytes())
            assert installed.run("d").success
            scores.append([row for name in ("clip_scores", "trajectory_scores") for row in installed.rows("d", name)])
            asked_before = asked_before or asked(server)
    assert scores[0] == scores[1]
    assert asked(server) == asked_before > 0


@contextmanager
def evaluating(installed: Workspace) -> Iterator[tuple[Future[dg.ExecuteInProcessResult], Announcement]]:
    """A run in another thread, once it has divided its drop."""
    with ThreadPoolExecutor(1) as pool:
        evaluation = pool.submit(installed.run, "d")
        yield evaluation, wait_for(lambda: next(iter(announced(installed.home)), None), 60)


def take_over(installed: Workspace, said: Announcement, part: int) -> dg.ExecuteInProcessResult:
    config = {"drop": said.drop, "run": said.run, "part": part}
    return installed.definitions.resolve_job_def(JUDGE_PART).execute_in_process(
        instance=installed.instance, run_config={"ops": {PART: {"config": config}}}
    )


def said_by(instance: dg.DagsterInstance, run: str) -> list[str]:
    return [entry.user_message for entry in instance.all_logs(run) if entry.dagster_event is None]


def judged_by(instance: dg.DagsterInstance, run: str) -> list[str]:
    return [said for said in said_by(instance, run) if said.startswith("part ") and said.split()[1].isdecimal()]


def asked(server: ModelServer) -> int:
    return len(server.requests(bodies=False))


ALL = 8 * 3 + 8 * 2 + 8
"""Questions about eight trajectories: their clips, categories, and the trajectories with their answers."""


def test_another_run_takes_over_a_part(kept: Workspace, slow: ModelServer) -> None:
    installed = with_parts(kept, panel_of({"judges": [judge(slow, max_concurrency=1)]}, "test"))
    installed.drop("d", drop_of(8))
    with evaluating(installed) as (evaluation, said):
        helped = take_over(installed, said, 4)
        assert not evaluation.done()
        with claimed(installed.home, Parts(installed.home, "d", said.run, 4).name(3)) as is_ours:
            assert is_ours
            late = take_over(installed, said, 3)
            wait_for(lambda: len(judged_by(installed.instance, said.run)) == 2 or None, 60)
    result = evaluation.result(60)
    assert result.success
    assert judged_by(installed.instance, result.run_id) == ["part 1 of 4", "part 2 of 4", "part 3 of 4"]
    assert judged_by(installed.instance, helped.run_id) == ["part 4 of 4"]
    assert said_by(installed.instance, late.run_id)[-1] == "part 3 of 4 is judged, or another run is at work on it"
    assert asked(slow) == ALL
    scored = dict.fromkeys(row["trajectory_id"] for row in installed.rows("d", "trajectory_scores"))
    assert list(scored) == [f"t{at}" for at in range(8)]
    after = take_over(installed, said, 2)
    assert said_by(installed.instance, after.run_id)[-1] == "all parts of d are judged, or its run was stopped"
    assert asked(slow) == ALL


def test_runs_with_another_panel_leave_parts_alone(kept: Workspace, slow: ModelServer) -> None:
    installed = with_parts(kept, panel_of({"judges": [judge(slow, max_concurrency=1)]}, "test"))
    changed = with_parts(kept, panel_of({"judges": [judge(slow, parameters={"temperature": 1})]}, "test"))
    installed.drop("d", drop_of(8))
    with evaluating(installed) as (evaluation, said):
        refused = take_over(changed, said, 4)
    assert evaluation.result(60).success
    (warning,) = said_by(kept.instance, refused.run_id)[-1:]
    assert warning == f"run {said.run} has other judges or rubrics than this one, and judges all parts"
    assert len(judged_by(kept.instance, said.run)) == 4


def test_a_run_with_a_budget_judges_all_parts_by_itself_and_keeps_it(kept: Workspace, slow: ModelServer) -> None:
    installed = with_parts(kept, panel_of({"judges": [judge(slow, max_concurrency=1)]}, "test"))
    installed.drop("d", drop_of(8))
    budget = {"evaluate_drop": {"config": {"budget_usd": 0.08}}}
    with ThreadPoolExecutor(1) as pool:
        evaluation = pool.submit(lambda: installed.run("d", ops=budget))
        run = wait_for(lambda: next(iter(kept.instance.get_runs()), None), 60)
        wait_for(lambda: judged_by(kept.instance, run.run_id) or None, 60)
        assert announced(installed.home) == []
    assert not evaluation.result(60).success
    verdicts = [
        row for level in ("clip", "category", "trajectory") for row in installed.rows("d", f"{level}_verdicts", "one")
    ]
    assert {row["outcome"] for row in verdicts} == {"scored", "not_run"}
    assert len(installed.rows("d", "clip_verdicts", "one")) == 8 * 3
    assert 0 < sum(row["cost_usd"] or 0 for row in verdicts) <= 0.08
    assert len(judged_by(kept.instance, run.run_id)) == 4


def test_a_drop_is_not_divided_if_a_judge_waits_for_batches(kept: Workspace, server: ModelServer) -> None:
    installed = with_parts(
        kept, panel_of({"judges": [judge(server, mode="batch", timeouts={"batch_poll_s": 0.05})]}, "test")
    )
    installed.drop("d", drop_of(8))
    result = installed.run("d")
    assert result.success
    assert judged_by(kept.instance, result.run_id) == []


def test_one_level_of_one_judge_is_judged_in_parts_with_what_is_stored(
    tmp_path: Path, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    installed = workspace(tmp_path / "home", instance, panel_of({"judges": [judge(server)]}, "test"), 6)
    installed.drop("d", drop_of(8))
    assert installed.run("d").success
    before, asked_before = tables(installed), asked(server)
    job = installed.definitions.resolve_implicit_global_asset_job_def()
    again = job.execute_in_process(
        partition_key="d",
        instance=instance,
        asset_selection=[dg.AssetKey(["trajectory_verdicts", "one_trajectory_verdicts"])],
    )
    assert again.success
    after = tables(installed)
    assert asked(server) == asked_before, "the questions are the same, since they show the judge's own verdicts"
    for name, rows in after.items():
        if name.startswith("trajectory_verdicts"):
            assert all(row["from_ledger"] for row in rows)
        else:
            assert rows == before[name]


def test_the_sensor_asks_for_the_parts_of_runs_at_work(kept: Workspace, slow: ModelServer) -> None:
    installed = with_parts(kept, panel_of({"judges": [judge(slow, max_concurrency=1)]}, "test"))
    installed.drop("d", drop_of(8))
    assert look(installed) == []
    with evaluating(installed) as (evaluation, said):
        requests = look(installed)
        assert [request.tags["evaluation/part"] for request in requests] == ["4 of 4", "3 of 4", "2 of 4"]
        assert [request.run_key for request in requests] == [f"{said.run}/{number}" for number in (4, 3, 2)]
        assert {request.tags["evaluation/drop"] for request in requests} == {"d"}
        assert not any("dagster/partition" in request.tags for request in requests), "it would wait for its own drop"
        job = installed.definitions.resolve_job_def(JUDGE_PART)
        waiting = [
            installed.instance.create_run_for_job(job, run_config=requests[0].run_config)
            for _ in range(free_runs(installed.instance))
        ]
        assert look(installed) == [], "a run that waits behind others comes when its part is judged"
        installed.instance.delete_run(waiting[0].run_id)
        (request,) = look(installed)
        assert request.tags["evaluation/part"] == "4 of 4"
        config, tags = request.run_config, dict(request.tags)
        assert job.execute_in_process(instance=installed.instance, run_config=config, tags=tags).success
        assert [each.tags["evaluation/part"] for each in look(installed)] == ["3 of 4"]
    assert evaluation.result(60).success
    Parts(installed.home, "d", said.run, 4).announce(said.versions)
    assert look(installed) == [], "its run has ended, killed or not"


def look(installed: Workspace) -> list[dg.RunRequest]:
    home = HomeResource(url=str(installed.home.root))
    with dg.build_sensor_context(instance=installed.instance, resources={"home": home}) as context:
        result = parts_of_big_drops(context)
    if isinstance(result, dg.SkipReason):
        return []
    assert isinstance(result, dg.SensorResult)
    return list(result.run_requests or [])


def with_parts(kept: Workspace, panel: Panel, clips_per_part: int = 6) -> Workspace:
    """The same home with a panel and small parts."""
    Path(kept.home.root.path).mkdir(exist_ok=True)
    Path(kept.home.gate_file.path).write_text(f"big_drops: {{clips_per_part: {clips_per_part}}}\n")
    return Workspace(kept.home, build_definitions(kept.home, panel), kept.instance)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A model server that takes its time."""
    monkeypatch.setenv("TEST_KEY", KEY)
    with model_server(latency=0.2) as started:
        yield started
