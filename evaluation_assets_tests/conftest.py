"""An installation in a folder of its own, and runs in it."""

import gc
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import orjson
import pytest
from hypothesis import HealthCheck, settings

from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions
from evaluation_assets_tests import postgres
from evaluation_assets_tests.environment import clear
from evaluation_assets_tests.forked_commands import forked_command
from evaluation_assets_tests.model_server import ModelServer, model_server
from evaluation_assets_tests.prepared_databases import copy_records, use_prepared_databases

KEY = "sk-secret-key-for-tests"
SAMPLE = Path(__file__).parent.parent / "examples" / "drops" / "assistants.jsonl"

LONGEST = (
    "test_many_machines.py",
    "test_killed_services.py",
    "test_ui.py",
    "test_model_judges.py",
    "test_terminal.py",
    "test_viewer.py",
    "test_bridges.py",
    "test_lost_runs.py",
    "test_walkthroughs.py",
    "test_backfill.py",
    "test_canaries.py",
    "test_store_outage.py",
    "test_stopping_early.py",
    "test_proxy.py",
    "test_gate_error_rates.py",
    "test_gate.py",
    "test_report_links.py",
    "test_big_drops.py",
    "test_every_format.py",
    "test_regression.py",
    "test_sensors.py",
    "test_damaged_storage.py",
    "test_model_judge.py",
    "test_main.py",
    "test_evaluating.py",
    "test_killed_at_the_start.py",
    "test_budget.py",
    "test_shared_limits.py",
    "test_figures.py",
)
"""Files that take longer than 45 seconds. They come first, so that no worker is left with one of them at the end."""

settings.register_profile(
    "fast",
    deadline=None,
    database=None,
    derandomize="CI" in os.environ,
    max_examples=10,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thorough", settings.get_profile("fast"), max_examples=20)
settings.load_profile("fast")
"""Without deadlines and without files in the checkout; in CI the examples are always the same, so that a change is
judged by what it changed. `make test-slow` runs the profile `thorough`."""


def pytest_configure() -> None:
    """Run all tests in the same environment, whatever the caller's shell sets, with prepared files of Dagster."""
    clear(os.environ)
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    use_prepared_databases()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Search for no garbage among what is imported: it stays, and each search through it takes a second of CPU."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """More than there are cores: tests wait for services that start, end, or notice that others did; slow ones most."""
    return (os.cpu_count() or 1) + (2 if config.option.markexpr.startswith("slow") else 1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; with `--no-loadscope-reorder`, pytest-xdist keeps the order of files."""
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))


@dataclass
class Workspace:
    """A home, its definitions, and an instance that forgets."""

    home: Installation
    definitions: dg.Definitions
    instance: dg.DagsterInstance

    def copy_to(self, home: Path, instance: dg.DagsterInstance) -> None:
        """Copy the files of the home, and record in an instance in memory what this one has recorded."""
        shutil.copytree(self.home.root.path, home)
        copy_records(self.instance, instance)

    def drop(self, key: str, content: bytes) -> Path:
        """Put a file into the drops folder."""
        path = Path(self.home.drops.path) / f"{key}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def run(self, key: str, job: str = "evaluate", **config: object) -> dg.ExecuteInProcessResult:
        """Run a job on a drop."""
        self.instance.add_dynamic_partitions("drops", [key])
        return self.definitions.resolve_job_def(job).execute_in_process(
            partition_key=key, instance=self.instance, raise_on_error=False, run_config=dict(config)
        )

    def table(self, drop: str, *path: str) -> Stored:
        """A table of a drop."""
        return self.home.table(drop, *path)

    def rows(self, drop: str, *path: str) -> list[dict]:
        """All rows of a table."""
        return list(self.table(drop, *path).rows())


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as made:
        yield made


def workspace(home: Path, instance: dg.DagsterInstance) -> Workspace:
    """An installation without a panel."""
    at = Installation.at(str(home))
    return Workspace(at, build_definitions(at, Panel()), instance)


@pytest.fixture
def installation(tmp_path: Path, instance: dg.DagsterInstance) -> Workspace:
    return workspace(tmp_path / "home", instance)


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Workspace]:
    """An installation whose instance lies on disk: a schedule opens it by itself."""
    (tmp_path / "dagster").mkdir()
    with stored_instance(tmp_path / "dagster") as instance:
        yield workspace(tmp_path / "home", instance)


def stored_instance(folder: Path) -> dg.DagsterInstance:
    """The instance of a folder, in the storage that installations have."""
    module = "evaluation_assets.resources.sqlite_storage"
    storage = {"module": module, "class": "OpenSqliteStorage", "config": {"base_dir": str(folder)}}
    return dg.DagsterInstance.local_temp(str(folder), overrides={"storage": {"custom": storage}})


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL server with an empty database."""
    with postgres.server() as url:
        yield url


@pytest.fixture(scope="session")
def started_server() -> Iterator[ModelServer]:
    """The model server of all tests of a process."""
    with model_server() as started:
        yield started


@pytest.fixture
def server(started_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> ModelServer:
    """A model server without a script, which nobody has asked anything; its key is in the environment."""
    monkeypatch.setenv("TEST_KEY", KEY)
    started_server.script([])
    started_server.reset()
    return started_server


def command(*arguments: str | Path, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `evaluation-assets`, in a process that has imported it."""
    return forked_command([*map(str, arguments)], os.environ | {"EVALUATION_HOME": str(home)} | environment)


def command_of_its_own(*arguments: str | Path, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m evaluation_assets.cli`, in a process that starts as those of users do."""
    return subprocess.run(
        [sys.executable, "-m", "evaluation_assets.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"EVALUATION_HOME": str(home)} | environment,
    )


def failed_checks(result: dg.ExecuteInProcessResult) -> set[str]:
    return {check.check_name for check in result.get_asset_check_evaluations() if not check.passed}


def materialization(result: dg.ExecuteInProcessResult, *path: str) -> dg.AssetMaterialization:
    """What a run recorded of the one asset with this key."""
    events = [event.materialization for event in result.get_asset_materialization_events() if event.asset_key]
    (found,) = [each for each in events if list(each.asset_key.path) == list(path)]
    return found


def record(task_id: str = "t1", text: str = "<think>why</think><answer>42</answer>", **fields: object) -> bytes:
    """One line of a drop."""
    data = {"task_id": task_id, "task_description": "What is six times seven?", "raw_response": text} | fields
    return orjson.dumps(data, option=orjson.OPT_APPEND_NEWLINE)


def call(query: str, result: str, server: str = "browser_use", tool: str = "browser_search_google") -> str:
    """The text of one tool call with its result."""
    return (
        f"<think>look for {query}</think>\n<{server}><{tool}>{query}</{tool}></{server}>\n"
        f"<execute_tools />\n<result>{result}</result>\n"
    )
