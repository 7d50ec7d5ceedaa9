"""What is posted to a webhook, in real Dagster runs: failures, regressions and failure groups."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import dagster as dg
import pytest

from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.lake.stored import DamagedTable
from evaluation_assets.core.report.sinks.http import SendError
from evaluation_assets.core.sections.failure_groups.states import read_states
from evaluation_assets.definitions import build_definitions
from evaluation_assets.defs.step_failures import why_failed
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets_tests.conftest import Workspace
from evaluation_assets_tests.towns import GATE, TASKS, runs


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, Any]]]:
    """A local server that keeps the JSON it is sent; its address is where notifications go."""
    received: list[dict[str, Any]] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("EVALUATION_NOTIFY_URL", f"http://127.0.0.1:{server.server_port}/hook")
    yield received
    server.shutdown()
    server.server_close()


def notify(installation: Workspace, result: dg.ExecuteInProcessResult) -> Any:
    sensor = installation.definitions.resolve_sensor_def("notify_failures")
    event = next(event for event in result.all_events if event.event_type == dg.DagsterEventType.RUN_FAILURE)
    context = dg.build_run_status_sensor_context(
        sensor_name="notify_failures",
        dagster_event=event,
        dagster_instance=installation.instance,
        dagster_run=result.dagster_run,
    ).for_run_failure()
    return sensor(context)


def run_of_many(installation: Workspace, *drops: str) -> dg.ExecuteInProcessResult:
    """Evaluate drops in one run."""
    installation.instance.add_dynamic_partitions("drops", list(drops))
    ends = {"dagster/asset_partition_range_start": drops[0], "dagster/asset_partition_range_end": drops[-1]}
    job = installation.definitions.resolve_job_def("evaluate")
    return job.execute_in_process(instance=installation.instance, tags=ends, raise_on_error=False)


def test_a_regression_is_told_to_the_url(accepted: Workspace, receiver: list[dict[str, Any]]) -> None:
    accepted.drop("s/worse", runs(1, bad=TASKS - 1))
    notify(accepted, accepted.run("s/worse"))
    (message,) = receiver
    assert message["text"].startswith("Regression in s/worse (success 1 of 12 ")
    assert message["text"].count("success -0.917 on 12 tasks") == 1
    assert ": regression_gate: fail: success -0.917 on 12 tasks" in message["text"]
    assert (message["kind"], message["job"], message["drop"]) == ("regression", "evaluate", "s/worse")
    assert [check["check"] for check in message["checks"]] == [GATE]
    page = str(accepted.home.reports("s/worse") / "report.html")
    assert message["report"] == page and message["text"].endswith(f"; report: {page}")


def test_a_run_that_breaks_is_told_to_the_url(installation: Workspace, receiver: list[dict[str, Any]]) -> None:
    installation.drop("bad", b"\x00 no JSON\n")
    notify(installation, installation.run("bad"))
    assert receiver[0]["kind"] == "failure"
    assert receiver[0]["text"].startswith("Run evaluate of bad failed: bad.jsonl is not valid JSON")


def test_an_error_of_our_own_is_told_without_its_class() -> None:
    """Notifications began with `evaluation_assets.core.lake.stored.DamagedTable:`."""

    @dg.op
    def reading() -> None:
        raise DamagedTable("clips.parquet is damaged. Delete it.")

    @dg.job
    def broken() -> None:
        reading()

    events = broken.execute_in_process(raise_on_error=False).all_events
    assert [why_failed(event) for event in events if event.is_step_failure] == ["clips.parquet is damaged. Delete it."]


def test_a_run_of_many_drops_tells_of_each_that_failed(accepted: Workspace, receiver: list[dict[str, Any]]) -> None:
    accepted.drop("s/worse", runs(1, bad=TASKS - 1))
    accepted.drop("s/zz", b"\x00 no JSON\n")
    notify(accepted, run_of_many(accepted, "s/worse", "s/zz"))
    (message,) = receiver
    assert (message["drop"], message["headline"]) == (None, None)
    assert "s/zz: s/zz.jsonl is not valid JSON" in message["text"]
    assert message["text"].startswith("Regression in s/worse: 1 drop of 2 failed")
    assert "s/worse: regression_gate: fail" in message["text"]
    assert [check["drop"] for check in message["checks"]] == ["s/worse"]


def test_failures_of_the_project_that_the_assets_are_part_of_are_its_own(
    installation: Workspace, receiver: list[dict[str, Any]]
) -> None:
    installation.drop("bad", b"\x00 no JSON\n")
    installation.instance.add_dynamic_partitions("drops", ["bad"])
    job = installation.definitions.resolve_implicit_global_asset_job_def()
    own = job.execute_in_process(
        partition_key="bad",
        instance=installation.instance,
        asset_selection=[dg.AssetKey("raw_trajectories")],
        raise_on_error=False,
    )
    installation.definitions = build_definitions(installation.home, Panel(), executor=None)
    assert isinstance(notify(installation, own), dg.SkipReason) and not receiver
    assert notify(installation, installation.run("bad")) is None
    assert [message["job"] for message in receiver] == ["evaluate"]


def test_without_a_url_nobody_is_told(installation: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVALUATION_NOTIFY_URL", raising=False)
    installation.drop("bad", b"\x00 no JSON\n")
    assert isinstance(notify(installation, installation.run("bad")), dg.SkipReason)


def group_failures(installation: Workspace) -> dg.ExecuteInProcessResult:
    """Run what the job `overview` does about failure groups."""
    keys = [dg.AssetKey("grouped_findings"), dg.AssetKey("failure_groups")]
    job = installation.definitions.resolve_job_def("overview")
    return job.execute_in_process(instance=installation.instance, asset_selection=keys, raise_on_error=False)


@pytest.mark.slow
def test_a_failure_group_is_told_of_each_suite_once(installation: Workspace, receiver: list[dict[str, Any]]) -> None:
    drops = {"s/1": 0, "t/1": 0, "s/2": TASKS, "t/2": TASKS, "t/3": 0}
    cursor, told = "[]", []
    for drop, bad in drops.items():
        installation.drop(drop, runs(2 * TASKS - bad, bad=bad))
        assert installation.run(drop).success and group_failures(installation).success
        cursor = look(installation, cursor) or ""
        told.append([group["changed_in"] for message in receiver for group in message["groups"]])
        receiver.clear()
    assert [set(each) for each in told] == [set(), set(), {"s/2"}, {"t/2"}, set()]


def look(installation: Workspace, cursor: str | None) -> str | None:
    """A tick of the sensor of failure groups; its cursor after it."""
    sensor = installation.definitions.resolve_sensor_def("notify_failure_groups")
    home = HomeResource(url=str(installation.home.root))
    with dg.build_sensor_context(installation.instance, cursor, resources={"home": home}) as context:
        sensor(context)
        return context.cursor


def test_a_failure_group_is_told_once_while_it_is_new_and_when_it_was_reopened(
    installation: Workspace, receiver: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.drop("s/1", runs(20))
    installation.drop("s/2", runs(10, bad=10))
    assert run_of_many(installation, "s/1", "s/2").success
    assert look(installation, None) == "[]", "there are no groups yet"
    assert group_failures(installation).success
    with monkeypatch.context() as unreachable, pytest.raises(SendError):
        unreachable.setenv("EVALUATION_NOTIFY_URL", "http://127.0.0.1:9/hook")
        look(installation, "[]")
    cursor = look(installation, "[]")
    assert look(installation, cursor) == cursor
    (message,) = receiver
    told = {group["name"]: group for group in message["groups"]}
    ignored = told["Ignored error: browser_search_google"]
    assert (message["kind"], ignored["state"], ignored["changed_in"]) == ("failure_groups", "new", "s/2")
    assert (
        f"New failure group {ignored['name']} ({ignored['group_id']}): 10 of 20 runs of s/2, 25.0% of the"
        in message["text"]
    )

    entries = "".join(f"'{group['group_id']}': {{state: resolved}}\n" for group in message["groups"])
    installation.home.groups_file.write_text(f"{entries}'00000000': {{state: resolved}}\n")
    resolved = group_failures(installation)
    assert resolved.success
    check = next(each for each in resolved.get_asset_check_evaluations() if each.check_name == "states_of_groups")
    assert (check.passed, check.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert "no run has: 00000000" in (check.description or "")
    assert read_states(installation.home.groups_file)[ignored["group_id"]].drops == ("s/2",)
    assert look(installation, cursor) == "[]"

    installation.drop("s/3", runs(1, bad=1))
    assert installation.run("s/3").success
    again = group_failures(installation)
    assert not again.success
    notify(installation, again)
    assert receiver[-1]["text"].startswith("Run overview failed: no_reopened_failures: Seen again after they were ")
    assert look(installation, "[]") == "[]" and len(receiver) == 2
