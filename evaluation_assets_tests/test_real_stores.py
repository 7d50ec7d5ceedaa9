"""From a run that is recorded in a real trace store to its scores: sensor, drop, evaluation."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from evaluation_assets.core.drops import find, scan
from evaluation_assets.core.installation import Installation
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.definitions import build_definitions
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets_tests.conftest import Workspace
from evaluation_assets_tests.test_ui import wait_for
from evaluation_assets_tests.trace_servers import mlflow_server, phoenix_server

RUNS = Path(__file__).parent / "recorded_runs"
STORED_SECONDS = 60


@dataclass(frozen=True)
class Kind:
    """A trace store: its server, the agent that records a run in it, and the settings of a source."""

    server: Callable[[], AbstractContextManager[str]]
    agent: str
    source: Callable[[str], dict[str, Any]]


KINDS = {
    "mlflow": Kind(
        mlflow_server,
        "mlflow_agent.py",
        lambda url: {"type": "mlflow", "tracking_uri": url, "experiments": ["support"]},
    ),
    "phoenix": Kind(
        phoenix_server,
        "phoenix_agent.py",
        lambda url: {"type": "phoenix", "url": url, "project": "support"},
    ),
}


@dataclass
class Store:
    """A running server, and an installation with a source that watches it."""

    url: str
    kind: Kind
    workspace: Workspace
    cursor: str | None = None

    def record(self) -> dict[str, str]:
        """Run the agent once; the IDs of its trace and of the span of its tool call."""
        done = subprocess.run(
            [sys.executable, str(RUNS / self.kind.agent), self.url], capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)

    def tick(self) -> str:
        """One tick of the source's sensor, as the daemon makes it; what it says."""
        sensor = self.workspace.definitions.resolve_sensor_def("source_prod")
        with dg.build_sensor_context(
            instance=self.workspace.instance,
            cursor=self.cursor,
            resources={"home": HomeResource(url=str(self.workspace.home.root))},
        ) as context:
            data = sensor.evaluate_tick(context)
        self.cursor = data.cursor
        return data.skip_message or ""

    def drop_with(self, traces: int) -> str:
        """Tick until the drops have so many traces, since servers store in the background; the key of the drop."""
        made = 0

        def complete() -> str | None:
            nonlocal made
            made += int(self.tick().split()[0])
            return next(iter(scan(self.workspace.home.drops).drops)) if made == traces else None

        return wait_for(complete, STORED_SECONDS)


@pytest.fixture(params=list(KINDS))
def store(request: pytest.FixtureRequest, tmp_path: Path, instance: dg.DagsterInstance) -> Iterator[Store]:
    kind = KINDS[request.param]
    with kind.server() as url:
        home = Installation.at(str(tmp_path / "home"))
        home.root.mkdir()
        settings = kind.source(url) | {"quiet_minutes": 0, "agent": "support"}
        home.sources_file.write_text(yaml.safe_dump({"sources": {"prod": settings}}))
        yield Store(url, kind, Workspace(home, build_definitions(home, Panel()), instance))


def test_a_recorded_run_is_evaluated(store: Store) -> None:
    """Each store is started once: what is asserted of it is in one test."""
    recorded = [store.record(), store.record()]
    key = store.drop_with(traces=2)
    assert store.tick() == "0 traces into 0 drops"
    sidecar = find(store.workspace.home.drops, key).sidecar()
    assert (sidecar.suite, sidecar.agent, sidecar.model_extra) == ("prod", "support", {"source": "prod"})

    assert store.workspace.run(key).success
    runs = store.workspace.rows(key, "preprocessed_trajectories")
    assert [row["trace_id"] for row in runs] == [one["trace"] for one in recorded]
    assert {row["final_answer"] for row in runs} == {"Order A-17 has been shipped."}
    calls = {
        (row["trajectory_id"], row["clip_index"]): (row["tool_name"], row["trace_id"], row["span_id"])
        for row in store.workspace.rows(key, "clips")
        if not row["is_final"]
    }
    assert sorted(calls.values()) == sorted(("look_up_order", one["trace"], one["span"]) for one in recorded)
    judged = {(row["trajectory_id"], row["clip_index"]) for row in store.workspace.rows(key, "clip_verdicts", "rules")}
    assert calls.keys() <= judged
