"""The component in the project of a team that has assets, an IO manager and an executor of its own."""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tomllib
import traceback
import urllib.request
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import fsspec
import pandas as pd
import pyarrow as pa
import pytest
import yaml
from dagster.components.core.package_entry import discover_package_objects
from dagster.components.scaffold.scaffold import NoParams, get_scaffolder
from upath import UPath

import evaluation_assets
from evaluation_assets.component import EvaluationComponent, EvaluationInput, EvaluationScaffolder
from evaluation_assets.core.intake.drops import InvalidDrop, find
from evaluation_assets.core.judging.panel import panel_of
from evaluation_assets.core.lake.tables import TABLES
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions
from evaluation_assets.defs.dropped import write_drop
from evaluation_assets.defs.groups import INGEST
from evaluation_assets.defs.names import GATE, PARTITION_TAG
from evaluation_assets.resources.parquet import TABLES_IO
from evaluation_assets_tests.conftest import SAMPLE
from evaluation_assets_tests.s3_server import s3_server
from evaluation_assets_tests.test_ui import free_port, wait_for

ROOT = Path(__file__).parent.parent
OWN_CODE = """
import dagster as dg

@dg.asset
def customers() -> list[str]:
    return ["ada"]

@dg.asset
def greeting(customers: list[str]) -> str:
    return f"hello {customers[0]}"

@dg.asset(deps=["evaluation_report"])
def weekly_mail() -> None: ...

@dg.definitions
def defs() -> dg.Definitions:
    return dg.Definitions(
        assets=[customers, greeting, weekly_mail],
        resources={"io_manager": dg.InMemoryIOManager()},
        executor=dg.multiprocess_executor,
    )
"""
NIGHT = datetime(2026, 1, 2, 3, tzinfo=UTC)
OWN = {dg.AssetKey(name) for name in ("customers", "greeting", "weekly_mail")}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project as `create-dagster project` makes it, with the assets of the team beside our component."""
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "team"\nversion = "0"\n[tool.dg]\ndirectory_type = "project"\n'
        '[tool.dg.project]\nroot_module = "team"\n'
    )
    own = tmp_path / "src" / "team" / "defs" / "own"
    own.mkdir(parents=True)
    for folder in (own.parent.parent, own.parent):
        (folder / "__init__.py").touch()
    (own / "definitions.py").write_text(OWN_CODE)
    monkeypatch.syspath_prepend(str(tmp_path / "src"))
    yield tmp_path
    for name in [name for name in sys.modules if name.split(".")[0] == "team"]:
        del sys.modules[name]


def component(project: Path, **attributes: object) -> Path:
    folder = project / "src" / "team" / "defs" / "agents"
    folder.mkdir(exist_ok=True)
    written = {"type": "evaluation_assets.EvaluationComponent", "attributes": attributes}
    (folder / "defs.yaml").write_text(yaml.safe_dump(written))
    return folder


def loaded(project: Path) -> dg.Definitions:
    found = dg.load_from_defs_folder(path_within_project=project / "src" / "team" / "defs")
    dg.Definitions.validate_loadable(found)
    return found


def test_a_team_evaluates_in_its_own_code_location(project: Path) -> None:
    folder = component(project, home="home")
    definitions = loaded(project)
    drop = folder / "home" / "drops" / "assistants.jsonl"
    shutil.copy(SAMPLE, drop)
    assert {"new_drops", "lost_runs"} <= {sensor.name for sensor in definitions.sensors or ()}
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("drops", ["assistants"])
        job = definitions.resolve_job_def("evaluate")
        assert job.executor_def.name == "in_process"
        done = job.execute_in_process(partition_key="assistants", instance=instance)
        assert done.success
        made = {event.asset_key for event in done.get_asset_materialization_events() if event.asset_key is not None}
        assert dg.AssetKey("evaluation_report") in made and not made & OWN
        assert not OWN & set(definitions.resolve_job_def("rescore").asset_layer.selected_asset_keys)
        own = definitions.resolve_implicit_global_asset_job_def()
        done = own.execute_in_process(
            instance=instance, asset_selection=[dg.AssetKey("customers"), dg.AssetKey("greeting")]
        )
        assert done.output_for_node("greeting") == "hello ada"
    assert (folder / "home" / "reports" / "assistants" / "report.html").exists()
    assert evaluation_assets.load_home(folder / "home").drops == ["assistants"]


def test_what_dg_scaffolds_loads_as_it_is(project: Path) -> None:
    folder = project / "src" / "team" / "defs" / "agents"
    folder.mkdir()
    name = "evaluation_assets.EvaluationComponent"
    request = dg.ScaffoldRequest(name, folder, scaffold_format="yaml", project_root=project, params=NoParams())
    scaffolder = get_scaffolder(EvaluationComponent)
    assert isinstance(scaffolder, EvaluationScaffolder)
    scaffolder.scaffold(request)
    written = yaml.safe_load((folder / "defs.yaml").read_text())
    assert written == {"type": name, "attributes": {"home": "../../../../.evaluation"}}
    assert loaded(project).resolve_job_def("evaluate")
    assert (project / ".evaluation" / "drops").is_dir()


def test_a_home_that_is_made_is_told(project: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = component(project, home="hme")
    loaded(project)
    assert f"there is no home folder {folder / 'hme'}: it is made" in caplog.text
    caplog.clear()
    loaded(project)
    assert "home folder" not in caplog.text


def test_the_resources_of_the_team_stay_its_own(project: Path) -> None:
    component(project, home="home")
    definitions = loaded(project)
    assert isinstance((definitions.resources or {})["io_manager"], dg.InMemoryIOManager)
    assert definitions.executor is dg.multiprocess_executor


def test_attributes_choose_panel_tables_and_automation(project: Path, tmp_path: Path) -> None:
    folder = component(project, home="home", panel="judges.yaml", lake=str(tmp_path / "lake"), automation=False)
    (folder / "judges.yaml").write_text("judges: [{name: strict, provider: rules}]")
    definitions = loaded(project)
    keys = {key.to_user_string() for key in definitions.resolve_asset_graph().get_all_asset_keys()}
    assert "clip_verdicts/strict_clip_verdicts" in keys and "customers" in keys
    assert not definitions.sensors and not definitions.schedules
    assert (definitions.resources or {})["home"].lake_url == str(tmp_path / "lake")


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ({"panel": "judges.yaml"}, "judges.yaml; correct `panel` in defs.yaml"),
        ({"judges": []}, "judges"),
        ({"inputs": [{"asset": "customers", "drop": "../runs"}]}, "drop '../runs': a drop's name, and each part of it"),
        (
            {"inputs": [{"asset": "a/runs"}, {"asset": "b/runs"}]},
            "two inputs have the drop 'runs'; name one with `drop`",
        ),
        ({"translation": {"key": "ours"}}, "cannot be called ours: runs find tables by the keys of assets."),
        ({"translation": {"key_prefix": "{{ spec.group_name }}"}}, "all assets need the same `key_prefix`; there are"),
    ],
)
def test_an_attribute_that_cannot_be_used_is_named(project: Path, attributes: dict[str, object], said: str) -> None:
    component(project, home="home", **attributes)
    with pytest.raises(Exception, match="EvaluationComponent") as problem:
        loaded(project)
    assert said in "".join(traceback.format_exception(problem.value))


def test_a_second_home_needs_a_code_location_of_its_own(project: Path) -> None:
    """Dagster said that two resources are called `home`."""
    shutil.copytree(component(project, home="home"), project / "src" / "team" / "defs" / "others")
    with pytest.raises(Exception, match="EvaluationComponent") as problem:
        loaded(project)
    told = "".join(traceback.format_exception(problem.value))
    assert "has 2 instances of EvaluationComponent, and may have one. Give each home a code location of its own" in told


AGENT = """
from pathlib import Path

