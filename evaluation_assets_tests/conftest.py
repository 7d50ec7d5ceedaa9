"""An installation in a folder of its own, and runs in it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import orjson
import pytest

from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions
from evaluation_assets_tests.model_server import ModelServer, model_server

KEY = "sk-secret-key-for-tests"
SAMPLE = Path(__file__).parent.parent / "examples" / "drops" / "assistants.jsonl"


LONGEST = (
    "test_many_machines.py",
    "test_damaged_storage.py",
    "test_claims_between_machines.py",
    "test_model_judges.py",
    "test_walkthroughs.py",
    "test_viewer.py",
    "test_ui.py",
    "test_terminal.py",
    "test_journal.py",
    "test_big_drops.py",
)
"""Files with few tests that take minutes. They come first, so that no worker is left with one of them at the end."""


def pytest_xdist_auto_num_workers() -> int:
    """One worker more than cores: many tests wait for processes that they started."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; with `--no-loadscope-reorder`, pytest-xdist keeps the order of files."""
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))


@dataclass
class Workspace:
    """A home, its definitions, and an instance that forgets."""

    home: Installation
    definitions: dg.Definitions
    instance: dg.DagsterInstance

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


@pytest.fixture
def installation(tmp_path: Path, instance: dg.DagsterInstance) -> Workspace:
    home = Installation.at(str(tmp_path / "home"))
    return Workspace(home, build_definitions(home, Panel()), instance)


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Workspace]:
    """An installation whose instance lies on disk: a schedule opens it by itself."""
    home = Installation.at(str(tmp_path / "home"))
    (tmp_path / "dagster").mkdir()
    with dg.DagsterInstance.local_temp(str(tmp_path / "dagster")) as instance:
        yield Workspace(home, build_definitions(home, Panel()), instance)


@pytest.fixture(scope="module")
def running() -> Iterator[ModelServer]:
    """A model server for all tests of a module."""
    with model_server() as started:
        yield started


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A model server whose key is in the environment."""
    monkeypatch.setenv("TEST_KEY", KEY)
    with model_server() as started:
        yield started


def command(*arguments: str | Path, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
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
