"""Sinks in real Dagster runs: sent once, failures that do not fail the run, a regression that is still told."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.report.paths import report_files
from evaluation_assets.core.report.report import BlockingCheck, DropReport
from evaluation_assets.core.report.sinks.drop_outcome import drop_outcome
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.report_addresses import ReportAddress
from evaluation_assets.definitions import build_definitions
from evaluation_assets.resources.asset_keys import owned_key
from evaluation_assets_tests.conftest import Workspace, failed_checks, record
from evaluation_assets_tests.http_server import Reply, Request, http_server

DELIVERIES = owned_key("deliveries", "chat")


@dataclass
class Receiver:
    """What a webhook was sent, and the status it answers."""

    status: int = 200
    received: list[dict[str, Any]] = field(default_factory=list)

    def answer(self, request: Request) -> Reply:
        if self.status == 200:
            self.received.append(request.body)
        return Reply(self.status, text="ok")


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    made = Receiver()
    with http_server(made.answer) as url:
        monkeypatch.setenv("CHAT_URL", f"{url}/secret-path-of-the-hook")
        yield made


@pytest.fixture
def watched(tmp_path: Path, instance: dg.DagsterInstance, receiver: Receiver) -> Workspace:
    """An installation with a webhook, and a store for labels."""
    home = Installation.at(str(tmp_path / "home"))
    sinks = {"chat": {"type": "webhook", "url_env": "CHAT_URL", "attempts": 1}}
    home.root.mkdir(parents=True)
    home.sinks_file.write_text(yaml.safe_dump({"sinks": sinks}))
    return Workspace(home, build_definitions(home, Panel()), instance)


def send(workspace: Workspace) -> dg.ExecuteInProcessResult:
    return workspace.run("runs", "send_scores")


def test_an_outcome_is_sent_once_and_a_failure_is_sent_later(watched: Workspace, receiver: Receiver) -> None:
    watched.drop("runs", record(success=True))
    receiver.status = 500
    failing = watched.run("runs")
    assert failing.success
    assert failed_checks(failing) == {"delivered"}
    (check,) = (each for each in failing.get_asset_check_evaluations() if each.check_name == "delivered")
    assert check.severity == dg.AssetCheckSeverity.WARN
    assert check.description == "1 delivery failed: HTTP 500: ok"
    (row,) = watched.rows("runs", "deliveries", "chat")
    assert (row["status"], row["reason"], row["name"]) == ("failed", "HTTP 500: ok", "outcome")

    receiver.status = 200
    assert not failed_checks(send(watched))
    assert not failed_checks(send(watched))
    (message,) = receiver.received
    assert (message["kind"], message["drop"], message["verdict"]) == ("evaluation", "runs", None)
    assert message["text"].startswith("runs: no baseline. ")
    (row,) = watched.rows("runs", "deliveries", "chat")
    assert (row["status"], row["reason"]) == ("delivered", None)


def test_sentences_of_failed_checks_end_with_one_full_stop(watched: Workspace) -> None:
    watched.drop("runs", record(success=True))
    assert watched.run("runs").success
    data = report_files(watched.home.reports("runs"), "runs").data
    assert data is not None
    report = DropReport.model_validate_json(data)
    checks = [BlockingCheck(name="suite_pass_rate", description="1 of 2 runs passed. Failing: a.")]
    sentence = drop_outcome(report.model_copy(update={"failed_checks": checks}), ReportAddress()).sentence
    assert "Failing: a. " in sentence and ".." not in sentence


def test_sinks_are_in_the_jobs_and_do_not_wait_for_blocking_checks(watched: Workspace) -> None:
    for job in ("evaluate", "rescore", "send_scores"):
        assert DELIVERIES in watched.definitions.resolve_job_def(job).asset_layer.selected_asset_keys
    graph = watched.definitions.resolve_asset_graph()
    parents = {key.to_user_string() for key in graph.get(DELIVERIES).parent_keys}
    assert {"score_history", "review_queue"} <= parents
    assert "evaluation_report" not in parents  # its blocking checks would keep a regression from the sinks


def test_labels_are_collected_before_they_are_read(tmp_path: Path) -> None:
    home = Installation.at(str(tmp_path))
    home.sinks_file.write_text("sinks: {ours: {type: phoenix, url: 'http://localhost:1'}}")
    definitions = build_definitions(home, Panel())
    collected = dg.AssetKey(["collected_labels", "ours_collected_labels"])
    assert collected in definitions.resolve_asset_graph().get(dg.AssetKey("labels")).parent_keys
    assert collected in definitions.resolve_job_def("overview").asset_layer.selected_asset_keys
    assert collected not in definitions.resolve_job_def("evaluate").asset_layer.selected_asset_keys
    dg.Definitions.validate_loadable(definitions)