import dagster as dg
from evaluation_assets import EvaluationComponent

@dg.asset(key=["my_project", "agent_runs"], io_manager_key="files")
def agent_runs() -> list[dict[str, str]]:
    return [{"task_id": "t1", "task_description": "2 + 2?", "raw_response": "<answer>4</answer>", "final": "4"}]

class Ours(EvaluationComponent):
    def get_asset_spec(self, spec):
        shown = super().get_asset_spec(spec)
        return shown.replace_attributes(owners=["team:evals"]) if spec.key.path[0] == "clips" else shown

    def execute(self, home, drop, trajectories):
        return super().execute(home, drop, [record | {"task_id": "renamed"} for record in trajectories])

@dg.definitions
def defs() -> dg.Definitions:
    files = dg.FilesystemIOManager(base_dir=str(Path(__file__).parent / "stored"))
    return dg.Definitions(assets=[agent_runs], resources={"files": files})
"""


def with_agent(project: Path) -> Path:
    (project / "src" / "team" / "defs" / "own" / "agent.py").write_text(AGENT)
    return project


def test_what_an_asset_of_the_team_produces_is_evaluated(project: Path) -> None:
    folder = component(with_agent(project), home="home", inputs=[{"asset": "my_project/agent_runs"}])
    definitions = loaded(project)
    graph = definitions.resolve_asset_graph()
    dropped, runs = dg.AssetKey(["dropped", "agent_runs_dropped"]), dg.AssetKey(["my_project", "agent_runs"])
    assert graph.get(dropped).parent_keys == {runs}
    assert dropped in graph.get_ancestor_asset_keys(dg.AssetKey("evaluation_report"))
    with dg.DagsterInstance.ephemeral() as instance:
        both = definitions.resolve_implicit_global_asset_job_def()
        assert both.execute_in_process(instance=instance, asset_selection=[runs, dropped]).success
        assert instance.get_dynamic_partitions("drops") == ["agent_runs"], "nobody needs to wait for the sensor"
        job = definitions.resolve_job_def("evaluate")
        assert job.execute_in_process(partition_key="agent_runs", instance=instance).success
    assert evaluation_assets.load_home(folder / "home").drops == ["agent_runs"]


def test_a_file_that_an_asset_of_the_team_writes_is_evaluated(project: Path) -> None:
    folder = component(project, home="home", inputs=[{"asset": "customers", "path": "runs.jsonl", "drop": "today"}])
    shutil.copy(SAMPLE, folder / "runs.jsonl")
    job = loaded(project).resolve_implicit_global_asset_job_def()
    asked = [dg.AssetKey(["dropped", "today_dropped"])]
    assert job.execute_in_process(asset_selection=asked).success
    assert (folder / "home" / "drops" / "today.jsonl").read_bytes() == SAMPLE.read_bytes()


def test_the_first_drop_of_an_input_makes_no_other_stale(project: Path) -> None:
    folder = component(project, home="home", inputs=[{"asset": "customers", "path": "runs.jsonl", "drop": "today"}])
    definitions = loaded(project)
    for file in (folder / "runs.jsonl", folder / "home" / "drops" / "before.jsonl"):
        shutil.copy(SAMPLE, file)
    report = dg.AssetKey("evaluation_report")
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("drops", ["before"])
        evaluate = definitions.resolve_job_def("evaluate")
        assert evaluate.execute_in_process(partition_key="before", instance=instance).success
        job = definitions.resolve_implicit_global_asset_job_def()
        dropped = [dg.AssetKey(["dropped", "today_dropped"])]
        assert job.execute_in_process(asset_selection=dropped, instance=instance).success
        again = job.execute_in_process(partition_key="before", asset_selection=[report], instance=instance)
    (evaluated,) = (each for each in again.get_asset_check_evaluations() if each.check_name == "evaluated")
    assert evaluated.passed, evaluated.description


def test_a_drop_of_a_suite_may_have_any_name_that_drops_have(project: Path) -> None:
    drop = "support/2026-01-02 03:00"
    folder = component(project, home="home", inputs=[{"asset": "customers", "path": "runs.jsonl", "drop": drop}])
    shutil.copy(SAMPLE, folder / "runs.jsonl")
    job = loaded(project).resolve_implicit_global_asset_job_def()
    asked = [dg.AssetKey(["dropped", "support", "2026-01-02_03_00_dropped"])]
    assert job.execute_in_process(asset_selection=asked).success
    assert (folder / "home" / "drops" / f"{drop}.jsonl").read_bytes() == SAMPLE.read_bytes()


DAILY = """
from pathlib import Path

