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
import httpx
import pytest
import yaml

from evaluation_assets.core.intake.drops import find, scan
from evaluation_assets.core.intake.sources.store import StoreError
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
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
    source: Callable[[str, str], dict[str, Any]]
    annotate: Callable[["Store", str], None]
    sink: Callable[[str, str], dict[str, Any]]
    scores: Callable[["Store", dict[str, str]], list[tuple[str, str | None, Any]]]


def annotate_in_mlflow(store: "Store", trace: str) -> None:
    import mlflow
    from mlflow.entities import AssessmentSource

    mlflow.set_tracking_uri(store.url)
    person = AssessmentSource(source_type="HUMAN", source_id="me")
    mlflow.log_feedback(trace_id=trace, name="helpful", value=True, source=person, rationale="It says where.")


def annotate_in_phoenix(store: "Store", trace: str) -> None:
    from phoenix.client import Client

    def annotated() -> bool | None:
        try:
            Client(base_url=store.url).traces.add_trace_annotation(
                trace_id=trace, annotation_name="helpful", label="yes", explanation="It says where.", sync=True
            )
        except httpx.HTTPStatusError:  # the trace is stored in the background
            return None
        return True

    wait_for(annotated, STORED_SECONDS)


def scores_in_mlflow(store: "Store", recorded: dict[str, str]) -> list[tuple[str, str | None, Any]]:
    import mlflow

    mlflow.set_tracking_uri(store.url)
    found = mlflow.MlflowClient().get_trace(recorded["trace"]).info.assessments
    return [(each.name, each.span_id, each.feedback.value) for each in found if each.feedback is not None]


def scores_in_phoenix(store: "Store", recorded: dict[str, str]) -> list[tuple[str, str | None, Any]]:
    found: list[tuple[str, str | None, Any]] = []
    for kind in ("trace", "span"):
        address = f"{store.url}/v1/projects/{store.project}/{kind}_annotations"
        reply = httpx.get(address, params={f"{kind}_ids": recorded[kind]}).raise_for_status()
        found += [(each["name"], each.get("span_id"), each["result"]["score"]) for each in reply.json()["data"]]
    return found


KINDS = {
    "mlflow": Kind(
        mlflow_server,
        "mlflow_agent.py",
        lambda url, project: {"type": "mlflow", "tracking_uri": url, "experiments": [project]},
        annotate_in_mlflow,
        lambda url, _project: {"type": "mlflow", "tracking_uri": url},
        scores_in_mlflow,
    ),
    "phoenix": Kind(
        phoenix_server,
        "phoenix_agent.py",
        lambda url, project: {"type": "phoenix", "url": url, "project": project},
        annotate_in_phoenix,
        lambda url, project: {"type": "phoenix", "url": url, "project": project},
        scores_in_phoenix,
    ),
}


@dataclass
class Store:
    """A running server with a project of its own, and an installation with a source that watches it."""

    url: str
    project: str
    kind: Kind
    workspace: Workspace
    cursor: str | None = None

    def record(self) -> dict[str, str]:
        """Run the agent once; the IDs of its trace and of the span of its tool call."""
        done = subprocess.run(
            [sys.executable, str(RUNS / self.kind.agent), self.url, self.project],
            capture_output=True,
            text=True,
            check=True,
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
            try:
                made += int(self.tick().split()[0])
            except StoreError:  # there is no project before its first trace is stored
                return None
            return next(iter(scan(self.workspace.home.drops).drops)) if made == traces else None

        return wait_for(complete, STORED_SECONDS)


@pytest.fixture(scope="module", params=list(KINDS))
def server(request: pytest.FixtureRequest) -> Iterator[tuple[Kind, str]]:
    kind = KINDS[request.param]
    with kind.server() as url:
        yield kind, url


@pytest.fixture
def store(server: tuple[Kind, str], tmp_path: Path, instance: dg.DagsterInstance) -> Store:
    kind, url = server
    project = tmp_path.name
    home = Installation.at(str(tmp_path / "home"))
    home.root.mkdir()
    settings = kind.source(url, project) | {"quiet_minutes": 0, "agent": "support"}
    home.sources_file.write_text(yaml.safe_dump({"sources": {"prod": settings}}))
    home.sinks_file.write_text(yaml.safe_dump({"sinks": {"back": kind.sink(url, project)}}))
    home.gate_file.write_text("gate: {floors: {overall: 0.01}}")
    return Store(url, project, kind, Workspace(home, build_definitions(home, Panel()), instance))


def test_a_recorded_run_is_evaluated(store: Store) -> None:
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


def test_the_scores_stand_on_the_original_trace_once(store: Store) -> None:
    recorded = store.record()
    key = store.drop_with(traces=1)
    result = store.workspace.run(key)
    assert result.success
    gate = [check for check in result.get_asset_check_evaluations() if check.check_name == "regression_gate"]
    assert [check.metadata["verdict"].value for check in gate] == ["pass"]

    def scores() -> dict[tuple[str, str | None], float]:
        found = store.kind.scores(store, recorded)
        assert len({(name, span) for name, span, _ in found}) == len(found)
        return {(name, span): value for name, span, value in found}

    clips = store.workspace.rows(key, "clip_scores")
    own = {(row["criterion"], recorded["span"]): row["mean"] for row in clips if row["tool_type"] != "final"}
    known = {name: value for name, value in own.items() if value is not None}
    assert known
    deliveries = store.workspace.rows(key, "deliveries", "back")
    assert {row["status"] for row in deliveries} == {"delivered"}

    def all_stored() -> dict[tuple[str, str | None], float] | None:
        found = scores()
        return found if len(found) == len(deliveries) else None

    sent = wait_for(all_stored, STORED_SECONDS)
    assert {name: sent.get(name) for name in known} == pytest.approx(known)
    whole = {row["criterion"]: row["mean"] for row in store.workspace.rows(key, "trajectory_scores")}
    assert sent["overall", None] == pytest.approx(whole["overall"])

    assert store.tick() == "0 traces into 0 drops"
    assert store.workspace.run(key).success
    assert store.workspace.rows(key, "deliveries", "back") == deliveries  # with the times of the first run
    assert scores() == sent


def test_a_project_that_does_not_exist_fails_the_tick_by_name(store: Store) -> None:
    with pytest.raises(StoreError, match=store.project):
        store.tick()


def test_what_people_said_about_a_trace_comes_with_it(store: Store) -> None:
    recorded = store.record()
    store.kind.annotate(store, recorded["trace"])
    key = store.drop_with(traces=1)
    (run,) = read_trajectories(find(store.workspace.home.drops, key).sources, UnmappedFields())
    assert isinstance(run, Trajectory)
    (feedback,) = run.labels["feedback"]
    assert (feedback["name"], feedback["source"], feedback["rationale"]) == ("helpful", "HUMAN", "It says where.")