import dagster as dg

@dg.asset(partitions_def=dg.DailyPartitionsDefinition("2026-01-01"), io_manager_key="by_day")
def daily_runs(context: dg.AssetExecutionContext) -> list[dict[str, str]]:
    return [{"task_id": context.partition_key, "task_description": "2 + 2?", "raw_response": "<answer>4</answer>"}]

@dg.definitions
def defs() -> dg.Definitions:
    by_day = dg.FilesystemIOManager(base_dir=str(Path(__file__).parent / "stored"))
    return dg.Definitions(assets=[daily_runs], resources={"by_day": by_day})
"""


def test_dynamic_partitions_of_the_team_keep_their_name_below_a_prefix(tmp_path: Path) -> None:
    """In YAML, Dagster has no dynamic partitions; a component that is made in Python may be given them."""
    customers = dg.DynamicPartitionsDefinition(name="customers")
    given = EvaluationInput(asset=dg.AssetKey("runs"), partitions_def=customers)
    made = EvaluationComponent(
        home=str(tmp_path / "home"),
        inputs=[given],
        translation=lambda spec, _: spec.replace_attributes(key=spec.key.with_prefix("evals")),
    ).build_defs(dg.ComponentTree.for_test().load_context)
    dropped = made.resolve_asset_graph().get(dg.AssetKey(["evals", "dropped", "runs_dropped"]))
    assert dropped.partitions_def == customers


def test_each_partition_of_an_asset_of_the_team_is_a_drop(project: Path) -> None:
    (project / "src" / "team" / "defs" / "own" / "daily.py").write_text(DAILY)
    days = {"type": "daily", "start_date": "2026-01-01"}
    folder = component(project, home="home", inputs=[{"asset": "daily_runs", "partitions_def": days}])
    job = loaded(project).resolve_implicit_global_asset_job_def()
    both = [dg.AssetKey("daily_runs"), dg.AssetKey(["dropped", "daily_runs_dropped"])]
    with dg.DagsterInstance.ephemeral() as instance:
        for day in ("2026-01-01", "2026-01-03"):
            assert job.execute_in_process(partition_key=day, asset_selection=both, instance=instance).success
    written = {path.stem: json.loads(path.read_text())["task_id"] for path in (folder / "home").rglob("*.jsonl")}
    assert written == {"2026-01-01": "2026-01-01", "2026-01-03": "2026-01-03"}
    assert (folder / "home" / "drops" / "daily_runs" / "2026-01-03.jsonl").exists()


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[UPath]:
    """A bucket in an S3-compatible server."""
    with s3_server() as port:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "any")
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        UPath("s3://logs").fs.mkdir("logs")
        yield UPath("s3://logs")
        fsspec.get_filesystem_class("s3").clear_instance_cache()


def daily_drops(project: Path, path: str) -> dict[str, str]:
    """The text of each file below the drops of two days, which an asset has written to a path with the day."""
    (project / "src" / "team" / "defs" / "own" / "daily.py").write_text(DAILY)
    days = {"type": "daily", "start_date": "2026-01-01"}
    folder = component(project, home="home", inputs=[{"asset": "daily_runs", "path": path, "partitions_def": days}])
    job = loaded(project).resolve_implicit_global_asset_job_def()
    dropped = [dg.AssetKey(["dropped", "daily_runs_dropped"])]
    with dg.DagsterInstance.ephemeral() as instance:
        for day in DAYS:
            assert job.execute_in_process(partition_key=day, asset_selection=dropped, instance=instance).success
        assert set(instance.get_dynamic_partitions("drops")) == {f"daily_runs/{day}" for day in DAYS}
    drops = folder / "home" / "drops" / "daily_runs"
    return {file.relative_to(drops).as_posix(): file.read_text() for file in sorted(drops.rglob("[!.]*.jsonl"))}


DAYS = ("2026-01-01", "2026-01-02")


def test_the_file_of_each_partition_is_a_drop_of_its_own(project: Path, tmp_path: Path) -> None:
    for day in DAYS:
        (tmp_path / f"runs-{day}.jsonl").write_text(json.dumps(RECORDS[0] | {"task_id": day}))
    written = daily_drops(project, str(tmp_path / "runs-{partition_key}.jsonl"))
    assert {name: json.loads(text)["task_id"] for name, text in written.items()} == {
        f"{day}.jsonl": day for day in DAYS
    }


def test_the_folder_of_each_day_in_a_bucket_is_a_drop_of_its_own(project: Path, bucket: UPath) -> None:
    for day, hours in zip(DAYS, (("03", "04"), ("05",)), strict=True):
        for hour in hours:
            (bucket / "runs" / day / f"{hour}.jsonl").write_text(json.dumps(RECORDS[0] | {"task_id": f"{day} {hour}"}))
    written = daily_drops(project, "s3://logs/runs/{partition_key}")
    assert {name: json.loads(text)["task_id"] for name, text in written.items()} == {
        "2026-01-01/03.jsonl": "2026-01-01 03",
        "2026-01-01/04.jsonl": "2026-01-01 04",
        "2026-01-02/05.jsonl": "2026-01-02 05",
    }


def test_one_file_for_all_partitions_is_refused_when_definitions_load(project: Path) -> None:
    days = {"type": "daily", "start_date": "2026-01-01"}
    component(project, home="home", inputs=[{"asset": "customers", "path": "runs.jsonl", "partitions_def": days}])
    with pytest.raises(Exception, match="EvaluationComponent") as problem:
        loaded(project)
    told = "".join(traceback.format_exception(problem.value))
    assert "runs.jsonl; write {partition_key} where the path has the key of the partition" in told


def test_partitions_of_an_unknown_type_are_told_with_the_types_that_there_are(project: Path) -> None:
    days = {"type": "dayly", "start_date": "2026-01-01"}
    component(project, home="home", inputs=[{"asset": "customers", "partitions_def": days}])
    with pytest.raises(Exception, match="EvaluationComponent") as problem:
        loaded(project)
    told = "".join(traceback.format_exception(problem.value))
    assert "tags: 'daily', 'hourly', 'weekly', 'time_window', 'static'" in told
    assert "cron_schedule" not in told, "what only other types need"


def test_an_asset_may_give_the_url_of_a_file_that_changes(tmp_path: Path) -> None:
    home, file = Installation.at(str(tmp_path)), UPath("memory://asset-of-a-team/runs.jsonl")
    for given, task in ((file, "t1"), (str(file), "t2")):
        file.write_text(json.dumps(RECORDS[0] | {"task_id": task}))
        assert write_drop(home, "runs", given) == "runs"
        assert json.loads((tmp_path / "drops" / "runs.jsonl").read_text())["task_id"] == task


@pytest.mark.parametrize("place", ["{tmp_path}/2026-01-09", "memory://asset-of-a-team/2026-01-09"])
def test_a_partition_without_a_file_is_an_error_that_names_it(place: str, tmp_path: Path) -> None:
    missing = place.format(tmp_path=tmp_path)
    with pytest.raises(InvalidDrop, match=rf"^drop 'runs': there is no file or folder {missing}$"):
        write_drop(Installation.at(str(tmp_path / "home")), "runs", missing)


RECORDS = [
    {"task_id": "t1", "messages": [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "4"}]},
    {"task_id": "t2", "messages": [{"role": "user", "content": "1 + 1?"}]},
]


@pytest.mark.parametrize("table", [pd.DataFrame, pa.Table.from_pylist])
def test_a_table_is_a_drop_of_its_rows(table: Callable[[Any], Any], tmp_path: Path) -> None:
    home = Installation.at(str(tmp_path))
    assert write_drop(home, "rows", table([record | {"at": NIGHT} for record in RECORDS])) == "rows"
    written = [json.loads(line) for line in (tmp_path / "drops" / "rows.jsonl").read_text().splitlines()]
    assert [{key: record[key] for key in ("task_id", "messages")} for record in written] == RECORDS
    assert all(record["at"].startswith("2026-01-02") for record in written)


def test_missing_values_of_a_table_are_null(tmp_path: Path) -> None:
    rows = {"task_id": ["t1", "t2"], "at": pd.to_datetime(["2026-01-02", None]), "success": [True, pd.NA]}
    write_drop(Installation.at(str(tmp_path)), "rows", pd.DataFrame(rows))
    (_, last) = (tmp_path / "drops" / "rows.jsonl").read_text().splitlines()
    assert json.loads(last) == {"task_id": "t2", "at": None, "success": None}


def test_records_replace_the_file_that_the_asset_gave_before_and_a_file_the_records(tmp_path: Path) -> None:
    home = Installation.at(str(tmp_path / "home"))
    (tmp_path / "runs.json").write_text(json.dumps(RECORDS[0]))
    for given in (tmp_path / "runs.json", RECORDS, tmp_path / "runs.json"):
        assert write_drop(home, "runs", given) == "runs"
        (file,) = find(home.drops, "runs").files
        assert file.suffix == (".jsonl" if given is RECORDS else ".json")


@pytest.mark.parametrize("partition", ["../../elsewhere", ".hidden", "a//b"])
def test_records_are_written_to_no_place_where_no_drop_is_found(partition: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidDrop, match="a drop's name, and each part of it between slashes, must not"):
        write_drop(Installation.at(str(tmp_path / "home")), f"daily/{partition}", RECORDS)
    assert not list(tmp_path.rglob("*.jsonl"))


@pytest.mark.parametrize("value", [b"x", {"task_id": "t1"}, ["t1"], 7])
def test_a_value_that_is_no_trajectories_is_refused(value: object, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="neither a list of records, a table nor the path of a file"):
        write_drop(Installation.at(str(tmp_path)), "d", value)
    assert not list(tmp_path.rglob("*.jsonl"))


def test_an_object_in_a_record_is_refused_and_not_written_as_its_name(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        write_drop(Installation.at(str(tmp_path)), "d", [{"task_id": "t1", "client": object()}])
    assert not list(tmp_path.rglob("*.jsonl"))


def test_the_schema_describes_each_attribute() -> None:
    schema = EvaluationComponent.model().model_json_schema()
    for fields in (schema["properties"], schema["$defs"]["EvaluationInputModel"]["properties"]):
        assert [name for name, field in fields.items() if not field.get("description")] == []


def test_groups_tags_and_owners_are_the_teams_own_and_jobs_stay_whole(project: Path) -> None:
    folder = component(
        with_agent(project),
        home="home",
        inputs=[{"asset": "my_project/agent_runs"}],
        translation={"group_name": "evaluation", "tags": {"was": "{{ spec.group_name }}"}},
    )
    written = yaml.safe_load((folder / "defs.yaml").read_text())
    written |= {
        "type": "team.defs.own.agent.Ours",
        "post_processing": {"assets": [{"target": "key:labels", "attributes": {"owners": ["ada@example.com"]}}]},
    }
    (folder / "defs.yaml").write_text(yaml.safe_dump(written))
    definitions = loaded(project)
    specs = {spec.key.to_user_string(): spec for spec in definitions.resolve_all_asset_specs()}
    assert {spec.group_name for key, spec in specs.items() if spec.key not in OWN and "my_project" not in key} == {
        "evaluation"
    }
    assert specs["clips"].tags["was"] == INGEST
    assert (specs["clips"].owners, specs["labels"].owners) == (["team:evals"], ["ada@example.com"])
    evaluated = definitions.resolve_job_def("evaluate").asset_layer.selected_asset_keys
    assert dg.AssetKey("evaluation_report") in evaluated and not evaluated & OWN
    runs, dropped = dg.AssetKey(["my_project", "agent_runs"]), dg.AssetKey(["dropped", "agent_runs_dropped"])
    job = definitions.resolve_implicit_global_asset_job_def()
    assert job.execute_in_process(asset_selection=[runs, dropped]).success
    assert '"renamed"' in (folder / "home" / "drops" / "agent_runs.jsonl").read_text()


def test_conditions_of_the_team_start_evaluations_and_promote_no_baseline(project: Path) -> None:
    eager = "{{ dg.AutomationCondition.eager() }}"
    folder = component(project, home="home", translation={"automation_condition": eager})
    definitions, drop = loaded(project), folder / "home" / "drops" / "assistants.jsonl"
    with dg.DagsterInstance.ephemeral() as instance:
        before = dg.evaluate_automation_conditions(definitions, instance)
        shutil.copy(SAMPLE, drop)
        instance.add_dynamic_partitions("drops", ["assistants"])
        ticked = dg.evaluate_automation_conditions(definitions, instance, cursor=before.cursor)
        drops_of = {key: ticked.get_requested_partitions(dg.AssetKey(key)) for key in ("clips", "baseline")}
        assert drops_of == {"clips": {"assistants"}, "baseline": set()}
        clips = [dg.AssetKey(key) for key in ("raw_trajectories", "preprocessed_trajectories", "clips")]
        job = definitions.resolve_implicit_global_asset_job_def()
        assert job.execute_in_process(partition_key="assistants", asset_selection=clips, instance=instance).success
    conditions = {spec.key.path[0]: spec.automation_condition for spec in definitions.resolve_all_asset_specs()}
    assert conditions["baseline"] is None and conditions["task_metrics"] is not None


@pytest.mark.slow
def test_all_keys_begin_with_the_prefix_of_the_project(project: Path) -> None:
    """Jobs, sensors, schedules, checks, tables over all drops and staleness know the keys as they are shown."""
    folder = component(
        with_agent(project),
        home="home",
        inputs=[{"asset": "my_project/agent_runs"}],
        translation={"key_prefix": ["evals", "labels"]},
    )
    home = folder / "home"
    definitions = loaded(project)
    own = {*OWN, dg.AssetKey(["my_project", "agent_runs"]), dg.AssetKey("evaluation_report")}  # a dep of `weekly_mail`
    keys = definitions.resolve_asset_graph().get_all_asset_keys()
    assert {key.path[0] for key in keys - own} == {"evals"} and keys >= own
    shutil.copy(SAMPLE, home / "drops" / "assistants.jsonl")
    report = dg.AssetKey(["evals", "labels", "evaluation_report"])
    with dg.DagsterInstance.local_temp() as instance:
        assert asked_for(definitions, instance) == ["assistants"]
        run(definitions, instance, "evaluate", "assistants")
        assert instance.get_dynamic_partitions("evals/labels/drops") == ["assistants"]
        assert instance.get_dynamic_partitions("drops") == [], "those of another installation on the instance"
        graph = definitions.resolve_asset_graph()
        partitioned = [*graph.asset_nodes, *map(graph.get, graph.asset_check_keys)]
        assert {each.partitions_def for each in partitioned if each.key.to_user_string().startswith("evals")} == {
            dg.DynamicPartitionsDefinition(name="evals/labels/drops"),
            None,
        }
        made = instance.fetch_materializations(dg.AssetRecordsFilter(asset_key=report), limit=1).records
        assert [record.partition_key for record in made] == ["assistants"]
        checks = definitions.resolve_asset_graph().asset_check_keys
        assert checks and {key.asset_key.path[0] for key in checks} == {"evals"}
        assert asked_for(definitions, instance) == []
        run(definitions, instance, "promote_baseline", "assistants")
        run(definitions, instance, GATE, "assistants")
        run(definitions, instance, "overview")
        held = {key.to_user_string() for key in instance.get_asset_keys()}
        assert held and all(key.startswith("evals/labels/") for key in held)
        assert {f"evals/labels/{name}" for name in ("failure_groups", "labels", "baseline", "clip_scores")} <= held
    assert (home / "lake" / "failure_groups.parquet").exists() and (home / "lake" / "labels.parquet").exists()


def asked_for(definitions: dg.Definitions, instance: dg.DagsterInstance) -> list[str | None]:
    """The drops that the sensor asks for once they are at rest, and the schedule as stale: the same."""
    home = {"home": (definitions.resources or {})["home"]}
    cursor, found = None, []
    for _ in range(2):
        with dg.build_sensor_context(instance=instance, cursor=cursor, resources=home) as context:
            asked = definitions.resolve_sensor_def("new_drops")(context)
        assert isinstance(asked, dg.SensorResult | dg.SkipReason)
        cursor = context.cursor if isinstance(asked, dg.SkipReason) else asked.cursor
        found = [] if isinstance(asked, dg.SkipReason) else asked.run_requests or []
    with dg.build_schedule_context(instance=instance, resources=home, scheduled_execution_time=NIGHT) as context:
        stale = definitions.resolve_schedule_def("nightly_stale_drops")(context)
        assert isinstance(stale, Iterator)
        nightly = [each.partition_key for each in stale if isinstance(each, dg.RunRequest)]
    assert [request.partition_key for request in found] == nightly
    return nightly


def run(definitions: dg.Definitions, instance: dg.DagsterInstance, job: str, drop: str | None = None) -> None:
    chosen = definitions.resolve_job_def(job)
    if job == GATE and drop:  # it has only checks, and no partitions in which Dagster could find the key
        done = chosen.execute_in_process(tags={PARTITION_TAG: drop}, instance=instance)
    else:
        done = chosen.execute_in_process(partition_key=drop, instance=instance)
    assert done.success


def test_a_new_judge_needs_a_reload_alone(project: Path) -> None:
    folder = component(project, home="home")
    loaded(project)
    (folder / "home" / "panel.yaml").write_text("judges: [{name: strict, provider: rules}]")
    keys = {key.to_user_string() for key in loaded(project).resolve_asset_graph().get_all_asset_keys()}
    assert "clip_verdicts/strict_clip_verdicts" in keys


@pytest.mark.slow
def test_a_running_webserver_shows_a_new_judge_once_definitions_are_reloaded(project: Path) -> None:
    folder = component(project, home="home")
    (project / "src" / "team" / "definitions.py").write_text(
        "from pathlib import Path\nimport dagster as dg\n\n@dg.definitions\ndef defs() -> dg.Definitions:\n"
        "    return dg.load_from_defs_folder(path_within_project=Path(__file__).parent)\n"
    )
    port = free_port()
    command = [sys.executable, "-m", "dagster_webserver", "-m", "team.definitions", "-h", "127.0.0.1", "-p", str(port)]
    folders = {"PYTHONPATH": str(project / "src"), "DAGSTER_HOME": str(project)}
    server = subprocess.Popen(command, cwd=project, env=os.environ | folders, start_new_session=True)
    try:
        before = wait_for(lambda: asset_keys(port), 120)
        assert "clip_verdicts/rules_clip_verdicts" in before
        (folder / "home" / "panel.yaml").write_text("judges: [{name: strict, provider: rules}]")
        assert asset_keys(port) == before
        asked(port, 'mutation {reloadRepositoryLocation(repositoryLocationName: "team.definitions") {__typename}}')
        assert "clip_verdicts/strict_clip_verdicts" in (asset_keys(port) or set())
        assert server.poll() is None
    finally:
        server.terminate()
        server.wait(60)


def asked(port: int, query: str) -> Any:
    body = json.dumps({"query": query}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/graphql", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["data"]


def asset_keys(port: int) -> set[str] | None:
    """The keys of all assets that the webserver knows; `None` while it is not up."""
    try:
        found = asked(port, "{assetNodes {assetKey {path}}}")
    except OSError:
        return None
    return {"/".join(node["assetKey"]["path"]) for node in found["assetNodes"]} or None


def test_dg_lists_the_component() -> None:
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    (module,) = points["dagster_dg_cli.registry_modules"].values()
    assert importlib.metadata.EntryPoint("x", module, "dagster_dg_cli.registry_modules").load() is evaluation_assets
    found = [key.to_typename() for key in discover_package_objects([module])]
    assert found == ["evaluation_assets.EvaluationComponent"]


def test_no_stream_is_left_to_the_io_manager_of_the_team(tmp_path: Path) -> None:
    judges = [{"name": "rules", "provider": "rules"}, {"name": "haiku", "provider": "anthropic"}]
    made = build_definitions(Installation.at(str(tmp_path)), panel_of({"judges": judges}, "panel"))
    stored: set[str] = set()
    for asset in made.assets or ():
        assert isinstance(asset, dg.AssetsDefinition)
        types = {output.name: output.dagster_type for output in asset.op.output_defs}
        for output, key in asset.keys_by_output_name.items():
            if key.path[0] in TABLES and not types[output].is_nothing:
                assert asset.get_io_manager_key_for_asset_key(key) == TABLES_IO, key
                stored.add(key.path[0])
    assert {"drift", "labels", "leaderboard", "judge_cards"} <= stored
